package parquet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/jsonrow"
)

// pandasIndex is the column in which pandas keeps a table's row labels: no data.
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
	path     string
	key      string // `"name":`
	shape    shape
	repeated bool
	def, rep int // levels from which on the node is there, counted from the root
	first    int // leaf column from which its levels are read
	column   int // of a leaf
	physical format.Type
	length   int32 // of a value of type FIXED_LEN_BYTE_ARRAY, in bytes
	cell     cell
	children []*node
	drop     bool // read past, do not write
}

// newTree prepares the schema of f.
func newTree(f *parquet.File) (*node, error) {
	if len(f.Root().Columns()) == 0 {
		return nil, errors.New("no columns in the Parquet file")
	}
	// Leaves stand in the footer in column order; the library's own types lack
	// some logical types, so they come from the footer.
	var leaves []*format.SchemaElement
	for i := range f.Metadata().Schema {
		if e := &f.Metadata().Schema[i]; e.Type.Valid {
			leaves = append(leaves, e)
		}
	}
	root := &node{shape: shapeGroup, first: -1}
	for _, c := range f.Root().Columns() {
		child, err := newNode(c, root, leaves)
		if err != nil {
			return nil, err
		}
		child.drop = c.Name() == pandasIndex
		root.add(child)
	}
	return root, nil
}

func (n *node) add(child *node) {
	if n.first < 0 {
		n.first = child.first
	}
	n.children = append(n.children, child)
}

// newNode prepares column c below parent.
func newNode(c *parquet.Column, parent *node, leaves []*format.SchemaElement) (*node, error) {
	key, _ := jsonrow.AppendString(nil, []byte(strings.ToValidUTF8(c.Name(), "\uFFFD")))
	n := &node{
		path: strings.Join(c.Path(), "."), key: string(key) + ":", repeated: c.Repeated(),
		def: parent.def, rep: parent.rep, first: -1,
	}
	if c.Optional() || c.Repeated() {
		n.def++
	}
	if c.Repeated() {
		n.rep++
	}
	if c.Leaf() {
		if c.Index() < 0 || c.Index() >= len(leaves) {
			return nil, fmt.Errorf("corrupt Parquet footer: column %q has number %d of %d", n.path, c.Index(), len(leaves))
		}
		n.shape, n.column, n.first = shapeLeaf, c.Index(), c.Index()
		n.physical, n.length = leaves[n.column].Type.V, leaves[n.column].TypeLength.V
		n.cell = cellOf(leaves[n.column])
		return n, nil
	}
	for _, child := range c.Columns() {
		m, err := newNode(child, n, leaves)
		if err != nil {
			return nil, err
		}
		n.add(m)
	}
	n.shape = shapeOf(c, n)
	return n, nil
}

// shapeOf finds lists and maps among the groups. Either form of annotation counts,
// but only where the children are as the format demands.
func shapeOf(c *parquet.Column, n *node) shape {
	if len(n.children) != 1 || !n.children[0].repeated {
		return shapeGroup
	}
	inner := n.children[0]
	list, mapped := annotation(c.Type())
	switch {
	case mapped && inner.shape == shapeGroup && len(inner.children) == 2 && inner.children[0].shape == shapeLeaf && !inner.children[0].repeated:
		return shapeMap
	case !list && !mapped:
		return shapeGroup
	}
	// Three levels: the repeated group only wraps the element. The exceptions are
	// the two-level lists of old writers.
	name := strings.TrimSuffix(inner.key[1:], `":`)
	if inner.shape == shapeGroup && len(inner.children) == 1 && name != "array" && name != c.Name()+"_tuple" && !inner.children[0].repeated {
		inner.shape = shapeList
	}
	return shapeList
}

// annotation reports whether a group's type is that of a list or a map.
func annotation(t parquet.Type) (list, mapped bool) {
	if l := t.LogicalType(); l != nil {
		switch l.Value.(type) {
		case *format.ListType:
			list = true
		case *format.MapType:
			mapped = true
		}
	}
	if c := t.ConvertedType(); c != nil {
		list = list || *c == deprecated.List
		mapped = mapped || *c == deprecated.Map || *c == deprecated.MapKeyValue
	}
	return list, mapped
}

// leaves appends the leaves below n.
func (n *node) leaves(dst []*node) []*node {
	if n.shape == shapeLeaf {
		return append(dst, n)
	}
	for _, child := range n.children {
		dst = child.leaves(dst)
	}
	return dst
}

// A rowWriter writes one row as JSON from the values of its columns.
type rowWriter struct {
	columns []*column
	dst     []byte
	max     int
	bad     string // first reason why the row cannot be used
}

// errLong ends the writing of a row that is beyond the limit.
var errLong = errors.New("row is too long")

var errLevels = errors.New("corrupt page: the levels of its values do not fit together")

// peek returns the next value of a column.
func (w *rowWriter) peek(column int) (parquet.Value, error) {
	c := w.columns[column]
	if c.at >= len(c.row) {
		return parquet.Value{}, fmt.Errorf("column %q: %w", c.name, errLevels)
	}
	return c.row[c.at], nil
}

// write writes the row, and checks that all values were used.
func (w *rowWriter) write(root *node) error {
	if err := w.fields(root); err != nil {
		return err
	}
	for _, c := range w.columns {
		if c.at != len(c.row) {
			return fmt.Errorf("column %q: %w", c.name, errLevels)
		}
	}
	return nil
}

// fields writes the children of a group as an object.
func (w *rowWriter) fields(n *node) error {
	w.dst = append(w.dst, '{')
	comma := false
	for _, child := range n.children {
		if child.drop {
			if err := w.skip(child, true); err != nil {
				return err
			}
			continue
		}
		if comma {
			w.dst = append(w.dst, ',')
		}
		comma = true
		w.dst = append(w.dst, child.key...)
		if err := w.node(child); err != nil {
			return err
		}
	}
	w.dst = append(w.dst, '}')
	return nil
}

// skip passes the values of a node: one a leaf, or all that the row has.
func (w *rowWriter) skip(n *node, all bool) error {
	if n.shape == shapeLeaf {
		if _, err := w.peek(n.column); err != nil {
			return err
		}
		c := w.columns[n.column]
		if c.at++; all {
			c.at = len(c.row)
		}
		return nil
	}
	for _, child := range n.children {
		if err := w.skip(child, all); err != nil {
			return err
		}
	}
	return nil
}

// node writes n: an array of its occurrences when it repeats, null when it is absent.
func (w *rowWriter) node(n *node) error {
	if n.repeated {
		return w.repeat(n, '[', ']', w.single)
	}
	there, err := w.there(n)
	if err != nil {
		return err
	}
	if !there {
		w.dst = append(w.dst, "null"...)
		return w.skip(n, false)
	}
	return w.single(n)
}

// there reports whether n is present at the next value. A group without leaves
// always is.
func (w *rowWriter) there(n *node) (bool, error) {
	if n.first < 0 {
		return true, nil
	}
	v, err := w.peek(n.first)
	return v.DefinitionLevel() >= n.def, err
}

// single writes one occurrence of n, which is there.
func (w *rowWriter) single(n *node) error {
	switch n.shape {
	case shapeLeaf:
		return w.leaf(n)
	case shapeList:
		// The wrapper of a three-level list holds one element, any other list its
		// repeated child.
		return w.node(n.children[0])
	case shapeMap:
		return w.repeat(n.children[0], '{', '}', w.entry)
	}
	return w.fields(n)
}

// repeat writes every occurrence of n in the row between two brackets.
func (w *rowWriter) repeat(n *node, open, end byte, each func(*node) error) error {
	w.dst = append(w.dst, open)
	there, err := w.there(n)
	if err != nil {
		return err
	}
	if !there || n.first < 0 {
		w.dst = append(w.dst, end)
		return w.skip(n, false)
	}
	for c := w.columns[n.first]; ; {
		before := c.at
		if err := each(n); err != nil {
			return err
		}
		if c.at == before {
			return fmt.Errorf("column %q: %w", c.name, errLevels)
		}
		if c.at >= len(c.row) || c.row[c.at].RepetitionLevel() != n.rep {
			break
		}
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, end)
	return nil
}

// entry writes a key and value of a map.
func (w *rowWriter) entry(n *node) error {
	start := len(w.dst)
	if err := w.node(n.children[0]); err != nil {
		return err
	}
	if w.dst[start] != '"' { // JSON keys are strings
		key := append([]byte{'"'}, w.dst[start:]...)
		w.dst = append(append(w.dst[:start], key...), '"')
	}
	w.dst = append(w.dst, ':')
	return w.node(n.children[1])
}

// leaf writes one value.
func (w *rowWriter) leaf(n *node) error {
	v, err := w.peek(n.column)
	if err != nil {
		return err
	}
	w.columns[n.column].at++
	if v.IsNull() {
		w.dst = append(w.dst, "null"...)
		return nil
	}
	var bad string
	if w.dst, bad = n.cell(w.dst, v); bad != "" && w.bad == "" {
		w.bad = fmt.Sprintf("column %q: %s", n.path, bad)
	}
	if len(w.dst) > w.max {
		return errLong // the rest of the row need not be written
	}
	return nil
}
