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
	"time"

	"reelsplice/cmd/bench/host"
	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
)

// BuildConfig says which builds to measure and how.
type BuildConfig struct {
	Program string  // reelsplice
	Self    string  // this program, which compresses
	Before  string  // reelsplice of another commit, measured in each round beside; "" for none
	Dir     string  // where a temporary folder is made; "" for the system's
	Sizes   []int64 // numbers of movies; 1,000 and 5,000 by default
	Rounds  int     // 3 by default
	Memory  int64   // bytes that builds may use; 2 GiB by default
	// NoSeries makes catalogues without series, which take half of the disk.
	NoSeries bool
	// Progress is told what is being done; nil for nobody.
	Progress func(what string)
}

// DefaultBuildConfig returns the defaults; Program has none.
func DefaultBuildConfig() BuildConfig {
	return BuildConfig{Sizes: []int64{1000, 5000}, Rounds: 3, Memory: 2 << 30}
}

// Validate reports everything that is wrong with c.
func (c *BuildConfig) Validate() error {
	var errs []error
	if c.Program == "" {
		errs = append(errs, errors.New("program: want the FILE of reelsplice"))
	}
	if len(c.Sizes) == 0 {
		errs = append(errs, errors.New("sizes: want at least one number of movies"))
	}
	for _, n := range c.Sizes {
		if n < 100 {
			errs = append(errs, fmt.Errorf("size %d: want 100 movies or more", n))
		}
	}
	if c.Rounds < 1 || c.Rounds > 100 {
		errs = append(errs, fmt.Errorf("rounds %d: want 1 to 100", c.Rounds))
	}
	if c.Memory < 1 {
		errs = append(errs, fmt.Errorf("memory %d: want a number of bytes", c.Memory))
	}
	return errors.Join(errs...)
}

func (c *BuildConfig) progress(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}

// Series per movie of the catalogues, as in the real one.
const (
	realMovies = 1240
	realSeries = 229
)

// RunBuild measures builds. It removes all that it made.
func RunBuild(ctx context.Context, cfg BuildConfig) (r *report.BuildReport, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(cfg.Dir, "reelsplice-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r = report.NewBuild(cfg.Rounds, cfg.Memory, time.Now())
	for _, movies := range cfg.Sizes {
		m, err := measureBuild(ctx, &cfg, filepath.Join(dir, strconv.FormatInt(movies, 10)), movies)
		if err != nil {
			return nil, fmt.Errorf("%d movies: %w", movies, err)
		}
		r.Builds = append(r.Builds, m)
	}
	r.Finish(time.Now())
	return r, nil
}

// A buildBench measures builds of one size.
type buildBench struct {
	*BuildConfig
	program                 string // Program or Before
	dump, catalog, releases string
	movies                  int64
}

// measureBuild measures builds of one size in dir, which it removes.
func measureBuild(ctx context.Context, cfg *BuildConfig, dir string, movies int64) (report.BuildMeasure, error) {
	b := &buildBench{cfg, cfg.Program, filepath.Join(dir, "dump"), filepath.Join(dir, "catalog"), filepath.Join(dir, "releases"), movies}
	before := *b
	before.program, before.catalog, before.releases = cfg.Before, b.catalog+"-before", b.releases+"-before"
	m := report.BuildMeasure{Movies: movies}
	if !cfg.NoSeries {
		m.Series = movies * realSeries / realMovies
	}
	if err := b.prepare(ctx, m.Series); err != nil {
		return m, err
	}
	if cfg.Before != "" {
		if err := before.ingest(ctx, b.dump); err != nil {
			return m, err
		}
	}
	for round := range b.Rounds {
		b.progress("%d movies: round %d of %d", movies, round+1, b.Rounds)
		one, err := b.round(ctx, &m)
		if err != nil {
			return m, err
		}
		if cfg.Before != "" {
			if one.Before, _, err = before.full(ctx); err != nil {
				return m, fmt.Errorf("%s: %w", cfg.Before, err)
			}
		}
		m.Rounds = append(m.Rounds, one)
	}
	m.Summarize()
	b.progress("%d movies: incremental build", movies)
	if err := b.incremental(ctx, filepath.Join(dir, "changes"), &m); err != nil {
		return m, fmt.Errorf("incremental build: %w", err)
	}
	return m, os.RemoveAll(dir)
}

// prepare makes the catalogue.
func (b *buildBench) prepare(ctx context.Context, series int64) error {
	b.progress("%d movies: gen and ingest", b.movies)
	if _, _, err := host.Run(ctx, "gen", b.Program, "gen", "--quiet", "--out", b.dump,
		"--movies", strconv.FormatInt(b.movies, 10), "--tv", strconv.FormatInt(series, 10)); err != nil {
		return err
	}
	return b.ingest(ctx, b.dump)
}

func (b *buildBench) ingest(ctx context.Context, dump string) error {
	_, _, err := host.Run(ctx, "ingest", b.program, "ingest", "--quiet", "--catalog", b.catalog, dump)
	return err
}

// built is what the command build reports, as far as it is looked at.
type built struct {
	Release     string             `json:"release"`
	Jobs        int                `json:"jobs"`
	Fragments   int64              `json:"fragments"`
	Segments    int64              `json:"segments"`
	RawBytes    int64              `json:"raw_bytes"`
	StoredBytes int64              `json:"stored_bytes"`
	Previous    string             `json:"previous"`
	Stages      map[string]float64 `json:"stages"`
	Changed     map[string]int     `json:"changed"`
}

// build builds and publishes a release.
func (b *buildBench) build(ctx context.Context, previous string) (built, host.Spent, error) {
	var r built
	out, s, err := host.Run(ctx, "build", b.program, "build", "--json", "--quiet", "--publish", "--catalog", b.catalog,
		"--releases", b.releases, "--previous", previous, "--memory", strconv.FormatInt(b.Memory, 10))
	if err != nil {
		return r, s, err
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, s, fmt.Errorf("read the report of the build: %w", err)
	}
	return r, s, nil
}

// full builds a release that follows none.
func (b *buildBench) full(ctx context.Context) (report.Cost, built, error) {
	if err := os.RemoveAll(b.releases); err != nil {
		return report.Cost{}, built{}, err
	}
	r, s, err := b.build(ctx, "none")
	if err != nil {
		return report.Cost{}, r, err
	}
	c := report.Cost{Wall: s.Wall, CPU: s.CPU, Peak: s.Peak}
	err = filepath.WalkDir(filepath.Join(b.releases, r.Release), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			c.Bytes += info.Size()
		}
		return err
	})
	return c, r, err
}

// round builds a full release and compresses its segments on as many threads.
func (b *buildBench) round(ctx context.Context, m *report.BuildMeasure) (report.BuildRound, error) {
	cost, r, err := b.full(ctx)
	m.Fragments, m.Segments, m.RawBytes, m.StoredBytes = r.Fragments, r.Segments, r.RawBytes, r.StoredBytes
	if err != nil {
		return report.BuildRound{}, err
	}
	out, _, err := host.Run(ctx, "compress", b.Self, "peer", "compress",
		"--jobs", strconv.Itoa(r.Jobs), "--release", filepath.Join(b.releases, r.Release))
	var alone peer.Compressed
	if err == nil {
		err = json.Unmarshal(out, &alone)
	}
	if err == nil && (alone.Texts != r.Segments || alone.Raw != r.RawBytes) {
		err = fmt.Errorf("compressed %d segments of %d bytes, want the %d of %d bytes of the build", alone.Texts, alone.Raw, r.Segments, r.RawBytes)
	}
	return report.NewBuildRound(cost, r.Stages, alone), err
}

// incremental changes some titles and builds upon the release of the last round.
func (b *buildBench) incremental(ctx context.Context, dir string, m *report.BuildMeasure) error {
	changed, err := changeTitles(b.dump, dir)
	if err != nil {
		return err
	}
	if err := b.ingest(ctx, dir); err != nil {
		return err
	}
	r, s, err := b.build(ctx, "current")
	if err != nil {
		return err
	}
	if r.Previous == "" || r.Changed["movie"] == 0 {
		return fmt.Errorf("the build tells of %d changed movies since %q, want some since the release before", r.Changed["movie"], r.Previous)
	}
	m.Incremental = &report.Incremental{
		Titles: changed, Cost: report.Cost{Wall: s.Wall, CPU: s.CPU, Peak: s.Peak}, Stages: r.Stages,
		WallShare: report.Quotient(s.Wall, m.Median.Wall), CPUShare: report.Quotient(s.CPU, m.Median.CPU),
	}
	return nil
}
