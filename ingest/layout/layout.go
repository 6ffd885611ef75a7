// Package layout gives rows their meaning: it turns a JSON object of a dump into records
// of the catalogue.
//
// Package tmdb reads the API's responses. All other layouts are mapping files, those in the folder mappings and
// the caller's:
//
//	meaning.go, choose.go what the rows of a file may mean, how well that fits, and which meaning is taken
//	mapping.go, toml.go   a file as it is written, and the place of each fault
//	compile.go            file -> table, shape, entry: what is checked once
//	expression.go         text -> expression, and its value for a row; functions.go, dates.go, names.go: what it can call
//	bind.go               columns of a row -> their places; what became of each cell
//	mapped.go             row -> records
//	identify.go, ids.go   the id of a record that its row does not have
//	fields.go             values -> fields in the form of the API's responses, which tmdb reads
//	vocabulary.go         names of genres, countries, languages; aliases
//	python.go             Python literals -> JSON
//	draft.go, candidates.go  a mapping for an unknown table; explain.go shows how rows are read
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

// mappedLayouts are the layouts that are made of mapping files, a folder of mappings each, in the order of preference.
var mappedLayouts = []string{Tables, IDExport, Movnix, Kaggle}

// Names lists the names of layouts.
func Names() []string { return []string{Auto, TMDB, Movnix, Tables, Kaggle, IDExport} }

// Check returns an error for a layout that does not exist, or whose rows cannot be of a language.
func Check(name, language string) error {
	switch {
	case !slices.Contains(Names(), name):
		return fmt.Errorf("layout %q: want one of %s", name, strings.Join(Names(), ", "))
	case name == Movnix && language != "":
		return fmt.Errorf("layout %s: its rows are of no language, so language %s cannot be theirs: ingest them without one", Movnix, language)
	}
	return nil
}

// Options are the settings for reading the rows of a dump.
type Options struct {
	Language string     // of the crawl, as ParseLanguage returns it; "" is en-US
	Mappings []*Mapping // of the caller, before those that come with the program
	Names    NameIDs    // of companies, networks and keywords; may be nil
	IDs      IDs        // of rows that do not have one; may be nil
	// Values takes the values of a row that fit no field, from all of its readers; with nil the row is refused.
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

// IsMapped reports whether a layout is made of mapping files.
func IsMapped(layout string) bool { return slices.Contains(mappedLayouts, layout) }

// columnsOf returns the names of a row's fields.
func columnsOf(row string) []string {
	var out []string
	_ = record.EachField(row, func(name, _ string) error {
		out = append(out, name)
		return nil
	})
	return out
}
