// Package layout turns a row, which is a JSON object of a dump, into records of the catalogue.
//
// Package tmdb reads the API's responses. All other layouts are mapping files, either built in (folder mappings) or the user's:
//
//	meaning.go, choose.go    possible meanings of a file's rows, how well they fit, and the choice
//	mapping.go               the text of a mapping file, and the place of each error
//	compile.go               file -> table, shape, entry, with all checks that need no rows
//	expression.go            text -> expression, and its value for a row
//	functions.go, dates.go   functions in expressions
//	names.go                 names of genres, countries, languages, companies and people; aliases
//	row.go                   the cells of a row, and how each was used
//	mapped.go                row -> records, in the form of the API's responses, which tmdb reads
//	ids.go                   IDs for records of rows without one
//	python.go                Python literals -> JSON
//	draft.go, candidates.go  a mapping for an unknown table
//
// Tests require that each layout has a mapping file, a row in testdata/ready and a section in a document.
package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Row is one JSON object of a dump, with facts from its file's name.
type Row = tmdb.Row

// A Record holds the facts of a row about one resource.
type Record = tmdb.Record

// A Layout turns rows into records. It is not safe for concurrent use.
type Layout interface {
	// Records returns the records of a row, its own record first. An error about one field is a *record.FieldError.
	Records(r Row) ([]Record, error)
	// Counts returns the counts of all rows.
	Counts() tmdb.Counts
}

// Names of layouts.
const (
	Auto     = "auto"
	TMDB     = "tmdb"
	movnix   = "movnix"
	tables   = "tables"
	kaggle   = "kaggle"
	idExport = "idexport"
)

// mappedLayouts are the layouts made of mapping files, one folder each, in order of preference.
var mappedLayouts = []string{tables, idExport, movnix, kaggle}

// Names lists the names of layouts.
func Names() []string { return []string{Auto, TMDB, movnix, tables, kaggle, idExport} }

// Check returns an error if a layout does not exist or does not allow the language.
func Check(name, language string) error {
	switch {
	case !slices.Contains(Names(), name):
		return fmt.Errorf("layout %q: want one of %s", name, strings.Join(Names(), ", "))
	case name == movnix && language != "":
		return fmt.Errorf("layout %s: its rows have no language: ingest them without language %s", movnix, language)
	}
	return nil
}

// Options are settings for reading rows.
type Options struct {
	Language string     // language of the crawl, as ParseLanguage returns it; "" is en-US
	Mappings []*Mapping // the user's mappings, which take precedence over built-in ones
	Names    NameIDs    // resolves names of companies, networks and keywords; may be nil
	IDs      IDs        // resolves rows without an ID; may be nil
	// Values receives values that do not fit their field, from all readers. If it is nil, their row is rejected.
	Values *record.Values

	dictionary *dictionary // nil without aliases in Mappings; see WithAliases
}

// mappings returns the mappings of a layout, or nil if it has no mapping files.
func (o *Options) mappings(layout string) []*Mapping {
	if layout == tables {
		return slices.Concat(o.Mappings, ready(tables))
	}
	return ready(layout)
}

// IsMapped reports whether a layout is made of mapping files.
func IsMapped(layout string) bool { return slices.Contains(mappedLayouts, layout) }

// ColumnsOf returns the names of a row's fields.
func ColumnsOf(row string) []string {
	var out []string
	_ = record.EachField(row, func(name, _ string) error {
		out = append(out, name)
		return nil
	})
	return out
}
