//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	realMovies  = 1240 // the real catalogue has 229 series for 1,240 movies
	realSeries  = 229
	changeStep  = 50 // every 50th title changes: 2 %
	buildMemory = 2 << 30
)

// A maker makes releases with one program.
type maker struct {
	name, program             string // name of its server
	catalog, releases, tokens string
	token                     string
	rounds                    []costs // one ingest, full build and incremental build each
}

// makeReleases makes the dump and a release of it with each program, several times if builds are measured. Odd rounds
// begin with the other program.
func (b *bench) makeReleases(ctx context.Context) error {
	for _, p := range []struct{ name, program string }{{edge, b.program}, {before, b.before}} {
		if p.program == "" {
			continue
		}
		program, err := filepath.Abs(p.program) // children run in other working directories
		if err != nil {
			return err
		}
		m := &maker{
			name: p.name, program: program,
			catalog: b.file(p.name, "catalog"), releases: b.file(p.name, "releases"), tokens: b.file(p.name, "tokens.txt"),
		}
		if err := os.Mkdir(b.file(p.name), 0o750); err != nil {
			return err
		}
		token, _, err := run(ctx, program, "token", "issue", "--tokens", m.tokens, "--name", "bench")
		if err != nil {
			return err
		}
		m.token = string(bytes.TrimSpace(token))
		b.makers = append(b.makers, m)
	}
	b.progress("gen: %d movies", b.movies)
	if _, _, err := run(ctx, b.makers[0].program, "gen", "--quiet", "--out", b.file("dump"),
		"--movies", strconv.FormatInt(b.movies, 10), "--tv", strconv.FormatInt(b.movies*realSeries/realMovies, 10)); err != nil {
		return err
	}
	rounds := 1
	if b.includes("build") {
		rounds = (b.rounds + 2) / 3
	}
	for round := range rounds {
		b.progress("ingest and build: round %d of %d", round+1, rounds)
		for i := range b.makers {
			if err := b.makers[(i+round)%len(b.makers)].full(ctx, b.file("dump")); err != nil {
				return err
			}
		}
	}
	return nil
}

// full makes a release without a previous one.
func (m *maker) full(ctx context.Context, dump string) error {
	if err := errors.Join(os.RemoveAll(m.catalog), os.RemoveAll(m.releases)); err != nil {
		return err
	}
	var c costs
	if err := m.ingest(ctx, &c, dump); err != nil {
		return err
	}
	if _, err := m.build(ctx, &c, fullTime, "--previous", "none", "--publish"); err != nil {
		return err
	}
	err := filepath.WalkDir(m.releases, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			c[releaseSize] += float64(info.Size()) / mebi
		}
		return err
	})
	m.rounds = append(m.rounds, c)
	return err
}

// ingest reads a dump into the catalogue.
func (m *maker) ingest(ctx context.Context, c *costs, dump string) error {
	_, err := c.run(ctx, ingestTime, m.program, "ingest", "--quiet", "--catalog", m.catalog, dump)
	return err
}

// build builds a release and returns its id.
func (m *maker) build(ctx context.Context, c *costs, column int, flags ...string) (id string, err error) {
	out, err := c.run(ctx, column, append([]string{
		m.program, "build", "--json", "--quiet", "--catalog", m.catalog, "--releases", m.releases, "--memory", strconv.Itoa(buildMemory),
	}, flags...)...)
	if err != nil {
		return "", err
	}
	var report struct {
		Release   string
		Unchanged bool
	}
	if err = json.Unmarshal(out, &report); err == nil && report.Unchanged {
		err = errors.New("the build found no differences")
	}
	return report.Release, err
}

// run runs a child and records its time, CPU time and peak memory, mapped files included, in c[column:].
func (c *costs) run(ctx context.Context, column int, args ...string) ([]byte, error) {
	begin := time.Now()
	stdout, state, err := run(ctx, args...)
	if err != nil {
		return nil, err
	}
	c[column], c[column+1] = time.Since(begin).Seconds(), (state.UserTime() + state.SystemTime()).Seconds()
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		c[column+2] = float64(u.Maxrss<<10) / mebi
	}
	return stdout, nil
}

// incremental changes 2 % of the titles and measures one incremental build per round. It removes each new release, so
// that the next build does the same work.
func (b *bench) incremental(ctx context.Context) error {
	b.progress("incremental build")
	changes := b.file("changes")
	if err := os.Mkdir(changes, 0o750); err != nil {
		return err
	}
	for _, name := range []string{"movies.ndjson", "tv.ndjson"} {
		if err := changeFile(b.file("dump", name+".zst"), filepath.Join(changes, name)); err != nil {
			return fmt.Errorf("change titles: %w", err)
		}
	}
	for _, m := range b.makers {
		if err := m.ingest(ctx, new(costs), changes); err != nil {
			return err
		}
	}
	for round := range b.makers[0].rounds {
		for i := range b.makers {
			m := b.makers[(i+round)%len(b.makers)]
			id, err := m.build(ctx, &m.rounds[round], incrementalTime, "--previous", "current")
			if err != nil {
				return err
			}
			if err := os.RemoveAll(filepath.Join(m.releases, id)); err != nil {
				return err
			}
		}
	}
	return nil
}

func changeFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := zstd.NewReader(in)
	if err != nil {
		return err
	}
	defer z.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(changeRows(z, out), out.Close())
}

// changeRows copies every changeStep-th row with the most common change: overview and vote count.
func changeRows(in io.Reader, out io.Writer) error {
	rows := bufio.NewScanner(in)
	rows.Buffer(nil, 256<<20)
	for i := 0; rows.Scan(); i++ {
		if i%changeStep != 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(rows.Bytes()))
		d.UseNumber()
		var title map[string]any
		if err := d.Decode(&title); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		overview, _ := title["overview"].(string)
		title["overview"] = overview + " Revised."
		if votes, ok := title["vote_count"].(json.Number); ok {
			n, _ := votes.Int64()
			title["vote_count"] = n + 1
		}
		if err := json.NewEncoder(out).Encode(title); err != nil {
			return err
		}
	}
	return rows.Err()
}
