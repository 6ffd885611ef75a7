package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
	"github.com/reelsplice/reelsplice/cmd/bench/report"
)

// The sections of a run.
const (
	SectionCases = "cases" // requests of one sort, again and again
	SectionMix   = "mix"   // what clients ask for, on a warm and on a cold cache
	SectionBuild = "build" // ingests, full builds, an incremental build
)

// Sections returns the names of all sections.
func Sections() []string { return []string{SectionCases, SectionMix, SectionBuild} }

// Config is what to measure, and how.
type Config struct {
	Program  string            // reelsplice, which makes the release and serves it
	Before   string            // reelsplice of another commit, measured in each round too; "" for none
	Dir      string            // where a temporary folder is made; "" for the system's
	Movies   int64             // of the dump; 10,000 by default
	Rounds   int               // 5 by default
	Seconds  int               // of load a round; 2 by default
	Memory   int64             // bytes that builds may use; 2 GiB by default
	Sections []string          // all by default
	Progress func(what string) // called with what is measured now
}

// DefaultConfig returns the defaults; the programs have none.
func DefaultConfig() Config {
	return Config{Movies: 10_000, Rounds: 5, Seconds: 2, Memory: 2 << 30, Sections: Sections()}
}

// quick makes a run short, except for what a flag has set.
func (c *Config) quick(isSet func(flag string) bool) {
	if !isSet("movies") {
		c.Movies = 2000
	}
	if !isSet("rounds") {
		c.Rounds = 3
	}
	if !isSet("seconds") {
		c.Seconds = 1
	}
}

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	if c.Program == "" {
		errs = append(errs, errors.New("program: want the FILE of reelsplice"))
	}
	for _, n := range []struct {
		name              string
		value, least, max int64
	}{
		{"movies", c.Movies, 100, 10_000_000},
		{"rounds", int64(c.Rounds), 1, 100},
		{"seconds", int64(c.Seconds), 1, 60},
		{"memory", c.Memory, 1, 1 << 40},
	} {
		if n.value < n.least || n.value > n.max {
			errs = append(errs, fmt.Errorf("%s %d: want %d to %d", n.name, n.value, n.least, n.max))
		}
	}
	for _, s := range c.Sections {
		if !slices.Contains(Sections(), s) {
			errs = append(errs, fmt.Errorf("section %q: want one of %s", s, strings.Join(Sections(), ", ")))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) has(section string) bool { return slices.Contains(c.Sections, section) }

func (c *Config) progress(format string, args ...any) { c.Progress(fmt.Sprintf(format, args...)) }

// bench is one run.
type bench struct {
	servers
	own, old               *maker // of cfg.Program and cfg.Before; old is nil without one
	movies                 []uint64
	edge, nginx            *server
	before                 *server // the edge of cfg.Before; nil without
	wrk                    wrk
	report                 *report.Report
	detail, five, filtered asked
}

// Run measures what cfg asks for. It ends all that it started, whatever happens.
func Run(ctx context.Context, cfg Config) (r *report.Report, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b := &bench{servers: servers{cfg: cfg, client: newClient()}, report: report.New(cfg.Rounds, cfg.Seconds, connections, time.Now())}
	b.report.Builds.Memory = cfg.Memory
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	for _, section := range []struct {
		name string
		run  func(context.Context) error
	}{
		{SectionCases, b.cases},
		{SectionMix, b.mix},
		{SectionBuild, b.incremental},
	} {
		if !cfg.has(section.name) {
			continue
		}
		if err := section.run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", section.name, err)
		}
	}
	b.report.Finish(time.Now())
	return b.report, nil
}

// prepare finds the programs, makes the releases, serves them and chooses what to ask for.
func (b *bench) prepare(ctx context.Context) (err error) {
	for _, p := range []*string{&b.cfg.Program, &b.cfg.Before} {
		if *p == "" {
			continue
		}
		if *p, err = filepath.Abs(*p); err != nil { // children run elsewhere
			return err
		}
	}
	if b.tools, err = host.FindTools(); err != nil {
		return err
	}
	if err := host.RaiseLimits(); err != nil {
		return err
	}
	if b.tmp, err = os.MkdirTemp(b.cfg.Dir, "reelsplice-bench-"); err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	if b.tmp, err = filepath.Abs(b.tmp); err != nil {
		return err
	}
	if err := b.makeReleases(ctx); err != nil {
		return err
	}
	if !slices.ContainsFunc(Sections()[:2], b.cfg.has) {
		return nil
	}
	return b.serve(ctx)
}

// serve starts the edges and nginx and chooses the responses that the cases are about.
func (b *bench) serve(ctx context.Context) (err error) {
	if b.wrk, err = newWrk(b.tools, b.tmp); err != nil {
		return err
	}
	if b.edge, err = b.startEdge(ctx, report.Edge, b.own); err != nil {
		return err
	}
	if b.old != nil {
		if b.before, err = b.startEdge(ctx, report.Before, b.old); err != nil {
			return err
		}
	}
	if err := b.chooseResponses(ctx); err != nil {
		return fmt.Errorf("choose the responses: %w", err)
	}
	if b.tools.Nginx == "" {
		b.report.Note("nginx is not installed: left out")
		return nil
	}
	for _, a := range []*asked{&b.detail, &b.five, &b.filtered} {
		if err := b.writeFinished(a.file, a.response); err != nil {
			return fmt.Errorf("write what nginx serves: %w", err)
		}
	}
	b.nginx, err = b.startNginx(ctx)
	return err
}

// close ends the servers and removes the temporary folder.
func (b *bench) close() error {
	b.stopAll()
	b.client.CloseIdleConnections()
	if b.tmp == "" {
		return nil
	}
	return os.RemoveAll(b.tmp)
}
