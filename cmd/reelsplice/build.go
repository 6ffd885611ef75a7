package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"reelsplice/build"
	"reelsplice/schemas/release"
)

func (a *app) buildCommand() *cobra.Command {
	cfg := build.DefaultConfig()
	memory := size(cfg.Memory)
	var publish bool
	c := &cobra.Command{
		Use:   "build --catalog DIR --releases DIR",
		Short: "Make a release of the catalogue",
		Long: "build makes a release of the catalogue. Its id and its bytes follow from the catalogue and --level\n" +
			"alone. It is served once it is published: by --publish, or by the command publish.",
		Example: "  reelsplice build --catalog catalog --releases releases --publish",
	}
	f := c.Flags()
	f.StringVar(&cfg.Catalog, "catalog", "", "`DIR` of the catalogue")
	f.StringVar(&cfg.Releases, "releases", "", "`DIR` of the releases, made when it is missing")
	f.IntVar(&cfg.Level, "level", cfg.Level, "deflate level, 1 to 9")
	f.IntVar(&cfg.Jobs, "jobs", cfg.Jobs, "shards built at once")
	f.Var(&memory, "memory", "bytes that the build may use, such as 512MiB")
	f.BoolVar(&publish, "publish", false, "make the release current")
	required(c, "catalog", "releases")
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		cfg.Memory = int64(memory)
		if err := cfg.Validate(); err != nil {
			return usage(err)
		}
		return a.buildAndReport(ctx, cfg, publish)
	})
}

func (a *app) buildAndReport(ctx context.Context, cfg build.Config, publish bool) error {
	r, err := a.build(ctx, cfg)
	if err != nil {
		return err
	}
	if publish {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("publish %s: %w", r.Release, err)
		}
		if _, err := (release.Store{Dir: cfg.Releases}).Publish(r.Release); err != nil {
			return err
		}
	}
	report := struct {
		build.Report
		Published bool `json:"published"`
	}{r, publish}
	return a.print(report, func(w io.Writer) { writeBuild(w, &r, publish) })
}

// build runs a build with progress and a log.
func (a *app) build(ctx context.Context, cfg build.Config) (build.Report, error) {
	p := a.progress("build", false)
	defer p.stop()
	cfg.Progress, cfg.Log = p.update, a.logger()
	return build.Run(ctx, cfg)
}

func writeBuild(w io.Writer, r *build.Report, published bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	state := "built"
	if published {
		state = "built and published"
	}
	fmt.Fprintf(t, "release\t%s, %s\n", r.Release, state)
	for _, kind := range slices.Sorted(maps.Keys(r.Records)) {
		fmt.Fprintf(t, "records\t%s\n", ofKind(r.Records[kind], kind))
	}
	fmt.Fprintf(t, "derived\t%s that no dump has a record of\n", plural(r.Derived, "resource"))
	fmt.Fprintf(t, "fragments\t%d in %s\n", r.Fragments, plural(r.Segments, "segment"))
	fmt.Fprintf(t, "bytes\t%s raw, %s stored at level %d\n", formatBytes(r.RawBytes), formatBytes(r.StoredBytes), r.Level)
	fmt.Fprintf(t, "took\t%.1f s with %s, %s of memory at most\n", r.Seconds, plural(r.Jobs, "job"), formatBytes(r.PeakRSSBytes))
	_ = t.Flush() // w is a buffer
}
