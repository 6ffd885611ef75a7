// Package layout gives rows their meaning: it turns a JSON object of a dump into records
// of the catalogue.
//
// Package tmdb reads the API's responses. All other layouts are mapping files, those in the folder mappings and
// the caller's:
//
//	mapping.go, toml.go   a file as it is written, and the place of each fault
//	compile.go            file -> table, shape, entry: what is checked once
//	expression.go         text -> expression, and its value for a row; functions.go, dates.go, names.go: what it can call
//	bind.go               table -> binding: which column of a row is meant
//	mapped.go             row -> records
//	identify.go, ids.go   the id of a record that its row does not have
//	fields.go             values -> fields in the form of the API's responses, which tmdb reads
//	vocabulary.go         names of genres, countries, languages; aliases
//	python.go             what Python's repr writes -> JSON
//	suggest.go, nearest.go, explain.go   help for who writes a mapping
//
// A layout is a mapping file, a row in testdata/ready and a part of a document, which
// tests demand.
package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Row is one JSON object of a dump and the facts that its file's name has about it.
type Row = tmdb.Row

// A Record is the facts of a row about one resource.
type Record = tmdb.Record

// Counts counts values that records do not hold as they stood, by path.
type Counts = tmdb.Counts

// A Layout turns rows into records. It is not safe for concurrent use.
type Layout interface {
	// Records returns the records of a row, that of the row itself first, or why it
	// has none: a *record.FieldError where one field is at fault.
	Records(r Row) ([]Record, error)
	// Counts returns what was counted in all rows.
	Counts() Counts
}

// Names of layouts.
const (
	Auto     = "auto"
	TMDB     = "tmdb"
	Movnix   = "movnix"
	Tables   = "tables"
	Kaggle   = "kaggle"
	IDExport = "idexport"
)

// mappedLayouts are the layouts that are made of mapping files: a folder of mappings each,
// in the order in which Detect asks them.
var mappedLayouts = []string{Tables, IDExport, Movnix, Kaggle}

// Names lists the layouts that New accepts.
func Names() []string { return []string{Auto, TMDB, Movnix, Tables, Kaggle, IDExport} }

// Options are the settings for reading the rows of a dump.
type Options struct {
	Language string     // of the crawl, as ParseLanguage returns it; "" is en-US
	Mappings []*Mapping // of layout tables, before those that come with the program
	Names    NameIDs    // of companies, networks and keywords; may be nil
	IDs      IDs        // of rows that do not have one; may be nil
	// Values takes the values of a row that fit no field, from whatever reads it; with nil the row is refused.
	Values *record.Values

	aliased map[string][]*Mapping // by layout: with the aliases of Mappings; see WithAliases
}

// mappings returns the mappings of a layout, nil for layouts that are not made of them.
func (o *Options) mappings(layout string) []*Mapping {
	if all, ok := o.aliased[layout]; ok {
		return all
	}
	if layout == Tables {
		return slices.Concat(o.Mappings, ready(Tables))
	}
	return ready(layout)
}

// IsMapped reports whether a layout finds the kind of records by tables and columns,
// and not by the names of files.
func IsMapped(layout string) bool { return slices.Contains(mappedLayouts, layout) }

// Detect returns the name of the layout that a row of a file is in. Tables, those of
// the caller's mappings first, are told by their names and columns; everything else is
// taken for TMDB's. The file's name is without its folder and extensions.
func Detect(file string, row []byte, o Options) string {
	columns := columnsOf(row)
	for _, name := range mappedLayouts {
		// What is nested in responses of the API is text in cells: credits and keywords
		// have the same fields in both.
		if (name != Kaggle || isFlat(row)) && tableOf(o.mappings(name), file, columns) != nil {
			return name
		}
	}
	return TMDB
}

// HasMapping reports whether one of the caller's mappings is of the table that a file with
// such a row is.
func HasMapping(file string, row []byte, o Options) bool {
	return tableOf(o.Mappings, file, columnsOf(row)) != nil
}

// Skip returns why a file with such a row holds no records for a layout; "" where it may.
// What the caller's mappings leave out is left out, whatever other mappings have.
func Skip(name, file string, row []byte, o Options) string {
	columns := columnsOf(row)
	if tableOf(o.Mappings, file, columns) == nil {
		if reason := skipReason(o.Mappings, file, columns); reason != "" {
			return reason
		}
	}
	if tableOf(o.mappings(name), file, columns) != nil {
		return ""
	}
	for _, of := range mappedLayouts {
		if reason := skipReason(ready(of), file, columns); reason != "" {
			return reason
		}
	}
	if IsMapped(name) {
		return noTable(name, o.mappings(name), file, columns)
	}
	return ""
}

// skipReason returns why mappings leave a file out, "" where they do not.
func skipReason(mappings []*Mapping, file string, columns []string) string {
	for _, m := range mappings {
		for i := range m.skips {
			if m.skips[i].match(file, columns) {
				return m.skips[i].reason
			}
		}
	}
	return ""
}

// columnsOf returns the names of a row's fields, none of what is no object.
func columnsOf(row []byte) []string {
	var out []string
	_ = record.EachField(string(row), func(name, _ string) error {
		out = append(out, name)
		return nil
	})
	return out
}

// isFlat reports whether a row has no values inside others but lists of texts: what
// tables have as lists of names. An empty list is one where the row has others.
func isFlat(row []byte) bool {
	texts, empty := 0, 0
	nested := record.EachField(string(row), func(name, raw string) error {
		switch first := strings.TrimLeft(raw[1:], " \t\r\n"); {
		case raw[0] == '[' && first[0] == ']':
			empty++
		case raw[0] == '[' && (first[0] == '"' || first[0] == 'n'): // null
			texts++
		case raw[0] == '{' || raw[0] == '[':
			return fmt.Errorf("%s is nested", name)
		}
		return nil
	})
	return nested == nil && (texts > 0 || empty == 0)
}

// New returns the layout of that name.
func New(name string, o Options) (Layout, error) {
	switch {
	case name == TMDB:
		t := tmdb.New(o.Language)
		t.Responses, t.Values = true, o.Values
		return t, nil
	case name == Movnix && o.Language != "":
		return nil, fmt.Errorf("layout %s: its rows are of no language, so language %s cannot be theirs: ingest them without one", Movnix, o.Language)
	case IsMapped(name):
		return newMapped(name, o.mappings(name), o), nil
	}
	return nil, fmt.Errorf("layout %q: want one of %s", name, strings.Join(Names(), ", "))
}
