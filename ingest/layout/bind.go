package layout

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"reelsplice/schemas/record"
)

// A binder finds out what the columns of rows mean. Most rows have the columns of the row
// before, so the last binding is looked at first.
type binder struct {
	layout   string // for messages
	mappings []*Mapping
	bindings map[string]*binding // by file and columns
	last     *binding            // of the row before
	lastFile string
}

// bind returns what columns mean in a file.
func (n *binder) bind(file string, columns []string) (*binding, error) {
	if n.last != nil && n.lastFile == file && slices.Equal(columns, n.last.columns) {
		return n.last, nil
	}
	const most = 1000 // rows of NDJSON may have any fields
	key := file + "\x00" + strings.Join(columns, "\x00")
	b, ok := n.bindings[key]
	if !ok {
		t := tableOf(n.mappings, file, columns)
		if t == nil {
			return nil, errors.New(noTable(n.layout, n.mappings, file, columns))
		}
		if len(n.bindings) >= most {
			clear(n.bindings)
		}
		b = t.bind(columns)
		n.bindings[key] = b
	}
	n.last, n.lastFile = b, file
	return b, nil
}

// A binding is a form for rows with certain columns: it has the place of each column in a
// row, so that no name is looked up for a cell. It does not change.
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

// whole reports whether a column holds whole responses of the API.
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

// noTable returns the message for a file that is no table of a layout, with what keeps it from being one.
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
