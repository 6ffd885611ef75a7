package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
	"github.com/reelsplice/reelsplice/cmd/bench/report"
)

// Series per movie of the dump, as in the real catalogue.
const (
	realMovies = 1240
	realSeries = 229
)

// A maker makes releases by one program.
type maker struct {
	program                   string
	catalog, releases, tokens string
	token                     string
	memory                    int64
}

// newMaker returns a maker in a folder named like the server, with a token.
func (b *bench) newMaker(ctx context.Context, name, program string) (*maker, error) {
	dir := filepath.Join(b.tmp, name)
	m := &maker{
		program: program, memory: b.cfg.Memory,
		catalog: filepath.Join(dir, "catalog"), releases: filepath.Join(dir, "releases"), tokens: filepath.Join(dir, "tokens.txt"),
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	out, _, err := host.Run(ctx, "token issue", program, "token", "issue", "--tokens", m.tokens, "--name", "bench")
	m.token = strings.TrimSpace(string(out))
	return m, err
}

// dump is the folder of the synthetic dump.
func (b *bench) dump() string { return filepath.Join(b.tmp, "dump") }

// makeReleases makes the dump and from it a release by each program: several times if builds are measured.
func (b *bench) makeReleases(ctx context.Context) (err error) {
	if b.own, err = b.newMaker(ctx, report.Edge, b.cfg.Program); err != nil {
		return err
	}
	if b.cfg.Before != "" {
		if b.old, err = b.newMaker(ctx, report.Before, b.cfg.Before); err != nil {
			return err
		}
	}
	b.cfg.progress("gen: %d movies", b.cfg.Movies)
	if _, _, err := host.Run(ctx, "gen", b.cfg.Program, "gen", "--quiet", "--out", b.dump(),
		"--movies", strconv.FormatInt(b.cfg.Movies, 10), "--tv", strconv.FormatInt(b.cfg.Movies*realSeries/realMovies, 10)); err != nil {
		return err
	}
	if !b.cfg.has(SectionBuild) {
		_, err := b.buildRound(ctx, 0)
		return err
	}
	for round := range (b.cfg.Rounds + 1) / 2 {
		b.cfg.progress("ingest and build: round %d of %d", round+1, (b.cfg.Rounds+1)/2)
		r, err := b.buildRound(ctx, round)
		if err != nil {
			return err
		}
		b.report.Builds.Rounds = append(b.report.Builds.Rounds, r)
	}
	return nil
}

// buildRound makes a release by each program from nothing. Odd rounds begin with the other one.
func (b *bench) buildRound(ctx context.Context, round int) (r report.BuildRound, err error) {
	makers, made := []*maker{b.own, b.old}, []*report.Made{&r.Own, &r.Before}
	for i := range makers {
		i = (i + round) % len(makers)
		if makers[i] == nil {
			continue
		}
		if *made[i], err = makers[i].full(ctx, b.dump()); err != nil {
			return r, err
		}
	}
	return r, nil
}

// full makes a release that follows none.
func (m *maker) full(ctx context.Context, dump string) (r report.Made, err error) {
	if err := errors.Join(os.RemoveAll(m.catalog), os.RemoveAll(m.releases)); err != nil {
		return r, err
	}
	if r.Ingest, err = m.ingest(ctx, dump); err != nil {
		return r, err
	}
	if r.Build, r.Release, err = m.build(ctx, "none"); err != nil {
		return r, err
	}
	r.Bytes, err = folderBytes(filepath.Join(m.releases, r.Release))
	return r, err
}

// ingest reads a dump into the catalogue.
func (m *maker) ingest(ctx context.Context, dump string) (host.Cost, error) {
	_, c, err := host.Run(ctx, "ingest", m.program, "ingest", "--quiet", "--catalog", m.catalog, dump)
	return c, err
}

// build builds and publishes a release that follows the previous one: current or none.
func (m *maker) build(ctx context.Context, previous string) (c host.Cost, id string, err error) {
	out, c, err := host.Run(ctx, "build", m.program, "build", "--json", "--quiet", "--publish", "--catalog", m.catalog,
		"--releases", m.releases, "--previous", previous, "--memory", strconv.FormatInt(m.memory, 10))
	if err != nil {
		return c, "", err
	}
	var r struct {
		Release   string `json:"release"`
		Unchanged bool   `json:"unchanged"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return c, "", fmt.Errorf("read the report of the build: %w", err)
	}
	if r.Unchanged {
		return c, "", errors.New("the build found no differences")
	}
	return c, r.Release, nil
}

// folderBytes returns the bytes of the files in a folder.
func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// incremental changes 2 % of the titles and builds upon the release of the last round.
func (b *bench) incremental(ctx context.Context) error {
	b.stopAll()
	b.cfg.progress("incremental build")
	changes := filepath.Join(b.tmp, "changes")
	if err := changeTitles(b.dump(), changes); err != nil {
		return err
	}
	if _, err := b.own.ingest(ctx, changes); err != nil {
		return err
	}
	var err error
	b.report.Builds.Incremental, _, err = b.own.build(ctx, "current")
	return err
}
