package layout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// bind returns the binding for columns. Most rows have the previous row's columns.
func (m *mapped) bind(columns []string) *binding {
	if last := m.row.binding; last != nil && slices.Equal(columns, last.columns) {
		return last
	}
	const most = 1000 // rows of NDJSON may have any fields
	key := strings.Join(columns, "\x00")
	b, ok := m.bindings[key]
	if !ok {
		if len(m.bindings) >= most {
			clear(m.bindings)
		}
		b = m.form.bind(columns)
		for _, name := range columns {
			b.counts = append(b.counts, m.cellsOf(name))
		}
		m.bindings[key] = b
	}
	return b
}

// cellsOf returns the counts of a column.
func (m *mapped) cellsOf(name string) *record.Cells {
	if m.cells[name] == nil && len(m.cells) >= record.MaxPaths {
		name = record.OtherPaths
	}
	if m.cells[name] == nil {
		m.cells[name] = &record.Cells{}
	}
	return m.cells[name]
}

// count counts the values of the row.
func (m *mapped) count(table bool) {
	row := m.row
	for i, cell := range row.cells {
		if isBlank(cell) {
			continue
		}
		if cell[0] != '{' || table {
			row.counts[i].Count(row.fate(i, ""))
			continue
		}
		_ = record.EachField(cell, func(name, raw string) error { // valid JSON
			if !isBlank(raw) {
				m.cellsOf(row.columns[i] + "." + name).Count(row.fate(i, name))
			}
			return nil
		})
	}
}

// isBlank reports whether a cell has no value that counts.
func isBlank(cell string) bool { return isEmpty(cell) || cell == "[]" || cell == "{}" }

// A binding is a form for rows with certain columns. It holds the index of each column and is immutable.
type binding struct {
	form    *form
	columns []string
	at      map[string]int  // index by column; the last of two equal names counts, as in JSON parsers
	texts   []bool          // by index: a text field reads the column, so "-" may be a value
	counts  []*record.Cells // by index
	reads   [][]int         // by index: indices in form.reads of what is read of the column
}

// bind returns the binding of a form to columns.
func (f *form) bind(columns []string) *binding {
	b := &binding{
		form: f, columns: slices.Clone(columns), at: make(map[string]int, len(columns)), texts: make([]bool, len(columns)),
		reads: make([][]int, len(columns)),
	}
	for i, name := range columns {
		b.at[name] = i
		for k, r := range f.reads {
			if r.column == name {
				b.reads[i] = append(b.reads[i], k)
			}
		}
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
	fates          []record.Fate  // by form.reads; of several expressions, the best result
}

// settle records what became of the values that an expression reads.
func (r *boundRow) settle(fates []int, fate record.Fate) {
	for _, k := range fates {
		r.fates[k] = min(r.fates[k], fate)
	}
}

// fate returns what became of a cell, or of a field of the object in it.
func (r *boundRow) fate(column int, field string) record.Fate {
	best := record.IsUnused
	for _, k := range r.reads[column] {
		if read := r.form.reads[k].field; field == "" || read == "" || read == field {
			best = min(best, r.fates[k])
		}
	}
	return best
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

// expressions returns the expressions of a shape.
func (s *shape) expressions() (out []*expression) {
	for _, e := range []*expression{s.where, s.each} {
		if e != nil {
			out = append(out, e)
		}
	}
	for _, e := range s.entries {
		out = append(out, e.expression)
	}
	return out
}

// columns returns the columns that a shape reads.
func (s *shape) columns() (out []string) {
	for _, e := range s.expressions() {
		for _, name := range e.columns {
			if s.each == nil || e == s.each || name != elementName && name != placeName {
				out = append(out, name)
			}
		}
	}
	return append(out, s.mintColumns()...)
}

// setReads collects what the shapes read of a row, and gives each expression the indices of its reads.
func (f *form) setReads() {
	index := func(r read) int {
		if i := slices.Index(f.reads, r); i >= 0 {
			return i
		}
		f.reads = append(f.reads, r)
		return len(f.reads) - 1
	}
	for _, s := range f.shapes {
		columns := s.columns()
		for _, e := range s.expressions() {
			for _, r := range e.reads {
				if slices.Contains(columns, r.column) {
					e.fates = append(e.fates, index(r))
				}
			}
		}
		for _, name := range s.mintColumns() {
			s.find.fates = append(s.find.fates, index(read{column: name}))
		}
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
