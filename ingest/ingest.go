// Package ingest turns dump files into a catalogue. Data goes one way:
//
//	files.go   the files, and the layout of each (detect.go)
//	read.go    decode -> map -> sort: rows become records, sorted by key
//	merge      rows of one key and the catalogue's record become one record
//	catalog    records are written as Parquet
//
// A value that fits no field is left out and counted. Rows that cannot be parsed or have no id go to quarantine; the
// rest goes on. run.go has the stages in order. An ingest that is killed starts again: see workFolder.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
)

// DefaultMemory is how many bytes of rows are held before they go to disk.
const DefaultMemory = 256 << 20

// Config is the sources of an ingest, its catalogue and its settings.
type Config struct {
	Catalog  string   // folder of the catalogue, made when it is missing
	Sources  []string // files, folders, globs
	Layout   string   // "auto" by default; see Layouts
	Kind     string   // of all rows; "" takes it from the names of files and folders
	Language string   // xx or xx-YY of the crawl; "" is en-US
	Encoding string   // of texts that are not UTF-8, such as windows-1252; "auto" by default
	Mappings []string // mapping files, for tables that no layout has
	Rows     string   // path to the rows of JSON files, where they lie deeper: see source.CheckRows; "" finds it
	// Mode is how the sources and the catalogue go together; by default, the sources win field by field.
	Mode merge.Mode
	// Update demands an existing catalogue.
	Update bool
	// Date is the time of the changes in the catalogue: by default now, or that of the last ones if those are later.
	Date time.Time
	// MaxBad are the bad rows, and MaxBadValues the values that are left out, above which the ingest stops; any number by
	// default.
	MaxBad, MaxBadValues Tolerance
	// MinFit is the share of a file's cells that must be used, above 0 to 1: DefaultMinFit by default, AnyFit for any. A file
	// that fits less ends the ingest.
	MinFit float64
	// Strict refuses a row with a value that fits no field, and those that must be read as another type or mended.
	Strict bool
	// Drafted makes a run take a file without a meaning by the mapping that is drafted for it, if that is certain, and is called
	// with it; nil leaves such a file out.
	Drafted func(Drafted)
	Limits  limit.Limits
	Memory  int64 // bytes of rows held at once; DefaultMemory by default
	// Progress is called with how many bytes of how many are read, Writing then with how many of
	// the new records are written. Both may be nil.
	Progress func(done, total int64)
	Writing  func(done, total int64)
	// Buckets opens the buckets of URLs among the Sources; nil refuses these.
	Buckets func(context.Context, object.Location) (object.Bucket, error)
	Log     *slog.Logger
}

// Drafted is a mapping that was drafted for a file and used.
type Drafted struct {
	File    string
	Mapping string // path to which it was written
	Err     error  // why it could not be written; nil for most
	Columns []layout.DraftColumn
}

// Layouts lists the names of layouts.
func Layouts() []string { return append(layout.Names(), imdbLayout) }

// CheckLayout returns an error for a name that no layout has.
func CheckLayout(name string) error {
	if slices.Contains(Layouts(), name) {
		return nil
	}
	return fmt.Errorf("layout %q: want one of %s", name, strings.Join(Layouts(), ", "))
}

// newRun checks a Config, fills in what is not set, and reads the mappings.
func newRun(c Config) (*run, error) {
	c.Layout, c.Log = cmp.Or(c.Layout, layout.Auto), cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Memory <= 0 {
		c.Memory = DefaultMemory
	}
	errs := []error{source.CheckEncoding(c.Encoding), source.CheckRows(c.Rows)}
	if c.Catalog == "" {
		errs = append(errs, errors.New("catalog: want a folder"))
	}
	if len(c.Sources) == 0 {
		errs = append(errs, errors.New("want at least one source"))
	}
	if c.Kind != "" && !slices.Contains(catalog.Kinds(), c.Kind) {
		errs = append(errs, fmt.Errorf("kind %q: want one of %s", c.Kind, strings.Join(catalog.Kinds(), ", ")))
	}
	language, err := tmdb.ParseLanguage(c.Language)
	errs = append(errs, err)
	c.Language = language
	if c.Layout != layout.Auto && c.Layout != imdbLayout {
		errs = append(errs, cmp.Or(CheckLayout(c.Layout), layout.Check(c.Layout, c.Language)))
	}
	if !slices.Contains([]merge.Mode{merge.Update, merge.Overlay, merge.Fill, merge.Replace}, c.Mode) {
		errs = append(errs, fmt.Errorf("mode %q: want overlay, fill or replace", c.Mode))
	}
	if c.Update && !catalog.Exists(c.Catalog) {
		errs = append(errs, fmt.Errorf("%s: holds no catalogue that could be updated: ingest into it first", c.Catalog))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	rows := layout.Options{Language: c.Language}
	c.Mappings = appendBeside(c.Mappings, c.Sources)
	for _, file := range c.Mappings {
		m, err := layout.ReadMapping(file)
		rows.Mappings = append(rows.Mappings, m)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	rows, err = layout.WithAliases(rows)
	return &run{Config: c, rows: rows, start: time.Now(), list: &fileList{}, sums: map[string]string{}, fits: fits{map[int]*fileFit{}, map[groupKey]*fileFit{}, nil}}, err
}

// appendBeside appends the mappings that lie beside dumps on this machine, or in folders of these, and have their names: films.toml
// is of films.csv. An empty one is none: a shell makes it before --explain writes there.
func appendBeside(mappings, sources []string) []string {
	add := func(dump string) {
		file := source.Beside(dump, mappingExt)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() > 0 && !slices.Contains(mappings, file) {
			mappings = append(mappings, file)
		}
	}
	for _, src := range sources {
		found, err := filepath.Glob(src)
		if err != nil || len(found) == 0 { // a name may have the signs of patterns
			found = []string{src}
		}
		for _, dump := range found {
			_ = filepath.WalkDir(dump, func(path string, d fs.DirEntry, err error) error { // what cannot be read is told where it is listed
				if err == nil && !d.IsDir() {
					add(path)
				}
				return nil
			})
		}
	}
	return mappings
}

// mappingExt is the extension of mapping files.
const mappingExt = ".toml"

// Run ingests. The catalogue changes at the end, all kinds one right after the other, or not at
// all; a process that is killed while the kinds change leaves some of them newer than others until
// the next ingest, which begins with the rest. Rows in quarantine and damaged files are no error;
// the report names them. Damaged files without a single row are one if there are no others. An
// ingest that was stopped because of its bad rows has a report too, beside a *TooManyBadError.
func Run(ctx context.Context, c Config) (Report, error) {
	r, err := newRun(c)
	if err != nil {
		return Report{}, err
	}
	if err := file.MkdirAll(c.Catalog, 0o755); err != nil {
		return Report{}, fmt.Errorf("make catalogue: %w", err)
	}
	unlock, err := lock(c.Catalog)
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	report, err := r.ingest(ctx)
	report.Seconds = time.Since(r.start).Seconds()
	return report, err
}

// lock makes this process the only one that ingests into the catalogue.
func lock(dir string) (unlock func(), err error) {
	l := flock.New(filepath.Join(dir, ".lock"))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock catalogue %s: %w", dir, err)
	}
	if !ok {
		return nil, fmt.Errorf("catalogue %s: another ingest is at work", dir)
	}
	return func() { _ = l.Unlock() }, nil // the lock ends with the process in any case
}
