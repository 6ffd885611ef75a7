// Command bench measures the edge side by side with nginx that has the finished responses as
// files, and with the edge of another commit. It measures ingests and builds too.
// scripts/bench.sh builds the programs and runs it.
//
// All servers run as children on one core, the load on another. Each round asks all of
// them in turn, and every ratio is taken within a round before the median over the rounds
// is, so that a machine that slows down for a while slows both sides.
//
// The load generator saturates before a server does where responses are large. So the CPU
// time of a server for a request stands beside the requests per second.
//
// Package host runs and measures processes, report compares figures with their goals.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/cmd/bench/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(os.Stdout, os.Stderr).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func command(stdout, stderr io.Writer) *cobra.Command {
	cfg := DefaultConfig()
	var out string
	var quick bool
	c := &cobra.Command{
		Use: "bench --program FILE", Short: "Measure the edge, builds and ingests beside nginx and another commit",
		Long: "bench makes a release of a synthetic dump, serves it, and puts load on the edge and on its peers in turn.\n" +
			"Servers run on one core, the load (wrk) on another; everything listens on 127.0.0.1. It prints medians as\n" +
			"tables in Markdown and, beside each ratio, the goal. The exit code is 1 if the program is slower or larger\n" +
			"than the one of --before.\n\n" +
			"It needs Linux, two cores and wrk. Without nginx its rows are left out; scripts/bench.sh installs both.",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
	}
	f := c.Flags()
	f.StringVar(&cfg.Program, "program", "", "`FILE` of reelsplice, which is measured")
	f.StringVar(&cfg.Before, "before", "", "`FILE` of the reelsplice of another commit, measured in each round too")
	f.StringVar(&cfg.Dir, "dir", "", "work in `DIR`, on the disk that is to be measured; a temporary folder in it is removed at the end")
	f.Int64Var(&cfg.Movies, "movies", cfg.Movies, "make a release of `N` movies, with series in proportion")
	f.IntVar(&cfg.Rounds, "rounds", cfg.Rounds, "measure everything `N` times, builds half as often")
	f.IntVar(&cfg.Seconds, "seconds", cfg.Seconds, "length of a round")
	f.Int64Var(&cfg.Memory, "memory", cfg.Memory, "--memory of the builds, in `bytes`")
	f.StringSliceVar(&cfg.Sections, "sections", cfg.Sections, "what to measure: "+strings.Join(Sections(), ", "))
	f.BoolVar(&quick, "quick", false, "a small release and short rounds")
	f.StringVar(&out, "out", "", "write bench.json and bench.md into `DIR` as well")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if quick {
			cfg.quick(f.Changed)
		}
		cfg.Progress = func(what string) { fmt.Fprintln(stderr, "bench:", what) }
		r, err := Run(c.Context(), cfg)
		if err != nil {
			return err
		}
		if err := printReport(r, stdout, out); err != nil {
			return err
		}
		if short := r.ShortOfBefore(); len(short) > 0 {
			return fmt.Errorf("short of before: %s", strings.Join(short, ", "))
		}
		return nil
	}
	return c
}

// printReport prints a report and writes it into dir, unless that is "".
func printReport(r *report.Report, stdout io.Writer, dir string) error {
	var text bytes.Buffer
	r.WriteMarkdown(&text)
	if _, err := stdout.Write(text.Bytes()); err != nil || dir == "" {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make the folder of the report: %w", err)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "bench.json"), append(data, '\n'), 0o640),
		os.WriteFile(filepath.Join(dir, "bench.md"), text.Bytes(), 0o640),
	)
}
