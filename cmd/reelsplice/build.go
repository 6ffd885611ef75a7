package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

func buildCommand(a *app) *cobra.Command {
	cfg := build.DefaultConfig()
	var publish bool
	var g publishGate
	c := &cobra.Command{
		Use:   "build",
		Short: "Build a release from the catalogue",
		Long: "build makes a release from the catalogue. The catalogue, --level, --fallback and the previous release determine\n" +
			"its id and its bytes. Publish it with --publish or the command publish; the edge serves published releases.\n\n" +
			"The release contains the changes of the last 15 days, for /3/movie/changes and the other change lists.\n" +
			"If nothing differs from the previous release (by default the current one), build makes no new release and\n" +
			"reports the previous one.\n\n" +
			"An incremental build reuses each resource whose inputs have not changed since the previous release, and hard-links\n" +
			"its packs. --full renders everything, and so does a different --level, --fallback or version of the program.\n" +
			"The responses are the same.\n\n" +
			"--publish refuses a release that has much less data than the current one (see --max-drop), that fails\n" +
			"an expectation of --expect, or that has the responses of a release that was rolled back. --force\n" +
			"publishes it anyway.\n\n" +
			"To upload a release to a bucket, use \"publish --releases URL --from DIR\".",
		Example: "  reelsplice build --publish",
	}
	f := c.Flags()
	f.StringVar(&cfg.Catalog, "catalog", defaultCatalog, "`DIR` of the catalogue")
	f.StringVar(&cfg.Releases, "releases", defaultReleases, "`DIR` of the releases, created if missing")
	f.IntVar(&cfg.Jobs, "jobs", cfg.Jobs, "tasks that run in parallel")
	f.Var(bytesFlag[int64]{&cfg.Memory}, "memory", "memory limit, such as 512MiB")
	contentFlags(f, &cfg)
	f.BoolVar(&publish, "publish", false, "make the release current, unless --max-drop or --expect prevents it")
	g.add(f)
	c.AddCommand(buildPlanCommand(a), buildTaskCommand(a), buildSealCommand(a), submitCommand(a), buildStatusCommand(a), buildCleanCommand(a))
	check := func() error { return errors.Join(cfg.Validate(), g.read()) }
	return a.checked(c, check, func(ctx context.Context, _ []string) (err error) {
		if cfg.Catalog, err = catalogFolder(cfg.Catalog); err != nil {
			return err
		}
		if cfg.Releases, err = releasesFolder(cfg.Releases); err != nil {
			return err
		}
		if cfg.Previous, err = a.previousRelease(ctx, store.Folder{Dir: cfg.Releases}, cfg.Previous); err != nil {
			return err
		}
		r, err := a.build(ctx, cfg)
		if err != nil {
			return err
		}
		if err := a.publishBuilt(ctx, &r, store.Folder{Dir: cfg.Releases}, publish, &g); err != nil {
			return err
		}
		if publish {
			a.printNext("serve", pathFlags{"releases": cfg.Releases})
		} else {
			a.printNext("publish", pathFlags{"releases": cfg.Releases}, r.Release)
		}
		return nil
	})
}

// contentFlags adds the flags that determine the content of a release, besides the catalogue. c.Previous may be a name
// such as current; previousRelease resolves it.
func contentFlags(f *pflag.FlagSet, c *build.Config) {
	f.IntVar(&c.Level, "level", build.DefaultConfig().Level, "deflate `LEVEL`, 1 to 9")
	fallbackFlag(f, &c.Fallback)
	f.StringVar(&c.Previous, "previous", "current", "release to compare with and reuse: `ID`, current, previous or none")
	f.BoolVar(&c.Full, "full", false, "render everything; reuse nothing from the previous release")
}

func fallbackFlag(f *pflag.FlagSet, list *string) {
	f.StringVar(list, "fallback", "", "`LANGUAGES` whose texts fill in missing texts of other languages: en-US,de-DE")
}

// previousRelease returns the id of the release that a build compares with and reuses, or "". A broken current release
// is not used.
func (a *app) previousRelease(ctx context.Context, s store.Folder, name string) (string, error) {
	switch name {
	case "none", "":
		return "", nil
	case "current":
	default:
		return a.folder(s.Dir).resolveID(ctx, name)
	}
	id, err := store.Current(ctx, s)
	if err == nil {
		var r *release.Reader
		if r, err = release.Open(s.Path(id)); err == nil {
			return id, r.Close()
		}
	}
	if !store.IsBroken(err) { // a temporary failure must not cause a full build
		return "", err
	}
	if !errors.Is(err, store.ErrNoRelease) {
		a.logger().Warn("the current release cannot be read: the build reuses nothing", "error", err)
	}
	return "", nil
}

// A heldBackError reports that a release was built, but that the gate prevented publishing it.
type heldBackError struct{ error }

// publishBuilt makes a built release current if requested, and prints the report. It returns an error if the gate
// refuses the release.
func (a *app) publishBuilt(ctx context.Context, r *build.Report, to store.Folder, publish bool, g *publishGate) (err error) {
	s, v := a.folder(to.Dir), verdict{}
	if publish {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("publish %s: %w", r.Release, err)
		}
		if v, _, err = s.admit(ctx, g, s, r.Release, false); err != nil {
			return err
		}
	}
	published := publish && v.passes()
	report := struct {
		*build.Report
		Published bool `json:"published"`
		*verdict
	}{r, published, &v}
	err = a.print(report, func(w io.Writer) {
		writeBuild(w, r, published)
		if !v.passes() || v.Forced {
			fmt.Fprintln(w)
		}
		v.write(w)
	})
	if err == nil && !v.passes() {
		return heldBackError{v.refusal(r.Release, to.Dir)}
	}
	return err
}

// build runs a build with progress and a log.
func (a *app) build(ctx context.Context, cfg build.Config) (build.Report, error) {
	p := a.progress("build", false)
	defer p.stop()
	cfg.Progress, cfg.Log, cfg.Version = p.update, a.logger(), version().Version
	return build.Run(ctx, cfg)
}

func writeBuild(w io.Writer, r *build.Report, published bool) {
	state := "built"
	if published {
		state = "built and published"
	}
	if r.Unchanged {
		state = "the previous one: no differences"
	}
	fmt.Fprintf(w, "release\t%s, %s\n", r.Release, state)
	for _, kind := range slices.Sorted(maps.Keys(r.Records)) {
		fmt.Fprintf(w, "records\t%s\n", countOfKind(r.Records[kind], kind))
	}
	if r.Fetched != nil {
		fmt.Fprintf(w, "fetched\t%s, %s\n", r.Fetched, plural(r.Fetched.Records, "record"))
	}
	if r.Fallback != "" {
		fmt.Fprintf(w, "fallback\t%s for texts that a language lacks\n", r.Fallback)
	}
	fmt.Fprintf(w, "derived\t%s without a record in a dump\n", plural(r.Derived, "resource"))
	fmt.Fprintf(w, "fragments\t%d in %s\n", r.Fragments, plural(r.Segments, "segment"))
	if r.Reused > 0 {
		fmt.Fprintf(w, "reused\t%s of the previous release\n", plural(r.Reused, "resource"))
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Changed)) {
		fmt.Fprintf(w, "changed\t%s since the previous release\n", countOfKind(int64(r.Changed[kind]), kind))
	}
	fmt.Fprintf(w, "bytes\t%s raw, %s stored at level %d\n", humanize.IBytes(uint64(r.RawBytes)), humanize.IBytes(uint64(r.StoredBytes)), r.Level)
	fmt.Fprintf(w, "took\t%.1f s with %s, %s of memory at most\n", r.Seconds, plural(r.Jobs, "job"), humanize.IBytes(uint64(r.PeakRSSBytes)))
}
