// Package ingest turns dump files into a catalogue: files are read (source), rows
// get their meaning (layout), are sorted by id (runs) and joined (join), and written
// as Parquet. Rows that do not validate go to quarantine; the rest goes on.
package ingest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"reelsplice/ingest/layout"
	"reelsplice/ingest/quarantine"
	"reelsplice/ingest/runs"
	"reelsplice/schemas/catalog"
)

// DefaultMemory is how many bytes of rows are held before they go to disk.
const DefaultMemory = 256 << 20

// Config says what to ingest into which catalogue.
type Config struct {
	Catalog  string   // folder of the catalogue, made when it is missing
	Sources  []string // files, folders, globs
	Layout   string   // "auto" by default; see layout.Names
	Kind     string   // of all rows; "" takes it from the names of files and folders
	Language string   // xx or xx-YY of the crawl; "" is en-US
	Mappings []string // mapping files, for tables that the program does not know
	// Overlay makes these sources win over everything ingested before and after.
	Overlay bool
	Memory  int64 // bytes of rows held at once; DefaultMemory by default
	// Progress is told how many bytes of how many are read. It may be nil.
	Progress func(done, total int64)
	Log      *slog.Logger
}

// A Report says what an ingest did.
type Report struct {
	Records     map[string]int64 `json:"records"`     // in the catalogue now, by kind
	Rows        int64            `json:"rows"`        // read
	Quarantined int64            `json:"quarantined"` // rows that did not validate
	// Bad holds one line for each of the first quarantined rows: place, field, reason.
	Bad            []string `json:"bad,omitempty"`
	QuarantineFile string   `json:"quarantine_file,omitempty"`
	// FailedFiles counts the files, of several, that could not be read, or not to their
	// end. Rows read before the damage are in the catalogue. Failed has a line for each
	// of the first.
	FailedFiles int64            `json:"failed_files"`
	Failed      []string         `json:"failed,omitempty"`
	Duplicates  int64            `json:"duplicates"`                 // rows equal to an earlier one of their file
	Conflicts   int64            `json:"conflicts"`                  // members on which two sources disagreed
	Samples     []string         `json:"conflict_samples,omitempty"` // of the first conflicts
	Skipped     []string         `json:"skipped,omitempty"`          // files that were left out, and why
	Unknown     map[string]int64 `json:"unknown_members,omitempty"`  // kept, by path
	Coerced     map[string]int64 `json:"coerced_members,omitempty"`  // numbers given as text
	Dropped     map[string]int64 `json:"dropped_members,omitempty"`  // that the API has no place for, by path
	Whole       map[string]int64 `json:"kept_whole,omitempty"`       // joined lists that could not be split, by table and column
	Seconds     float64          `json:"seconds"`
}

// maxSamples bounds what a Report lists of a kind.
const maxSamples = 20

func (c *Config) validate() error {
	var errs []error
	if c.Catalog == "" {
		errs = append(errs, errors.New("catalog: want a folder"))
	}
	if len(c.Sources) == 0 {
		errs = append(errs, errors.New("want at least one source"))
	}
	if _, ok := catalog.TypeNamed(c.Kind); c.Kind != "" && !ok {
		errs = append(errs, fmt.Errorf("kind %q: want one of %s", c.Kind, strings.Join(Kinds(), ", ")))
	}
	var err error
	if c.Language, err = layout.ParseLanguage(c.Language); err != nil {
		errs = append(errs, err)
	}
	if c.Layout != layout.Auto {
		if _, err := layout.New(c.Layout, layout.Options{Language: c.Language}); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// options returns how layouts are to read rows.
func (c *Config) options() (layout.Options, error) {
	o := layout.Options{Language: c.Language}
	var errs []error
	for _, file := range c.Mappings {
		m, err := layout.ReadMapping(file)
		o.Mappings = append(o.Mappings, m)
		errs = append(errs, err)
	}
	return o, errors.Join(errs...)
}

// Kinds lists the kinds of records that can be ingested.
func Kinds() []string {
	var names []string
	for _, t := range catalog.Types() {
		names = append(names, t.Name())
	}
	return names
}

// Run ingests. The catalogue changes at the end, each kind at once, or not at all; a
// process that is killed while the kinds change leaves some of them newer than others,
// which the same ingest once more repairs. Rows in quarantine and damaged files among
// good ones are no error; the report names them. A damaged file that is the only one
// is.
func Run(ctx context.Context, c Config) (Report, error) {
	if c.Layout == "" {
		c.Layout = layout.Auto
	}
	if c.Memory <= 0 {
		c.Memory = DefaultMemory
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := c.validate(); err != nil {
		return Report{}, err
	}
	options, err := c.options()
	if err != nil {
		return Report{}, err
	}
	start := time.Now()
	if err := os.MkdirAll(c.Catalog, 0o755); err != nil {
		return Report{}, fmt.Errorf("make catalogue: %w", err)
	}
	unlock, err := lock(c.Catalog)
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	if err := removeLeftovers(c.Catalog); err != nil {
		return Report{}, err
	}
	work, err := os.MkdirTemp(c.Catalog, workPrefix+"*")
	if err != nil {
		return Report{}, fmt.Errorf("make folder for temporary files: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // the next ingest removes what stays
	i := &ingester{Config: c, options: options, work: work, quarantine: quarantine.New(filepath.Join(c.Catalog, catalog.QuarantineDir), runName(start))}
	r, err := i.run(ctx)
	if err != nil {
		return Report{}, errors.Join(err, i.quarantine.Abort())
	}
	r.Seconds = time.Since(start).Seconds()
	return r, nil
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

// workPrefix begins the name of the folder, in the catalogue, of an ingest's
// temporary files.
const workPrefix = ".ingest-"

// removeLeftovers removes the temporary files of an ingest that was killed. The
// caller holds the lock, so that none of them is in use.
func removeLeftovers(dir string) error {
	var errs []error
	patterns := []string{workPrefix + "*", filepath.Join(catalog.QuarantineDir, ".*.tmp")}
	for _, t := range catalog.Types() {
		// A dot is before the names of files being written by package catalog.
		patterns = append(patterns, "."+t.File()+"*", newOverlay(t), "."+newOverlay(t)+"*")
	}
	for _, pattern := range patterns {
		names, err := fs.Glob(os.DirFS(dir), filepath.ToSlash(pattern))
		errs = append(errs, err)
		for _, name := range names {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove what an earlier ingest left: %w", err)
	}
	return nil
}

// runName names the quarantine file of one ingest.
func runName(t time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	return t.UTC().Format("20060102T150405Z-") + hex.EncodeToString(b[:])
}

// ingester is one ingest at work.
type ingester struct {
	Config
	options    layout.Options
	work       string // folder of temporary files
	quarantine *quarantine.Writer
	report     Report
	files      []string        // names, by the number that payloads hold
	kinds      map[string]bool // of the files, by name
}

func (i *ingester) run(ctx context.Context) (Report, error) {
	i.report.Unknown, i.report.Coerced, i.report.Dropped = map[string]int64{}, map[string]int64{}, map[string]int64{}
	i.report.Whole = map[string]int64{}
	i.kinds = map[string]bool{}
	sorter := runs.New(i.work, i.Memory)
	defer func() { _ = sorter.Close() }() // temporary files; what they gave is complete by then
	if err := i.read(ctx, sorter); err != nil {
		return Report{}, err
	}
	it, err := sorter.Sort(ctx)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = it.Close() }() // read side
	i.report.Records = map[string]int64{}
	if err := i.write(ctx, &incoming{it: it, files: i.files}); err != nil {
		return Report{}, err
	}
	i.report.Quarantined = i.quarantine.Count()
	for _, e := range i.quarantine.First(maxSamples) {
		i.report.Bad = append(i.report.Bad, badLine(e))
	}
	if i.report.Quarantined > 0 {
		i.report.QuarantineFile = i.quarantine.Path()
	}
	return i.report, nil
}

// badLine is a quarantined row for people: place, field, reason.
func badLine(e quarantine.Entry) string {
	place := fmt.Sprintf("%s:%d", e.File, e.Line)
	if e.Line == 0 {
		place = fmt.Sprintf("%s: row %d", e.File, e.Row)
	}
	if e.Field != "" {
		return place + ": " + e.Field + ": " + e.Reason
	}
	return place + ": " + e.Reason
}
