package catalog

import (
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// objectColumns maps the fields of one struct to a Parquet schema.
type objectColumns struct {
	schema  *record.Schema
	def     int // definition level of the struct
	rep     int // repetition level of its fields
	fields  []fieldColumns
	unusual int // leaf column
	extra   int // leaf column
}

// fieldColumns maps one field to its leaf column, or to all leaves below it.
type fieldColumns struct {
	field  *record.Field
	leaves []int
	elem   *objectColumns
}

// first returns the field's first leaf column, which suffices for its levels.
func (f *fieldColumns) first() int { return f.leaves[0] }

// schemaNode returns the Parquet form of a struct.
func schemaNode(s *record.Schema) parquet.Group {
	g := parquet.Group{
		record.UnusualColumn: parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)),
		record.ExtraColumn:   parquet.Optional(parquet.String()),
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		var node parquet.Node
		switch f.Shape {
		case record.ShapeString, record.ShapeRaw:
			node = parquet.String()
			if f.Dict {
				node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
			}
		case record.ShapeInt:
			node = parquet.Int(64)
		case record.ShapeFloat:
			node = parquet.Leaf(parquet.DoubleType)
		case record.ShapeBool:
			node = parquet.Leaf(parquet.BooleanType)
		case record.ShapeStrings:
			node = parquet.List(parquet.String())
		case record.ShapeInts:
			node = parquet.List(parquet.Int(64))
		case record.ShapeObject:
			node = schemaNode(f.Elem)
		default:
			node = parquet.List(schemaNode(f.Elem))
		}
		g[f.Column] = parquet.Optional(node)
	}
	return g
}

// layout maps a struct to the columns of a schema, which may have others too.
func layout(s *parquet.Schema, r *record.Schema, path []string, def, rep int) *objectColumns {
	o := &objectColumns{
		schema: r, def: def, rep: rep,
		unusual: leaf(s, path, record.UnusualColumn),
		extra:   leaf(s, path, record.ExtraColumn),
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		below := append(append([]string{}, path...), f.Column)
		fc := fieldColumns{field: f}
		switch f.Shape {
		case record.ShapeObject:
			fc.elem = layout(s, f.Elem, below, def+1, rep)
			fc.leaves = fc.elem.leaves()
		case record.ShapeObjects, record.ShapeKeyed, record.ShapePages:
			fc.elem = layout(s, f.Elem, append(below, "list", "element"), def+2, rep+1)
			fc.leaves = fc.elem.leaves()
		case record.ShapeStrings, record.ShapeInts:
			fc.leaves = []int{leaf(s, append(below, "list"), "element")}
		default:
			fc.leaves = []int{leaf(s, path, f.Column)}
		}
		o.fields = append(o.fields, fc)
	}
	return o
}

func leaf(s *parquet.Schema, path []string, name string) int {
	c, ok := s.Lookup(append(append([]string{}, path...), name)...)
	if !ok {
		panic("catalog: schema lacks column " + name)
	}
	return c.ColumnIndex
}

// unread is the leaf column of unread texts.
const unread = -1

// pick returns only the columns of the fields at paths. A path to an object includes all of it.
func (o *objectColumns) pick(paths []string) *objectColumns {
	picked := &objectColumns{schema: o.schema, def: o.def, rep: o.rep, unusual: unread, extra: unread}
	rests := map[string][]string{} // rest of each path, by field
	for _, p := range paths {
		name, rest, _ := strings.Cut(p, ".")
		rests[name] = append(rests[name], rest)
	}
	for _, f := range o.fields {
		paths, ok := rests[f.field.Name]
		if !ok {
			continue
		}
		delete(rests, f.field.Name)
		if f.elem != nil && !slices.Contains(paths, "") {
			f.elem = f.elem.pick(paths)
			f.leaves = f.elem.leaves()
		}
		picked.fields = append(picked.fields, f)
	}
	for name := range rests {
		panic("catalog: " + o.schema.Type.String() + " has no field " + name)
	}
	return picked
}

// leaves returns the leaf columns of the struct.
func (o *objectColumns) leaves() []int {
	var list []int
	if o.unusual != unread {
		list = append(list, o.unusual, o.extra)
	}
	for _, f := range o.fields {
		list = append(list, f.leaves...)
	}
	return list
}

// A shredder splits records into column values.
type shredder struct {
	columns [][]parquet.Value // current rows, by leaf column
	rows    int
	bytes   int64
	last    bool // they end their row group
}

// object appends the columns of r, whose first value has repetition level rep.
func (s *shredder) object(o *objectColumns, r record.Record, rep int) {
	obj := r.Object()
	s.leaf(o.unusual, o, textValue(obj.Unusual), obj.Unusual != "", rep)
	s.leaf(o.extra, o, textValue(obj.Extra), obj.Extra != "", rep)
	for i := range o.fields {
		f := &o.fields[i]
		switch f.field.Shape {
		case record.ShapeString, record.ShapeRaw:
			v := r.String(f.field)
			s.leaf(f.first(), o, textValue(v.V), v.Set, rep)
		case record.ShapeInt:
			v := r.Int(f.field)
			s.leaf(f.first(), o, parquet.Int64Value(v.V), v.Set, rep)
		case record.ShapeFloat:
			v := r.Float(f.field)
			s.leaf(f.first(), o, parquet.DoubleValue(v.V), v.Set, rep)
		case record.ShapeBool:
			v := r.Bool(f.field)
			s.leaf(f.first(), o, parquet.BooleanValue(v.V), v.Set, rep)
		case record.ShapeObject:
			if sub, ok := r.Sub(f.field); ok {
				s.object(f.elem, sub, rep)
			} else {
				s.nulls(f, o.def, rep)
			}
		case record.ShapeStrings:
			list := *r.Strings(f.field)
			for i, v := range list {
				s.element(o, f, textValue(v), i, rep)
			}
			s.emptyList(o, f, len(list), list != nil, rep)
		case record.ShapeInts:
			list := *r.Ints(f.field)
			for i, v := range list {
				s.element(o, f, parquet.Int64Value(v), i, rep)
			}
			s.emptyList(o, f, len(list), list != nil, rep)
		default:
			n, set := r.Len(f.field)
			for i := range n {
				s.object(f.elem, r.At(f.field, i), elementRep(o, i, rep))
			}
			s.emptyList(o, f, n, set, rep)
		}
	}
}

// leaf appends a value of o, or a NULL if it is unset.
func (s *shredder) leaf(col int, o *objectColumns, v parquet.Value, set bool, rep int) {
	if set {
		v = v.Level(rep, o.def+1, col)
	} else {
		v = parquet.NullValue().Level(rep, o.def, col)
	}
	s.columns[col] = append(s.columns[col], v)
}

// nulls appends a NULL to each column below a field. The value has no column number: columns are written one by one.
func (s *shredder) nulls(f *fieldColumns, def, rep int) {
	v := parquet.NullValue().Level(rep, def, 0)
	for _, c := range f.leaves {
		s.columns[c] = append(s.columns[c], v)
	}
}

// elementRep is the repetition level of element i of a list in o.
func elementRep(o *objectColumns, i, rep int) int {
	if i == 0 {
		return rep
	}
	return o.rep + 1
}

func (s *shredder) element(o *objectColumns, f *fieldColumns, v parquet.Value, i, rep int) {
	s.columns[f.first()] = append(s.columns[f.first()], v.Level(elementRep(o, i, rep), o.def+2, f.first()))
}

// emptyList writes the placeholders of an empty list.
func (s *shredder) emptyList(o *objectColumns, f *fieldColumns, n int, set bool, rep int) {
	switch {
	case n > 0:
	case set:
		s.nulls(f, o.def+1, rep)
	default:
		s.nulls(f, o.def, rep)
	}
}
