// Package gen makes synthetic dumps of any size in the layout of TMDB's own responses: NDJSON of details with appended
// objects.
//
// Each record is a row of the embedded sample with random ids, names, votes, popularity, dates and links to other
// records. Its lists have random lengths, and elements from any row. Lengths, votes and popularity are distributed
// roughly as in the real catalogue.
//
// A record is a function of the seed, the kind and its number, so goroutines make records in any order, and a dump's
// bytes do not depend on --jobs. A reference to a record repeats the record's values.
//
// A dump lacks fields that the build derives: people's credits, aggregate credits, recommendations, the parts of a
// collection, a series' numbers of seasons and episodes. It has no changes, no lists, and no sub-requests for seasons.
package gen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/bug"
	"github.com/reelsplice/reelsplice/schemas/file"
)

// Config is the size and form of a dump.
type Config struct {
	Out                         string                  // folder, created if missing
	Movies, TV                  int64                   // number of titles
	People, Companies, Keywords int64                   // 0: as many as the real catalogue has for that number of titles
	Seed                        uint64                  // different seeds make different records
	Jobs                        int                     // goroutines; default GOMAXPROCS
	Progress                    func(done, total int64) // called with record counts; may be nil
}

// DefaultConfig returns a Config with the defaults.
func DefaultConfig() Config {
	return Config{Seed: 1, Jobs: runtime.GOMAXPROCS(0)}
}

const (
	extension  = ".ndjson.zst"     // end of file names
	mark       = ".reelsplice-gen" // file that marks a folder as a dump of this package
	maxRecords = 1 << 30           // limit of each kind
)

// Validate returns all errors in c.
func (c *Config) Validate() error {
	var errs []error
	if c.Out == "" {
		errs = append(errs, errors.New("out: want a folder"))
	}
	for _, n := range []struct {
		name  string
		count int64
	}{{"movies", c.Movies}, {"tv", c.TV}, {"people", c.People}, {"companies", c.Companies}, {"keywords", c.Keywords}} {
		if n.count < 0 || n.count > maxRecords {
			errs = append(errs, fmt.Errorf("%s %d: want 0 to %d", n.name, n.count, maxRecords))
		}
	}
	if c.Movies == 0 && c.TV == 0 && c.People == 0 {
		errs = append(errs, errors.New("movies 0, tv 0, people 0: want at least one record"))
	}
	if c.Jobs < 1 {
		errs = append(errs, fmt.Errorf("jobs %d: want 1 or more", c.Jobs))
	}
	return errors.Join(errs...)
}

// A Report lists the files made.
type Report struct {
	Out     string  `json:"out"`
	Seed    uint64  `json:"seed"`
	Files   []File  `json:"files"`
	Rows    int64   `json:"rows"`
	Bytes   int64   `json:"bytes"`  // bytes of JSON
	Stored  int64   `json:"stored"` // bytes of the files
	Seconds float64 `json:"seconds"`
}

// A File is one file of the dump.
type File struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Stored int64  `json:"stored"`
}

// Run makes a dump. Once complete, its files replace the files of an earlier run; a failed or interrupted run leaves
// none. Run refuses a folder with files of the same names that it did not make.
func Run(ctx context.Context, c Config) (r Report, err error) {
	if err := c.Validate(); err != nil {
		return r, err
	}
	start := time.Now()
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return r, fmt.Errorf("make folder: %w", err)
	}
	var names []string // of all files of a dump
	for _, k := range kinds {
		names = append(names, k.name+extension)
	}
	if _, err := os.Stat(filepath.Join(c.Out, mark)); err != nil {
		for _, name := range names {
			if _, err := os.Lstat(filepath.Join(c.Out, name)); err == nil {
				return r, fmt.Errorf("%s has a %s that gen did not make: want another folder, or move that file away", c.Out, name)
			}
		}
	}
	unfinished := filepath.Join(c.Out, mark+".tmp")
	if err := os.RemoveAll(unfinished); err != nil { // left by a killed run
		return r, fmt.Errorf("remove unfinished files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(unfinished)) }()
	if err := os.Mkdir(unfinished, 0o755); err != nil {
		return r, fmt.Errorf("make folder: %w", err)
	}

	w := newWorld(&c)
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(c.Jobs), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return r, err
	}
	blocks := make([]block, 2*c.Jobs)
	var done, total int64
	for _, p := range w.populations {
		total += int64(p.n)
	}
	report := Report{Out: c.Out, Seed: c.Seed}
	for _, p := range w.populations {
		if p.n == 0 {
			continue
		}
		f, err := w.writeFile(ctx, filepath.Join(unfinished, p.name+extension), p, blocks, z, func(rows int64) {
			if done += rows; c.Progress != nil {
				c.Progress(done, total)
			}
		})
		if err != nil {
			return r, fmt.Errorf("write %s: %w", f.Name, err)
		}
		report.Files = append(report.Files, f)
		report.Rows, report.Bytes, report.Stored = report.Rows+f.Rows, report.Bytes+f.Bytes, report.Stored+f.Stored
	}

	if err := os.WriteFile(filepath.Join(c.Out, mark), nil, 0o644); err != nil {
		return r, fmt.Errorf("mark the folder: %w", err)
	}
	for _, name := range names {
		path := filepath.Join(c.Out, name)
		err := file.Rename(filepath.Join(unfinished, name), path)
		if errors.Is(err, os.ErrNotExist) {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return r, fmt.Errorf("replace %s of an earlier run: %w", name, err)
		}
	}
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// A block holds consecutive records, compressed together. A file is a concatenation of blocks, which zstd allows.
// Blocks are reused.
type block struct {
	rows   int64
	json   []byte
	stored []byte // compressed
}

// writeFile writes the records of a population in order. It fills at most half of the blocks in parallel, and calls
// written with the number of rows of each block.
func (w *world) writeFile(ctx context.Context, path string, p *population, blocks []block, z *zstd.Encoder, written func(rows int64)) (f File, err error) {
	f = File{Name: filepath.Base(path), Rows: int64(p.n)}
	out, err := os.Create(path)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for from := uint64(0); from < p.n; {
		var g errgroup.Group
		g.SetLimit(len(blocks) / 2)
		full := blocks[:0]
		for ; len(full) < len(blocks) && from < p.n; from += p.block {
			full = blocks[:len(full)+1]
			b, first, end := &full[len(full)-1], from, min(from+p.block, p.n)
			g.Go(func() (err error) {
				defer bug.Catch(&err)
				b.rows, b.json = int64(end-first), b.json[:0]
				for i := first; i < end; i++ {
					b.json = w.appendLine(b.json, p, i)
				}
				b.stored = z.EncodeAll(b.json, b.stored[:0])
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return f, err
		}
		for i := range full {
			if ctx.Err() != nil {
				return f, ctx.Err()
			}
			if _, err := out.Write(full[i].stored); err != nil {
				return f, err
			}
			f.Bytes, f.Stored = f.Bytes+int64(len(full[i].json)), f.Stored+int64(len(full[i].stored))
			written(full[i].rows)
		}
	}
	return f, out.Sync() // before the file is renamed
}
