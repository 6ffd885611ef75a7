// Package ingest turns dump files into a catalogue: files are read (source), rows
// get their meaning (layout), are sorted by id (extsort) and joined (join), and written
// as Parquet. Rows that do not validate go to quarantine; the rest goes on.
//
// An ingest that is killed is continued by the next one of the same sources: see
// journal.go.
package ingest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"reelsplice/ingest/crosswalk"
	"reelsplice/ingest/layout"
	"reelsplice/ingest/layout/tmdb"
	"reelsplice/ingest/quarantine"
	"reelsplice/ingest/report"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/extsort"
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
	// Update demands that there is a catalogue, and copies those parts of it that the
	// sources do not speak of without reading them.
	Update bool
	// Precedence says which of the sources wins; nil: the later one.
	Precedence *Precedence
	// Replay makes Sources files of a quarantine, whose rows are ingested once more.
	Replay bool
	// Restart does not go on where an ingest that was killed stood.
	Restart bool
	MaxBad  Tolerance      // of bad rows; more stop the ingest; any number by default
	Limits  source.Options // of rows and files, and how buckets are opened; nothing else counts
	Memory  int64          // bytes of rows held at once; DefaultMemory by default
	// CatalogName is how the report names the catalogue; the folder by default.
	CatalogName string
	// Progress is told how many bytes of how many are read, and Writing then how many of
	// the new records are written. Both may be nil.
	Progress func(done, total int64)
	Writing  func(done, total int64)
	Log      *slog.Logger
}

// A Report sums up what an ingest did; the written report says more.
type Report struct {
	Records     map[string]int64 `json:"records"`     // in the catalogue now, by kind
	Rows        int64            `json:"rows"`        // read: Kept, Blank, Duplicates and Quarantined together
	Kept        int64            `json:"kept"`        // rows that gave records
	Blank       int64            `json:"blank"`       // rows without a value, or without one that the API has a place for
	Quarantined int64            `json:"quarantined"` // rows that did not validate
	// Bad holds one line for each of the first quarantined rows: place, field, reason.
	Bad            []string `json:"bad,omitempty"`
	QuarantineFile string   `json:"quarantine_file,omitempty"`
	// FailedFiles counts the files, of several, that could not be read, or not to their
	// end. Rows read before the damage are in the catalogue. Failed has a line for each
	// of the first.
	FailedFiles int64    `json:"failed_files"`
	Failed      []string `json:"failed,omitempty"`
	Duplicates  int64    `json:"duplicates"`                 // rows equal to an earlier one of their file
	Conflicts   int64    `json:"conflicts"`                  // members on which two sources disagreed
	Samples     []string `json:"conflict_samples,omitempty"` // of the first conflicts
	Matched     int64    `json:"ids_matched,omitempty"`      // records whose rows have no id, found by external ids
	Minted      int64    `json:"ids_minted,omitempty"`       // records whose ids were made of what the rows have
	NoID        int64    `json:"ids_missing,omitempty"`      // of the quarantined rows: those that got no id
	Merged      int64    `json:"merged_minted,omitempty"`    // records with minted ids, into those with ids of TMDB's
	Removed     int64    `json:"removed,omitempty"`          // ids that are deleted or merged, in the catalogue now
	// SkippedFiles counts the files that were left out; Skipped has the first, and why.
	SkippedFiles int64            `json:"skipped_files,omitempty"`
	Skipped      []string         `json:"skipped,omitempty"`
	Unknown      map[string]int64 `json:"unknown_members,omitempty"` // kept, by path
	Coerced      map[string]int64 `json:"coerced_members,omitempty"` // numbers given as text
	Dropped      map[string]int64 `json:"dropped_members,omitempty"` // that the API has no place for, by path
	Whole        map[string]int64 `json:"kept_whole,omitempty"`      // joined lists that could not be split, by table and column
	Resumed      bool             `json:"resumed,omitempty"`         // an ingest that was killed went on
	Stopped      bool             `json:"stopped,omitempty"`         // too many bad rows: nothing of it is in the catalogue
	ReportFile   string           `json:"report_file"`
	Seconds      float64          `json:"seconds"`
	// Details is what the files of the report hold.
	Details report.Report `json:"-"`
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
	if c.Language, err = tmdb.ParseLanguage(c.Language); err != nil {
		errs = append(errs, err)
	}
	if c.Layout != layout.Auto && c.Layout != imdbLayout {
		if _, err := layout.New(c.Layout, layout.Options{Language: c.Language}); err != nil {
			errs = append(errs, cmp.Or(CheckLayout(c.Layout), err))
		}
	}
	if c.Update && !catalog.Exists(c.Catalog) {
		errs = append(errs, fmt.Errorf("%s: holds no catalogue that could be updated: ingest into it first", c.Catalog))
	}
	return errors.Join(errs...)
}

// CheckLayout reports what is wrong with the name of a layout.
func CheckLayout(name string) error {
	if slices.Contains(Layouts(), name) {
		return nil
	}
	return fmt.Errorf("layout %q: want one of %s", name, strings.Join(Layouts(), ", "))
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
	if err := errors.Join(errs...); err != nil {
		return o, err
	}
	return layout.WithAliases(o)
}

// Kinds lists the kinds of records that can be ingested.
func Kinds() []string {
	var names []string
	for _, t := range catalog.Types() {
		names = append(names, t.Name())
	}
	return names
}

// Run ingests. The catalogue changes at the end, all kinds one right after the other,
// or not at all; a process that is killed while the kinds change leaves some of them
// newer than others until the next ingest, which begins with the rest. Rows in
// quarantine and damaged files are no error; the report names them. Damaged files without
// a single row are one if there are no others. Of an ingest that was stopped because of its bad
// rows there is a report too, beside a *TooManyBadError.
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
	c.CatalogName = cmp.Or(c.CatalogName, c.Catalog)
	start := time.Now()
	if err := c.validate(); err != nil {
		return Report{}, err
	}
	options, err := c.options()
	if err != nil {
		return Report{}, err
	}
	if err := os.MkdirAll(c.Catalog, 0o755); err != nil {
		return Report{}, fmt.Errorf("make catalogue: %w", err)
	}
	unlock, err := lock(c.Catalog)
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	i := &ingester{Config: c, options: options, start: start}
	r, err := i.run(ctx)
	var bad *TooManyBadError
	switch {
	case errors.As(err, &bad):
		r, failed := i.stopped(bad)
		r.Seconds = time.Since(start).Seconds()
		return r, errors.Join(bad, failed)
	case err != nil:
		failed := i.abandon(err)
		return Report{}, errors.Join(i.leftover(err), failed)
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

// ingester is one ingest at work.
type ingester struct {
	Config
	ctx     context.Context // of files in object stores, which have a life of their own
	options layout.Options
	start   time.Time
	work    string // folder of temporary files
	journal *journal
	inputs  []input
	numbers []string // names of the sources, by number
	total   int64    // bytes of all inputs

	sorter     *extsort.Sorter
	key        []byte // of the row that is being sorted
	quarantine *quarantine.Writer
	collector  *report.Collector
	tallies    *tallies
	done       int64     // bytes of the files that were read
	saved      time.Time // when the journal was written
	runName    string
	skipped    []skippedFile
	resumed    bool
	said       map[string]bool // layouts that were told
	ids        *os.File        // notedFile
	idBuf      *bufio.Writer
	minted     *mintedList      // of the catalogue, while it is written
	listed     bool             // storedFile is written
	known      *crosswalk.Table // of the turn; nil where it looks nothing up
	progress
}

func (i *ingester) run(ctx context.Context) (Report, error) {
	i.ctx = ctx
	if err := i.prepare(); err != nil {
		return Report{}, err
	}
	defer func() { _ = i.sorter.Close() }()    // what it gave is complete by then
	defer func() { _ = i.tallies.release() }() // it was flushed where it counts
	defer i.closeIDs()
	if i.stage < stageSorted {
		if err := i.knowNames(ctx); err != nil {
			return Report{}, err
		}
		if err := i.read(ctx); err != nil {
			return Report{}, err
		}
		if err := i.supersede(ctx); err != nil {
			return Report{}, err
		}
		if err := i.sorted(); err != nil {
			return Report{}, err
		}
	}
	if i.stage < stageWritten {
		if err := i.write(ctx); err != nil {
			return Report{}, err
		}
	}
	if err := i.move(i.moves); err != nil {
		return Report{}, err
	}
	r, err := i.report(ctx)
	if err != nil {
		return Report{}, err
	}
	return r, errors.Join(os.RemoveAll(i.work), os.RemoveAll(filepath.Join(i.Catalog, replayDir)))
}

// nothing is the error of a run whose files were all damaged or left out, before a row of
// any of them was read.
func (i *ingester) nothing() error {
	switch {
	case i.rows > 0 || i.failed+int64(len(i.passed)) < int64(len(i.inputs)):
		return nil
	case i.failed > 1 && i.failed == int64(len(i.inputs)):
		return fmt.Errorf("none of %d files could be read, the first: %s", i.failed, i.failures[0])
	case i.failed > 0:
		return errors.New(i.failures[0])
	}
	return noneTaken(append(i.skipped, i.passed...))
}

// sorted ends the reading.
func (i *ingester) sorted() error {
	if err := i.nothing(); err != nil {
		return err
	}
	if err := i.checkBad(true); err != nil {
		return err
	}
	i.stage = stageSorted
	if len(i.sorter.Runs()) == 0 {
		return nil // what is in memory takes no time to read again
	}
	if err := i.sorter.Flush(); err != nil {
		return err
	}
	return i.checkpoint()
}
