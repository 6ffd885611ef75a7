//go:build linux

// Command bench compares the edge with nginx, which serves the finished responses from files, and with the edge of
// another commit. It measures ingests and builds too. scripts/bench.sh builds the programs and runs it.
//
// All servers run as children on one core, the load on another. Each round restarts all of them and sends requests
// to them in turn. Ratios are taken within a round, so that a temporary slowdown of the machine affects both sides; the
// report has their median over the rounds, its interval, and a verdict if the interval excludes 1.
//
// For large responses, the load generator saturates before a server does. So the report has CPU time per request as
// well as requests per second.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
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

// sections are the parts of a run: single types of requests, a mix of them, TLS, cold files, ingests and builds.
var sections = []string{"cases", "mix", "tls", "cold", "build"}

// A config selects what to measure, and for how long.
type config struct {
	program, before string // reelsplice; another commit's, or ""
	movies          int64
	rounds, seconds int
	sections        []string
}

func (c *config) validate() error {
	switch {
	case c.program == "":
		return errors.New("program: want the FILE of reelsplice")
	case c.movies < 100 || c.rounds < 1 || c.seconds < 1:
		return fmt.Errorf("movies %d, rounds %d, seconds %d: want at least 100, 1 and 1", c.movies, c.rounds, c.seconds)
	}
	for _, s := range c.sections {
		if !slices.Contains(sections, s) {
			return fmt.Errorf("section %q: want one of %s", s, strings.Join(sections, ", "))
		}
	}
	return nil
}

func (c *config) includes(section string) bool { return slices.Contains(c.sections, section) }

func command(stdout, stderr io.Writer) *cobra.Command {
	var cfg config
	var quick bool
	c := &cobra.Command{
		Use: "bench --program FILE", Short: "Compare the edge, builds and ingests with nginx and another commit",
		Long: "bench builds a release of a synthetic dump, serves it, and measures the edge and its peers in turn.\n" +
			"Servers run on one core, the load generator wrk on another; all listen on 127.0.0.1. It prints medians as\n" +
			"tables in Markdown. The exit code is 1 if the program is slower, or its output larger, than with --before.\n\n" +
			"It needs Linux, two cores and wrk, and writes below TMPDIR. The comparison with nginx needs nginx;\n" +
			"scripts/bench.sh installs both.",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
	}
	f := c.Flags()
	f.StringVar(&cfg.program, "program", "", "`FILE` of the reelsplice to measure")
	f.StringVar(&cfg.before, "before", "", "`FILE` of another commit's reelsplice to compare with")
	f.Int64Var(&cfg.movies, "movies", 10_000, "make a release of `N` movies, with series in proportion")
	f.IntVar(&cfg.rounds, "rounds", 15, "restart the servers and measure `N` times, builds a third as often")
	f.IntVar(&cfg.seconds, "seconds", 1, "duration of a load in seconds")
	f.StringSliceVar(&cfg.sections, "sections", sections, "what to measure: "+strings.Join(sections, ", "))
	f.BoolVar(&quick, "quick", false, "2,000 movies and 5 rounds, unless other flags are given")
	c.RunE = func(c *cobra.Command, _ []string) error {
		for name, value := range map[string]string{"movies": "2000", "rounds": "5"} {
			if quick && !f.Changed(name) {
				_ = f.Set(name, value) // always valid
			}
		}
		if err := cfg.validate(); err != nil {
			return err
		}
		b := &bench{config: cfg, log: stderr, client: &http.Client{Timeout: patience, Transport: &http.Transport{
			DisableCompression: true, MaxIdleConnsPerHost: coldClients, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // on 127.0.0.1
		}}}
		worse, err := b.run(c.Context(), stdout)
		if err == nil && len(worse) > 0 {
			err = fmt.Errorf("worse than before: %s", strings.Join(worse, ", "))
		}
		return err
	}
	return c
}

// A bench is one run.
type bench struct {
	config
	log        io.Writer
	client     *http.Client
	wrk        wrk
	core       int    // core of the servers
	dir        string // temporary folder
	makers     []*maker
	servers    []*server         // running servers: the edge, then the earlier one and nginx, if present
	ids        []uint64          // movie ids, the most popular first
	nginxFiles map[string]string // from paths at the edge to files of nginx with the same response
	measures   []*measure
}

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(b.log, "bench: "+format+"\n", args...)
}

// run measures, prints the tables and returns the costs that are worse than before. It stops every process it started.
func (b *bench) run(ctx context.Context, stdout io.Writer) (worse []string, err error) {
	if b.wrk.program, _ = exec.LookPath("wrk"); b.wrk.program == "" {
		return nil, errors.New("wrk, the load generator, is not installed: install it (apt-get install wrk), or run scripts/bench.sh, which does")
	}
	if b.core, b.wrk.core, err = twoCores(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "reelsplice-bench-"); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() {
		b.stopAll()
		err = errors.Join(err, os.RemoveAll(b.dir))
	}()
	if err := b.makeReleases(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(stdout, "%s\n\n%d movies, %d connections, medians of %d starts, loads of %d s\n", machine(), b.movies, connections, b.rounds, b.seconds)
	for _, s := range []struct {
		sections []string
		secure   bool
	}{{[]string{"cases", "mix"}, false}, {[]string{"tls"}, true}} {
		if slices.ContainsFunc(s.sections, b.includes) {
			if err := b.measureServers(ctx, stdout, s.secure); err != nil {
				return nil, err
			}
		}
	}
	if len(b.measures) > 0 {
		worse = writeServers(stdout, b.measures)
	}
	if b.includes("cold") {
		if err := b.cold(ctx, stdout); err != nil {
			return nil, err
		}
	}
	if b.includes("build") {
		if err := b.incremental(ctx); err != nil {
			return nil, err
		}
		worse = append(worse, writeBuilds(stdout, b.makers)...)
	}
	return worse, nil
}

// measureServers starts the servers (over TLS if secure), stores the responses for nginx and puts load on all.
func (b *bench) measureServers(ctx context.Context, stdout io.Writer, secure bool) error {
	defer b.stopAll()
	b.wrk.dir = b.dir
	err := errors.Join(
		os.WriteFile(b.file("result.lua"), []byte(resultScript), 0o600),
		os.WriteFile(b.file("mix.lua"), []byte(mixScript+resultScript), 0o600),
	)
	if err != nil {
		return err
	}
	if err := b.startServers(ctx, stdout, secure); err != nil {
		return err
	}
	if secure || b.includes("cases") {
		list, err := b.cases(ctx, stdout, secure)
		if err != nil {
			return err
		}
		if err := b.measure(ctx, list...); err != nil {
			return err
		}
	}
	if secure || !b.includes("mix") {
		return nil
	}
	mix, err := b.mix(ctx)
	if err != nil {
		return err
	}
	return b.measure(ctx, mix)
}

// file returns a path in the temporary folder.
func (b *bench) file(elem ...string) string {
	return filepath.Join(append([]string{b.dir}, elem...)...)
}
