// Package report summarises an ingest: rows read, kept and quarantined for each file, conflicts between sources, the records
// now in the catalogue, and dangling IDs. A Collector gathers the data while rows are read. The Report is written to the
// catalogue's folder as ingest-report.json and ingest-report.html. A Quarantine stores the rows that could not be used.
//
// Names in the JSON are in snake case, times are RFC 3339 in UTC. Fields that do not apply are omitted.
package report

import (
	"bytes"
	"cmp"
	_ "embed" // page.html
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/bytedance/sonic"
	"github.com/dustin/go-humanize"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/file"
)

// Names of the files in the catalogue's folder.
const (
	JSONFile = catalog.ReportName
	HTMLFile = "ingest-report.html"
)

// version is the version of the JSON format. Increase it with each incompatible change.
const version = 5

// MaxListed limits the entries in a list. The others are summed.
const MaxListed = 50

// Final states of an ingest.
const (
	stateComplete = "complete"
	stateFailed   = "failed" // too many bad rows, or a poor fit; the catalogue is unchanged
)

// A Report summarises one ingest.
type Report struct {
	Version     int               `json:"version"`
	State       string            `json:"state"`
	Error       string            `json:"error,omitempty"` // why it is not complete
	Started     time.Time         `json:"started"`
	Seconds     float64           `json:"seconds"`
	Catalog     string            `json:"catalog"`    // folder of the catalogue
	Parameters  map[string]string `json:"parameters"` // by flag
	Files       int64             `json:"files"`
	FailedFiles int64             `json:"failed_files"`          // files that were not read completely
	Totals      Totals            `json:"totals"`                // sums of all files
	Sources     []Source          `json:"sources"`               // files with failures first, then bad rows, then size
	OtherFiles  int64             `json:"other_files,omitempty"` // number of files that Sources omits
	Skipped     Top[Skipped]      `json:"skipped"`
	Fits        []FileFit         `json:"fits"` // use of the files' values, by column; problems first
	Records     []Records         `json:"records"`
	Conflicts   Conflicts         `json:"conflicts"`
	References  []Relation        `json:"references"`
}

// A File describes a source without its rows.
type File struct {
	Name        string `json:"name,omitempty"`
	Kind        string `json:"kind,omitempty"`
	Layout      string `json:"layout,omitempty"`
	Format      string `json:"format,omitempty"`
	Compression string `json:"compression,omitempty"`
	Bytes       int64  `json:"bytes"` // on disk
}

// A Source counts the rows of one file.
type Source struct {
	File
	Rows int64 `json:"rows"` // Kept + Blank + Duplicates + Quarantined
	Outcome
	Failure string `json:"failure,omitempty"` // why the file was not read completely
}

// Totals are the sums of all files.
type Totals struct {
	Bytes int64 `json:"bytes"` // on disk
	Rows  int64 `json:"rows"`  // Kept + Blank + Duplicates + Quarantined
	Outcome
	Records Counts      `json:"records"` // by kind
	Reasons Top[Reason] `json:"reasons"` // reasons of quarantined rows
	// Fields that differ from the API's, by path.
	Unknown Top[FieldCount] `json:"unknown_fields"` // kept, although the API lacks them
	Coerced Top[FieldCount] `json:"coerced_fields"` // values converted from another type or form
	Dropped Top[FieldCount] `json:"dropped_fields"` // values for which the API has no field
	Whole   Top[FieldCount] `json:"whole_lists"`    // lists whose names do not all have ids
	// LeftOut are values that do not fit their field. Their rows were kept.
	LeftOut Top[LeftOut] `json:"left_out_values"`
}

// An Outcome counts rows by outcome: each is kept, blank, a duplicate or quarantined. The counts of IDs overlap with
// those.
type Outcome struct {
	Kept        int64 `json:"kept"`
	Blank       int64 `json:"blank"`                 // without any value
	Duplicates  int64 `json:"duplicates"`            // equal to an earlier row
	Quarantined int64 `json:"quarantined"`           // could not be used
	Matched     int64 `json:"ids_matched,omitempty"` // records without an ID, identified by other records
	Minted      int64 `json:"ids_minted,omitempty"`  // records whose IDs were minted from fields
	NoID        int64 `json:"ids_missing,omitempty"` // rows quarantined because no ID was found
}

// Sum returns the number of rows.
func (o *Outcome) Sum() int64 { return o.Kept + o.Blank + o.Duplicates + o.Quarantined }

// Add adds other counts.
func (o *Outcome) Add(p *Outcome) {
	o.Kept += p.Kept
	o.Blank += p.Blank
	o.Duplicates += p.Duplicates
	o.Quarantined += p.Quarantined
	o.Matched += p.Matched
	o.Minted += p.Minted
	o.NoID += p.NoID
}

// A Top has the first entries of a list, and the sum of the others.
type Top[T any] struct {
	Top       []T   `json:"top"`
	More      int64 `json:"more"`       // number of entries not in Top
	MoreCount int64 `json:"more_count"` // sum of their counts
}

// A Reason is a group of rows quarantined for the same reason.
type Reason struct {
	Field   string `json:"field,omitempty"`
	Reason  string `json:"reason"` // with # for numbers and "…" for quoted values
	Count   int64  `json:"count"`
	Example string `json:"example"` // place and reason of a row
}

// A FieldCount is a field and a number of occurrences.
type FieldCount struct {
	Path  string `json:"path"`
	Count int64  `json:"count"`
}

// A LeftOut describes the values of one field that were left out.
type LeftOut struct {
	Path    string   `json:"path"`
	Count   int64    `json:"count"`
	Samples []Sample `json:"samples"` // first values, at most record.LeftOutSamples
}

// A Sample is one value that was left out.
type Sample struct {
	File   string `json:"file"`
	Row    int64  `json:"row"`
	Line   int64  `json:"line,omitempty"`  // 0 if the format has no lines
	Field  string `json:"field"`           // with list indices
	Value  string `json:"value,omitempty"` // start of the value
	Reason string `json:"reason"`
}

// String returns place and reason for messages.
func (s Sample) String() string {
	return source.Place{File: s.File, Row: s.Row, Line: s.Line}.String() + ": " + s.Reason
}

// A FileFit measures how well a file's rows fit its chosen meaning. Files in one folder that are each named after one resource
// share a FileFit.
type FileFit struct {
	File    string   `json:"file"`            // first file
	Files   int64    `json:"files,omitempty"` // number of files, if several
	Meaning string   `json:"meaning"`
	Rows    int64    `json:"rows"`
	Made    int64    `json:"made"` // rows that made records
	Columns []Column `json:"columns"`
	Doubts  []string `json:"doubts,omitempty"` // guesses that the user should check
	// Problems are the reasons for rejecting the file.
	Problems []string `json:"problems,omitempty"`
}

// A Column counts a column's non-empty values: Cells = Used + LeftOut + Extra + Unused.
type Column struct {
	Name    string  `json:"name"` // with a dot for a field of an object
	Cells   int64   `json:"cells"`
	Used    int64   `json:"used"`
	LeftOut int64   `json:"left_out"`          // do not fit their field
	Extra   int64   `json:"extra"`             // kept, although the API lacks the field
	Unused  int64   `json:"unused"`            // no field reads the column
	Ignored bool    `json:"ignored,omitempty"` // the mapping ignores the column
	Example *Sample `json:"example,omitempty"` // first value that was left out
}

// Such returns an example of the values left out for messages, or "".
func (c *Column) Such() string {
	if c.Example == nil {
		return ""
	}
	place := fmt.Sprintf("row %d", c.Example.Row)
	if c.Example.Line > 0 {
		place = fmt.Sprintf("line %d", c.Example.Line)
	}
	return fmt.Sprintf(", such as %s in %s", cmp.Or(c.Example.Value, c.Example.Reason), place)
}

// A Skipped file was left out.
type Skipped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// String returns name and reason for messages.
func (s Skipped) String() string { return s.Name + ": " + s.Reason }

// Records counts the records of a kind before and after an ingest.
type Records struct {
	Kind    string `json:"kind"`
	Before  int64  `json:"before"`
	Now     int64  `json:"now"`
	Added   int64  `json:"added"`
	Changed int64  `json:"changed"`
	Removed int64  `json:"removed"`
}

// Conflicts are disagreements between sources.
type Conflicts struct {
	Count  int64         `json:"count"`
	Fields Top[Conflict] `json:"fields"`
}

// A Conflict counts the disagreements on one field.
type Conflict struct {
	Field   string   `json:"field"` // with the kind, such as movie.title
	Count   int64    `json:"count"`
	Samples []string `json:"samples"`
}

// Write writes both files to the catalogue's folder, each atomically and durably, and removes leftovers of interrupted writes.
// The caller prevents concurrent writes.
func (r *Report) Write(dir string) error {
	for name, form := range map[string]func() ([]byte, error){JSONFile: r.encode, HTMLFile: r.render} {
		b, err := form()
		if err == nil {
			err = file.RemovePending(filepath.Join(dir, name))
		}
		if err == nil {
			err = file.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
		}
	}
	return nil
}

// encoding behaves like encoding/json, without escaping HTML.
var encoding = sonic.Config{SortMapKeys: true, ValidateString: true}.Froze()

// encode returns the report as indented JSON.
func (r *Report) encode() ([]byte, error) {
	b, err := encoding.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode ingest report: %w", err)
	}
	return append(b, '\n'), nil
}

//go:embed page.html
var pageText string

// page is the template of a self-contained page: it loads no scripts, styles or images.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"bytes": func(n int64) string { return humanize.IBytes(uint64(n)) }, "number": humanize.Comma, "seconds": formatSeconds, "percent": percent,
		"moment": func(t time.Time) string { return t.Format("2006-01-02 15:04:05 UTC") }, "dangling": func(list []Relation) []Relation { // the most missing IDs first
			return slices.SortedStableFunc(slices.Values(list), func(a, b Relation) int { return cmp.Compare(b.Missing, a.Missing) })
		},
		"others": func(files int64) int64 { return files - 1 },
	}).Parse(pageText))
})

// render returns the report as a page.
func (r *Report) render() ([]byte, error) {
	var b bytes.Buffer
	if err := page().Execute(&b, r); err != nil {
		return nil, fmt.Errorf("render ingest report: %w", err)
	}
	return b.Bytes(), nil
}

// formatSeconds returns 42ms, 12.3s, 4m5s or 2h3m0s.
func formatSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d > time.Minute {
		d = d.Round(time.Second)
	}
	return d.Round(time.Millisecond).String()
}

// percent returns part of whole, such as 12.3 %.
func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(whole))
}
