package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"reelsplice/cmd/bench/host"
	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
)

// bench is one run.
type bench struct {
	servers
	dir                string // where the release is made or found
	resultLua, mixLua  string // scripts of wrk
	movies             []uint64
	edge, nginx        *server
	before             *server // the edge of cfg.Before; nil without
	report             *report.Report
	detail, fiveAnswer subject
}

// Run measures what cfg asks for. It ends all that it started, whatever happens.
func Run(ctx context.Context, cfg Config) (r *report.Report, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b := &bench{servers: servers{cfg: cfg, client: peer.NewClient()}, report: report.New(cfg.Rounds, cfg.Seconds, time.Now())}
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
		{SectionCurves, b.curves},
		{SectionMemory, b.memory},
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

// prepare finds the programs, the release, and what to ask for.
func (b *bench) prepare(ctx context.Context) (err error) {
	if b.tools, err = host.FindTools(); err != nil {
		return err
	}
	b.report.Missing = b.tools.Missing()
	b.report.Versions = b.tools.Versions(ctx)
	if err := host.RaiseLimits(); err != nil {
		return err
	}
	if err := b.makeFolders(); err != nil {
		return err
	}
	if err := makeRelease(ctx, b); err != nil {
		return err
	}
	if b.edge, err = b.startEdge(ctx); err != nil {
		return err
	}
	if b.cfg.Before != "" {
		if b.before, err = b.startBefore(ctx); err != nil {
			return err
		}
	}
	if err := b.chooseAnswers(ctx); err != nil {
		return fmt.Errorf("choose the answers: %w", err)
	}
	return b.serveFinished(ctx, &b.detail, &b.fiveAnswer)
}

// makeFolders makes the folders of this run and puts the scripts there. With a folder
// that is kept, what is temporary lies in it too: on the same disk.
func (b *bench) makeFolders() (err error) {
	if b.cfg.Dir != "" {
		if b.dir, err = filepath.Abs(b.cfg.Dir); err != nil {
			return err
		}
		if err := os.MkdirAll(b.dir, 0o750); err != nil {
			return fmt.Errorf("make the folder of the release: %w", err)
		}
	}
	if b.tmp, err = os.MkdirTemp(b.dir, "reelsplice-bench-"); err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	if b.dir == "" {
		b.dir = b.tmp
	}
	b.releases, b.tokens = filepath.Join(b.dir, "releases"), filepath.Join(b.tmp, "tokens.txt")
	b.beforeReleases = filepath.Join(b.dir, "releases-before")
	b.resultLua, b.mixLua = filepath.Join(b.tmp, "result.lua"), filepath.Join(b.tmp, "mix.lua")
	return errors.Join(
		os.WriteFile(b.resultLua, []byte(resultScript), 0o600),
		os.WriteFile(b.mixLua, []byte(mixScript+resultScript), 0o600),
	)
}

// chooseAnswers finds the answers that the cases are about.
func (b *bench) chooseAnswers(ctx context.Context) (err error) {
	b.cfg.progress("choosing answers")
	if b.movies, err = popular(b.releases, "movie"); err != nil {
		return err
	}
	path, err := nearest(ctx, b, "", detailGzip, 0)
	if err != nil {
		return err
	}
	if b.detail, err = b.ask(ctx, report.Detail, path); err != nil {
		return err
	}
	if path, err = nearest(ctx, b, "?"+five, fiveGzip, fiveRaw); err != nil {
		return err
	}
	if b.fiveAnswer, err = b.ask(ctx, report.Five, path); err != nil {
		return err
	}
	b.report.Subjects = append(b.report.Subjects, b.detail.Subject, b.fiveAnswer.Subject)
	b.report.Release.ID, b.report.Release.Movies = b.detail.answer.Header.Get("X-Reelsplice-Release"), len(b.movies)
	return nil
}

// close ends the servers, the last one first, and removes the temporary folder.
func (v *servers) close() error {
	for _, s := range slices.Backward(v.running) {
		s.Stop()
	}
	v.client.Close()
	if v.tmp == "" {
		return nil
	}
	return os.RemoveAll(v.tmp)
}

// command is a child's command line, without what this process has in its environment
// for itself.
func (v *servers) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = v.tmp, host.Env(os.Environ())
	return cmd
}

// header returns the header lines of a request for gzip; the first one alone is that of
// a request for identity.
func (v *servers) header() []string {
	return []string{"Authorization: Bearer " + v.token, "Accept-Encoding: gzip"}
}
