// Package report sums up an ingest: rows read, kept and put aside, file by file, conflicts between
// sources, the records in the catalogue now, and ids that lead nowhere. A Collector gathers it while
// rows are read. The Report is written to the catalogue's folder as ingest-report.json, for programs,
// and as ingest-report.html, for people. A Quarantine keeps the rows that could not be used.
//
// Names in the JSON are in snake case, times are RFC 3339 in UTC. Fields that do not apply are left out.
package report

import (
	"bytes"
	"cmp"
	_ "embed" // of the page
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

// The names of the files in the catalogue's folder.
const (
	JSONFile = catalog.ReportName
	HTMLFile = "ingest-report.html"
)

// Version is the version of the form of the JSON: a change that breaks readers counts up.
const Version = 5

// MaxListed is how many entries a list has at most; the rest is summed.
const MaxListed = 50

// The states in which an ingest ends.
const (
	Complete = "complete"
	Failed   = "failed" // too many bad rows, or a file that does not fit; the catalogue is as it was
)

// A Report sums up one ingest.
type Report struct {
	Version     int               `json:"version"`
	State       string            `json:"state"`
	Error       string            `json:"error,omitempty"` // why it is not complete
	Started     time.Time         `json:"started"`
	Seconds     float64           `json:"seconds"`
	Catalog     string            `json:"catalog"`    // its folder
	Parameters  map[string]string `json:"parameters"` // flag by flag
	Files       int64             `json:"files"`
	FailedFiles int64             `json:"failed_files"`          // not read to their end
	Totals      Totals            `json:"totals"`                // of all files
	Sources     []Source          `json:"sources"`               // the most notable files, worst and largest first
	OtherFiles  int64             `json:"other_files,omitempty"` // how many more there are
	Skipped     Top[Skipped]      `json:"skipped"`
	Fits        []FileFit         `json:"fits"` // what became of the values of files, by column; those with problems first
	Records     []Records         `json:"records"`
	Conflicts   Conflicts         `json:"conflicts"`
	References  []Relation        `json:"references"`
}

// A File describes a source, apart from its rows.
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
	Failure string `json:"failure,omitempty"` // why the file was not read to its end
}

// Totals count the rows of all files.
type Totals struct {
	Bytes int64 `json:"bytes"` // on disk
	Rows  int64 `json:"rows"`  // Kept + Blank + Duplicates + Quarantined
	Outcome
	Records Counts      `json:"records"` // that the rows gave, by kind
	Reasons Top[Reason] `json:"reasons"` // of quarantine
	FieldLists
}

// An Outcome counts what became of rows: each is kept, blank, a duplicate or quarantined. The
// counts of ids overlap with those.
type Outcome struct {
	Kept        int64 `json:"kept"`
	Blank       int64 `json:"blank"`                 // without any value
	Duplicates  int64 `json:"duplicates"`            // equal to an earlier row
	Quarantined int64 `json:"quarantined"`           // could not be used
	Matched     int64 `json:"ids_matched,omitempty"` // records whose ids are those of other records
	Minted      int64 `json:"ids_minted,omitempty"`  // records whose ids were made of fields of their rows
	NoID        int64 `json:"ids_missing,omitempty"` // rows in quarantine without an id
}

// Sum returns how many rows there were.
func (o *Outcome) Sum() int64 { return o.Kept + o.Blank + o.Duplicates + o.Quarantined }

// Add adds the counts of other rows.
func (o *Outcome) Add(p *Outcome) {
	o.Kept += p.Kept
	o.Blank += p.Blank
	o.Duplicates += p.Duplicates
	o.Quarantined += p.Quarantined
	o.Matched += p.Matched
	o.Minted += p.Minted
	o.NoID += p.NoID
}

// FieldLists are the fields that rows had beyond or instead of those of the API, by path.
type FieldLists struct {
	Unknown Top[FieldCount] `json:"unknown_fields"` // kept, though the API lacks them
	Coerced Top[FieldCount] `json:"coerced_fields"` // values read as another type, or in another form
	Dropped Top[FieldCount] `json:"dropped_fields"` // values without a place in the API
	Whole   Top[FieldCount] `json:"whole_lists"`    // lists whose names do not all have ids
	// LeftOut are the values that fit no field, whose rows stayed.
	LeftOut Top[LeftOut] `json:"left_out_values"`
}

// A Top is the first entries of a list, and the sum of the others.
type Top[T any] struct {
	Top       []T   `json:"top"`
	More      int64 `json:"more"`       // entries that are not in Top
	MoreCount int64 `json:"more_count"` // their counts in sum
}

// A Reason is a group of rows in quarantine for the same reason.
type Reason struct {
	Field   string `json:"field,omitempty"`
	Reason  string `json:"reason"` // with # for numbers and "…" for quoted values
	Count   int64  `json:"count"`
	Example string `json:"example"` // place and reason of a row
}

// A FieldCount is a field and how often something befell it.
type FieldCount struct {
	Path  string `json:"path"`
	Count int64  `json:"count"`
}

// A LeftOut is the values of one field that were left out.
type LeftOut struct {
	Path    string   `json:"path"`
	Count   int64    `json:"count"`
	Samples []Sample `json:"samples"` // of the first, record.LeftOutSamples at most
}

// A Sample is one value that was left out.
type Sample struct {
	File   string `json:"file"`
	Row    int64  `json:"row"`
	Line   int64  `json:"line,omitempty"`  // 0 where the format has no lines
	Field  string `json:"field"`           // with the indices of lists
	Value  string `json:"value,omitempty"` // the start of it
	Reason string `json:"reason"`
}

// String returns place and reason for messages.
func (s Sample) String() string {
	return source.Place{File: s.File, Row: s.Row, Line: s.Line}.String() + ": " + s.Reason
}

// A FileFit is how well the rows of one file fit the meaning that was chosen for it, or the rows of many files of a folder
// that are each named after one resource.
type FileFit struct {
	File    string   `json:"file"`            // the first of them
	Files   int64    `json:"files,omitempty"` // how many there are, if several
	Meaning string   `json:"meaning"`
	Rows    int64    `json:"rows"`
	Made    int64    `json:"made"` // rows that made records
	Columns []Column `json:"columns"`
	// Problems are the reasons why the file is not taken.
	Problems []string `json:"problems,omitempty"`
}

// A Column is what became of the values of one column that are not empty: Cells = Used + LeftOut + Extra + Unused.
type Column struct {
	Name    string  `json:"name"` // of a field of an object: with a dot
	Cells   int64   `json:"cells"`
	Used    int64   `json:"used"`
	LeftOut int64   `json:"left_out"`          // they fit no field
	Extra   int64   `json:"extra"`             // kept, though the API lacks the field
	Unused  int64   `json:"unused"`            // no field takes the column
	Ignored bool    `json:"ignored,omitempty"` // the mapping lists it as one that no field takes
	Example *Sample `json:"example,omitempty"` // the first value that was left out
}

// Such returns an example of the values that were left out, for messages; "" for none.
func (c *Column) Such() string {
	if c.Example == nil {
		return ""
	}
	at := fmt.Sprintf("row %d", c.Example.Row)
	if c.Example.Line > 0 {
		at = fmt.Sprintf("line %d", c.Example.Line)
	}
	return fmt.Sprintf(", such as %s in %s", cmp.Or(c.Example.Value, c.Example.Reason), at)
}

// A Skipped file was left out.
type Skipped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// String returns name and reason for messages.
func (s Skipped) String() string { return s.Name + ": " + s.Reason }

// Records counts the records of a kind before and after.
type Records struct {
	Kind    string `json:"kind"`
	Before  int64  `json:"before"`
	Now     int64  `json:"now"`
	Added   int64  `json:"added"`
	Changed int64  `json:"changed"`
	Removed int64  `json:"removed"`
}

// Conflicts are the fields on which sources disagreed.
type Conflicts struct {
	Count  int64         `json:"count"`
	Fields Top[Conflict] `json:"fields"`
}

// A Conflict is all those of one field.
type Conflict struct {
	Field   string   `json:"field"` // with its kind: movie.title
	Count   int64    `json:"count"`
	Samples []string `json:"samples"`
}

// Write writes both files to the catalogue's folder, durably and at once, and removes what killed writers left. The
// caller keeps others from writing them meanwhile.
func (r *Report) Write(dir string) error {
	for name, form := range map[string]func() ([]byte, error){JSONFile: r.JSON, HTMLFile: r.HTML} {
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

// encoding escapes and sorts as encoding/json does, but for the marks of HTML.
var encoding = sonic.Config{SortMapKeys: true, ValidateString: true}.Froze()

// JSON returns the report as indented JSON.
func (r *Report) JSON() ([]byte, error) {
	b, err := encoding.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode ingest report: %w", err)
	}
	return append(b, '\n'), nil
}

//go:embed page.html
var pageText string

// page is the page's template. It names nothing outside of itself: neither scripts nor
// styles nor images.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"bytes": func(n int64) string { return humanize.IBytes(uint64(n)) }, "number": humanize.Comma, "seconds": formatSeconds, "percent": percent,
		"moment": func(t time.Time) string { return t.Format("2006-01-02 15:04:05 UTC") }, "dangling": byMissing,
		"others": func(files int64) int64 { return files - 1 },
	}).Parse(pageText))
})

// HTML returns the report as one page for people.
func (r *Report) HTML() ([]byte, error) {
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

// percent returns part of whole: 12.3 %.
func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(whole))
}

// byMissing puts the references first that most often lead nowhere.
func byMissing(list []Relation) []Relation {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Relation) int { return cmp.Compare(b.Missing, a.Missing) })
	return sorted
}
