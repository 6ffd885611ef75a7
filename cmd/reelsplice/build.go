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
	"reelsplice/schemas/mirror"
	"reelsplice/schemas/release"
)

func (a *app) buildCommand() *cobra.Command {
	cfg := build.DefaultConfig()
	memory := size(cfg.Memory)
	var publish bool
	var bucket mirror.Options
	c := &cobra.Command{
		Use:   "build --catalog DIR --releases DIR",
		Short: "Make a release of the catalogue",
		Long: "build makes a release of the catalogue. Its id and its bytes follow from the catalogue and --level\n" +
			"alone. It is served once it is published: by --publish, or by the command publish.",
		Example: "  reelsplice build --catalog catalog --releases releases --publish",
	}
	f := c.Flags()
	f.StringVar(&cfg.Catalog, "catalog", "", "`DIR` or s3://, gs://, azblob:// or file:// URL of the catalogue")
	mirrorFlag(f, &bucket)
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
		return a.buildAndReport(ctx, cfg, bucket, publish)
	})
}

func (a *app) buildAndReport(ctx context.Context, cfg build.Config, bucket mirror.Options, publish bool) error {
	r, err := a.buildFrom(ctx, cfg, bucket)
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

// buildFrom runs a build of a catalogue that is a folder or in a bucket.
func (a *app) buildFrom(ctx context.Context, cfg build.Config, bucket mirror.Options) (r build.Report, err error) {
	err = a.atCatalog(ctx, cfg.Catalog, bucket, func(dir string, _ func(string) string) (err error) {
		cfg.Catalog = dir
		r, err = a.build(ctx, cfg)
		return err
	})
	return r, err
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
