package layout

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A table is a table of a mapping, ready for rows.
type table struct {
	matcher
	form
}

// A form is the meaning of the fields of rows, or of objects inside a column.
type form struct {
	label   string // of the table, in counts and messages
	file    string // name of the mapping file
	shapes  []*shape
	columns map[string]bool // those that are used or ignored; false for those that are ignored and counted
}

// A shape is one record that a row makes, or what an object becomes. Its entries are in the
// order of the mapping file; root has them as a tree by the paths of their fields, because
// JSON is written from the outside in and a field of an object may come of any column.
type shape struct {
	typ     *catalog.Type // nil for objects inside a column
	part    bool
	needs   []string
	where   *whereSpec
	each    *eachSpec
	find    *finder // nil where every row has the id, and names nobody
	entries []*entry
	root    *output
}

// An output is a field of what a shape writes: the value of an entry, or an object.
type output struct {
	name  string
	entry int // index of the entry; -1 for an object
	list  bool
	kids  []*output
}

// compile makes the tables of the file.
func (m *Mapping) compile() error {
	var errs []error
	if len(m.spec.Tables) == 0 && len(m.spec.Skips) == 0 && len(m.spec.Aliases) == 0 {
		return errors.New("want a [[table]], found none")
	}
	for i := range m.spec.Tables {
		t, err := m.table(&m.spec.Tables[i])
		errs = append(errs, faultAt(err, fmt.Sprintf("table[%d]", i), "table "+t.label))
		m.tables = append(m.tables, t)
	}
	for i, s := range m.spec.Skips {
		k, err := newMatcher(s.Files, s.Requires)
		if k.reason = s.Reason; err == nil && s.Reason == "" {
			err = errors.New("want a reason, found none")
		}
		errs = append(errs, faultAt(err, fmt.Sprintf("skip[%d]", i), fmt.Sprintf("skip %d", i+1)))
		m.skips = append(m.skips, k)
	}
	return errors.Join(errs...)
}

// table makes a table.
func (m *Mapping) table(s *tableSpec) (*table, error) {
	t := &table{form: form{label: s.label(), file: m.Name}}
	var err error
	t.matcher, err = newMatcher(s.Files, s.Requires)
	errs := []error{err}
	if len(s.Records) == 0 {
		errs = append(errs, errors.New("want a [[table.record]], found none"))
	}
	for n := range s.Records {
		c := compiler{mapping: m, label: t.label}
		sh, err := c.record(&s.Records[n], t.shapes)
		errs = append(errs, faultAt(err, fmt.Sprintf("record[%d]", n), fmt.Sprintf("record %d", n+1)))
		t.shapes = append(t.shapes, sh)
	}
	errs = append(errs, t.setColumns(s.Ignore))
	if s.Exact {
		t.only = slices.Collect(maps.Keys(t.columns))
	}
	return t, errors.Join(errs...)
}

// label returns what messages and counts call a table.
func (s *tableSpec) label() string {
	if s.Name != "" {
		return s.Name
	}
	if len(s.Files) > 0 {
		return strings.ToLower(s.Files[0])
	}
	return strings.Join(s.Requires, ",")
}

// setColumns sets the columns of a form. It refuses those that are ignored and used.
func (f *form) setColumns(ignore []ignoreSpec) (err error) {
	f.columns = map[string]bool{}
	for _, c := range ignore {
		f.columns[c.Column] = c.Silent
	}
	used := map[string]bool{}
	for _, s := range f.shapes {
		for _, name := range s.columns() {
			if _, ignored := f.columns[name]; ignored {
				err = fmt.Errorf("column %s is used and ignored", name)
			}
			used[name] = true
		}
	}
	maps.Copy(f.columns, used)
	return err
}

// columns returns the columns that a shape uses.
func (s *shape) columns() []string {
	out := slices.Clone(s.needs)
	if s.where != nil {
		out = append(out, s.where.Column)
	}
	if s.each != nil {
		out = append(out, s.each.Column)
	}
	out = append(out, s.mintColumns()...)
	for _, e := range s.entries {
		if e.column != "" {
			out = append(out, e.column)
		}
	}
	return out
}

// whole reports whether a column holds whole responses of the API.
func (s *shape) whole() bool {
	return slices.ContainsFunc(s.entries, func(e *entry) bool { return e.path == "*" })
}

// mintColumns returns the columns that are part of minted ids and no fields.
func (s *shape) mintColumns() []string {
	if s.find == nil {
		return nil
	}
	var out []string
	for _, name := range s.find.mint {
		if !slices.ContainsFunc(s.entries, func(e *entry) bool { return e.path == name || e.path == externalIDsField+"."+name }) {
			out = append(out, name)
		}
	}
	return out
}

// A compiler makes one shape.
type compiler struct {
	mapping *Mapping
	label   string
	objects []string // that are being compiled, outermost first
}

// record makes the shape of a record. before are those that rows make before.
func (c *compiler) record(r *recordSpec, before []*shape) (*shape, error) {
	typ, ok := catalog.TypeNamed(r.Kind)
	s := &shape{typ: typ, part: r.Part || r.List != "", needs: r.Needs, where: r.Where, each: r.Each, root: &output{entry: -1}}
	if !ok {
		return s, fmt.Errorf("kind %q: want one of %s", r.Kind, strings.Join(catalog.Kinds(), ", "))
	}
	if w := r.Where; w != nil && (w.Column == "" || (w.Is == "") == (w.Not == "")) {
		return s, errors.New("where: want a column and either is or not")
	}
	if err := r.checkEach(); err != nil {
		return s, err
	}
	at := place{typ: typ, plan: typ.Plan}
	if r.List != "" {
		list, err := at.field(r.List)
		if err != nil {
			return s, fmt.Errorf("list: %w", err)
		}
		if list.Shape != record.ShapeObjects {
			return s, fmt.Errorf("list: %s is no list of objects", r.List)
		}
		at.list, at.element = r.List, list.Elem
	}
	if err := c.entries(s, at, r.Map); err != nil {
		return s, err
	}
	return s, s.findIDs(at, r, before)
}

// entries adds entries to a shape.
func (c *compiler) entries(s *shape, at place, specs []entrySpec) error {
	if len(specs) == 0 {
		return errors.New("map: want a column, found none")
	}
	var errs []error
	for i := range specs {
		spec := &specs[i]
		e, err := c.entry(at, spec)
		if err == nil {
			err = s.root.add(strings.Split(e.path, "."), len(s.entries))
		}
		if err != nil {
			name := spec.Column
			if name == "" {
				name = "(none)"
			}
			errs = append(errs, faultAt(err, fmt.Sprintf("map[%d]", i), "column "+name))
		}
		s.entries = append(s.entries, e)
	}
	s.siblings()
	return errors.Join(errs...)
}

// siblings gives the first entry of each column that has a path the paths of the others.
func (s *shape) siblings() {
	first := map[string]*entry{}
	for _, e := range s.entries {
		switch {
		case e.column == "", e.isPlace():
		case e.inside == nil:
			first[e.column] = &entry{} // the whole value is used
		case first[e.column] == nil:
			first[e.column] = e
			fallthrough
		default:
			first[e.column].siblings = append(first[e.column].siblings, e.inside[0])
		}
	}
}

// entry makes one entry.
func (c *compiler) entry(at place, spec *entrySpec) (*entry, error) {
	e := &entry{entrySpec: spec, column: spec.Column}
	if spec.Field == "" {
		return e, errors.New("want a field, found none: columns without a place go to ignore")
	}
	var err error
	if e.path, e.field, err = at.target(spec.Field); err != nil {
		return e, fmt.Errorf("field %q: %w", spec.Field, err)
	}
	if at.typ != nil {
		e.kind = at.typ.Kind
	}
	if err := e.choose(); err != nil {
		return e, err
	}
	if n := e.ofNames; n != nil {
		n.aliases = c.mapping.aliases[e.Of]
		n.vocabulary = n.vocabularyOf(mediaOf(e.kind))
	}
	if spec.Object == "" {
		return e, nil
	}
	e.form, err = c.object(e, spec.Object)
	return e, err
}

// object makes the form of the objects inside a column.
func (c *compiler) object(e *entry, name string) (*form, error) {
	if e.name != asJSON && e.name != asPython || e.field.Elem == nil || e.field.Shape == record.ShapeKeyed {
		return nil, fmt.Errorf("object: field %s is not made of objects", e.Field)
	}
	i := slices.IndexFunc(c.mapping.spec.Objects, func(o objectSpec) bool { return o.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("object %q: the file has no such [[object]]", name)
	}
	if slices.Contains(c.objects, name) {
		return nil, fmt.Errorf("object %q is inside itself", name)
	}
	spec := &c.mapping.spec.Objects[i]
	sub := compiler{c.mapping, c.label + "." + e.column, append(slices.Clone(c.objects), name)}
	f := &form{label: sub.label, shapes: []*shape{{root: &output{entry: -1}}}}
	if err := sub.entries(f.shapes[0], place{plan: e.field.Elem}, spec.Map); err != nil {
		return f, faultAt(err, fmt.Sprintf("/object[%d]", i), "object "+name)
	}
	return f, f.setColumns(spec.Ignore)
}

// add adds the field of an entry below o. A name that ends in [0] is that of the list
// which the row is an element of.
func (o *output) add(names []string, entry int) error {
	name, list := strings.CutSuffix(names[0], "[0]")
	last := len(names) == 1
	i := slices.IndexFunc(o.kids, func(k *output) bool { return k.name == name })
	if i < 0 {
		kid := &output{name: name, entry: -1, list: list}
		o.kids = append(o.kids, kid)
		if last {
			kid.entry = entry
			return nil
		}
		return kid.add(names[1:], entry)
	}
	if last || o.kids[i].entry >= 0 {
		return errors.New("another column is the same field, or one around or inside it")
	}
	return o.kids[i].add(names[1:], entry)
}

// A place is where the fields of entries are.
type place struct {
	typ     *catalog.Type // of records; nil inside a column
	plan    *record.Schema
	list    string         // path of the list that rows are elements of
	element *record.Schema // of that list
}

// target returns the path of a field and its field. The field is a path with dots
// below the record; one that starts with a dot is below the element of the list, and a
// dot alone is the element. "*" is the record itself: the fields of the value are its.
func (p *place) target(field string) (path string, f *record.Field, err error) {
	below, inElement := strings.CutPrefix(field, ".")
	switch {
	case field == "*" && p.list == "":
		return "*", &record.Field{Name: "*", Shape: record.ShapeObject, Elem: p.plan}, nil
	case inElement && p.element == nil:
		return "", nil, errors.New("starts with a dot, but the record has no list")
	case field == ".":
		return p.list + "[0]", &record.Field{Name: ".", Shape: record.ShapeObject, Elem: p.element}, nil
	case inElement:
		of := place{plan: p.element}
		f, err = of.field(below)
		return p.list + "[0]." + below, f, err
	}
	f, err = p.field(field)
	return field, f, err
}

// field returns the field at a path with dots.
func (p *place) field(path string) (*record.Field, error) {
	name, rest, nested := strings.Cut(path, ".")
	f, ok := p.plan.Field(name)
	switch {
	case !ok && p.typ != nil && !nested:
		if f := p.special(name); f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("%s records have no field %s", p.typ.Name(), name)
	case !ok:
		return nil, fmt.Errorf("there is no field %s", name)
	case !nested:
		return f, nil
	case f.Shape != record.ShapeObject && f.Shape != record.ShapePages:
		return nil, fmt.Errorf("field %s is no object", name)
	}
	sub := place{plan: f.Elem}
	return sub.field(rest)
}

// special returns the field of a field that the API does not have, but layout tmdb
// reads: the genres by their ids, and texts that are named after their language.
func (p *place) special(name string) *record.Field {
	if _, ok := p.plan.Field("genres"); ok && name == "genre_ids" {
		return &record.Field{Name: name, Shape: record.ShapeInts}
	}
	i := strings.LastIndexByte(name, '_')
	if i < 0 {
		return nil
	}
	if _, known := reference.LanguageByCode(name[i+1:]); !known {
		return nil
	}
	f, _ := tmdb.TextField(p.typ, name[:i])
	return f
}
