// Package gen makes synthetic dumps of any size in the layout of TMDB's own responses:
// NDJSON of details with appended objects, in which sizes, shares of missing members,
// popularity and votes are distributed as in the real catalogue. Texts are made of the
// package's own words.
//
// A record is a function of the seed, the kind and its number among the records of its
// kind: it can be made without those before it, and the parts that other records repeat, such as
// a person's name in the credits of a movie, agrees with it. So records are made on
// several goroutines, and a dump's bytes do not depend on how many there are.
//
// What a record takes, in bytes of JSON:
//
//	kind     mean     p50     p90      p99  most
//	movie   8,900   4,900  12,900   99,000  over 480 KB
//	series 26,800  10,200  41,300  326,000  over 7 MB, with its seasons
//	person    930     560   1,500    6,200  over 30 KB
//
// Where no measurement shows the tail of the real catalogue, the figures are chosen so
// that its totals come out: for 1.24 M movies 16 M credits, 9 M images and 4 M
// translations. What a crawl has and a dump of this package has not: filmographies of
// people and aggregate credits, which follow from the credits of titles; changes, lists,
// similar titles; more than the first page of recommendations; sub-requests of seasons.
package gen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/schemas/durable"
)

// Config is the size and form of a dump.
type Config struct {
	Out         string      // folder, made when it is missing
	Movies, TV  int64       // how many titles
	People      int64       // 0: as many as the real catalogue has for so many titles
	Seed        uint64      // another one gives other records
	Compression Compression // default zstd
	Jobs        int         // goroutines; default GOMAXPROCS
	// Progress is told how many of all records are done. It may be nil.
	Progress func(done, total int64)
}

// DefaultConfig returns a Config with the defaults.
func DefaultConfig() Config {
	return Config{Seed: 1, Compression: Zstd, Jobs: runtime.GOMAXPROCS(0)}
}

// maxRecords bounds how many records of a kind there are.
const maxRecords = 1 << 30

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	if c.Out == "" {
		errs = append(errs, errors.New("out: want a folder"))
	}
	for _, n := range []struct {
		name  string
		count int64
	}{{"movies", c.Movies}, {"tv", c.TV}, {"people", c.People}} {
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
	if extensions[c.Compression] == "" {
		errs = append(errs, fmt.Errorf("compression %q: want %s", c.Compression, strings.Join(Compressions(), ", ")))
	}
	return errors.Join(errs...)
}

// people returns how many people there are.
func (c *Config) people() int64 {
	if c.People > 0 {
		return c.People
	}
	return max(portion(c.Movies, realPeople, realMovies), 4*c.TV)
}

// A Report lists the files made.
type Report struct {
	Out     string  `json:"out"`
	Seed    uint64  `json:"seed"`
	Files   []File  `json:"files"`
	Rows    int64   `json:"rows"`
	Bytes   int64   `json:"bytes"`  // of JSON
	Stored  int64   `json:"stored"` // of files
	Seconds float64 `json:"seconds"`
}

// A File is one of the dump.
type File struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Stored int64  `json:"stored"`
}

// Run makes a dump. Its files appear when everything is made, in place of those that an
// earlier run left in the folder; of a run that fails or is interrupted nothing is left.
func Run(ctx context.Context, c Config) (Report, error) {
	if err := c.Validate(); err != nil {
		return Report{}, err
	}
	start := time.Now()
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return Report{}, fmt.Errorf("make folder: %w", err)
	}
	unlock, err := claim(c.Out)
	if err != nil {
		return Report{}, err
	}
	d := dump{Config: c, report: Report{Out: c.Out, Seed: c.Seed}}
	err = d.run(ctx)
	unlock(err != nil)
	if err != nil {
		return Report{}, err
	}
	d.report.Seconds = time.Since(start).Seconds()
	return d.report, nil
}

// mark is the file by which a folder is known to be a dump of this package. It is the
// lock of the folder, too.
const mark = ".reelsplice-gen"

// fileNames returns all names that files of a dump can have.
func fileNames() []string {
	var out []string
	for _, k := range kinds {
		for _, c := range Compressions() {
			out = append(out, k.name+extensions[Compression(c)])
		}
	}
	return out
}

// claim takes the folder for this run alone, and refuses one in which files of others
// have the names of ours. What it returns gives the folder up; after a failure, also the
// mark that was not there before.
func claim(dir string) (unlock func(failed bool), err error) {
	path := filepath.Join(dir, mark)
	_, err = os.Stat(path)
	fresh := errors.Is(err, os.ErrNotExist)
	if err != nil && !fresh {
		return nil, fmt.Errorf("look at folder: %w", err)
	}
	if fresh {
		for _, name := range fileNames() {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return nil, fmt.Errorf("%s holds a %s that was not generated: want another folder, or that file moved away", dir, name)
			}
		}
	}
	lock := flock.New(path)
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if !ok {
		return nil, fmt.Errorf("%s is being written by another run", dir)
	}
	unlock = func(failed bool) {
		if failed && fresh {
			_ = os.Remove(path) // nothing is lost if it stays
		}
		_ = lock.Unlock() // ends with the process at the latest
	}
	return unlock, nil
}

// dump is one on its way.
type dump struct {
	Config
	blocks []block
	report Report
	done   int64
	total  int64
}

// unfinished is the folder, in that of the dump, of files that are being written. What a
// killed run left there goes with the next one.
func (d *dump) unfinished() string { return filepath.Join(d.Out, mark+".tmp") }

// run writes all files where unfinished ones lie, and gives them their names.
func (d *dump) run(ctx context.Context) (err error) {
	if err := os.RemoveAll(d.unfinished()); err != nil {
		return fmt.Errorf("remove unfinished files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.unfinished())) }()
	if err := os.Mkdir(d.unfinished(), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	w := newWorld(&d.Config)
	if d.blocks, err = newBlocks(w, d.Jobs, d.Compression); err != nil {
		return err
	}
	for _, p := range w.populations {
		d.total += int64(p.n)
	}
	for _, p := range w.populations {
		if p.n == 0 {
			continue
		}
		f, err := d.file(ctx, p)
		if err != nil {
			return err
		}
		d.report.Files = append(d.report.Files, f)
		d.report.Rows += f.Rows
		d.report.Bytes += f.Bytes
		d.report.Stored += f.Stored
	}
	return d.commit()
}

// file writes one unfinished file.
func (d *dump) file(ctx context.Context, p *population) (f File, err error) {
	f = File{Name: p.name + extensions[d.Compression], Rows: int64(p.n)}
	out, err := os.Create(filepath.Join(d.unfinished(), f.Name))
	if err != nil {
		return f, fmt.Errorf("create %s: %w", f.Name, err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	err = makeBlocks(ctx, d.blocks, p, func(b *block) error {
		n, err := out.Write(b.stored)
		f.Stored += int64(n)
		f.Bytes += int64(len(b.b))
		d.done += b.rows
		if d.Progress != nil {
			d.Progress(d.done, d.total)
		}
		return err
	})
	if err == nil {
		err = out.Sync() // before the file gets its name
	}
	if err != nil {
		return f, fmt.Errorf("write %s: %w", f.Name, err)
	}
	return f, nil
}

// commit gives the files their names and removes what an earlier run left besides.
func (d *dump) commit() error {
	for _, name := range fileNames() {
		path := filepath.Join(d.Out, name)
		err := durable.Rename(filepath.Join(d.unfinished(), name), path)
		if errors.Is(err, os.ErrNotExist) {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("replace %s of an earlier run: %w", name, err)
		}
	}
	return nil
}
