package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"reelsplice/cmd/bench"
)

func (a *app) benchCommand() *cobra.Command {
	cfg := bench.DefaultConfig()
	var o benchOutput
	var quick bool
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the edge beside nginx, Varnish and others",
		Long: "bench makes a release of a synthetic dump, serves it, and puts load on the edge and on its peers in turn:\n" +
			"nginx with the finished answers as files, Varnish that composes them by ESI, a Go server that sends a\n" +
			"constant, and one that decodes, merges, encodes and compresses. Servers run on one core, the load (wrk) on\n" +
			"another; everything listens on 127.0.0.1. It prints medians and, beside each ratio, the goal.\n\n" +
			"It needs Linux, two cores and wrk. Peers that are not installed are left out and named; scripts/bench.sh\n" +
			"installs them. \"bench build\" measures builds.",
		Example: "  reelsplice bench\n  reelsplice bench --dir bench --out report",
	}
	f := c.Flags()
	f.StringVar(&cfg.Dir, "dir", "", "`DIR` whose release is measured, made when there is none, and kept; temporary when not given")
	f.Int64Var(&cfg.Movies, "movies", cfg.Movies, "make a release of `N` movies")
	f.IntVar(&cfg.Rounds, "rounds", cfg.Rounds, "measure everything `N` times")
	f.IntVar(&cfg.Seconds, "seconds", cfg.Seconds, "length of a round")
	f.IntSliceVar(&cfg.Connections, "connections", cfg.Connections, "numbers of connections of the cases")
	f.StringSliceVar(&cfg.Sections, "sections", cfg.Sections, "what to measure: "+strings.Join(bench.Sections(), ", "))
	f.BoolVar(&quick, "quick", false, "take less than three minutes: a small release, 32 connections, short rounds, no curves")
	f.IntVar(&cfg.ServerCore, "server-core", cfg.ServerCore, "core of the servers")
	f.IntVar(&cfg.LoadCore, "load-core", cfg.LoadCore, "core of the load")
	f.StringVar(&cfg.Profiles, "profiles", "", "record profiles of the edge into `DIR` instead of measuring")
	f.StringVar(&o.out, "out", "", "write bench.json, bench.html and table.txt into `DIR` as well")
	f.StringVar(&o.ratios, "ratios", "", "fail when ratios are below 0.9 times those in `FILE`")
	f.BoolVar(&o.store, "store", false, "write the ratios into the file of --ratios instead")
	c.AddCommand(a.benchBuildCommand())
	return a.leaf(c, func(ctx context.Context, _ []string) (err error) {
		if quick {
			cfg.Quick(f.Changed)
		}
		if err := errors.Join(cfg.Validate(), o.validate()); err != nil {
			return usage(err)
		}
		if cfg.Program, err = os.Executable(); err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		cfg.Progress = a.benchProgress()
		return a.bench(ctx, cfg, o)
	})
}

// benchProgress tells on stderr what is being measured; nil for quiet runs.
func (a *app) benchProgress() func(what string) {
	if a.quiet {
		return nil
	}
	return func(what string) { fmt.Fprintf(a.Stderr, "bench: %s\n", what) }
}

// benchOutput says what becomes of a report besides being printed.
type benchOutput struct {
	out, ratios string
	store       bool
}

func (o *benchOutput) validate() error {
	if o.store && o.ratios == "" {
		return errors.New("store: want --ratios FILE, which is written")
	}
	return nil
}

func (a *app) bench(ctx context.Context, cfg bench.Config, o benchOutput) error {
	var stored bench.StoredRatios
	if o.ratios != "" && !o.store { // before minutes are spent
		var err error
		if stored, err = bench.ReadStored(o.ratios); err != nil {
			return err
		}
	}
	r, err := bench.Run(ctx, cfg)
	if err != nil || cfg.Profiles != "" {
		return err
	}
	if err := a.print(r, r.WriteText); err != nil {
		return err
	}
	if o.out != "" {
		if err := r.WriteFolder(o.out); err != nil {
			return err
		}
	}
	if o.store {
		return r.Stored().Write(o.ratios)
	}
	if lost := r.Guard(stored); len(lost) > 0 {
		return fmt.Errorf("below 0.9 times what is stored: %s", strings.Join(lost, "; "))
	}
	return nil
}

func (a *app) benchBuildCommand() *cobra.Command {
	cfg := bench.DefaultBuildConfig()
	var out string
	memory := size(cfg.Memory)
	c := &cobra.Command{
		Use:   "build",
		Short: "Measure builds beside compression alone",
		Long: "build makes synthetic catalogues and builds releases of them, and measures beside each build how long it\n" +
			"takes to compress the same fragments at the same level and do nothing else. Then 2 % of the titles change,\n" +
			"and the next build is measured beside the full one. It needs Linux.",
		Example: "  reelsplice bench build --sizes 1000,10000 --out report",
	}
	f := c.Flags()
	f.StringVar(&cfg.Dir, "dir", "", "work in `DIR`, on the disk that is to be measured; a temporary folder in it is removed at the end")
	f.Int64SliceVar(&cfg.Sizes, "sizes", cfg.Sizes, "numbers of movies of the catalogues")
	f.IntVar(&cfg.Rounds, "rounds", cfg.Rounds, "build and compress everything `N` times")
	f.Var(&memory, "memory", "--memory of the builds")
	f.BoolVar(&cfg.NoSeries, "no-series", false, "catalogues of movies and people only, which take half of the disk")
	f.StringVar(&out, "out", "", "write build.json, build.html and build.txt into `DIR` as well")
	return a.leaf(c, func(ctx context.Context, _ []string) (err error) {
		cfg.Memory = int64(memory)
		if err := cfg.Validate(); err != nil {
			return usage(err)
		}
		if cfg.Program, err = os.Executable(); err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		cfg.Progress = a.benchProgress()
		r, err := bench.RunBuild(ctx, cfg)
		if err != nil {
			return err
		}
		if err := a.print(r, r.WriteText); err != nil || out == "" {
			return err
		}
		return r.WriteFolder(out)
	})
}

// benchPeerCommand holds what bench starts for itself to compare with.
func (a *app) benchPeerCommand() *cobra.Command {
	peer := &cobra.Command{Use: "bench-peer", Short: "What bench compares with", Hidden: true}
	for _, p := range []struct {
		name, short string
		serve       func(ctx context.Context, file string) error
	}{
		{"constant", "Answer everything with the same bytes", func(ctx context.Context, file string) error {
			return bench.ServeConstant(ctx, file, a.Stdout)
		}},
		{"merge", "Decode, merge, encode and compress on each request", func(ctx context.Context, file string) error {
			return bench.ServeMerge(ctx, file, a.Stdout)
		}},
	} {
		c := &cobra.Command{Use: p.name + " --answer FILE", Short: p.short}
		var file string
		c.Flags().StringVar(&file, "answer", "", "`FILE` of what to answer")
		required(c, "answer")
		peer.AddCommand(a.leaf(c, func(ctx context.Context, _ []string) error { return p.serve(ctx, file) }))
	}
	var dir string
	var jobs int
	compress := &cobra.Command{Use: "compress --release DIR", Short: "Compress the fragments of a release once more, and nothing else"}
	compress.Flags().StringVar(&dir, "release", "", "`DIR` of the release")
	compress.Flags().IntVar(&jobs, "jobs", runtime.GOMAXPROCS(0), "threads that compress")
	required(compress, "release")
	peer.AddCommand(a.leaf(compress, func(ctx context.Context, _ []string) error { return bench.Compress(ctx, dir, jobs, a.Stdout) }))
	return peer
}
