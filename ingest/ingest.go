// Package ingest turns dump files into a catalogue. Data flows one way:
//
//	files.go   the files, and the layout of each (detect.go)
//	read.go    decode -> map -> sort: rows become records, sorted by key
//	merge      rows of one key and the catalogue's record become one record
//	catalog    records are written as Parquet
//
// A value that does not fit its field is left out and counted. Rows that cannot be parsed or have no ID are quarantined. run.go
// has the stages in order. An interrupted ingest must start again: see workFolder.
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
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
)

// DefaultMemory bounds the bytes of rows in memory. More rows are sorted on disk.
const DefaultMemory = 256 << 20

// Config has the sources of an ingest, its catalogue and its settings.
type Config struct {
	Catalog  string   // folder of the catalogue, created if missing
	Sources  []string // files, folders, globs
	Layout   string   // see Layouts; default "auto"
	Kind     string   // kind of all rows; "" takes it from names of files and folders
	Language string   // language of the crawl, xx or xx-YY; "" is en-US
	Encoding string   // encoding of texts that are not UTF-8, such as windows-1252; default "auto"
	Mappings []string // mapping files for unknown tables
	Rows     string   // path to nested rows of JSON files: see source.CheckRows; "" searches for it
	// Mode combines the sources with the catalogue. By default, the sources win, field by field.
	Mode merge.Mode
	// Update requires an existing catalogue.
	Update bool
	// Date is the time of the changes: by default now, or the time of the last changes if that is later.
	Date time.Time
	// MaxBad and MaxBadValues bound the bad rows and the values left out before the ingest stops. The default is no bound.
	MaxBad, MaxBadValues Tolerance
	// MinFit is the share of a file's cells that must be used, above 0 to 1. The default is DefaultMinFit; AnyFit disables the
	// check. A poorer fit ends the ingest.
	MinFit float64
	// Strict rejects rows with values that do not fit their field, must be coerced, or were repaired.
	Strict bool
	// Drafted, if set, enables drafts: a file without a meaning is read with its drafted mapping if that is certain, and Drafted
	// is called. Without drafts, the file is left out.
	Drafted func(Drafted)
	// Parameters are flags by name, for the report.
	Parameters map[string]string
	Limits     limit.Limits
	Memory     int64 // bytes of rows in memory; default DefaultMemory
	// Progress is called with the bytes read, and Writing then with the rows merged. Both may be nil.
	Progress func(done, total int64)
	Writing  func(done, total int64)
	// Buckets opens the buckets of URLs in Sources; nil rejects URLs.
	Buckets func(context.Context, object.Location) (object.Bucket, error)
	Log     *slog.Logger
}

// Drafted describes a drafted mapping that was used.
type Drafted struct {
	File    string
	Mapping string // path of the new mapping file
	Err     error  // why it could not be written, or nil
	Columns []layout.DraftColumn
}

// Layouts lists the names of layouts.
func Layouts() []string { return append(layout.Names(), imdbLayout) }

// CheckMeaning checks the settings for the meaning of rows.
func (c *Config) CheckMeaning() error {
	errs := []error{source.CheckEncoding(c.Encoding), source.CheckRows(c.Rows)}
	if !slices.Contains(Layouts(), c.Layout) {
		errs = append(errs, fmt.Errorf("layout %q: want one of %s", c.Layout, strings.Join(Layouts(), ", ")))
	}
	if c.Kind != "" && !slices.Contains(catalog.Kinds(), c.Kind) {
		errs = append(errs, fmt.Errorf("kind %q: want one of %s", c.Kind, strings.Join(catalog.Kinds(), ", ")))
	}
	_, err := tmdb.ParseLanguage(c.Language)
	return errors.Join(append(errs, err)...)
}

// newRun checks a Config, sets defaults, and reads the mappings.
func newRun(c Config) (*run, error) {
	c.Layout, c.Log = cmp.Or(c.Layout, layout.Auto), cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Memory <= 0 {
		c.Memory = DefaultMemory
	}
	err := c.CheckMeaning()
	errs := []error{err}
	c.Language, _ = tmdb.ParseLanguage(c.Language)
	if err == nil && c.Layout != imdbLayout {
		errs = append(errs, layout.Check(c.Layout, c.Language))
	}
	if c.Catalog == "" {
		errs = append(errs, errors.New("catalog: want a folder"))
	}
	if len(c.Sources) == 0 {
		errs = append(errs, errors.New("want at least one source"))
	}
	if !slices.Contains([]merge.Mode{merge.Update, merge.Overlay, merge.Fill, merge.Replace}, c.Mode) {
		errs = append(errs, fmt.Errorf("mode %q: want overlay, fill or replace", c.Mode))
	}
	if c.Update && !catalog.Exists(c.Catalog) {
		errs = append(errs, fmt.Errorf("%s: has no catalogue to update: ingest into it first", c.Catalog))
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
	r := &run{Config: c, rows: layout.WithAliases(rows), start: time.Now(), list: &fileList{}, checksums: map[string]string{}, fits: fits{byKey: map[fitKey]*fileFit{}}}
	files := source.Options{Limits: c.Limits, Kind: c.Kind, Encoding: c.Encoding, Strict: c.Strict, Buckets: c.Buckets}
	r.detector = detector{&r.Config, &r.rows, files, map[string]detected{}}
	return r, nil
}

// settingLine matches a line of TOML that is neither blank nor a comment.
var settingLine = regexp.MustCompile(`(?m)^[ \t]*[^#\s]`)

// appendBeside appends the mappings next to local dumps, such as films.toml for films.csv. It ignores files that are empty, as
// a shell creates them for the output of --explain, or have only comments, which --explain writes if it has no draft.
func appendBeside(mappings, sources []string) []string {
	add := func(dump string) {
		file := source.Beside(dump, mappingExt)
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || slices.Contains(mappings, file) {
			return
		}
		if text, err := os.ReadFile(file); err != nil || settingLine.Match(text) { // the error is reported when the mapping is read
			mappings = append(mappings, file)
		}
	}
	for _, src := range sources {
		found, err := filepath.Glob(src)
		if err != nil || len(found) == 0 { // a file name may contain pattern characters
			found = []string{src}
		}
		for _, dump := range found {
			_ = filepath.WalkDir(dump, func(path string, d fs.DirEntry, err error) error { // unreadable folders are reported by source.List
				if err == nil && !d.IsDir() {
					add(path)
					for dir := filepath.Dir(path); source.IsPartsFolder(dir) || strings.Contains(filepath.Base(dir), "="); dir = filepath.Dir(dir) {
						add(dir)
					}
				}
				return nil
			})
		}
	}
	return mappings
}

// mappingExt is the extension of mapping files.
const mappingExt = ".toml"

// Run ingests. It replaces the catalogue's files at the end, or not at all. If the process is killed in between, the next
// ingest completes the replacement. Quarantined rows and damaged files are in the report and cause no error, unless no file has
// a readable row. An ingest that stops because of bad rows or a poor fit returns a report and an error.
func Run(ctx context.Context, c Config) (Report, error) {
	r, err := newRun(c)
	if err != nil {
		return Report{}, err
	}
	if err := file.MkdirAll(c.Catalog, 0o755); err != nil {
		return Report{}, fmt.Errorf("make catalogue: %w", err)
	}
	l := flock.New(filepath.Join(c.Catalog, ".lock"))
	switch ok, err := l.TryLock(); {
	case err != nil:
		return Report{}, fmt.Errorf("lock catalogue %s: %w", c.Catalog, err)
	case !ok:
		return Report{}, fmt.Errorf("catalogue %s: another ingest is running", c.Catalog)
	}
	defer func() { _ = l.Unlock() }() // the end of the process releases it in any case
	report, err := r.ingest(ctx)
	report.Seconds = time.Since(r.start).Seconds()
	return report, err
}

// A Report summarises an ingest. The written report has more.
type Report struct {
	Records map[string]int64 `json:"records"` // now in the catalogue, by kind
	Rows    int64            `json:"rows"`    // rows read: the sum of Kept, Blank, Duplicates and Quarantined
	report.Outcome
	// Bad holds one line for each of the first quarantined rows: place, field, reason.
	Bad            []string `json:"bad,omitempty"`
	QuarantineFile string   `json:"quarantine_file,omitempty"`
	// FailedFiles counts files that could not be read completely. Rows before the damage are in the catalogue. Failed has
	// lines for the first files.
	FailedFiles int64    `json:"failed_files"`
	Failed      []string `json:"failed,omitempty"`
	Conflicts   int64    `json:"conflicts"`                  // fields on which two sources disagreed
	Samples     []string `json:"conflict_samples,omitempty"` // samples for each field
	Merged      int64    `json:"merged_minted,omitempty"`    // records with minted IDs, merged into records with TMDB IDs
	Removed     int64    `json:"removed,omitempty"`          // deleted or merged IDs, now in the catalogue
	// RemovedRecords counts the records that this ingest removed, by kind.
	RemovedRecords map[string]int64 `json:"removed_records,omitempty"`
	// SkippedFiles counts the files that were left out. Skipped has lines for the first files.
	SkippedFiles int64    `json:"skipped_files,omitempty"`
	Skipped      []string `json:"skipped,omitempty"`
	// Silent has a line for each source of the command line whose files were all left out.
	Silent  []string         `json:"silent_sources,omitempty"`
	Unknown map[string]int64 `json:"unknown_fields,omitempty"` // kept, by path
	Coerced map[string]int64 `json:"coerced_fields,omitempty"` // values converted from another type or form
	Dropped map[string]int64 `json:"dropped_fields,omitempty"` // values for which the API has no field, by path
	Whole   map[string]int64 `json:"kept_whole,omitempty"`     // joined lists that could not be split, by table and column
	// ValuesLeftOut counts values that do not fit their field; their rows were kept. LeftOut has the first values of each field.
	// ValuesCoerced is the total of Coerced.
	ValuesLeftOut int64            `json:"values_left_out"`
	LeftOut       []report.LeftOut `json:"left_out_values,omitempty"`
	ValuesCoerced int64            `json:"values_coerced"`
	Columns       []report.FileFit `json:"columns"`           // use of each file's values, by column
	Stopped       bool             `json:"stopped,omitempty"` // too many bad rows or values, or a poor fit: the catalogue is unchanged
	ReportFile    string           `json:"report_file"`
	Seconds       float64          `json:"seconds"`
	// Details is the complete report, as written.
	Details report.Report `json:"-"`
}

// listedFits limits the files in a Report's Columns.
const listedFits = 100

// writeReport writes the report files and returns a summary.
func (r *run) writeReport(e report.End) (Report, error) {
	for _, f := range r.fits.order {
		e.Fits = append(e.Fits, r.fitOf(f))
	}
	slices.SortStableFunc(e.Fits, func(a, b report.FileFit) int { return cmp.Compare(len(b.Problems), len(a.Problems)) })
	e.Fits, e.Skipped = e.Fits[:min(len(e.Fits), listedFits)], r.list.skipped
	e.Catalog, e.Parameters, e.Elapsed = r.Catalog, r.Parameters, time.Since(r.start)
	d := r.report.Report(e)
	if err := d.Write(r.Catalog); err != nil {
		return Report{}, err
	}
	t := &d.Totals
	out := Report{
		Records: map[string]int64{}, RemovedRecords: map[string]int64{}, Rows: t.Rows, Outcome: t.Outcome,
		FailedFiles: r.progress.failed, Failed: r.progress.failures, Conflicts: d.Conflicts.Count,
		Merged: r.progress.merged,
		Whole:  counts(t.Whole), Unknown: counts(t.Unknown), Coerced: counts(t.Coerced), Dropped: counts(t.Dropped),
		ValuesLeftOut: r.progress.leftOut, LeftOut: t.LeftOut.Top, ValuesCoerced: t.Coerced.MoreCount,
		ReportFile: filepath.Join(r.Catalog, report.HTMLFile), Details: d, Bad: r.quarantine.First(), Columns: e.Fits,
	}
	out.Quarantined = r.quarantine.Count()
	for _, c := range d.Conflicts.Fields.Top {
		out.Samples = append(out.Samples, c.Samples...)
	}
	for _, c := range t.Coerced.Top {
		out.ValuesCoerced += c.Count
	}
	for _, k := range d.Records {
		out.Records[k.Kind] = k.Now
		if k.Removed > 0 {
			out.RemovedRecords[k.Kind] = k.Removed
		}
	}
	out.Silent = r.list.silentSources(r.Sources)
	out.Skipped, out.SkippedFiles = r.list.firstSkipped()
	if out.Quarantined > 0 {
		out.QuarantineFile = filepath.Join(r.Catalog, r.work.badRows)
	}
	return out, nil
}

func counts(top report.Top[report.FieldCount]) map[string]int64 {
	out := map[string]int64{}
	for _, m := range top.Top {
		out[m.Path] = m.Count
	}
	return out
}
