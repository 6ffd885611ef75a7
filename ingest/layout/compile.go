package layout

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A table is a table of a mapping. Its form is compiled on first use: most of the built-in tables match no file of a run.
type table struct {
	matcher
	label   string  // in counts and messages
	file    string  // name of the mapping file
	rows    string  // see tableSpec
	minFit  float64 // likewise
	compile func() (*form, error)
}

// form returns the meaning of the table. The mapping was checked when it was loaded.
func (t *table) form() *form {
	f, err := t.compile()
	if err != nil {
		panic(fmt.Sprintf("layout: %s: table %s: %v", t.file, t.label, err)) // a built-in mapping is broken
	}
	return f
}

// A form is the meaning of the columns of rows.
type form struct {
	label   string // name of the table, in counts and messages
	file    string // name of the mapping file
	shapes  []*shape
	ignored map[string]bool // columns that no field takes; true: reports omit the column
}

// A shape is one record that a row makes. Its entries are in the order of the mapping file. root holds them as a tree of field
// paths, because JSON is written from the outside in.
type shape struct {
	typ     *catalog.Type
	number  int // index of the record in its table
	part    bool
	where   *expression // nil for all rows
	each    *expression // nil for one record a row
	find    *finder     // nil if every row has the ID and the entries look up no people
	entries []*entry
	root    *output
	uses    map[string][]*columnUse // by column, one for each expression that reads it
}

// An entry is a field and the expression of its value.
type entry struct {
	*expression
	path     string // path of the field in the record
	field    *record.Field
	key      bool // the field is part of the record's key
	numbers  numberReader
	constant string // JSON text of a value that depends on no column
}

// An output is a field of the JSON of a shape: the value of an entry, or an object.
type output struct {
	name  string
	entry int // index of the entry; -1 for an object
	list  bool
	kids  []*output
}

// compile makes the tables of the file. With check it also compiles their forms.
func (m *Mapping) compile(check bool) error {
	var errs []error
	if len(m.spec.Tables) == 0 && len(m.spec.Skips) == 0 && len(m.spec.Aliases) == 0 {
		return errors.New("want a [[table]], found none")
	}
	for i := range m.spec.Tables {
		t, err := m.table(&m.spec.Tables[i])
		if check {
			_, wrong := t.compile()
			err = errors.Join(err, wrong)
		}
		errs = append(errs, within("table "+t.label, err))
		m.tables = append(m.tables, t)
	}
	for i, s := range m.spec.Skips {
		k, err := newMatcher(s.Files, s.Requires)
		if k.reason, k.least = s.Reason, s.MinFit; err == nil && s.Reason == "" {
			err = errors.New("want a reason, found none")
		}
		errs = append(errs, within(fmt.Sprintf("skip %d", i+1), err))
		m.skips = append(m.skips, k)
	}
	return errors.Join(errs...)
}

// table makes a table.
func (m *Mapping) table(s *tableSpec) (t *table, err error) {
	t = &table{label: s.label(), file: m.Name, rows: s.Rows, minFit: s.minFit()}
	t.compile = sync.OnceValues(func() (*form, error) { return m.form(s, t.label) })
	t.matcher, err = newMatcher(s.Files, s.Requires)
	return t, err
}

// form makes the meaning of the rows of a table.
func (m *Mapping) form(s *tableSpec, label string) (*form, error) {
	f := &form{label: label, file: m.Name}
	numbers := numberReader{s.Decimal, s.Thousands, s.Scale}
	errs := []error{numbers.check()}
	if fit := s.MinFit; fit != nil && !(*fit >= 0 && *fit <= 1) {
		errs = append(errs, fmt.Errorf("min_fit %v: want a share from 0 to 1", *fit))
	}
	if len(s.Records) == 0 {
		errs = append(errs, errors.New("want a [[table.record]], found none"))
	}
	for n := range s.Records {
		c := compiler{mapping: m, numbers: numbers}
		sh, err := c.record(&s.Records[n], f.shapes)
		errs = append(errs, within(fmt.Sprintf("record %d", n+1), err))
		f.shapes = append(f.shapes, sh)
	}
	return f, errors.Join(append(errs, f.ignore(s.Ignore))...)
}

// minFit returns the least share of cells that must be used, or -1 if the mapping has none.
func (s *tableSpec) minFit() float64 {
	if s.MinFit == nil {
		return -1
	}
	return *s.MinFit
}

// label returns the name of a table in messages and counts.
func (s *tableSpec) label() string {
	if s.Name != "" {
		return s.Name
	}
	if len(s.Files) > 0 {
		return strings.ToLower(s.Files[0])
	}
	return strings.Join(s.Requires, ",")
}

// ignore sets the columns to ignore. It returns an error if a shape reads one of them.
func (f *form) ignore(columns []ignoreSpec) error {
	f.ignored = map[string]bool{}
	for _, c := range columns {
		f.ignored[c.Column] = c.Silent
		if slices.ContainsFunc(f.shapes, func(s *shape) bool { return len(s.uses[c.Column]) > 0 }) {
			return fmt.Errorf("column %s is used and ignored", c.Column)
		}
	}
	return nil
}

// whole reports whether a column holds complete responses of the API.
func (s *shape) whole() bool {
	return slices.ContainsFunc(s.entries, func(e *entry) bool { return e.path == wholeRecord })
}

// mintColumns returns the columns that minted IDs are made of and no field takes.
func (s *shape) mintColumns() []string {
	if s.find == nil {
		return nil
	}
	var out []string
	for _, name := range s.find.mint {
		if ofDay := name == yearPart && s.find.ofDay; !ofDay && !slices.ContainsFunc(s.entries, func(e *entry) bool { return e.path == name || e.path == externalIDsField+"."+name }) {
			out = append(out, name)
		}
	}
	return out
}

// A compiler makes one shape.
type compiler struct {
	mapping *Mapping
	numbers numberReader
	at      place
}

// record makes the shape of a record. before holds the shapes of earlier records of the row.
func (c *compiler) record(r *recordSpec, before []*shape) (*shape, error) {
	typ, ok := catalog.TypeNamed(r.Kind)
	s := &shape{typ: typ, number: len(before), part: r.Part || r.List != "", root: &output{entry: -1}}
	if !ok {
		return s, fmt.Errorf("kind %q: want one of %s", r.Kind, strings.Join(catalog.Kinds(), ", "))
	}
	c.at = place{typ: typ, plan: typ.Plan}
	var err error
	if r.Where != "" {
		if s.where, err = newExpression(r.Where, c.site(nil), expr.AsBool()); err != nil {
			return s, fmt.Errorf("where: %w", err)
		}
	}
	if r.Each != "" {
		if s.each, err = newExpression(r.Each, c.site(nil)); err != nil {
			return s, fmt.Errorf("each: %w", err)
		}
	}
	if r.List != "" {
		list, err := c.at.field(r.List)
		if err != nil {
			return s, fmt.Errorf("list: %w", err)
		}
		if list.Shape != record.ShapeObjects {
			return s, fmt.Errorf("list: %s is no list of objects", r.List)
		}
		c.at.list, c.at.element = r.List, list.Elem
	}
	if r.Element != nil && r.List == "" {
		return s, errors.New("element: want list, which names the list that a row is an element of")
	}
	if len(r.Fields) == 0 && r.Element == nil {
		return s, errors.New("fields: want a field, found none")
	}
	if err := errors.Join(c.fields(s, fieldPlace{}, r.Fields, c.at.field), c.element(s, r)); err != nil {
		return s, err
	}
	err = s.findIDs(c.at, r, before)
	s.setUses()
	return s, err
}

// site returns the context of an expression for a field. f is nil for conditions and lists.
func (c *compiler) site(f *record.Field) *site {
	out := &site{aliases: c.mapping.aliases, kind: c.at.typ.Kind, numbers: c.numbers}
	if f != nil && f.Shape == record.ShapeObjects {
		_, out.ordered = f.Elem.Field("order")
	}
	return out
}

// A fieldPlace is the position of a table of fields.
type fieldPlace struct {
	above string // path in the record of the object that has the fields
	path  string // path below it
}

// fields adds the entries of a table of fields, and of nested tables, which are objects.
func (c *compiler) fields(s *shape, at fieldPlace, fields map[string]any, find func(path string) (*record.Field, error)) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		one := fieldPlace{at.above, joinKey(at.path, name)}
		if inner, ok := fields[name].(map[string]any); ok {
			errs = append(errs, c.fields(s, one, inner, find))
			continue
		}
		f, err := find(one.path)
		if err == nil {
			err = c.entry(s, joinKey(one.above, one.path), f, fields[name])
		}
		errs = append(errs, within("field "+one.path, err))
	}
	return errors.Join(errs...)
}

// element adds the entries of the list element that a row is.
func (c *compiler) element(s *shape, r *recordSpec) error {
	switch fields := r.Element.(type) {
	case nil:
		return nil
	case map[string]any:
		of := place{plan: c.at.element}
		return c.fields(s, fieldPlace{above: r.List + "[0]"}, fields, of.field)
	}
	whole := &record.Field{Name: "element", Shape: record.ShapeObject, Elem: c.at.element}
	return within("element", c.entry(s, r.List+"[0]", whole, r.Element))
}

// entry adds an entry to a shape.
func (c *compiler) entry(s *shape, path string, f *record.Field, value any) error {
	e := &entry{path: path, field: f, numbers: c.numbers, expression: &expression{}, key: slices.Contains(c.at.typ.KeyFields(), path)}
	source, isText := value.(string)
	if isText {
		var err error
		if e.expression, err = newExpression(source, c.site(f)); err != nil {
			return err
		}
		if err := e.fitsField(); err != nil {
			return err
		}
	}
	if len(e.columns) == 0 {
		if !isText && f.Shape > record.ShapeBool {
			return fmt.Errorf("value %v is nothing that the field can be", value)
		}
		if isText {
			var err error
			if value, err = newEvaluator(nil).run(e.expression); err != nil {
				return err
			}
		}
		text, err := e.append(nil, value)
		if e.constant = string(text); err != nil || e.constant == "" {
			return fmt.Errorf("value %v is nothing that the field can be", value)
		}
	}
	if err := s.root.add(strings.Split(path, "."), len(s.entries)); err != nil {
		return err
	}
	s.entries = append(s.entries, e)
	return nil
}

// add adds the field of an entry below o. A name that ends in [0] is the list that the row is an element of.
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

// wholeRecord is the path that stands for the whole record.
const wholeRecord = "*"

// A place is the schema in which field paths are resolved.
type place struct {
	typ     *catalog.Type // type of the record; nil for elements
	plan    *record.Schema
	list    string         // path of the list that rows are elements of
	element *record.Schema // schema of its elements
}

// field returns the field at a dotted path. "*" is the record itself: its value's fields become the record's.
func (p *place) field(path string) (*record.Field, error) {
	if path == wholeRecord && p.list == "" && p.typ != nil {
		return &record.Field{Name: path, Shape: record.ShapeObject, Elem: p.plan}, nil
	}
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

// special returns a field that the API does not have but layout tmdb reads: genre_ids, and texts with a language suffix.
func (p *place) special(name string) *record.Field {
	if _, ok := p.plan.Field("genres"); ok && name == "genre_ids" {
		return &record.Field{Name: name, Shape: record.ShapeInts}
	}
	f, _ := tmdb.LanguageField(p.typ, name)
	return f
}

// ignores reports whether the mapping ignores a column, and whether reports omit it.
func (f *form) ignores(column string) (ignored, silent bool) {
	silent, ignored = f.ignored[column]
	return ignored, silent
}
