package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/text"
)

const ingestLong = "ingest reads dumps into the catalogue: files, folders or globs of NDJSON, JSON, CSV, TSV or Parquet,\n" +
	"plain, .gz or .zst. The names of files and folders (movie.json, movies.ndjson.zst, tv/,\n" +
	"tv/1399-season-1.json, people.parquet), the columns of tables, or --kind and --layout determine the\n" +
	"kind of the rows. --explain prints the fields of the first rows, and a draft mapping for an unknown\n" +
	"table.\n\n" +
	"Dumps may be in object storage: s3://bucket/key?region=R, with the credentials of the AWS CLI,\n" +
	"and gs://bucket/key, with an HMAC key in GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY.\n" +
	"A key that ends in a slash is a folder; *, ** and [] make a pattern.\n\n" +
	"Later sources take precedence over earlier ones, and all sources over the catalogue, field by field;\n" +
	"fields that no source has keep their values. --replace, --fill and --overlay change that. A row\n" +
	"{\"id\":1,\"_deleted\":true} or {\"id\":1,\"_merged_into\":2} removes a resource.\n\n" +
	"A value that does not fit its field is left out, and its row stays. The report counts such values by field; the exit\n" +
	"code is 0, unless there are more than --max-bad-values. A row without an id, or with a syntax error, goes to\n" +
	"quarantine; the exit code is then 1, unless --max-quarantined or --max-bad allows that many. With --strict, rows with\n" +
	"any bad value go there. If an ingest is killed, the catalogue is unchanged: run it again."

const ingestExample = "  reelsplice ingest dumps/movies.ndjson.zst\n" +
	"  reelsplice ingest --language de-DE 'crawl-de/*.json'\n" +
	"  reelsplice ingest --explain films.csv >films.toml\n" +
	"  reelsplice ingest --mapping films.toml films.csv\n" +
	"  reelsplice ingest --max-bad 1% changed/*.ndjson\n" +
	"  reelsplice ingest --replace films.csv\n" +
	"  reelsplice ingest 's3://dumps/2026-11-*/movies.ndjson.zst?region=eu-west-1'"

func ingestCommand(a *app) *cobra.Command {
	var cfg ingest.Config
	var maxBad, maxValues, date string
	var overlay, fill, replace, explain bool
	var tolerated int64
	c := &cobra.Command{
		Use:     "ingest SRC...",
		Short:   "Read dumps into the catalogue",
		Long:    ingestLong,
		Example: ingestExample,
		Args:    argCount(1, -1),
	}
	f := c.Flags()
	f.StringVar(&cfg.Catalog, "catalog", defaultCatalog, "`DIR` of the catalogue, created if missing")
	meaningFlags(f, &cfg)
	f.BoolVar(&overlay, "overlay", false, "these sources take precedence over all others, even later ones")
	f.BoolVar(&fill, "fill", false, "these sources only fill gaps in the catalogue, and overwrite nothing")
	f.BoolVar(&replace, "replace", false, "for each kind in these sources, remove the records that they lack from the catalogue")
	f.BoolVar(&cfg.Update, "update", false, "require an existing catalogue")
	f.StringVar(&date, "date", "", "`TIME` of the changes, such as 2026-11-22 or 2026-11-22T04:00:00Z; now by default")
	f.StringVar(&maxBad, "max-bad", "", "stop when more than `N` rows, or N% of them, are bad; the catalogue is then unchanged")
	f.StringVar(&maxValues, "max-bad-values", "", "stop when more than `N` values, or N% of the number of rows, are left out; the catalogue is then unchanged")
	f.BoolVar(&cfg.Strict, "strict", false, "refuse a row if one value does not fit its field, and do not correct nearly valid values")
	f.Int64Var(&tolerated, "max-quarantined", 0, "succeed with up to `N` rows in quarantine")
	f.BoolVar(&explain, "explain", false, "print the fields of the first rows, and a draft mapping for an unknown table; write nothing")
	cfg.Memory, cfg.Limits = ingest.DefaultMemory, limit.Limits{
		MaxRowBytes: limit.DefaultMaxRowBytes, MaxRatio: limit.DefaultMaxRatio,
		MaxPageBytes: limit.DefaultMaxPageBytes, MaxDictionaryBytes: limit.DefaultMaxDictionaryBytes,
	}
	l := &cfg.Limits
	f.Var(bytesFlag[int64]{&cfg.Memory}, "memory", "bytes of rows kept in memory, such as 512MiB; others go to disk")
	f.Var(bytesFlag[int64]{&l.MaxRowBytes}, "max-row-bytes", "length limit of a row; longer rows are bad")
	f.Var(bytesFlag[int64]{&l.MaxBytes}, "max-file-bytes", "size limit of a file after decompression; 0 for no limit")
	f.Int64Var(&l.MaxRatio, "max-ratio", l.MaxRatio, "a compressed file may expand to at most `N` times its size; -1 for no limit")
	f.Var(bytesFlag[int64]{&l.MaxPageBytes}, "max-page-bytes", "largest page of a Parquet file")
	f.Var(bytesFlag[int64]{&l.MaxDictionaryBytes}, "max-dictionary-bytes", "largest dictionary of a Parquet file")
	check := func() error {
		errs := []error{checkMeaning(&cfg)}
		var err error
		for _, t := range []struct {
			flag, text string
			value      *ingest.Tolerance
		}{{"max-bad", maxBad, &cfg.MaxBad}, {"max-bad-values", maxValues, &cfg.MaxBadValues}} {
			if t.text == "" {
				continue
			}
			if *t.value, err = ingest.ParseTolerance(t.text); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", t.flag, err))
			}
		}
		for _, flag := range []struct {
			set  bool
			mode merge.Mode
		}{{overlay, merge.Overlay}, {fill, merge.Fill}, {replace, merge.Replace}} {
			if flag.set && cfg.Mode != merge.Update {
				errs = append(errs, fmt.Errorf("--%s: want it without --%s", flag.mode, cfg.Mode))
			} else if flag.set {
				cfg.Mode = flag.mode
			}
		}
		if cfg.Date, err = parseDate(date); err != nil {
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
	return a.checked(c, check, func(ctx context.Context, args []string) error {
		cfg.Sources, cfg.Parameters = args, changedFlags(f)
		catalog, err := catalogFolder(cfg.Catalog)
		if err != nil {
			return err
		}
		cfg.Catalog = catalog
		if explain {
			e, err := ingest.Explain(ctx, cfg)
			if err != nil {
				return err
			}
			return a.print(e, func(w io.Writer) { writeExplanation(w, &e) })
		}
		r, err := a.ingest(ctx, cfg)
		if err != nil && !r.Stopped {
			return err
		}
		// An ingest that stops because of bad rows, or of an unsuitable file, still has a report.
		if err := errors.Join(a.print(r, func(w io.Writer) { writeIngest(w, &r) }), err); err != nil {
			a.printBad(&r)
			return err
		}
		if err := a.checkBadRows(&r, tolerated, maxBad != ""); err != nil {
			return err
		}
		a.printNext("build", pathFlags{"catalog": cfg.Catalog}, "--publish")
		return nil
	})
}

// changedFlags returns the flags that were set, by name.
func changedFlags(f *pflag.FlagSet) map[string]string {
	changed := map[string]string{}
	f.Visit(func(flag *pflag.Flag) { changed[flag.Name] = flag.Value.String() })
	return changed
}

// meaningFlags adds the flags that determine how rows are read.
func meaningFlags(f *pflag.FlagSet, cfg *ingest.Config) {
	f.StringVar(&cfg.Layout, "layout", "auto", "meaning of the dump's fields, `LAYOUT`: auto, "+strings.Join(ingest.Layouts()[1:], ", "))
	f.StringVar(&cfg.Kind, "kind", "", "kind of every row: movie, tv, season, episode, person ...")
	f.StringVar(&cfg.Language, "language", "", "language of the crawl, `xx-YY`; en-US by default")
	f.StringVar(&cfg.Encoding, "encoding", source.EncodingAuto, "`ENCODING` of texts that are not UTF-8, such as windows-1252, iso-8859-1, utf-16, shift_jis, gb18030")
	f.StringVar(&cfg.Rows, "rows", "", "`PATH` to the rows of JSON files, if they are nested: data.items, hits.hits[]._source, {}")
	f.Var((*minFitFlag)(&cfg.MinFit), "min-fit", "stop at a file if less than this `SHARE` of its values is used, such as 80%; 0 accepts any file")
	f.StringArrayVar(&cfg.Mappings, "mapping", nil, "mapping `FILE` for the columns of tables, in addition to those next to the tables; repeatable")
}

// A minFitFlag is a share for ingest.Config.MinFit.
type minFitFlag float64

func (f *minFitFlag) String() string {
	switch {
	case *f < 0:
		return "0"
	case *f == 0:
		return fmt.Sprintf("%g%%", 100*ingest.DefaultMinFit)
	}
	return fmt.Sprintf("%g%%", 100*float64(*f))
}

func (f *minFitFlag) Type() string { return "share" }

// Set parses 80% or 0.8.
func (f *minFitFlag) Set(s string) error {
	text, percent := strings.CutSuffix(s, "%")
	share, err := strconv.ParseFloat(text, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share >= 0 && share <= 1) {
		return fmt.Errorf("want a share such as 80%% or 0.8, found %q", s)
	}
	if *f = minFitFlag(share); share == 0 {
		*f = ingest.AnyFit
	}
	return nil
}

// checkMeaning checks the flags of meaningFlags.
func checkMeaning(cfg *ingest.Config) error {
	cfg.Buckets = func(ctx context.Context, l object.Location) (object.Bucket, error) { return s3.Open(ctx, l) }
	return cfg.CheckMeaning()
}

// parseDate parses a day or a time; "" is the zero time.
func parseDate(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1970 {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("date %q: want a time such as 2026-11-22T04:00:00Z or a day", text)
}

// ingest runs an ingest with progress and a log.
func (a *app) ingest(ctx context.Context, cfg ingest.Config) (ingest.Report, error) {
	p := a.progress("ingest", true)
	defer func() { p.stop() }()
	cfg.Progress = p.update
	if cfg.Log == nil {
		cfg.Log = a.logger()
	}
	writing := false
	cfg.Writing = func(done, total int64) {
		if !writing {
			p.stop()
			p, writing = a.progress("write", false), true
		}
		p.update(done, total)
	}
	return ingest.Run(ctx, cfg)
}

// checkBadRows prints each invalid row. It fails above the tolerated number, for unread files, and for sources without
// rows. limited means that the ingest itself has checked the number.
func (a *app) checkBadRows(r *ingest.Report, tolerated int64, limited bool) error {
	a.printBad(r)
	if r.FailedFiles == 0 && len(r.Silent) == 0 && (r.Quarantined <= tolerated || limited) {
		return nil
	}
	return errors.New(summaryOf(r))
}

// printBad prints the bad files and rows of the report.
func (a *app) printBad(r *ingest.Report) {
	for _, line := range slices.Concat(r.Failed, r.Bad) {
		fmt.Fprintln(a.Stderr, line)
	}
}

// summaryOf describes unread files, quarantined rows and rows in the catalogue.
func summaryOf(r *ingest.Report) string {
	var parts []string
	if r.FailedFiles > 0 {
		parts = append(parts, fmt.Sprintf("%s could not be read to the end, the first: %s", plural(r.FailedFiles, "file"), r.Failed[0]))
	}
	if n := int64(len(r.Silent)); n > 0 {
		parts = append(parts, fmt.Sprintf("%s had no usable file, the first: %s", plural(n, "source"), r.Silent[0]))
	}
	if r.Quarantined > 0 {
		parts = append(parts, fmt.Sprintf("%s failed validation: see %s", plural(r.Quarantined, "row"), r.QuarantineFile))
	}
	if r.ValuesLeftOut > 0 {
		parts = append(parts, plural(r.ValuesLeftOut, "value")+" left out")
	}
	return strings.Join(append(parts, plural(r.Kept, "row")+" kept"), "; ")
}

func writeIngest(w io.Writer, r *ingest.Report) {
	fmt.Fprintf(w, "read %s in %.1f s\n", plural(r.Rows, "row"), r.Seconds)
	if r.Kept != r.Rows && !r.Stopped {
		fmt.Fprintf(w, "kept: %d\n", r.Kept)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Records)) {
		fmt.Fprintf(w, "catalogue: %s\n", countOfKind(r.Records[kind], kind))
	}
	for _, kind := range slices.Sorted(maps.Keys(r.RemovedRecords)) {
		fmt.Fprintf(w, "removed: %s\n", countOfKind(r.RemovedRecords[kind], kind))
	}
	for _, n := range []struct {
		count int64
		label string
	}{
		{r.Blank, "rows without a value"},
		{r.Quarantined, "quarantined"},
		{r.Duplicates, "duplicate rows"},
		{r.Matched, "ids matched by external ids"},
		{r.Minted, "ids minted"},
		{r.NoID, "rows without an id, quarantined"},
		{r.Merged, "records with minted ids, merged into records with TMDB ids"},
		{r.Conflicts, "fields on which sources disagree"},
		{r.Removed, "ids that are deleted or merged"},
	} {
		if n.count > 0 {
			fmt.Fprintf(w, "%s: %d\n", n.label, n.count)
		}
	}
	writeFits(w, r.Columns)
	if !r.Stopped {
		writeCounts(w, "kept, but not a field of the API", r.Unknown)
		writeCounts(w, "converted from another type or form", r.Coerced)
		writeCounts(w, "left out", r.Dropped)
		writeCounts(w, "list kept whole: not all of its names have ids", r.Whole)
	}
	for _, l := range r.LeftOut[:min(len(r.LeftOut), maxCounts)] {
		fmt.Fprintf(w, "value left out: %s: %d\n", l.Path, l.Count)
		for _, s := range l.Samples {
			fmt.Fprintf(w, "  %s\n", s)
		}
	}
	if more := len(r.LeftOut) - maxCounts; more > 0 {
		fmt.Fprintf(w, "value left out: %d more fields\n", more)
	}
	for _, file := range r.Skipped {
		fmt.Fprintf(w, "skipped: %s\n", file)
	}
	if more := r.SkippedFiles - int64(len(r.Skipped)); more > 0 {
		fmt.Fprintf(w, "skipped: %s in all; the report has more of them\n", plural(r.SkippedFiles, "file"))
	}
	fmt.Fprintf(w, "report: %s\n", r.ReportFile)
	if r.ValuesLeftOut+r.ValuesCoerced > 0 {
		fmt.Fprintf(w, "values left out: %d, converted from another type or form: %d\n", r.ValuesLeftOut, r.ValuesCoerced)
	}
}

// writeFits prints a line for each file, and a table of columns for a rejected one.
func writeFits(w io.Writer, fits []report.FileFit) {
	for i := range fits {
		f := &fits[i]
		if i >= maxCounts && len(f.Problems) == 0 {
			fmt.Fprintf(w, "and %s; the report has more of them\n", plural(int64(len(fits)-i), "more file"))
			return
		}
		if len(f.Problems) > 0 {
			writeFit(w, f)
			continue
		}
		fmt.Fprintf(w, "%s\n", fitLine(f))
	}
}

// fitLine describes the use of the values of an accepted file.
func fitLine(f *report.FileFit) string {
	name := f.File
	if f.Files > 1 {
		name = fmt.Sprintf("%s and %s", name, plural(f.Files-1, "more file"))
	}
	rows := plural(f.Made, "row")
	if f.Made < f.Rows {
		rows = fmt.Sprintf("%d of %s", f.Made, plural(f.Rows, "row"))
	}
	line := fmt.Sprintf("%s: %s as %s", name, rows, f.Meaning)
	var unused, leftOut []string
	for i := range f.Columns {
		c := &f.Columns[i]
		if c.Unused > 0 && !c.Ignored {
			unused = append(unused, c.Name)
		}
		if c.LeftOut > 0 {
			leftOut = append(leftOut, fmt.Sprintf("%d of %d of %s%s", c.LeftOut, c.Cells, c.Name, c.Such()))
		}
	}
	if unused != nil {
		line += "; not used: " + strings.Join(unused, ", ")
	}
	if leftOut != nil {
		line += "; left out: " + strings.Join(leftOut, ", ")
	}
	if f.Doubts != nil {
		line += "; check: " + strings.Join(f.Doubts, ", ")
	}
	return line
}

// writeFit prints the columns of a file as a table.
func writeFit(w io.Writer, f *report.FileFit) {
	fmt.Fprintf(w, "%s: as %s:\n", f.File, f.Meaning)
	var table strings.Builder
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  column\tvalues\tused\tleft out\tkept as it is\tnot used\texample")
	for i := range f.Columns {
		c := &f.Columns[i]
		example := strings.TrimPrefix(c.Such(), ", such as ")
		if c.Ignored {
			example = "ignored by the mapping"
		}
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%d\t%d\t%s\n", c.Name, c.Cells, c.Used, c.LeftOut, c.Extra, c.Unused, example)
	}
	_ = t.Flush() // the buffer returns no errors
	for line := range strings.Lines(table.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
	for _, problem := range f.Problems {
		fmt.Fprintf(w, "  %s\n", problem)
	}
}

// maxCounts limits the listed fields; --json has all.
const maxCounts = 20

// writeCounts lists fields with their counts.
func writeCounts(w io.Writer, label string, counts map[string]int64) {
	names := slices.Sorted(maps.Keys(counts))
	for i, name := range names {
		if i == maxCounts {
			fmt.Fprintf(w, "%s: %d more fields\n", label, len(names)-i)
			return
		}
		fmt.Fprintf(w, "%s: %s: %d\n", label, cmp.Or(name, `""`), counts[name])
	}
}

// writeExplanation prints files, rows and fields. The output is a mapping file: everything except the suggested mapping
// is a TOML comment.
func writeExplanation(w io.Writer, e *ingest.Explanation) {
	for i := range e.Files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		writeExplainedFile(w, &e.Files[i])
	}
	for _, file := range e.Skipped {
		writeComment(w, "skipped: "+file)
	}
	if more := e.SkippedFiles - int64(len(e.Skipped)); more > 0 {
		writeComment(w, "skipped: "+plural(e.SkippedFiles, "file")+" in all")
	}
	if e.More > 0 {
		writeComment(w, "and "+plural(e.More, "more file")+" that are not explained")
	}
}

func writeExplainedFile(w io.Writer, f *ingest.ExplainedFile) {
	head := f.File + ": " + f.Format
	for _, part := range [][2]string{{"layout", f.Layout}, {"mapping", f.Mapping}, {"table", f.Table}, {"kind", f.Kind}} {
		if part[1] != "" {
			head += ", " + part[0] + " " + part[1]
		}
	}
	writeComment(w, head)
	if f.Problem != "" {
		writeComment(w, "left out: "+f.Problem)
	}
	if f.Note != "" {
		writeComment(w, f.Note)
	}
	if f.Fit != nil {
		var table strings.Builder
		writeFit(&table, f.Fit)
		for line := range strings.Lines(table.String()) {
			writeComment(w, strings.TrimRight(line, "\n"))
		}
	}
	for i := range f.Rows {
		writeExplainedRow(w, &f.Rows[i])
	}
	if f.Suggested != "" {
		fmt.Fprintf(w, "#\n%s\n", f.Suggested)
	}
}

func writeExplainedRow(w io.Writer, r *ingest.ExplainedRow) {
	fmt.Fprintln(w, "#")
	writeComment(w, r.Place)
	if r.Refused != "" {
		writeComment(w, "  refused: "+r.Refused)
	}
	for i := range r.Records {
		rec := &r.Records[i]
		note := ""
		if rec.Note != "" {
			note = " (" + rec.Note + ")"
		}
		writeComment(w, "  "+rec.Record+note)
		width := 0
		for _, f := range rec.Fields {
			width = max(width, len(f.Field))
		}
		for _, f := range rec.Fields {
			from := ""
			if len(f.From) > 0 {
				from = "  from " + strings.Join(f.From, ", ")
			}
			value := []rune(string(f.Value))
			if len(value) > 100 {
				value = append(value[:100], '…')
			}
			writeComment(w, fmt.Sprintf("    %-*s  %s%s", min(width, 32), f.Field, string(value), from))
		}
	}
	for _, list := range []struct {
		label string
		names []string
	}{{"does not fit its field, left out", r.LeftOut}, {"left out", r.Dropped}, {"kept, but not a field of the API", r.Unknown}, {"unknown names, kept", r.Whole}} {
		if len(list.names) > 0 {
			writeComment(w, "  "+list.label+": "+strings.Join(list.names, ", "))
		}
	}
}

// writeComment writes a TOML comment, which must have no control characters.
func writeComment(w io.Writer, comment string) { fmt.Fprintf(w, "# %s\n", text.Line(comment)) }
