// Command bench measures the edge side by side with what else could respond: nginx with the
// finished responses as files, Varnish that composes the same parts, a Go server that sends
// a constant, one that decodes, merges, encodes and compresses, and the edge of another
// commit. "bench build" measures builds. scripts/bench.sh builds the programs and runs it.
//
// All servers run as children on one core, the load on another. Each round asks all of
// them in turn, and every ratio is taken within a round before the median over the rounds
// is, so that a machine that slows down for a while slows both sides.
//
// The load generator saturates before a server does where responses are large. So the CPU
// time of a server for a request stands beside the requests per second.
//
// Package host runs and measures processes, peer has the servers to compare with, report
// the tables and their goals.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"reelsplice/cmd/bench/peer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := edgeCommand(os.Stdout, os.Stderr).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// options are the flags that both benchmarks have.
type options struct {
	out         string
	json, quiet bool
	stdout      io.Writer
	stderr      io.Writer
}

func (o *options) flags(c *cobra.Command, files string) {
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "write "+files+" into `DIR` as well")
	f.BoolVar(&o.json, "json", false, "print the report as JSON")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on stderr")
}

// progress prints to stderr what is measured now.
func (o *options) progress(what string) {
	if !o.quiet {
		fmt.Fprintln(o.stderr, "bench:", what)
	}
}

// print prints a report, and writes it into the folder of --out.
func (o *options) print(r interface {
	WriteText(w io.Writer)
	WriteFolder(dir string) error
},
) error {
	var b bytes.Buffer
	if r.WriteText(&b); o.json {
		b.Reset()
		if err := json.NewEncoder(&b).Encode(r); err != nil {
			return err
		}
	}
	if _, err := o.stdout.Write(b.Bytes()); err != nil || o.out == "" {
		return err
	}
	return r.WriteFolder(o.out)
}

// programs makes the paths of programs absolute, since children run elsewhere, and returns
// that of this one.
func programs(paths ...*string) (self string, err error) {
	for _, p := range paths {
		if *p != "" && err == nil {
			*p, err = filepath.Abs(*p)
		}
	}
	if err == nil {
		self, err = os.Executable()
	}
	return self, err
}

func edgeCommand(stdout, stderr io.Writer) *cobra.Command {
	cfg := DefaultConfig()
	o := options{stdout: stdout, stderr: stderr}
	var quick bool
	c := &cobra.Command{
		Use: "bench --program FILE", Short: "Measure the edge beside nginx, Varnish and others",
		Long: "bench makes a release of a synthetic dump, serves it, and puts load on the edge and on its peers in turn:\n" +
			"nginx with the finished responses as files, Varnish that composes them by ESI, a Go server that sends a\n" +
			"constant, and one that decodes, merges, encodes and compresses. Servers run on one core, the load (wrk) on\n" +
			"another; everything listens on 127.0.0.1. It prints medians and, beside each ratio, the goal.\n\n" +
			"It needs Linux, two cores and wrk. Missing peers are left out and named; scripts/bench.sh installs them.\n" +
			"\"bench build\" measures builds.",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
	}
	f := c.Flags()
	f.StringVar(&cfg.Program, "program", "", "`FILE` of reelsplice, which is measured")
	f.StringVar(&cfg.Before, "before", "", "`FILE` of the reelsplice of another commit, measured beside in each round")
	f.StringVar(&cfg.Dir, "dir", "", "`DIR` whose release is measured, made when there is none, and kept; temporary when not given")
	f.Int64Var(&cfg.Movies, "movies", cfg.Movies, "make a release of `N` movies")
	f.IntVar(&cfg.Rounds, "rounds", cfg.Rounds, "measure everything `N` times")
	f.IntVar(&cfg.Seconds, "seconds", cfg.Seconds, "length of a round")
	f.IntSliceVar(&cfg.Connections, "connections", cfg.Connections, "numbers of connections of the cases")
	f.StringSliceVar(&cfg.Sections, "sections", cfg.Sections, "what to measure: "+strings.Join(Sections(), ", "))
	f.BoolVar(&quick, "quick", false, "take less than three minutes: a small release, 32 connections, short rounds, no curves")
	f.IntVar(&cfg.ServerCore, "server-core", cfg.ServerCore, "core of the servers")
	f.IntVar(&cfg.LoadCore, "load-core", cfg.LoadCore, "core of the load")
	o.flags(c, "bench.json and table.txt")
	c.AddCommand(buildCommand(&o), peerCommand(stdout))
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if quick {
			cfg.Quick(f.Changed)
		}
		if cfg.Self, err = programs(&cfg.Program, &cfg.Before); err != nil {
			return err
		}
		cfg.Progress = o.progress
		r, err := Run(c.Context(), cfg)
		if err != nil {
			return err
		}
		if err := o.print(r); err != nil {
			return err
		}
		if slower := r.Slower(); len(slower) > 0 {
			return fmt.Errorf("slower than before: %s", strings.Join(slower, ", "))
		}
		return nil
	}
	return c
}

func buildCommand(shared *options) *cobra.Command {
	cfg, o := DefaultBuildConfig(), *shared
	c := &cobra.Command{
		Use: "build --program FILE", Short: "Measure builds beside compression alone",
		Long: "build makes synthetic catalogues and measures full builds of them: CPU time beside that of compressing the\n" +
			"same segments and nothing else, memory, bytes, and how busy they keep two cores. Then 2 % of the titles change, and an incremental build is measured beside the full one.\n" +
			"It needs Linux.",
		Args: cobra.NoArgs,
	}
	f := c.Flags()
	f.StringVar(&cfg.Program, "program", "", "`FILE` of reelsplice, which is measured")
	f.StringVar(&cfg.Before, "before", "", "`FILE` of the reelsplice of another commit, which builds in each round too")
	f.StringVar(&cfg.Dir, "dir", "", "work in `DIR`, on the disk that is to be measured; a temporary folder in it is removed at the end")
	f.Int64SliceVar(&cfg.Sizes, "sizes", cfg.Sizes, "numbers of movies of the catalogues")
	f.IntVar(&cfg.Rounds, "rounds", cfg.Rounds, "build everything `N` times")
	f.Int64Var(&cfg.Memory, "memory", cfg.Memory, "--memory of the builds, in `bytes`")
	f.BoolVar(&cfg.NoSeries, "no-series", false, "catalogues of movies and people only, which take half of the disk")
	o.flags(c, "build.json and build.txt")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if cfg.Self, err = programs(&cfg.Program, &cfg.Before); err != nil {
			return err
		}
		cfg.Progress = o.progress
		r, err := RunBuild(c.Context(), cfg)
		if err != nil {
			return err
		}
		return o.print(r)
	}
	return c
}

// peerCommand holds the children that bench compares with.
func peerCommand(stdout io.Writer) *cobra.Command {
	c := &cobra.Command{Use: "peer", Short: "What bench compares with", Hidden: true}
	var file, dir string
	var jobs int
	for name, serve := range map[string]func(ctx context.Context, file string, out io.Writer) error{
		"constant": peer.ServeConstant, "merge": peer.ServeMerge,
	} {
		s := &cobra.Command{Use: name, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			return serve(c.Context(), file, stdout)
		}}
		s.Flags().StringVar(&file, "answer", "", "`FILE` of the response")
		c.AddCommand(s)
	}
	compress := &cobra.Command{Use: "compress", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		return peer.Compress(c.Context(), dir, jobs, stdout)
	}}
	compress.Flags().StringVar(&dir, "release", "", "`DIR` of the release")
	compress.Flags().IntVar(&jobs, "jobs", 1, "threads that compress")
	c.AddCommand(compress)
	return c
}
