package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reelsplice/ingest"
	"reelsplice/ingest/layout"
	"reelsplice/schemas/mirror"
)

func (a *app) ingestCommand() *cobra.Command {
	cfg := ingest.Config{}
	bucket := mirror.Options{Write: true}
	var tolerated int64
	c := &cobra.Command{
		Use:   "ingest --catalog DIR SRC...",
		Short: "Read dumps into the catalogue",
		Long: "ingest reads dumps into the catalogue: files, folders or globs of NDJSON, JSON or Parquet, plain,\n" +
			".gz or .zst. What the rows are is told by the names of files and folders (movie.json,\n" +
			"movies.ndjson.zst, tv/, tv/1399-season-1.json, people.parquet) or by --kind.\n\n" +
			"Dumps and the catalogue may lie in object storage: s3://bucket/key?region=R, gs://bucket/key,\n" +
			"azblob://container/key?storage_account=A, with credentials from where each vendor's tools take\n" +
			"them, or file:///folder. A key that ends in a slash is a folder; *, ** and [] make a pattern.\n\n" +
			"Rows that do not validate go to quarantine, the others go on; the exit code is then 1, unless\n" +
			"--max-quarantined allows as many.",
		Example: "  reelsplice ingest --catalog catalog dumps/movies.ndjson.zst\n" +
			"  reelsplice ingest --catalog catalog --language de-DE 'crawl-de/*.json'\n" +
			"  reelsplice ingest --catalog s3://bucket/catalog 's3://dumps/2026-11-*/movies.ndjson.zst?region=eu-west-1'",
		Args: argCount(1, -1),
	}
	f := c.Flags()
	f.StringArrayVar(&cfg.Mappings, "mapping", nil, "mapping `FILE` that says what the columns of tables mean; may be given several times")
	f.StringVar(&cfg.Catalog, "catalog", "", "`DIR` or s3://, gs://, azblob:// or file:// URL of the catalogue, made when it is missing")
	mirrorFlag(f, &bucket)
	f.BoolVar(&bucket.BreakLock, "break-lock", false, "take the lock of a catalogue in a bucket that an ingest left behind")
	f.StringVar(&cfg.Layout, "layout", "auto", "what the dump's fields mean: auto or the name of a `LAYOUT`")
	f.StringVar(&cfg.Kind, "kind", "", "what every row is: movie, tv, season, episode, person ...")
	f.StringVar(&cfg.Language, "language", "", "language of the crawl, `xx-YY`; en-US when not given")
	f.BoolVar(&cfg.Overlay, "overlay", false, "these sources win over all others")
	f.Int64Var(&tolerated, "max-quarantined", 0, "succeed with up to `N` rows in quarantine")
	required(c, "catalog")
	return a.leaf(c, func(ctx context.Context, args []string) error {
		cfg.Sources = args
		if err := checkIngest(&cfg); err != nil {
			return usage(err)
		}
		r, err := a.ingestInto(ctx, cfg, bucket)
		if err != nil {
			return err
		}
		if err := a.print(r, func(w io.Writer) { writeIngest(w, &r) }); err != nil {
			return err
		}
		return a.quarantined(&r, tolerated)
	})
}

// checkIngest reports what is wrong with the flags.
func checkIngest(cfg *ingest.Config) error {
	var errs []error
	if cfg.Layout != layout.Auto {
		_, err := layout.New(cfg.Layout, layout.Options{})
		errs = append(errs, err)
	}
	if kinds := ingest.Kinds(); cfg.Kind != "" && !slices.Contains(kinds, cfg.Kind) {
		errs = append(errs, fmt.Errorf("kind %q: want one of %s", cfg.Kind, strings.Join(kinds, ", ")))
	}
	_, err := layout.ParseLanguage(cfg.Language)
	return errors.Join(append(errs, err)...)
}

// ingestInto runs an ingest into a catalogue that is a folder or in a bucket.
func (a *app) ingestInto(ctx context.Context, cfg ingest.Config, bucket mirror.Options) (r ingest.Report, err error) {
	err = a.atCatalog(ctx, cfg.Catalog, bucket, func(dir string, name func(string) string) (err error) {
		cfg.Catalog = dir
		r, err = a.ingest(ctx, cfg)
		r.QuarantineFile = name(r.QuarantineFile)
		return err
	})
	return r, err
}

// ingest runs an ingest with progress and a log.
func (a *app) ingest(ctx context.Context, cfg ingest.Config) (ingest.Report, error) {
	p := a.progress("ingest", true)
	defer p.stop()
	cfg.Progress, cfg.Log = p.update, a.logger()
	return ingest.Run(ctx, cfg)
}

// quarantined tells about each row that did not validate, and fails when there are
// more than tolerated.
func (a *app) quarantined(r *ingest.Report, tolerated int64) error {
	for _, line := range slices.Concat(r.Failed, r.Bad) {
		fmt.Fprintln(a.Stderr, line)
	}
	if r.FailedFiles > 0 {
		return fmt.Errorf("%s could not be read to the end, the first: %s; everything else is in the catalogue",
			plural(r.FailedFiles, "file"), r.Failed[0])
	}
	if r.Quarantined <= tolerated {
		return nil
	}
	return fmt.Errorf("%s did not validate: see %s; the other %s in the catalogue",
		plural(r.Quarantined, "row"), r.QuarantineFile, areRecords(r.Rows-r.Quarantined))
}

func areRecords(n int64) string {
	if n == 1 {
		return "1 row is"
	}
	return plural(n, "row") + " are"
}

func writeIngest(w io.Writer, r *ingest.Report) {
	fmt.Fprintf(w, "read %s in %.1f s\n", plural(r.Rows, "row"), r.Seconds)
	for _, kind := range slices.Sorted(maps.Keys(r.Records)) {
		fmt.Fprintf(w, "catalogue: %s\n", ofKind(r.Records[kind], kind))
	}
	for _, n := range []struct {
		count int64
		what  string
	}{
		{r.Quarantined, "quarantined"},
		{r.Duplicates, "rows that repeat another"},
		{r.Conflicts, "members on which sources disagree"},
	} {
		if n.count > 0 {
			fmt.Fprintf(w, "%s: %d\n", n.what, n.count)
		}
	}
	writeCounts(w, "kept, though the API does not have it", r.Unknown)
	writeCounts(w, "number given as text", r.Coerced)
	writeCounts(w, "left out", r.Dropped)
	writeCounts(w, "list kept whole, as it cannot be split safely", r.Whole)
	for _, file := range r.Skipped {
		fmt.Fprintf(w, "skipped: %s\n", file)
	}
}

// maxCounts bounds the members that are listed; --json has them all.
const maxCounts = 20

// writeCounts lists members and how often something befell them.
func writeCounts(w io.Writer, what string, counts map[string]int64) {
	names := slices.Sorted(maps.Keys(counts))
	for i, name := range names {
		if i == maxCounts {
			fmt.Fprintf(w, "%s: %d more members\n", what, len(names)-i)
			return
		}
		fmt.Fprintf(w, "%s: %s: %d\n", what, name, counts[name])
	}
}
