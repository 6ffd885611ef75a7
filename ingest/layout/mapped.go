package layout

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// mapped is the layout of tables with a mapping. It binds a row to its columns, finds IDs for its records, and writes them in the
// API's form, which tmdb reads.
type mapped struct {
	*evaluator
	tmdb    *tmdb.Reader
	form    *form
	values  *record.Values   // receives values that fit no field; see Options
	dropped map[string]int64 // values without a place in the API, by table and column
	whole   map[string]int64 // joined lists that could not be split, by table and column
	row     *row

	results []entryResult    // results for the current record, by entry
	out     []byte           // the current record's JSON
	kept    record.RawFields // joined lists that could not be split, or their unknown names
	nested  bool             // a value of the record is a list or an object
}

// newMapped returns a reader of rows of a layout's table.
func newMapped(name string, f *form, o Options) *mapped {
	if name == idExport {
		o.Language = "" // exports are the same for every language
	}
	t := tmdb.New(o.Language)
	if o.Values != nil {
		t.Values = &record.Values{} // values of one record; their fields are renamed to columns
	}
	ids := &identifier{names: o.Names, find: o.IDs, made: map[fragment.Kind]int64{}}
	return &mapped{
		evaluator: newEvaluator(ids, &o), tmdb: t, form: f, values: o.Values, dropped: t.Counts().Dropped, whole: map[string]int64{}, row: newRow(f),
	}
}

// Counts includes the rows that made no record in Dropped. A list that was kept whole has its column's name and "_text".
func (m *mapped) Counts() Counts {
	c := m.tmdb.Counts()
	c.Whole, c.Cells = m.whole, map[string]record.Cells{}
	for name, n := range m.row.counts {
		c.Cells[name] = *n
	}
	return c
}

// Records returns the records that a row is part of. A row that is empty, or excluded by the conditions of all records, gives
// none and is counted in Dropped.
func (m *mapped) Records(r Row) ([]Record, error) {
	if err := m.row.read(r.JSON, m.values != nil); err != nil {
		return nil, err
	}
	if m.row.isBlank() {
		record.Count(m.dropped, m.form.label+": empty rows", 1)
		return nil, nil
	}
	m.ids.begin()
	clear(m.literals)
	var out []Record
	taken := false
	for _, s := range m.form.shapes {
		recs, takes, err := m.each(s)
		if err != nil {
			return nil, err
		}
		taken = taken || takes
		out = append(out, recs...)
	}
	if !taken {
		record.Count(m.dropped, m.form.label+": rows that no record takes", 1)
	} else {
		m.row.count(r.Table)
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
		value, err := m.value(s.where, m.row)
		if err != nil {
			return nil, false, tmdb.InField(err, "where")
		}
		if value != true {
			return nil, false, nil
		}
		m.row.settle(s.where.reads, record.IsUsed)
	}
	if s.each == nil {
		out, err := m.record(s)
		return out, true, err
	}
	list, err := m.elements(s.each)
	if err != nil {
		m.row.settle(s.each.reads, record.IsLeftOut)
		return nil, true, m.values.Reject(tmdb.InField(err, s.each.column))
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
			err = m.values.Reject(err)
		}
		if err != nil {
			return nil, true, err
		}
		out = append(out, recs...)
	}
	fate := record.IsUsed
	if given && len(out) == 0 {
		fate = record.IsLeftOut
	}
	m.row.settle(s.each.reads, fate)
	return out, true, nil
}

// countFields counts the fields of an element that no expression reads.
func (m *mapped) countFields(s *shape, element string) {
	if element[0] != '{' {
		return
	}
	reads := func(field string) bool {
		return slices.ContainsFunc(s.entries, func(e *entry) bool { return slices.Contains(e.reads, read{elementName, field}) })
	}
	if reads("") {
		return
	}
	_ = record.EachField(element, func(name, raw string) error { // valid JSON
		if raw != "null" && !reads(name) {
			record.Count(m.dropped, m.form.label+"."+s.each.column+"."+name, 1)
		}
		return nil
	})
}

// elements returns the elements of a list as JSON texts, nulls and empty texts included.
func (m *mapped) elements(e *expression) (out []string, err error) {
	value, err := m.value(e, m.row)
	if value == nil || err != nil {
		return nil, err
	}
	raw, isRaw := value.(rawJSON)
	if !isRaw {
		text, err := appendValue(nil, value)
		if err != nil {
			return nil, err
		}
		raw = rawJSON(text)
	}
	if raw[0] == '"' { // a list in a text
		text := strings.TrimSpace(record.Unquote(string(raw)))
		list, err := readJSON(text)
		switch {
		case text == "":
			return nil, nil
		case err == nil && text[0] == '[':
			raw = list
		}
	}
	err = record.EachElement(string(raw), func(_ int, raw string) error {
		out = append(out, raw)
		return nil
	})
	return out, err
}

// record returns the record that a shape makes of the row.
func (m *mapped) record(s *shape) ([]Record, error) {
	kind := s.typ.Kind
	m.begin(s)
	m.ids.titleOf(kind, 0)
	var found identity
	if s.find != nil {
		var err error
		if found, err = m.identify(s); err != nil {
			return nil, err
		}
		m.ids.titleOf(kind, found.id)
	}
	if _, err := m.fields(s.root); err != nil {
		return nil, err
	}
	for _, k := range m.kept {
		m.out = record.AppendField(m.out, k.Name+"_text", k.Raw)
	}
	if found.added {
		m.out = record.AppendField(m.out, s.find.key, strconv.FormatInt(found.id, 10))
	}
	recs, err := m.tmdb.Records(Row{JSON: string(append(m.out, '}')), Type: s.typ, Table: m.nested, Response: s.whole()})
	column := func(field string) string {
		if e, below := s.entryOf(field); e != nil {
			field = e.column + below
		}
		return m.row.named(field)
	}
	if m.values != nil {
		m.values.AddRenamed(m.tmdb.Values, func(path string) string { return record.WithoutIndices(column(path)) })
	}
	for _, path := range m.tmdb.LostCells() {
		if e, _ := s.entryOf(path); e != nil {
			m.results[e.number].fate = record.IsLeftOut
		}
	}
	for i, e := range s.entries {
		m.row.settle(e.reads, m.results[i].fate)
	}
	if s.find != nil {
		for _, name := range s.find.columns {
			m.row.settle([]read{{column: name}}, record.IsUsed)
		}
	}
	if err != nil {
		return nil, tmdb.Renamed(err, column)
	}
	for _, k := range m.kept {
		record.Count(m.whole, m.form.label+"."+k.Name, 1)
		m.tmdb.Forget(k.Name + "_text")
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
