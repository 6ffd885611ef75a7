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
	label   string   // in counts and messages
	file    string   // name of the mapping file
	rows    string   // see tableSpec
	minFit  *float64 // likewise
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
	shapes  []*shape
	reads   []read          // what the shapes read of a row
	ignored map[string]bool // columns that no field takes; true: reports omit the column
}

// A shape is one record that a row makes. Its entries are in the order of the mapping file. root holds them as a tree of field
// paths, because JSON is written from the outside in.
type shape struct {
	typ     *catalog.Type
	part    bool
	where   *expression // nil for all rows
	each    *expression // nil for one record a row
	find    *finder     // nil if every row has the ID and the entries look up no people
	entries []*entry
	root    *output
}

// An entry is a field and the expression of its value.
type entry struct {
	*expression
	number   int    // index of the entry in its shape
	path     string // path of the field in the record
	field    *record.Field
	key      bool // the field is part of the record's key
	numbers  numberReader
	constant string // JSON text of a value that depends on no column
}

// An output is a field of the JSON of a shape: the value of an entry, or an object.
type output struct {
	name  string
	entry *entry // nil for an object
	list  bool
	kids  []*output
}

// compile makes the tables of the file. With check it also compiles their forms.
func (m *Mapping) compile(spec *mappingSpec, check bool) error {
	var errs []error
	if len(spec.Tables) == 0 && len(spec.Skips) == 0 && len(spec.Aliases) == 0 {
		return errors.New("want a [[table]], found none")
	}
	for i := range spec.Tables {
		t, err := m.table(&spec.Tables[i])
		if check {
			_, wrong := t.compile()
			err = errors.Join(err, wrong)
		}
		errs = append(errs, within("table "+t.label, err))
		m.tables = append(m.tables, t)
	}
	for i, s := range spec.Skips {
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
	t = &table{label: s.label(), file: m.Name, rows: s.Rows, minFit: s.MinFit}
	t.compile = sync.OnceValues(s.form)
	t.matcher, err = newMatcher(s.Files, s.Requires)
	return t, err
}

// form makes the meaning of the rows of a table.
func (s *tableSpec) form() (*form, error) {
	f := &form{label: s.label()}
	numbers := numberReader{s.Decimal, s.Thousands, s.Scale}
	errs := []error{numbers.check()}
	if fit := s.MinFit; fit != nil && !(*fit >= 0 && *fit <= 1) {
		errs = append(errs, fmt.Errorf("min_fit %v: want a share from 0 to 1", *fit))
	}
	if len(s.Records) == 0 {
		errs = append(errs, errors.New("want a [[table.record]], found none"))
	}
	for n := range s.Records {
		c := compiler{numbers: numbers}
		sh, err := c.record(&s.Records[n], f.shapes)
		errs = append(errs, within(fmt.Sprintf("record %d", n+1), err))
		f.shapes = append(f.shapes, sh)
	}
	f.setReads()
	return f, errors.Join(append(errs, f.ignore(s.Ignore))...)
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
		if f.readsColumn(c.Column) {
			return fmt.Errorf("column %s is used and ignored", c.Column)
		}
	}
	return nil
}

// readsColumn reports whether a shape reads a column.
func (f *form) readsColumn(name string) bool {
	return slices.ContainsFunc(f.reads, func(r read) bool { return r.column == name })
}

// whole reports whether a column holds complete responses of the API.
func (s *shape) whole() bool {
	return slices.ContainsFunc(s.entries, func(e *entry) bool { return e.path == wholeRecord })
}

// A compiler makes one shape.
type compiler struct {
	numbers numberReader
	at      place
}

// record makes the shape of a record. before holds the shapes of earlier records of the row.
func (c *compiler) record(r *recordSpec, before []*shape) (*shape, error) {
	typ, ok := catalog.TypeNamed(r.Kind)
	s := &shape{typ: typ, part: r.Part || r.List != "", root: &output{}}
	if !ok {
		return s, fmt.Errorf("kind %q: want one of %s", r.Kind, strings.Join(catalog.Kinds(), ", "))
	}
	c.at = place{typ: typ, plan: typ.Plan, isElement: r.List != ""}
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
	var list *record.Field
	if r.List != "" {
		if list, err = c.at.field(r.List); err != nil {
			return s, fmt.Errorf("list: %w", err)
		}
		if list.Shape != record.ShapeObjects {
			return s, fmt.Errorf("list: %s is no list of objects", r.List)
		}
	}
	if r.Element != nil && r.List == "" {
		return s, errors.New("element: want list, which names the list that a row is an element of")
	}
	if len(r.Fields) == 0 && r.Element == nil {
		return s, errors.New("fields: want a field, found none")
	}
	errs := []error{c.fields(s, c.at, "", r.Fields)}
	switch fields := r.Element.(type) {
	case nil:
	case map[string]any:
		errs = append(errs, c.fields(s, place{plan: list.Elem, above: r.List + "[0]"}, "", fields))
	default:
		whole := &record.Field{Name: "element", Shape: record.ShapeObject, Elem: list.Elem}
		errs = append(errs, within("element", c.entry(s, r.List+"[0]", whole, r.Element)))
	}
	if err := errors.Join(errs...); err != nil {
		return s, err
	}
	return s, s.findIDs(c.at, r, before)
}

// site returns the context of an expression for a field. f is nil for conditions and lists.
func (c *compiler) site(f *record.Field) *site {
	out := &site{kind: c.at.typ.Kind, numbers: c.numbers}
	if f != nil && f.Shape == record.ShapeObjects {
		_, out.ordered = f.Elem.Field("order")
	}
	return out
}

// fields adds the entries of a table of fields, and of nested tables, which are objects. path is the table's, below the place.
func (c *compiler) fields(s *shape, at place, path string, fields map[string]any) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		one := joinKey(path, name)
		if inner, ok := fields[name].(map[string]any); ok {
			errs = append(errs, c.fields(s, at, one, inner))
			continue
		}
		f, err := at.field(one)
		if err == nil {
			err = c.entry(s, joinKey(at.above, one), f, fields[name])
		}
		errs = append(errs, within("field "+one, err))
	}
	return errors.Join(errs...)
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
			if value, err = newEvaluator(nil, &Options{}).run(e.expression); err != nil {
				return err
			}
		}
		text, err := e.append(nil, value)
		if e.constant = string(text); err != nil || e.constant == "" {
			return fmt.Errorf("value %v is nothing that the field can be", value)
		}
	}
	e.number = len(s.entries)
	s.entries = append(s.entries, e)
	return s.root.add(strings.Split(path, "."), e)
}

// add adds the field of an entry below o. A name that ends in [0] is the list that the row is an element of.
func (o *output) add(names []string, e *entry) error {
	name, list := strings.CutSuffix(names[0], "[0]")
	last := len(names) == 1
	i := slices.IndexFunc(o.kids, func(k *output) bool { return k.name == name })
	if i < 0 {
		kid := &output{name: name, list: list}
		o.kids = append(o.kids, kid)
		if last {
			kid.entry = e
			return nil
		}
		return kid.add(names[1:], e)
	}
	if last || o.kids[i].entry != nil {
		return errors.New("another column is the same field, or one around or inside it")
	}
	return o.kids[i].add(names[1:], e)
}

// wholeRecord is the path that stands for the whole record.
const wholeRecord = "*"

// A place is the schema in which field paths are resolved.
type place struct {
	typ       *catalog.Type // type of the record; nil for elements
	plan      *record.Schema
	above     string // path in the record of the object that has the fields
	isElement bool   // the row is an element of a list in the record
}

// field returns the field at a dotted path. "*" is the record itself: its value's fields become the record's.
func (p *place) field(path string) (*record.Field, error) {
	if path == wholeRecord && !p.isElement && p.typ != nil {
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
