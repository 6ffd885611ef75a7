package layout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// mapped is the layout of tables with a mapping. The binder finds the columns of a row, the identifier finds IDs for its
// records, and the writer produces the API's form, which tmdb reads.
type mapped struct {
	tmdb *tmdb.Reader
	binder
	ids   identifier
	write fieldWriter

	whole map[string]int64 // joined lists that could not be split, by table and column

	columns []string // columns of the current row
	row     *boundRow
	made    []*shape // shapes that took the row
}

// newMapped returns a reader of rows of a layout's table.
func newMapped(name string, f *form, o Options) *mapped {
	if name == IDExport {
		o.Language = "" // exports are the same for every language
	}
	t := tmdb.New(o.Language)
	if o.Values != nil {
		t.Values = &record.Values{} // values of one record; their fields are renamed to columns
	}
	m := &mapped{
		tmdb: t, whole: map[string]int64{}, row: &boundRow{lost: map[string]int{}, whole: map[string]int{}},
		binder: binder{form: f, bindings: map[string]*binding{}, cells: map[string]*record.Cells{}},
		ids:    identifier{names: o.Names, find: o.IDs, made: map[fragment.Kind]int64{}},
	}
	m.write = fieldWriter{evaluator: newEvaluator(&m.ids), dropped: t.Counts().Dropped, values: o.Values, form: f}
	return m
}

// Counts includes the rows that made no record in Dropped. A list that was kept whole has its column's name and "_text".
func (m *mapped) Counts() Counts {
	c := m.tmdb.Counts()
	c.Whole, c.Cells = m.whole, map[string]record.Cells{}
	for name, n := range m.cells {
		if *n != (record.Cells{}) {
			c.Cells[name] = *n
		}
	}
	return c
}

// Records returns the records that a row is part of. A row that is empty, or excluded by the conditions of all records, gives
// none and is counted in Dropped.
func (m *mapped) Records(r Row) ([]Record, error) {
	m.columns, m.row.cells = m.columns[:0], m.row.cells[:0]
	clear(m.row.values)
	clear(m.row.lost)
	clear(m.row.whole)
	err := record.EachField(r.JSON, func(name, raw string) error {
		m.columns, m.row.cells = append(m.columns, name), append(m.row.cells, raw)
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.row.binding = m.bind(m.columns)
	if m.write.values != nil {
		m.row.clean()
	}
	form := m.row.form
	if !slices.ContainsFunc(m.row.cells, func(cell string) bool { return !isEmpty(cell) }) {
		record.Count(m.write.dropped, form.label+": empty rows", 1)
		return nil, nil
	}
	m.ids.begin()
	m.write.read = m.write.read[:0]
	m.made = m.made[:0]
	var out []Record
	for _, s := range form.shapes {
		recs, takes, err := m.each(s)
		if err != nil {
			return nil, err
		}
		if takes {
			m.made = append(m.made, s)
		}
		out = append(out, recs...)
	}
	if len(m.made) == 0 {
		record.Count(m.write.dropped, form.label+": rows that no record takes", 1)
	} else {
		m.count(m.row, m.made, r.Table)
	}
	for _, n := range m.ids.named {
		rec, err := m.tmdb.Records(n.row())
		if err != nil {
			return nil, err
		}
		rec[0].Part, rec[0].Mint = true, n.mint
		out = append(out, rec...)
	}
	return out, nil
}

// each returns the records of a shape: one for the row, or one for each element of its list. takes is false if the condition
// excludes the row.
func (m *mapped) each(s *shape) (out []Record, takes bool, err error) {
	if s.where != nil {
		value, err := m.write.value(s.where, m.row)
		if err != nil {
			return nil, false, tmdb.InField(err, "where")
		}
		if value != true {
			return nil, false, nil
		}
	}
	if s.each == nil {
		out, err := m.record(s)
		return out, true, err
	}
	list, err := m.elements(s.each)
	if err != nil {
		m.row.lose(s.each.columns)
		return nil, true, m.write.values.Reject(tmdb.InField(err, s.each.column))
	}
	defer m.row.setElement("", "", 0)
	given := false
	for i, el := range list {
		if isEmpty(el) {
			continue
		}
		given = true
		m.row.setElement(s.each.column, el, i)
		m.countFields(s, el)
		recs, err := m.record(s)
		if noID := (*NoIDError)(nil); err != nil && !errors.As(err, &noID) {
			err = m.write.values.Reject(err)
		}
		if err != nil {
			return nil, true, err
		}
		out = append(out, recs...)
	}
	if given && len(out) == 0 {
		m.row.lose(s.each.columns)
	}
	return out, true, nil
}

// countFields counts the fields of an element that no expression reads.
func (m *mapped) countFields(s *shape, element string) {
	if element[0] != '{' {
		return
	}
	var read []string
	for _, e := range s.entries {
		u := e.uses[elementName]
		if u == nil {
			continue
		}
		if u.whole() {
			return
		}
		read = append(read, u.fields...)
	}
	_ = record.EachField(element, func(name, raw string) error { // valid JSON
		if raw != "null" && !slices.Contains(read, name) {
			record.Count(m.write.dropped, m.row.form.label+"."+s.each.column+"."+name, 1)
		}
		return nil
	})
}

// elements returns the elements of a list as JSON texts, nulls and empty texts included.
func (m *mapped) elements(e *expression) (out []string, err error) {
	value, err := m.write.value(e, m.row)
	if err != nil {
		return nil, err
	}
	var text string
	switch v := value.(type) {
	case nil:
		return nil, nil
	case rawJSON:
		text = string(v)
	default:
		b, err := appendValue(nil, v)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	if text[0] == '"' {
		if strings.TrimSpace(record.Unquote(text)) == "" {
			return nil, nil
		}
		list, err := readJSON(record.Unquote(text))
		if err != nil || list[0] != '[' {
			return nil, fmt.Errorf("want a list, found %s", record.Shown(text))
		}
		text = string(list)
	}
	err = record.EachElement(text, func(_ int, raw string) error {
		out = append(out, raw)
		return nil
	})
	return out, err
}

// record returns the record that a shape makes of the row.
func (m *mapped) record(s *shape) ([]Record, error) {
	kind := s.typ.Kind
	m.ids.titleOf(kind, 0)
	var found identity
	if s.find != nil {
		var err error
		if found, err = m.identify(s); err != nil {
			return nil, err
		}
		m.ids.titleOf(kind, found.id)
	}
	w := &m.write
	w.begin()
	if _, err := w.fields(s, s.root, m.row); err != nil {
		return nil, err
	}
	for _, k := range w.kept {
		w.out = record.AppendField(w.out, k.column+"_text", k.raw)
	}
	if found.added {
		w.out = record.AppendField(w.out, s.find.key, strconv.FormatInt(found.id, 10))
	}
	recs, err := m.tmdb.Records(Row{JSON: w.end(), Type: s.typ, Table: w.nested, Response: s.whole()})
	column := func(field string) string {
		if e, below := s.entryOf(field); e != nil {
			field = e.column + below
		}
		return m.row.named(field)
	}
	if m.write.values != nil {
		m.write.values.AddRenamed(m.tmdb.Values, func(path string) string { return record.WithoutIndices(column(path)) })
	}
	if err != nil {
		return nil, tmdb.Renamed(err, column)
	}
	for _, path := range m.tmdb.LostCells() {
		if e, _ := s.entryOf(path); e != nil {
			m.row.lose(e.columns)
		}
	}
	for _, k := range w.kept {
		if k.whole {
			m.row.whole[k.column]++
		}
		record.Count(m.whole, w.form.label+"."+k.column, 1)
		m.tmdb.Forget(k.column + "_text")
	}
	if recs[0].Part = s.part; !s.part {
		countRows(recs[0].Record)
	}
	recs[0].Found, recs[0].Mint = found.found, found.mint
	if s.each == nil && slices.Contains(mintable, kind) {
		m.ids.made[kind] = int64(recs[0].Key.ID())
	}
	return recs, nil
}

// countRows sets the totals of the record's paged lists.
func countRows(r record.Record) {
	for i := range r.Schema.Fields {
		if f := &r.Schema.Fields[i]; f.Shape == record.ShapePages {
			catalog.CountRows(r, f)
		}
	}
}
