package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"reelsplice/cmd/bench"
)

func (a *app) benchCommand() *cobra.Command {
	cfg := bench.DefaultConfig()
	var quick bool
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure the edge beside nginx, Varnish and others",
		Long: "bench makes a release of a synthetic dump, serves it, and puts load on the edge and on its peers in turn:\n" +
			"nginx with the finished answers as files, Varnish that composes them by ESI, a Go server that sends a\n" +
			"constant, and one that decodes, merges, encodes and compresses. Servers run on one core, the load (wrk) on\n" +
			"another; everything listens on 127.0.0.1. It prints medians and, beside each ratio, the goal.\n\n" +
			"It needs Linux, two cores and wrk. Peers that are not installed are left out and named; scripts/bench.sh\n" +
			"installs them.",
		Example: "  reelsplice bench\n  reelsplice bench --dir bench --out report",
	}
	f := c.Flags()
	f.StringVar(&cfg.Dir, "dir", "", "`DIR` whose release is measured, made when there is none, and kept; temporary when not given")
	f.Int64Var(&cfg.Movies, "movies", cfg.Movies, "make a release of `N` movies")
	f.IntVar(&cfg.Rounds, "rounds", cfg.Rounds, "measure everything `N` times")
	f.IntVar(&cfg.Seconds, "seconds", cfg.Seconds, "length of a round")
	f.IntSliceVar(&cfg.Connections, "connections", cfg.Connections, "numbers of connections of the cases")
	f.StringSliceVar(&cfg.Sections, "sections", cfg.Sections, "what to measure: "+strings.Join(bench.Sections(), ", "))
	f.BoolVar(&quick, "quick", false, "take less than three minutes: 32 connections, short rounds, no curves")
	f.IntVar(&cfg.ServerCore, "server-core", cfg.ServerCore, "core of the servers")
	f.IntVar(&cfg.LoadCore, "load-core", cfg.LoadCore, "core of the load")
	return a.leaf(c, func(ctx context.Context, _ []string) (err error) {
		if quick {
			cfg.Quick()
		}
		if err := cfg.Validate(); err != nil {
			return usage(err)
		}
		if cfg.Program, err = os.Executable(); err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		if !a.quiet {
			cfg.Progress = func(what string) { fmt.Fprintf(a.Stderr, "bench: %s\n", what) }
		}
		return a.bench(ctx, cfg)
	})
}

func (a *app) bench(ctx context.Context, cfg bench.Config) error {
	r, err := bench.Run(ctx, cfg)
	if err != nil {
		return err
	}
	return a.print(r, r.WriteText)
}

// benchPeerCommand holds the servers that bench starts for itself.
func (a *app) benchPeerCommand() *cobra.Command {
	peer := &cobra.Command{Use: "bench-peer", Short: "Servers that bench compares with", Hidden: true}
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
	return peer
}
