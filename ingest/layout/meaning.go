package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Meaning is a possible meaning of rows: a table of a mapping, or the API's own form of a kind. It is immutable, so workers
// share it.
type Meaning struct {
	Layout string        // name of the layout
	Type   *catalog.Type // kind of the API's own form; nil for a table
	Sub    string        // sub-request of Type that each row responds to; "" for whole records
	Doubts []string      // guesses that the user should check
	table  *table        // nil for the API's own form
	own    bool          // the table is from the user's mappings
}

// OwnForm returns the meaning of rows in the API's own form of a kind.
func OwnForm(t *catalog.Type, sub string) *Meaning { return &Meaning{Layout: TMDB, Type: t, Sub: sub} }

// form returns the form of a table's rows, which is empty for the API's own form.
func (m *Meaning) form() *form {
	if m.table == nil {
		return &form{}
	}
	return m.table.form()
}

// Reader returns a layout that reads rows with the meaning.
func (m *Meaning) Reader(o Options) Layout {
	if m.table != nil {
		return newMapped(m.Layout, m.form(), o)
	}
	t := tmdb.New(o.Language)
	t.Responses, t.Values, t.Genre = true, o.Values, genreNamed
	return t
}

// Row returns r with the kind and sub-request of the meaning.
func (m *Meaning) Row(r Row) Row {
	if m.Type != nil {
		r.Type = m.Type
	}
	if m.Sub != "" {
		r.Sub = m.Sub
	}
	return r
}

// String returns the name of the meaning for messages.
func (m *Meaning) String() string {
	switch {
	case m.table != nil:
		return fmt.Sprintf("table %s of %s", m.table.label(), m.table.file)
	case m.Sub != "":
		return fmt.Sprintf("%s of a %s", m.Sub, m.Type.Name())
	}
	return m.Type.Name() + " records of the API"
}

// Mapping returns the mapping file and the table, or empty strings for the API's own form.
func (m *Meaning) Mapping() (file, table string) {
	if m.table == nil {
		return "", ""
	}
	return m.table.file, m.table.label()
}

// Expressions returns the expressions of a field, which is a dotted path in a record of a kind; nil for the API's own form.
func (m *Meaning) Expressions(kind fragment.Kind, field string) (out []string) {
	for _, s := range m.form().shapes {
		if s.typ.Kind != kind {
			continue
		}
		for _, e := range s.entries {
			path := strings.Replace(strings.ReplaceAll(e.path, "[0]", ""), "genre_ids", "genres", 1)
			isPart := strings.HasPrefix(path, field+".") || strings.HasPrefix(field, path+".")
			if name := cmp.Or(e.source, "always "+e.constant); (isPart || path == wholeRecord || path == field) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Kind names the kind of a row's first record.
func (m *Meaning) Kind() string {
	if m.table != nil {
		return m.form().shapes[0].typ.Name()
	}
	return m.Type.Name()
}

// NameColumns returns the columns of a table that name the first record's resource.
func (m *Meaning) NameColumns() (out []string) {
	if m.table == nil {
		return nil
	}
	s := m.form().shapes[0]
	names := nameFields(s.typ)
	for _, e := range s.entries {
		for _, name := range e.columns {
			if slices.Contains(names, e.path) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Uses reports whether a value of a column, or of a field inside one, is used.
func Uses(cells map[string]record.Cells, columns []string) bool {
	for name, n := range cells {
		top, _, _ := strings.Cut(name, ".")
		if n.Used > 0 && (slices.Contains(columns, name) || slices.Contains(columns, top)) {
			return true
		}
	}
	return false
}

// IsOwn reports whether the meaning is a table of the user's mappings.
func (m *Meaning) IsOwn() bool { return m.own }

// MinFit returns the minimum share of cells that must be used, or -1 if the mapping does not set it.
func (m *Meaning) MinFit() float64 {
	if m.table == nil || m.table.MinFit == nil {
		return -1
	}
	return *m.table.MinFit
}

// Ignores reports whether the mapping ignores a column, and whether reports omit it.
func (m *Meaning) Ignores(column string) (ignored, silent bool) {
	silent, ignored = m.form().ignored[column]
	return ignored, silent
}

// Lacks returns the columns that a mapping of the user reads and the table lacks.
func (m *Meaning) Lacks(columns []string) (out []string) {
	if !m.own {
		return nil
	}
	for _, s := range m.form().shapes {
		// The release date has the year of minted IDs.
		hasYear := s.find != nil && slices.ContainsFunc(s.find.mint, func(p mintPart) bool { return p.name == yearPart }) &&
			slices.ContainsFunc(s.entries, func(e *entry) bool { return slices.Contains(firstDays, e.path) })
		for _, name := range s.columns() {
			if !slices.Contains(columns, name) && !slices.Contains(out, name) && (name != yearPart || !hasYear) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Reads reports whether a field reads a column.
func (m *Meaning) Reads(column string) bool {
	if m.table == nil {
		_, ok := m.Type.Schema.Field(column)
		return ok
	}
	return m.form().readsColumn(column)
}

// RowsOf returns the path to a file's rows in the user's mappings, or "".
func (o *Options) RowsOf(file string) string {
	for _, m := range o.Mappings {
		for _, t := range m.tables {
			if t.Rows != "" && (t.fitsName(file) || len(t.Files) == 0) {
				return t.Rows
			}
		}
	}
	return ""
}

// Needs returns the facts that must be read before the rows.
func (m *Meaning) Needs() Needs { return m.form().needs() }

// A Fit measures how well rows fit a meaning.
type Fit struct {
	*Meaning
	Rows    int64 // all rows
	Made    int64 // made a record
	Passed  int64 // skipped by the mapping's conditions, or empty
	Columns map[string]record.Cells
	Refused error // error of the first row that was refused

	hint    bool             // the file's name matches the table or the kind
	hasName bool             // a row's first record has the title or the name
	removes bool             // a row removes a resource
	leftOut []record.LeftOut // first values left out
	coerced map[string]int64 // see record.Counts
}

// used returns the number of values that become part of a record.
func (f *Fit) used() (n int64) {
	for _, c := range f.Columns {
		n += c.Used
	}
	return n
}

// isClear reports whether most rows make records, and nearly all their cells become part of one or are ignored by the mapping.
func (f *Fit) isClear() bool {
	const clearFit = 0.95
	used, all := int64(0), int64(0)
	for name, n := range f.Columns {
		all += n.All()
		used += n.Used + n.Extra
		if ignored, _ := f.Ignores(name); ignored {
			used += n.Unused
		}
	}
	return 2*f.Made >= f.Rows-f.Passed && float64(used) >= clearFit*float64(max(all, 1))
}

// isProven reports whether rows with fields that the API lacks show the API's own form by lists and objects.
func (f *Fit) isProven() bool {
	extra := false
	for _, n := range f.Columns {
		extra = extra || n.Extra > 0
	}
	return f.Type == nil || !extra || f.hasShapes()
}

// hasShapes reports whether a list or an object in the API's shape was used. Genres do not count: they may be names.
func (f *Fit) hasShapes() bool {
	for name, n := range f.Columns {
		top, _, _ := strings.Cut(name, ".")
		if field, ok := f.Type.Schema.Field(top); ok && n.Used > 0 && (field.Shape == record.ShapeObjects || field.Shape == record.ShapeObject) && top != "genres" {
			return true
		}
	}
	return false
}

// Measure returns how well rows fit the meaning. row is a row of their file without the JSON.
func (m *Meaning) Measure(row Row, rows []string, o Options) Fit {
	f := Fit{Meaning: m}
	o.Values, o.IDs = &record.Values{}, anyID{}
	l := m.Reader(o)
	row = m.Row(row)
	first := &record.Values{}
	for _, row.JSON = range rows {
		f.Rows++
		recs, err := l.Records(row)
		first.AddRenamed(o.Values, func(path string) string { return path })
		switch {
		case err != nil:
			f.Refused = cmp.Or(f.Refused, err)
		case len(recs) == 0:
			f.Passed++
		default:
			f.Made++
			r := &recs[0]
			f.removes = f.removes || r.Removed
			f.hasName = f.hasName || slices.ContainsFunc(nameFields(r.Type), func(name string) bool { return r.StringNamed(name).V != "" })
		}
	}
	c := l.Counts()
	f.Columns, f.leftOut, f.coerced = m.Columns(c.Cells), first.Take(), c.Coerced
	return f
}

// nameFields returns the fields that name a resource of a kind. A record has at least one of them.
func nameFields(t *catalog.Type) []string {
	switch t.Kind {
	case fragment.KindMovie:
		return []string{"title", "original_title"}
	case fragment.KindTV:
		return []string{"name", "original_name"}
	case fragment.KindPerson, fragment.KindCollection, fragment.KindCompany, fragment.KindNetwork, fragment.KindKeyword, fragment.KindList:
		return []string{"name"}
	}
	return nil
}

// Columns renames the counts of a Reader to the names in the rows: a response to a sub-request is read as a field of its
// resource.
func (m *Meaning) Columns(cells map[string]record.Cells) map[string]record.Cells {
	if m.Sub == "" {
		return cells
	}
	out := map[string]record.Cells{}
	for name, n := range cells {
		name = strings.TrimPrefix(name, m.Sub+".")
		out[name] = n
	}
	return out
}

// anyID resolves every external ID and name. Real lookups happen when the file is read.
type anyID struct{}

func (anyID) External(fragment.Kind, string, string) (int64, bool) { return 1, true }
func (anyID) Person(fragment.Kind, int64, string) (int64, bool)    { return 1, true }
