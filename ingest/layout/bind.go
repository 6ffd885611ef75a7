package layout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A binder finds the columns of rows. Most rows have the previous row's columns, so it tries the last binding first.
type binder struct {
	form     *form
	bindings map[string]*binding // by column names
	last     *binding            // binding of the previous row
	cells    map[string]*record.Cells
}

// bind returns the binding for columns.
func (n *binder) bind(columns []string) *binding {
	if n.last != nil && slices.Equal(columns, n.last.columns) {
		return n.last
	}
	const most = 1000 // rows of NDJSON may have any fields
	key := strings.Join(columns, "\x00")
	b, ok := n.bindings[key]
	if !ok {
		if len(n.bindings) >= most {
			clear(n.bindings)
		}
		b = n.form.bind(columns)
		for _, name := range columns {
			b.counts = append(b.counts, n.cellsOf(name))
		}
		n.bindings[key] = b
	}
	n.last = b
	return b
}

// cellsOf returns the counts of a column.
func (n *binder) cellsOf(name string) *record.Cells {
	if n.cells[name] == nil && len(n.cells) >= record.MaxPaths {
		name = record.OtherPaths
	}
	if n.cells[name] == nil {
		n.cells[name] = &record.Cells{}
	}
	return n.cells[name]
}

// count counts the values of a row. made has the shapes that took the row.
func (n *binder) count(row *boundRow, made []*shape, table bool) {
	for i, cell := range row.cells {
		if isEmpty(cell) || cell == "[]" || cell == "{}" {
			continue
		}
		name := row.columns[i]
		if cell[0] == '{' && !table {
			_ = record.EachField(cell, func(inner, raw string) error { // valid JSON
				if !isEmpty(raw) && raw != "[]" && raw != "{}" {
					reads := 0
					for _, s := range made {
						reads += s.reads(name, inner)
					}
					n.cellsOf(name + "." + inner).Count(row.fate(name, reads))
				}
				return nil
			})
			continue
		}
		reads := 0
		for _, s := range made {
			reads += row.reads[s.number][i]
		}
		row.counts[i].Count(row.fate(name, reads))
	}
}

// fate returns what happened to a value of a column that reads expressions read.
func (r *boundRow) fate(column string, reads int) record.Fate {
	switch {
	case reads == 0:
		return record.IsUnused
	case len(r.lost)+len(r.whole) == 0: // nearly all rows
		return record.IsUsed
	case r.lost[column] >= reads:
		return record.IsLeftOut
	case r.lost[column]+r.whole[column] >= reads:
		return record.IsExtra
	}
	return record.IsUsed
}

// A binding is a form for rows with certain columns. It holds the index of each column and is immutable.
type binding struct {
	form    *form
	columns []string
	at      map[string]int  // index by column; the last of two equal names counts, as in JSON parsers
	texts   []bool          // by index: a text field reads the column, so "-" may be a value
	counts  []*record.Cells // by index
	reads   [][]int         // by shape and index: the number of expressions that read the column
}

// bind returns the binding of a form to columns.
func (f *form) bind(columns []string) *binding {
	b := &binding{form: f, columns: slices.Clone(columns), at: make(map[string]int, len(columns)), texts: make([]bool, len(columns))}
	for _, s := range f.shapes {
		reads := make([]int, len(columns))
		for i, name := range columns {
			reads[i] = s.reads(name, "")
		}
		b.reads = append(b.reads, reads)
	}
	for i, name := range columns {
		b.at[name] = i
		b.texts[i] = slices.ContainsFunc(f.shapes, func(s *shape) bool {
			return slices.ContainsFunc(s.entries, func(e *entry) bool { return e.isText() && slices.Contains(e.columns, name) })
		})
	}
	return b
}

// A boundRow is a row with known columns.
type boundRow struct {
	*binding
	cells []string // JSON texts
	each  string   // column whose element makes the current record, or ""
	// the current element and its index, as JSON texts
	element, place string
	values         map[string]any // decoded cells, by column
	lost, whole    map[string]int // by column: the number of expressions that could not read the cell, or kept it unchanged
}

// lose records that an expression cannot read the cells of its columns.
func (r *boundRow) lose(columns []string) {
	for _, name := range columns {
		r.lost[name]++
	}
}

// setElement sets the element that makes the next record. An empty each means that there is no element.
func (r *boundRow) setElement(each, element string, place int) {
	r.each, r.element, r.place = each, element, strconv.Itoa(place)
	delete(r.values, elementName)
	delete(r.values, placeName)
}

// value returns the decoded cell of a column. Several fields may read one cell.
func (r *boundRow) value(column string) any {
	value, known := r.values[column]
	if !known {
		if r.values == nil {
			r.values = map[string]any{}
		}
		value = decode(r.cell(column))
		r.values[column] = value
	}
	return value
}

// cell returns the JSON of a column or of the element, or "" if it is missing or null.
func (r *boundRow) cell(column string) string {
	if r.each != "" && column == elementName {
		return r.element
	}
	if r.each != "" && column == placeName {
		return r.place
	}
	if i, ok := r.at[column]; ok && r.cells[i] != "null" {
		return r.cells[i]
	}
	return ""
}

// named returns a path in the row: element.x becomes the path of the element in its column.
func (r *boundRow) named(path string) string {
	rest, ok := strings.CutPrefix(path, elementName)
	if r.each == "" || !ok || rest != "" && rest[0] != '.' {
		return path
	}
	return r.each + "[" + r.place + "]" + rest
}

func isEmpty(cell string) bool { return cell == "" || cell == "null" || cell == `""` }

// isText reports whether an entry is free text, not a date or an ID.
func (e *entry) isText() bool {
	return e.field.Shape == record.ShapeString && !e.field.Day && !strings.HasSuffix(e.field.Name, "_id")
}

// clean empties cells with a tool's word for an empty value.
func (r *boundRow) clean() {
	for i, raw := range r.cells {
		if len(raw) <= len(`"null"`) && raw[0] == '"' && !r.texts[i] && record.IsNothing(record.Unquote(raw)) {
			r.cells[i] = "null"
		}
	}
}

// reads counts the expressions of a shape that read a column, or a field of the column's object.
func (s *shape) reads(column, inner string) (n int) {
	for _, u := range s.uses[column] {
		if inner == "" || u.whole() || slices.Contains(u.fields, inner) {
			n++
		}
	}
	return n
}

// setUses collects the columns that a shape reads.
func (s *shape) setUses() {
	s.uses = map[string][]*columnUse{}
	add := func(e *expression) {
		if e == nil {
			return
		}
		for _, name := range e.columns {
			if u := e.uses[name]; u != nil && (s.each == nil || e == s.each || name != elementName && name != placeName) {
				s.uses[name] = append(s.uses[name], u)
			}
		}
	}
	add(s.where)
	add(s.each)
	for _, e := range s.entries {
		add(e.expression)
	}
	for _, name := range s.mintColumns() {
		s.uses[name] = append(s.uses[name], &columnUse{times: 1})
	}
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
