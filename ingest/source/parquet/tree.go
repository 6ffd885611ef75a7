package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// pandasIndex is the column in which pandas stores a table's row labels, which are not data.
const pandasIndex = "__index_level_0__"

type shape uint8

const (
	shapeLeaf  shape = 1
	shapeGroup shape = 2
	shapeList  shape = 3 // children: the repeated node
	shapeMap   shape = 4 // children: the repeated node with key and value
)

// A node is a node of a file's schema, prepared for writing JSON.
type node struct {
	name     string
	path     string // names from the root on
	key      string // `"name":`
	shape    shape
	repeated bool
	def, rep int // minimum levels of values in the node
	column   int // column of the leaf, or of the group's first leaf, whose levels are the group's
	physical format.Type
	length   int32 // bytes of a FIXED_LEN_BYTE_ARRAY value
	cell     cell
	children []*node
	drop     bool // skip it
}

// A tree is the schema of a Parquet file, which lists its nodes in depth-first order.
type tree struct {
	schema []format.SchemaElement
	next   int
	leaves []*node // in the order of the columns
}

// newTree checks and prepares a schema.
func newTree(schema []format.SchemaElement) (root *node, leaves []*node, err error) {
	t := tree{schema: schema}
	if len(schema) > 0 {
		root, err = t.node(&node{}, 0)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case root == nil || root.shape == shapeLeaf:
		return nil, nil, errors.New("corrupt Parquet footer: its schema is not a group")
	case t.next < len(schema):
		return nil, nil, fmt.Errorf("corrupt Parquet footer: %d nodes of the schema belong to no group", len(schema)-t.next)
	}
	for _, child := range root.children {
		child.drop = child.name == pandasIndex
	}
	return root, t.leaves, nil
}

// node prepares the next node, a child of parent, and its descendants.
func (t *tree) node(parent *node, depth int) (*node, error) {
	if t.next >= len(t.schema) {
		return nil, errors.New("corrupt Parquet footer: the schema ends inside a group")
	}
	e := &t.schema[t.next]
	t.next++
	if depth > maxSchemaDepth {
		return nil, limit.Errorf("Parquet schema is nested deeper than %d levels at %.100q", maxSchemaDepth, e.Name)
	}
	n := &node{name: e.Name, path: e.Name, shape: shapeGroup, def: parent.def, rep: parent.rep}
	if depth == 0 {
		n.path = ""
	} else {
		if depth > 1 {
			n.path = parent.path + "." + e.Name
		}
		n.key = string(record.AppendString(nil, strings.ToValidUTF8(e.Name, "\uFFFD"))) + ":"
		n.repeated = e.RepetitionType.Valid && e.RepetitionType.V == format.Repeated
		if n.repeated {
			n.rep++
		}
		if n.repeated || e.RepetitionType.Valid && e.RepetitionType.V == format.Optional {
			n.def++
		}
	}
	n.column = len(t.leaves)
	if e.Type.Valid {
		n.shape, n.physical, n.length = shapeLeaf, e.Type.V, e.TypeLength.V
		t.leaves = append(t.leaves, n)
		switch {
		case n.column >= limit.MaxColumns:
			return nil, limit.Errorf("Parquet schema has more than %d columns", limit.MaxColumns)
		case e.NumChildren.V > 0:
			return nil, fmt.Errorf("corrupt Parquet footer: column %q has a type and %d children", e.Name, e.NumChildren.V)
		case n.physical == format.FixedLenByteArray && (n.length < 1 || n.length > math.MaxInt16):
			return nil, fmt.Errorf("corrupt Parquet footer: column %q holds values of %d bytes", e.Name, n.length)
		case n.physical < format.Boolean || n.physical > format.FixedLenByteArray:
			return nil, fmt.Errorf("corrupt Parquet footer: column %q is of the unknown type %d", e.Name, n.physical)
		}
		var err error
		if n.cell, err = cellOf(e); err != nil {
			return nil, fmt.Errorf("corrupt Parquet footer: column %q: %w", e.Name, err)
		}
		return n, nil
	}
	for range e.NumChildren.V {
		child, err := t.node(n, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	if n.children == nil {
		return nil, fmt.Errorf("no columns in the Parquet file, or in group %q of it", n.path)
	}
	n.setShape(e)
	return n, nil
}

// setShape recognizes lists and maps among the groups. It accepts both forms of annotation, but only if the
// children are as the format requires.
func (n *node) setShape(e *format.SchemaElement) {
	if len(n.children) != 1 || !n.children[0].repeated {
		return
	}
	_, list := e.LogicalType.Value.(*format.ListType)
	_, mapped := e.LogicalType.Value.(*format.MapType)
	if e.ConvertedType.Valid {
		list = list || e.ConvertedType.V == deprecated.List
		mapped = mapped || e.ConvertedType.V == deprecated.Map || e.ConvertedType.V == deprecated.MapKeyValue
	}
	inner := n.children[0]
	switch {
	case mapped && inner.shape == shapeGroup && len(inner.children) == 2 && inner.children[0].shape == shapeLeaf && !inner.children[0].repeated:
		n.shape = shapeMap
	case list || mapped:
		n.shape = shapeList
		// Three levels: the repeated group only wraps the element. The exceptions are the two-level
		// lists of old writers.
		if inner.shape == shapeGroup && len(inner.children) == 1 && inner.name != "array" && inner.name != n.name+"_tuple" && !inner.children[0].repeated {
			inner.shape = shapeList
		}
	}
}

// A rowWriter writes one row as JSON from the values of its columns.
type rowWriter struct {
	columns []*column
	dst     []byte
	max     int
	strict  bool
	bad     string // first reason why the row cannot be used
	nulled  []record.FieldError
	mended  record.Mended
	inKey   bool // inside a key of a map, which an entry must have
}

// A fault ends the writing of a row, as a panic.
type fault struct{ error }

// errLong is the fault of a too long row, whose rest is not written.
var errLong = fault{errors.New("row is too long")}

// write writes the row, and checks that all values were used.
func (w *rowWriter) write(root *node) (err error) {
	defer recoverTo(&err)
	w.fields(root)
	for _, c := range w.columns {
		if c.written != len(c.row) {
			c.fail()
		}
	}
	return nil
}

// fail ends the writing of a row whose levels do not fit together.
func (c *column) fail() {
	panic(fault{c.fault(errors.New("the levels of its values do not fit together"))})
}

// peek returns the next value of a column.
func (w *rowWriter) peek(column int) parquet.Value {
	c := w.columns[column]
	if c.written >= len(c.row) {
		c.fail()
	}
	return c.row[c.written]
}

// fields writes the children of a group as an object.
func (w *rowWriter) fields(n *node) {
	w.dst = append(w.dst, '{')
	comma := false
	for _, child := range n.children {
		if child.drop {
			w.skip(child, true)
			continue
		}
		if comma {
			w.dst = append(w.dst, ',')
		}
		comma = true
		w.dst = append(w.dst, child.key...)
		w.node(child)
	}
	w.dst = append(w.dst, '}')
}

// skip skips the values of a node: one per leaf, or all of the row.
func (w *rowWriter) skip(n *node, all bool) {
	if n.shape == shapeLeaf {
		_ = w.peek(n.column)
		c := w.columns[n.column]
		if c.written++; all {
			c.written = len(c.row)
		}
		return
	}
	for _, child := range n.children {
		w.skip(child, all)
	}
}

// node writes n: an array of its occurrences if it repeats, null if it is absent.
func (w *rowWriter) node(n *node) {
	switch {
	case n.repeated:
		w.repeat(n, '[', ']', w.single)
	case w.present(n):
		w.single(n)
	default:
		w.dst = append(w.dst, "null"...)
		w.skip(n, false)
	}
}

// present reports whether n is present at the next value.
func (w *rowWriter) present(n *node) bool { return w.peek(n.column).DefinitionLevel() >= n.def }

// single writes one occurrence of n, which is present.
func (w *rowWriter) single(n *node) {
	switch n.shape {
	case shapeLeaf:
		v := w.peek(n.column)
		w.columns[n.column].written++
		if v.IsNull() {
			w.dst = append(w.dst, "null"...)
			return
		}
		var bad string
		start := len(w.dst)
		switch w.dst, bad = n.cell(w.dst, v); {
		case bad == "":
		case !w.strict && strings.HasSuffix(bad, record.NoZero):
			w.dst = record.AppendText(w.dst[:start], bytes.ReplaceAll(v.ByteArray(), []byte{0}, nil))
			w.mended.Controls++
		case !w.strict && !w.inKey && len(w.nulled) < record.MaxPaths:
			w.dst = append(w.dst[:start], "null"...)
			w.nulled = append(w.nulled, record.FieldError{Field: n.path, What: bad})
		case w.bad == "":
			w.bad = fmt.Sprintf("column %q: %s", n.path, bad)
		}
		if len(w.dst) > w.max {
			panic(errLong)
		}
	case shapeList:
		// The child is the element in the wrapper of a three-level list, and else the
		// repeated node.
		w.node(n.children[0])
	case shapeMap:
		w.repeat(n.children[0], '{', '}', w.mapEntry)
	default:
		w.fields(n)
	}
}

// repeat writes every occurrence of n in the row between two brackets.
func (w *rowWriter) repeat(n *node, open, end byte, each func(*node)) {
	w.dst = append(w.dst, open)
	if !w.present(n) {
		w.dst = append(w.dst, end)
		w.skip(n, false)
		return
	}
	for c := w.columns[n.column]; ; {
		before := c.written
		if each(n); c.written == before {
			c.fail()
		}
		if c.written >= len(c.row) || c.row[c.written].RepetitionLevel() != n.rep {
			break
		}
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, end)
}

// mapEntry writes a key and value of a map.
func (w *rowWriter) mapEntry(n *node) {
	start := len(w.dst)
	w.inKey = true
	w.node(n.children[0])
	w.inKey = false
	if w.dst[start] != '"' { // JSON keys are strings
		w.dst = append(slices.Insert(w.dst, start, '"'), '"')
	}
	w.dst = append(w.dst, ':')
	w.node(n.children[1])
}
