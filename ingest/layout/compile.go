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

// A table is a table of a mapping. Its form is compiled on first use, because a run needs few of the built-in tables.
type table struct {
	*tableSpec
	file    string   // name of the mapping file
	doubts  []string // what a person should check
	compile func() (*form, error)
}

// form returns the meaning of the table. The mapping was checked when it was loaded.
func (t *table) form() *form {
	f, err := t.compile()
	if err != nil {
		panic(fmt.Sprintf("layout: %s: table %s: %v", t.file, t.label(), err)) // a built-in mapping is broken
	}
	return f
}

// A form is the meaning of the columns of rows.
type form struct {
	label   string // name of the table, in counts and messages
	shapes  []*shape
	ignored map[string]bool // columns that are ignored on purpose; true: reports omit the column
}

// A shape describes a record that a row makes. Its entries are in the order of the mapping file. root has them as a tree of field
// paths, in which they are written as JSON.
type shape struct {
	typ     *catalog.Type
	part    bool
	numbers numberReader
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
		t := &table{tableSpec: &spec.Tables[i], file: m.Name}
		t.compile = sync.OnceValues(t.tableSpec.form)
		label, err := t.label(), t.check()
		if check {
			_, formErr := t.compile()
			err = errors.Join(err, formErr)
		}
		errs = append(errs, within("table "+label, err))
		m.tables = append(m.tables, t)
	}
	for i := range spec.Skips {
		s := &spec.Skips[i]
		err := s.check()
		if err == nil && s.Reason == "" {
			err = errors.New("want a reason, found none")
		}
		errs = append(errs, within(fmt.Sprintf("skip %d", i+1), err))
	}
	m.skips = spec.Skips
	return errors.Join(errs...)
}

// form makes the meaning of the rows of a table.
func (s *tableSpec) form() (*form, error) {
	f := &form{label: s.label(), ignored: map[string]bool{}}
	numbers := numberReader{s.Decimal, s.Thousands, s.Scale}
	errs := []error{numbers.check()}
	if fit := s.MinFit; fit != nil && !(*fit >= 0 && *fit <= 1) {
		errs = append(errs, fmt.Errorf("min_fit %v: want a share from 0 to 1", *fit))
	}
	if len(s.Records) == 0 {
		errs = append(errs, errors.New("want a [[table.record]], found none"))
	}
	for n := range s.Records {
		sh, err := newShape(&s.Records[n], numbers, f.shapes)
		errs = append(errs, within(fmt.Sprintf("record %d", n+1), err))
		f.shapes = append(f.shapes, sh)
	}
	for _, c := range s.Ignore {
		f.ignored[c.Column] = c.Silent
		if f.readsColumn(c.Column) {
			errs = append(errs, fmt.Errorf("column %s is used and ignored", c.Column))
			break
		}
	}
	return f, errors.Join(errs...)
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

// readsColumn reports whether a shape reads a column.
func (f *form) readsColumn(name string) bool {
	return slices.ContainsFunc(f.shapes, func(s *shape) bool { return slices.Contains(s.columns(), name) })
}

// newShape makes the shape of a record. before holds the shapes of earlier records of the row.
func newShape(r *recordSpec, numbers numberReader, before []*shape) (*shape, error) {
	typ, ok := catalog.TypeNamed(r.Kind)
	s := &shape{typ: typ, part: r.Part || r.List != "", numbers: numbers, root: &output{}}
	if !ok {
		return s, fmt.Errorf("kind %q: want one of %s", r.Kind, strings.Join(catalog.Kinds(), ", "))
	}
	var err error
	if r.Where != "" {
		if s.where, err = newExpression(r.Where, s.site(nil), expr.AsBool()); err != nil {
			return s, fmt.Errorf("where: %w", err)
		}
	}
	if r.Each != "" {
		if s.each, err = newExpression(r.Each, s.site(nil)); err != nil {
			return s, fmt.Errorf("each: %w", err)
		}
	}
	var list *record.Field
	if r.List != "" {
		if list, err = fieldAt(typ, typ.Schema, r.List); err != nil {
			return s, fmt.Errorf("list: %w", err)
		}
		if list.Shape != record.ShapeObjects {
			return s, fmt.Errorf("list: %s is not a list of objects", r.List)
		}
	}
	if r.Element != nil && r.List == "" {
		return s, errors.New("element: want list, which names the list that a row is an element of")
	}
	if len(r.Fields) == 0 && r.Element == nil {
		return s, errors.New("fields: want a field, found none")
	}
	errs := []error{s.addFields("", "", r.Fields, func(path string) (*record.Field, error) {
		if path == wholeRecord && r.List == "" {
			return &record.Field{Name: path, Shape: record.ShapeObject, Elem: typ.Schema}, nil
		}
		return fieldAt(typ, typ.Schema, path)
	})}
	switch fields := r.Element.(type) {
	case nil:
	case map[string]any:
		errs = append(errs, s.addFields(r.List+"[0]", "", fields, func(path string) (*record.Field, error) { return fieldAt(nil, list.Elem, path) }))
	default:
		whole := &record.Field{Name: "element", Shape: record.ShapeObject, Elem: list.Elem}
		errs = append(errs, within("element", s.add(r.List+"[0]", whole, r.Element)))
	}
	if err := errors.Join(errs...); err != nil {
		return s, err
	}
	return s, s.findIDs(r, before)
}

// site returns the context of an expression for a field. f is nil for conditions and lists.
func (s *shape) site(f *record.Field) *site {
	out := &site{kind: s.typ.Kind, numbers: s.numbers}
	if f != nil && f.Shape == record.ShapeObjects {
		_, out.ordered = f.Elem.Field("order")
	}
	return out
}

// addFields adds the entries of a table of fields, and of nested tables, which are objects. above is the path of the object that
// has the fields, path the nested table's in it.
func (s *shape) addFields(above, path string, fields map[string]any, field func(path string) (*record.Field, error)) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		key := joinKey(path, name)
		if inner, ok := fields[name].(map[string]any); ok {
			errs = append(errs, s.addFields(above, key, inner, field))
			continue
		}
		f, err := field(key)
		if err == nil {
			err = s.add(joinKey(above, key), f, fields[name])
		}
		errs = append(errs, within("field "+key, err))
	}
	return errors.Join(errs...)
}

// add adds an entry.
func (s *shape) add(path string, f *record.Field, value any) error {
	e := &entry{path: path, field: f, numbers: s.numbers, expression: &expression{}, key: slices.Contains(s.typ.KeyFields(), path)}
	source, isText := value.(string)
	if isText {
		var err error
		if e.expression, err = newExpression(source, s.site(f)); err != nil {
			return err
		}
		if err := e.checkType(); err != nil {
			return err
		}
	}
	if len(e.columns) == 0 {
		if isText {
			var err error
			if value, err = newEvaluator(nil, &Options{}).run(e.expression); err != nil {
				return err
			}
		}
		text, err := e.append(nil, value)
		if e.constant = string(text); err != nil || e.constant == "" || !isText && f.Shape > record.ShapeBool {
			return fmt.Errorf("value %v does not fit the field", value)
		}
	}
	e.number = len(s.entries)
	s.entries = append(s.entries, e)
	return s.root.add(strings.Split(path, "."), e)
}

// add adds the field of an entry below o. A name that ends in [0] is a list, and the row is an element.
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
		return errors.New("another column maps to the same field, or to one that contains it or is part of it")
	}
	return o.kids[i].add(names[1:], e)
}

// wholeRecord is the path that stands for the whole record.
const wholeRecord = "*"

// fieldAt returns the field at a dotted path of a record, or of an object in one if typ is nil.
func fieldAt(typ *catalog.Type, schema *record.Schema, path string) (*record.Field, error) {
	name, rest, nested := strings.Cut(path, ".")
	f, ok := schema.Field(name)
	switch {
	case !ok && typ != nil && !nested:
		// Package tmdb reads fields that the API does not have: genre_ids, and texts with a language suffix.
		if _, ok := typ.Schema.Field("genres"); ok && name == "genre_ids" {
			return &record.Field{Name: name, Shape: record.ShapeInts}, nil
		}
		if f, _ := tmdb.LanguageField(typ, name); f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("%s records have no field %s", typ.Name(), name)
	case !ok:
		return nil, fmt.Errorf("there is no field %s", name)
	case !nested:
		return f, nil
	case f.Shape != record.ShapeObject && f.Shape != record.ShapePages:
		return nil, fmt.Errorf("field %s is not an object", name)
	}
	return fieldAt(nil, f.Elem, rest)
}

// columns returns the columns that a shape reads.
func (s *shape) columns() (out []string) {
	add := func(e *expression, isElement bool) {
		if e == nil {
			return
		}
		for _, name := range e.columns {
			if !isElement || name != elementName && name != placeName {
				out = append(out, name)
			}
		}
	}
	add(s.where, s.each != nil)
	add(s.each, false)
	for _, e := range s.entries {
		add(e.expression, s.each != nil)
	}
	if s.find != nil {
		out = append(out, s.find.columns...)
	}
	return out
}

// entryOf returns the entry that a field came from, and the path below it, or nil. The field's path may have an index, [] or
// nothing after the list that rows are elements of.
func (s *shape) entryOf(field string) (from *entry, below string) {
	for _, e := range s.entries {
		for _, list := range []string{"[0]", "[]", ""} {
			rest, ok := strings.CutPrefix(field, strings.ReplaceAll(e.path, "[0]", list))
			if ok && len(e.columns) > 0 && (rest == "" || rest[0] == '.' || rest[0] == '[') && (from == nil || len(e.path) > len(from.path)) {
				from, below = e, rest
			}
		}
	}
	return from, below
}
