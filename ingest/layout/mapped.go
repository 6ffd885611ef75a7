package layout

import (
	"slices"
	"strconv"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// mapped is the layout of dumps whose columns mappings give a meaning: a table of
// records each, tables of links between them, and tables of both. A row goes from the
// binder, which finds its columns, to the identifier, which finds the ids of its records,
// and to the writer, which brings them to the form of the API's responses for tmdb.
type mapped struct {
	tmdb *tmdb.Reader
	binder
	ids   identifier
	write fieldWriter

	whole map[string]int64 // by table and column: joined lists that were kept whole

	columns []string // of the row at hand
	row     boundRow
}

func newMapped(name string, mappings []*Mapping, o Options) *mapped {
	if name == IDExport {
		o.Language = "" // exports are the same whatever language is crawled
	}
	t := tmdb.New(o.Language)
	t.Values = o.Values
	m := &mapped{
		tmdb: t, whole: map[string]int64{},
		binder: binder{layout: name, mappings: mappings, bindings: map[string]*binding{}},
		ids:    identifier{names: o.Names, find: o.IDs, made: map[fragment.Kind]int64{}},
		write:  fieldWriter{dropped: t.Counts().Dropped, objects: map[*form]*binding{}},
	}
	m.write.names = &m.ids
	return m
}

// Counts has among the dropped values every column that no mapping has a field for, by table and name,
// and the rows that made no record. A list that was kept whole has the name of the column and "_text".
func (m *mapped) Counts() Counts {
	c := m.tmdb.Counts()
	c.Whole = m.whole
	return c
}

// Records returns the records that a row is part of. An empty row makes
// none, and neither does one without the columns that its records need: Dropped counts
// them.
func (m *mapped) Records(r Row) ([]Record, error) {
	m.columns, m.row.cells = m.columns[:0], m.row.cells[:0]
	err := record.EachField(r.JSON, func(name, raw string) error {
		m.columns, m.row.cells = append(m.columns, name), append(m.row.cells, raw)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if m.row.binding, err = m.bind(r.File, m.columns); err != nil {
		return nil, err
	}
	form := m.row.form
	m.write.form = form
	if !slices.ContainsFunc(m.row.cells, func(cell string) bool { return !isEmpty(cell) }) {
		record.Count(m.write.dropped, form.label+": empty rows", 1)
		return nil, nil
	}
	m.ids.begin()
	var out []Record
	for _, s := range form.shapes {
		if !m.row.makes(s) {
			continue
		}
		if at := slices.IndexFunc(s.needs, func(column string) bool { return !m.row.has(column) }); at >= 0 {
			record.Count(m.write.dropped, form.label+": rows without "+s.needs[at], 1)
			continue
		}
		recs, err := m.each(s)
		if err != nil {
			return nil, err
		}
		out = append(out, recs...)
	}
	m.row.count(m.write.dropped)
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

// record returns the record that the row makes of a shape.
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
	if err != nil {
		return nil, s.columnError(err)
	}
	for _, k := range w.kept {
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

// countRows sets the totals of the lists that the row gave.
func countRows(r record.Record) {
	for i := range r.Schema.Fields {
		if f := &r.Schema.Fields[i]; f.Shape == record.ShapePages {
			catalog.CountRows(r, f)
		}
	}
}
