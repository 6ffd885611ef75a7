package imdb

import (
	"strings"

	"reelsplice/ingest/layout"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// A Report counts the rows by their fate.
type Report struct {
	Rows    map[string]int64 `json:"rows"`    // good ones, by table
	Records map[string]int64 `json:"records"` // emitted, by kind
	// Duplicates are rows equal to an earlier one of the same key; Refused are those that
	// Config.Bad was given.
	Duplicates int64 `json:"duplicates"`
	Refused    int64 `json:"refused"`
	// Skipped counts titles, by titleType, of types that the API has no place for.
	Skipped map[string]int64 `json:"skipped"`
	// Dangling counts ids that lead nowhere, by table and column. Persons without a row in
	// name.basics keep their credits. Rows of titles that neither title.basics nor
	// Config.ID has become nothing.
	Dangling map[string]int64 `json:"dangling"`
	// Dropped counts, by table and column, values that the API has no place for.
	Dropped map[string]int64 `json:"dropped"`
	// SameTitles are rows of title.akas that repeat the title itself.
	SameTitles int64 `json:"same_titles"`
	// SameCredits are rows of title.principals that give a person the same as another row of the
	// title: the same characters, or jobs that are one in the API.
	SameCredits int64    `json:"same_credits"`
	Episodes    Episodes `json:"episodes"`
}

// Episodes counts episodes without a record, by reason.
type Episodes struct {
	Unnumbered int64 `json:"unnumbered"`    // without season or number
	Taken      int64 `json:"taken"`         // another episode of the series has the number
	NoSeries   int64 `json:"no_series"`     // no row in title.episode
	NotSeries  int64 `json:"not_series"`    // the catalogue has the series as a movie
	OtherType  int64 `json:"other_type"`    // in title.episode, but of another titleType
	WithoutID  int64 `json:"no_id_of_ours"` // have a record, but leave their id to the catalogue
}

func newReport() Report {
	return Report{
		Rows: map[string]int64{}, Records: map[string]int64{}, Skipped: map[string]int64{},
		Dangling: map[string]int64{}, Dropped: map[string]int64{},
	}
}

// count counts a name that comes from a row under a path, cut where it is none.
func count(counts map[string]int64, path, name string) {
	const most = 40
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	record.Count(counts, path+name, 1)
}

// output hands out records.
type output struct {
	report  *Report
	emit    func(file int, row, line int64, rec layout.Record) error
	unusual map[unusualKey]string
}

// An unusualKey is a type of objects, and which of its nullable fields are unset, by bit.
type unusualKey struct {
	plan  *record.Schema
	unset uint64
}

// record completes a record and hands it out. Fields that IMDb lacks are absent, not null: null
// would claim that there is no value.
func (o *output) record(at place, kind fragment.Kind, r record.Record) error {
	o.unknown(r)
	t := catalog.TypeOf(kind)
	key, err := t.Key(r)
	if err != nil {
		return err
	}
	o.report.Records[t.Name()]++
	return o.emit(at.file, at.row, at.line, layout.Record{Record: r, Type: t, Key: key})
}

// unknown makes the unset fields of r, a new object, absent. Nearly all objects of a type
// have the same ones, so the list of their names is made once.
func (o *output) unknown(r record.Record) {
	k := unusualKey{plan: r.Schema}
	for i := range r.Schema.Fields {
		if f := &r.Schema.Fields[i]; f.Nullable && record.IsNull(r, f.Name) {
			k.unset |= 1 << i
		}
	}
	names, ok := o.unusual[k]
	if !ok {
		for i := range r.Schema.Fields {
			record.MarkAbsent(r, r.Schema.Fields[i].Name)
		}
		o.unusual[k] = r.Object().Unusual
		return
	}
	r.Object().Unusual = names
}
