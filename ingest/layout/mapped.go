package layout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reelsplice/ingest/layout/tmdb"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// mapped is the layout of dumps whose columns mappings give a meaning: a table of
// records each, tables of links between them, and tables of both.
type mapped struct {
	name     string
	tmdb     *tmdb.Reader // what the mapped rows are rows of
	mappings []*Mapping
	ids      NameIDs
	find     IDs
	dropped  map[string]int64
	whole    map[string]int64

	columns  []string // of the row at hand
	cells    []string // their JSON texts
	bindings map[string]*binding
	last     *binding // of the row before
	lastFile string
	objects  map[*form]*binding // of the objects before
	kept     []keptList
	out      []byte
	cell     struct{ raw, as, text string } // that a path led into last, and what it was read as
	place    int                            // of the list element at hand
	made     map[fragment.Kind]int64        // ids of the records that the row made, by kind
	looking  bool                           // for the id of a record: nothing is counted
	title    titleID                        // whose credits tell people by their names
	named    []named                        // what the row names, with minted ids
	nested   bool                           // the record at hand has a value of a column that is itself nested
}

// A keptList is a joined list that cannot be split.
type keptList struct{ column, raw string }

func newMapped(name string, mappings []*Mapping, o Options) *mapped {
	if name == IDExport {
		o.Language = "" // exports are the same whatever language is crawled
	}
	t := tmdb.New(o.Language)
	return &mapped{
		name: name, mappings: mappings, ids: o.Names, find: o.IDs, tmdb: t,
		dropped: t.Dropped(), whole: map[string]int64{},
		made:     map[fragment.Kind]int64{},
		bindings: map[string]*binding{}, objects: map[*form]*binding{},
	}
}

// A binding is a form for rows with certain columns.
type binding struct {
	form    *form
	columns []string
	shapes  []boundShape
	lost    []string // by column: under which name its values are counted; "" for used ones
}

type boundShape struct {
	*shape
	cells []int // by entry: the column, -1 for none
	needs []int // by column that is needed
	where int   // -1 for none
	each  int   // likewise
	mint  []int // by part of minted ids: the column, -1 for none
}

// bind returns the binding of a form to columns. Of two columns of a name the last one
// counts, as parsers have it.
func (f *form) bind(columns []string) *binding {
	at := make(map[string]int, len(columns))
	for i, name := range columns {
		at[name] = i
	}
	find := func(name string) int {
		if i, ok := at[name]; ok {
			return i
		}
		return -1
	}
	b := &binding{form: f, columns: slices.Clone(columns), lost: make([]string, len(columns))}
	for i, name := range columns {
		if silent := f.ignore[name]; !silent {
			b.lost[i] = f.label + "." + name
		}
	}
	use := func(name string) int {
		i := find(name)
		if i >= 0 {
			b.lost[i] = ""
		}
		return i
	}
	for _, s := range f.shapes {
		bs := boundShape{shape: s, where: -1, each: -1}
		for _, e := range s.entries {
			bs.cells = append(bs.cells, use(e.column))
		}
		for _, name := range s.needs {
			bs.needs = append(bs.needs, use(name))
		}
		if s.where != nil {
			bs.where = use(s.where.Column)
		}
		if s.each != nil {
			bs.each = use(s.each.Column)
		}
		if s.find != nil {
			for _, name := range s.mintColumns() {
				use(name)
			}
			for _, name := range s.find.mint {
				bs.mint = append(bs.mint, find(name))
			}
		}
		b.shapes = append(b.shapes, bs)
	}
	return b
}

func (m *mapped) Counts() record.Counts { return m.tmdb.Counts() }

// Dropped has every column that no mapping has a field for, by table and name, and
// the rows that made no record.
func (m *mapped) Dropped() map[string]int64 { return m.dropped }

// Whole counts, by table and column, the joined lists that could not be split safely:
// the records have them as they were, under the name of the column and "_text".
func (m *mapped) Whole() map[string]int64 { return m.whole }

// Records returns the records that a row is part of. A row that says nothing makes
// none, and neither does one without the columns that its records need: Dropped counts
// them.
func (m *mapped) Records(r Row) ([]Record, error) {
	b, err := m.row(r)
	if err != nil {
		return nil, err
	}
	if m.empty() {
		record.Count(m.dropped, b.form.label+": empty rows", 1)
		return nil, nil
	}
	clear(m.made)
	m.named = m.named[:0]
	var out []Record
	for i := range b.shapes {
		s := &b.shapes[i]
		if !s.applies(m.cells) {
			continue
		}
		if at := slices.IndexFunc(s.needs, func(c int) bool { return !has(m.cells, c) }); at >= 0 {
			record.Count(m.dropped, b.form.label+": rows without "+s.shape.needs[at], 1)
			continue
		}
		recs, err := m.each(s)
		if err != nil {
			return nil, err
		}
		out = append(out, recs...)
	}
	b.count(m.dropped, m.cells)
	more, err := m.namedRecords()
	return append(out, more...), err
}

// row reads the cells of a row and returns what its columns mean.
func (m *mapped) row(r Row) (*binding, error) {
	m.columns, m.cells = m.columns[:0], m.cells[:0]
	if err := record.EachField(r.JSON, func(name, raw string) error {
		m.columns, m.cells = append(m.columns, name), append(m.cells, raw)
		return nil
	}); err != nil {
		return nil, err
	}
	if m.last != nil && m.lastFile == r.File && slices.Equal(m.columns, m.last.columns) {
		return m.last, nil
	}
	const most = 1000 // rows of NDJSON may have any fields
	key := r.File + "\x00" + strings.Join(m.columns, "\x00")
	b, ok := m.bindings[key]
	if !ok {
		t := tableOf(m.mappings, r.File, m.columns)
		if t == nil {
			return nil, errors.New(noTable(m.name, m.mappings, r.File, m.columns))
		}
		if len(m.bindings) >= most {
			clear(m.bindings)
		}
		b = t.bind(m.columns)
		m.bindings[key] = b
	}
	m.last, m.lastFile = b, r.File
	return b, nil
}

// has reports whether a row has a value in a column.
func has(cells []string, column int) bool {
	return column >= 0 && cells[column] != "null" && cells[column] != `""`
}

// empty reports whether no cell of the row says anything.
func (m *mapped) empty() bool {
	for i := range m.cells {
		if has(m.cells, i) {
			return false
		}
	}
	return true
}

// whole reports whether a column holds whole answers of the API.
func (s *boundShape) whole() bool {
	return slices.ContainsFunc(s.entries, func(e *entry) bool { return e.path == "*" })
}

// applies reports whether a row makes a record of a shape.
func (s *boundShape) applies(cells []string) bool {
	w := s.shape.where
	if w == nil {
		return true
	}
	is := ""
	if has(cells, s.where) {
		if is = cells[s.where]; is[0] == '"' {
			is = record.Unquote(is)
		}
	}
	if w.Is != "" {
		return is == w.Is
	}
	return is != w.Not
}

// count counts the values of columns that the form has no field for.
func (b *binding) count(dropped map[string]int64, cells []string) {
	for i, name := range b.lost {
		if name != "" && cells[i] != "null" {
			record.Count(dropped, name, 1)
		}
	}
}

// record returns the record that the row makes of a shape.
func (m *mapped) record(s *boundShape) ([]Record, error) {
	kind := s.typ.Kind
	m.titleOf(kind, 0)
	var found identity
	if s.find != nil {
		var err error
		if found, err = m.identify(s); err != nil {
			return nil, err
		}
		m.titleOf(kind, found.id)
	}
	m.kept, m.nested = m.kept[:0], false
	m.out = append(m.out[:0], '{')
	if _, err := m.fields(s, s.root, m.cells); err != nil {
		return nil, err
	}
	for _, k := range m.kept {
		m.comma()
		m.out = append(record.AppendString(m.out, k.column+"_text"), ':')
		m.out = append(m.out, k.raw...)
	}
	if found.added {
		m.comma()
		m.out = append(record.AppendString(m.out, s.find.key), ':')
		m.out = strconv.AppendInt(m.out, found.id, 10)
	}
	m.out = append(m.out, '}')
	recs, err := m.tmdb.Records(Row{JSON: string(m.out), Type: s.typ, Table: m.nested, Answer: s.whole()})
	if err != nil {
		return nil, s.columnError(err)
	}
	for _, k := range m.kept {
		record.Count(m.whole, m.last.form.label+"."+k.column, 1)
		m.tmdb.Forget(k.column + "_text")
	}
	if recs[0].Part = s.part; !s.part {
		countRows(recs[0].Record)
	}
	recs[0].Found, recs[0].Mint = found.found, found.mint
	if s.shape.each == nil && slices.Contains(mintable, kind) {
		m.made[kind] = int64(recs[0].Key.ID())
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

// columnError names in an error the column that a field came from.
func (s *boundShape) columnError(err error) error {
	var fe *record.FieldError
	if !errors.As(err, &fe) {
		return err
	}
	var best *entry
	for _, e := range s.entries {
		rest, ok := strings.CutPrefix(fe.Field, e.path)
		if ok && e.column != "" && (rest == "" || rest[0] == '.' || rest[0] == '[') && (best == nil || len(e.path) > len(best.path)) {
			best = e
		}
	}
	if best == nil {
		return err
	}
	column := best.column
	if len(best.inside) > 0 {
		column += "." + best.Path
	}
	return &record.FieldError{Field: column + fe.Field[len(best.path):], What: fe.What}
}

func (m *mapped) comma() {
	if c := m.out[len(m.out)-1]; c != '{' && c != '[' {
		m.out = append(m.out, ',')
	}
}

// fields writes the fields below an output and reports whether a cell gave one.
func (m *mapped) fields(s *boundShape, o *output, cells []string) (given bool, err error) {
	for _, kid := range o.kids {
		before := len(m.out)
		m.comma()
		write := m.entry
		if kid.entry < 0 {
			write = m.object
		}
		one, err := write(s, kid, cells)
		if err != nil {
			return false, err
		}
		if !one {
			m.out = m.out[:before]
		}
		given = given || one && (kid.entry < 0 || s.entries[kid.entry].column != "")
	}
	return given, nil
}

// object writes a field that is an object, or a list of one, unless it has nothing
// inside.
func (m *mapped) object(s *boundShape, o *output, cells []string) (bool, error) {
	m.out = append(record.AppendString(m.out, o.name), ':')
	if o.list {
		m.out = append(m.out, '[')
	}
	m.out = append(m.out, '{')
	given, err := m.fields(s, o, cells)
	m.out = append(m.out, '}')
	if o.list {
		m.out = append(m.out, ']')
	}
	return given, err
}

// entry writes the field of an entry; false where the cell says nothing.
func (m *mapped) entry(s *boundShape, o *output, cells []string) (bool, error) {
	e := s.entries[o.entry]
	raw := e.constant
	if e.column != "" {
		c := s.cells[o.entry]
		if c < 0 || cells[c] == "null" {
			return false, nil
		}
		raw = cells[c]
	}
	if e.path != "*" {
		m.out = append(record.AppendString(m.out, o.name), ':')
	}
	if o.list {
		m.out = append(m.out, '[')
	}
	before := len(m.out)
	if err := m.value(e, raw); err != nil {
		return false, err
	}
	given := len(m.out) > before
	if o.list {
		m.out = append(m.out, ']')
	}
	return given, nil
}

// value writes what a cell stands for.
func (m *mapped) value(e *entry, raw string) error {
	if e.column == "" {
		m.out = append(m.out, raw...)
		return nil
	}
	if e.isPlace() {
		m.out = strconv.AppendInt(m.out, int64(m.place), 10)
		return nil
	}
	before := len(m.out)
	m.nested = m.nested || raw[0] == '{' || raw[0] == '['
	err := m.convert(e, raw)
	var left *leftError
	if errors.As(err, &left) {
		m.leave(e, left, raw)
		return nil
	}
	if err == nil && len(m.out) > before && (e.inside != nil || e.form != nil || e.path == "*") {
		text := string(m.out[before:])
		m.out = m.out[:before]
		return m.part(e, raw, text)
	}
	if err != nil {
		return &record.FieldError{Field: e.column, What: err.Error()}
	}
	return nil
}

// leave keeps what a cell of names has besides those that were written, and counts names
// without a place in the API.
func (m *mapped) leave(e *entry, left *leftError, raw string) {
	for _, name := range left.nothing {
		if m.looking {
			break
		}
		record.Count(m.dropped, m.last.form.label+"."+e.column+": "+name, 1)
	}
	if left.raw != "" {
		raw = left.raw
	}
	if left.raw != "" || left.nothing == nil {
		m.kept = append(m.kept, keptList{e.column, raw})
	}
}

// convert writes a cell as JSON; one that another path led into just before is not read
// again.
func (m *mapped) convert(e *entry, raw string) (err error) {
	if e.inside != nil && m.cell.raw == raw && m.cell.as == e.as {
		m.out = append(m.out, m.cell.text...)
		return nil
	}
	m.out, err = e.convert(m.out, raw, m)
	return err
}

// part writes what is at the path of an entry inside a cell, which is text as JSON.
func (m *mapped) part(e *entry, raw, text string) error {
	if e.inside != nil {
		m.cell.raw, m.cell.as, m.cell.text = raw, e.as, text
	}
	if e.siblings != nil {
		m.countSiblings(e, text)
	}
	text, err := inside(text, e.inside)
	if err != nil {
		return &record.FieldError{Field: e.column, What: err.Error()}
	}
	if text == "" || text == "null" {
		return nil
	}
	return m.whatIs(e, text)
}

// countSiblings counts the fields of an object in a cell that no path leads into.
func (m *mapped) countSiblings(e *entry, text string) {
	if m.looking {
		return
	}
	_ = record.EachField(text, func(name, raw string) error { // what is no object has none
		path := e.column + "." + name
		if silent := m.last.form.ignore[path]; raw != "null" && !silent && !slices.Contains(e.siblings, name) {
			record.Count(m.dropped, m.last.form.label+"."+path, 1)
		}
		return nil
	})
}

// inside returns the value at a path inside another, "" where there is none.
func inside(text string, path []string) (string, error) {
	for i, want := range path {
		next := ""
		if text == "null" || text == "" {
			return "", nil
		}
		if err := record.EachField(text, func(name, raw string) error {
			if name == want {
				next = raw
			}
			return nil
		}); err != nil {
			return "", fmt.Errorf("%s: %w", strings.Join(path[:i+1], "."), err)
		}
		if next == "" {
			return "", nil
		}
		text = next
	}
	return text, nil
}

// whatIs writes a value that was found inside a cell.
func (m *mapped) whatIs(e *entry, text string) error {
	fail := func(field string, err error) error {
		var fe *record.FieldError
		if errors.As(err, &fe) {
			return &record.FieldError{Field: field + "." + fe.Field, What: fe.What}
		}
		return &record.FieldError{Field: field, What: err.Error()}
	}
	switch {
	case e.path == "*": // the fields of an object, without its braces
		if text[0] != '{' {
			return &record.FieldError{Field: e.column, What: "want an object, found " + record.Shown(text)}
		}
		m.out = append(m.out, strings.TrimSpace(text[1:len(text)-1])...)
	case e.form == nil:
		m.out = append(m.out, text...)
	case text[0] == '{':
		if err := m.mappedObject(e.form, text); err != nil {
			return fail(e.column, err)
		}
	case text[0] != '[':
		return &record.FieldError{Field: e.column, What: "want a list, found " + record.Shown(text)}
	default:
		m.out = append(m.out, '[')
		if err := record.EachElement(text, func(i int, raw string) error {
			if i > 0 {
				m.out = append(m.out, ',')
			}
			if err := m.mappedObject(e.form, raw); err != nil {
				return fail(fmt.Sprintf("%s[%d]", e.column, i), err)
			}
			return nil
		}); err != nil {
			return err
		}
		m.out = append(m.out, ']')
	}
	return nil
}

// mappedObject writes an object inside a column as its form says.
func (m *mapped) mappedObject(f *form, text string) error {
	var columns, cells []string
	if err := record.EachField(text, func(name, raw string) error {
		columns, cells = append(columns, name), append(cells, raw)
		return nil
	}); err != nil {
		return err
	}
	b := m.objects[f]
	if b == nil || !slices.Equal(b.columns, columns) {
		b = f.bind(columns)
		m.objects[f] = b
	}
	m.out = append(m.out, '{')
	_, err := m.fields(&b.shapes[0], b.shapes[0].root, cells)
	m.out = append(m.out, '}')
	if !m.looking {
		b.count(m.dropped, cells)
	}
	return err
}

// tableOf returns the first table of mappings that a file with columns is; nil for
// none.
func tableOf(mappings []*Mapping, file string, columns []string) *table {
	for _, m := range mappings {
		for _, t := range m.tables {
			if t.match(file, columns) {
				return t
			}
		}
	}
	return nil
}

// noTable says that a file is no table of a layout, and what keeps it from being one.
func noTable(layout string, mappings []*Mapping, file string, columns []string) string {
	no := fmt.Sprintf("layout %s: no mapping is of a table %q with these columns", layout, file)
	if d, ok := nearest(mappings, file, columns, difference.isNearest); ok {
		return no + "; " + d.String()
	}
	var labels []string
	for _, m := range mappings {
		for _, t := range m.tables {
			labels = append(labels, t.label)
		}
	}
	slices.Sort(labels)
	return no + ": want one of " + strings.Join(slices.Compact(labels), ", ")
}
