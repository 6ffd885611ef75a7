// Package build turns a catalogue into a release: plan -> map -> seal.
//
// The plan divides the catalogue into shards and writes what all of them share. Map
// renders and compresses one shard; it reads nothing but the catalogue and the plan,
// so shards may be built in any order, anywhere, and again. Seal joins them. The
// release's bytes follow from the catalogue and the parameters alone.
package build

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"reelsplice/build/render"
	"reelsplice/build/segment"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// Config says what to build and with how much of the machine.
type Config struct {
	Catalog  string // folder of the catalogue
	Releases string // folder of the releases, made when it is missing
	Level    int    // deflate level, 1 to 9; 6 by default
	Jobs     int    // shards built at once; the number of CPUs by default
	Memory   int64  // bytes that the build may use; 2 GiB by default
	// Progress is told how many records of how many are done. It may be nil, and
	// is called from several goroutines.
	Progress func(done, total int64)
	Log      *slog.Logger
}

// DefaultConfig returns the defaults; Catalog and Releases have none.
func DefaultConfig() Config {
	return Config{Level: segment.DefaultLevel, Jobs: runtime.GOMAXPROCS(0), Memory: 2 << 30}
}

// minMemory is what one worker needs at the least.
const minMemory = 64 << 20

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	if c.Catalog == "" {
		errs = append(errs, errors.New("catalog: want a folder"))
	}
	if c.Releases == "" {
		errs = append(errs, errors.New("releases: want a folder"))
	}
	if c.Level < 1 || c.Level > 9 {
		errs = append(errs, fmt.Errorf("level %d: want 1 to 9", c.Level))
	}
	if c.Jobs < 1 {
		errs = append(errs, fmt.Errorf("jobs %d: want 1 or more", c.Jobs))
	}
	if c.Memory < minMemory {
		errs = append(errs, fmt.Errorf("memory %d: want at least 64MiB", c.Memory))
	}
	return errors.Join(errs...)
}

// A Report says what a build did. It lies in the release as report.json; only its
// times and its memory differ between builds of one catalogue.
type Report struct {
	Release     string           `json:"release"`
	BuiltAt     time.Time        `json:"built_at"`
	Records     map[string]int64 `json:"records"` // by kind
	Resources   int64            `json:"resources"`
	Fragments   int64            `json:"fragments"`
	Segments    int64            `json:"segments"`
	RawBytes    int64            `json:"raw_bytes"`
	StoredBytes int64            `json:"stored_bytes"`
	Level       int              `json:"level"`
	Jobs        int              `json:"jobs"`
	// SharedIMDbIDs counts movies whose IMDb id a movie with a lower id has too;
	// only the first is found by it.
	SharedIMDbIDs int64   `json:"shared_imdb_ids"`
	Seconds       float64 `json:"seconds"`
	PeakRSSBytes  int64   `json:"peak_rss_bytes"`
}

// Run builds a release and returns its report. It is not published.
func Run(ctx context.Context, c Config) (Report, error) {
	if err := c.Validate(); err != nil {
		return Report{}, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	start := time.Now()
	path := filepath.Join(c.Catalog, catalog.MovieFile)
	movies, err := catalog.OpenFile[catalog.Movie](path, fragment.KindMovie.String())
	if errors.Is(err, os.ErrNotExist) {
		return Report{}, fmt.Errorf("no catalogue in %s: %s is missing: run ingest first", c.Catalog, catalog.MovieFile)
	}
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = movies.Close() }() // read side: nothing to lose
	b := &builder{Config: c, movies: movies}
	manifest, err := b.run(ctx)
	if err != nil {
		return Report{}, err
	}
	r := b.report(manifest, time.Since(start))
	return r, writeReport(filepath.Join(c.Releases, manifest.ID), r)
}

// builder is one build at work.
type builder struct {
	Config
	movies *catalog.File[catalog.Movie]
	plan   plan
	done   atomic.Int64
}

func (b *builder) run(ctx context.Context) (release.Manifest, error) {
	var err error
	if b.plan, err = makePlan(ctx, b.movies); err != nil {
		return release.Manifest{}, err
	}
	w, err := release.Create(b.Releases, release.WriterOptions{
		Params:  map[string]string{"level": fmt.Sprint(b.Level), "catalog_version": catalog.FormatVersion},
		Sources: map[string]int64{fragment.KindMovie.String(): b.movies.NumRows()},
		Shards:  1 + len(b.plan.shards),
	})
	if err != nil {
		return release.Manifest{}, err
	}
	m, err := b.write(ctx, w)
	if err != nil {
		return release.Manifest{}, errors.Join(err, w.Abort())
	}
	return m, nil
}

func (b *builder) write(ctx context.Context, w *release.Writer) (release.Manifest, error) {
	if err := b.common(w); err != nil {
		return release.Manifest{}, err
	}
	g, ctx2 := errgroup.WithContext(ctx)
	g.SetLimit(b.workers())
	for i := range b.plan.shards {
		g.Go(func() error { return b.mapShard(ctx2, w, i) })
	}
	if err := g.Wait(); err != nil {
		return release.Manifest{}, err
	}
	return w.Seal(ctx)
}

// workers bounds the shards in work by the memory that each takes.
func (b *builder) workers() int {
	return max(1, min(b.Jobs, int(b.Memory/minMemory)))
}

// common writes shard 0: what all movies share.
func (b *builder) common(w *release.Writer) error {
	s, err := w.Shard(0)
	if err != nil {
		return err
	}
	z, err := segment.New(b.Level)
	if err != nil {
		return err
	}
	key := fragment.AppendShared(nil, fragment.KindDefault, fragment.KindMovie, "")
	if _, err := b.add(s, z, release.ResourceSpec{Key: key}, render.MovieDefaults()); err != nil {
		return err
	}
	for _, ids := range b.plan.genres {
		key := fragment.AppendShared(nil, fragment.KindGenres, fragment.KindMovie, render.GenresName(ids))
		ref, err := b.add(s, z, release.ResourceSpec{Key: key}, render.SharedGenres(ids))
		if err != nil {
			return err
		}
		b.plan.genreRefs[render.GenresName(ids)] = ref
	}
	return s.Close()
}

// mapShard builds one shard of movies.
func (b *builder) mapShard(ctx context.Context, w *release.Writer, i int) error {
	s, err := w.Shard(1 + i)
	if err != nil {
		return err
	}
	z, err := segment.New(b.Level)
	if err != nil {
		return err
	}
	r := render.New()
	for _, group := range b.plan.shards[i] {
		if err := b.mapGroup(ctx, s, z, r, b.movies.Rows(group)); err != nil {
			return err
		}
	}
	return s.Close()
}

func (b *builder) mapGroup(ctx context.Context, s *release.ShardWriter, z *segment.Compressor, r *render.Renderer,
	rows *catalog.Rows[catalog.Movie],
) error {
	defer rows.Close()
	var key, alias []byte
	for m, err := range rows.Each() {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		key = fragment.AppendID(key[:0], fragment.KindMovie, fragment.ID(m.ID.V))
		spec := release.ResourceSpec{Key: key, ID: uint64(m.ID.V)}
		if id, ok := b.plan.ownIMDb(catalog.IMDbOf(m), m.ID.V); ok {
			alias = fragment.AppendAlias(alias[:0], fragment.KindMovie, id)
			spec.Aliases = [][]byte{alias}
		}
		render.Complete(m)
		if _, err := b.add(s, z, spec, r.Movie(m)); err != nil {
			return err
		}
		if n := b.done.Add(1); b.Progress != nil {
			b.Progress(n, b.movies.NumRows())
		}
	}
	return nil
}

// add compresses fragments and writes them as one resource. Pieces with the same
// bytes are compressed and stored once.
func (b *builder) add(s *release.ShardWriter, z *segment.Compressor, spec release.ResourceSpec,
	fragments []render.Fragment,
) (release.Ref, error) {
	z.Reset()
	spec.Fragments = make([]release.FragmentSpec, 0, len(fragments))
	for _, f := range fragments {
		out := release.FragmentSpec{Address: f.Address, Pieces: make([]release.PieceSpec, 0, len(f.Pieces))}
		for _, p := range f.Pieces {
			ps, err := b.piece(z, p)
			if err != nil {
				return 0, fmt.Errorf("%s %s: %w", fragment.DescribeKey(spec.Key), f.Address, err)
			}
			out.Pieces = append(out.Pieces, ps)
		}
		spec.Fragments = append(spec.Fragments, out)
	}
	return s.Add(spec)
}

func (b *builder) piece(z *segment.Compressor, p render.Piece) (release.PieceSpec, error) {
	switch p.Op {
	case release.OpSegment:
		seg, err := z.Segment(p.Raw)
		return release.PieceSpec{Op: p.Op, Segment: seg}, err
	case release.OpReference:
		name := render.GenresName(p.Genres)
		ref, ok := b.plan.genreRefs[name]
		if !ok {
			return release.PieceSpec{}, fmt.Errorf("genres %s are not in the plan", name)
		}
		return release.PieceSpec{Op: p.Op, Ref: ref, Sub: fragment.SubGenres}, nil
	default:
		return release.PieceSpec{Op: p.Op}, nil
	}
}

func (b *builder) report(m release.Manifest, took time.Duration) Report {
	r := Report{
		Release: m.ID, BuiltAt: time.Now().UTC().Truncate(time.Second),
		Records:   map[string]int64{fragment.KindMovie.String(): b.movies.NumRows()},
		Fragments: m.Counts.Fragments, Segments: m.Counts.Segments,
		RawBytes: m.Counts.RawBytes, StoredBytes: m.Counts.StoredBytes,
		Level: b.Level, Jobs: b.workers(), SharedIMDbIDs: b.plan.sharedIMDb,
		Seconds: took.Seconds(), PeakRSSBytes: peakRSS(),
	}
	for _, n := range m.Counts.Resources {
		r.Resources += n
	}
	return r
}
