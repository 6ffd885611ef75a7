package layout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
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
		b = t.form().bind(columns)
		n.bindings[key] = b
	}
	n.last, n.lastFile = b, file
	return b, nil
}

// A binding is a form for rows with certain columns: it has the place of each column in a
// row. It does not change.
type binding struct {
	form    *form
	columns []string
	at      map[string]int // by column; of two columns of a name the last one counts, as parsers have it
	lost    []string       // by place: the name that values are counted under; "" for used columns
	texts   []bool         // by place: a field is the column's text, which "-" may be
}

// bind returns the binding of a form to columns.
func (f *form) bind(columns []string) *binding {
	b := &binding{form: f, columns: slices.Clone(columns), at: make(map[string]int, len(columns)), lost: make([]string, len(columns)), texts: make([]bool, len(columns))}
	for i, name := range columns {
		b.at[name] = i
		if !f.columns[name] {
			b.lost[i] = f.label + "." + name
		}
		b.texts[i] = slices.ContainsFunc(f.shapes, func(s *shape) bool {
			return slices.ContainsFunc(s.entries, func(e *entry) bool { return e.isText() && slices.Contains(e.columns, name) })
		})
	}
	return b
}

// A boundRow is a row whose columns are known.
type boundRow struct {
	*binding
	cells []string // JSON texts
	each  string   // the column whose element makes the record at hand; "" for none
	// element and place are those of the element, as JSON texts.
	element, place string
	values         map[string]any // by column: those that were decoded
}

// setElement sets the element that makes the next record, none with each "".
func (r *boundRow) setElement(each, element string, place int) {
	r.each, r.element, r.place = each, element, strconv.Itoa(place)
	delete(r.values, elementName)
	delete(r.values, placeName)
}

// value returns the value of the cell of a column, which several expressions may name.
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

// cell returns the cell of a column, or the element; "" for none and for null.
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

// named returns a path of the row, where one below the element begins with the column and the place that this has.
func (r *boundRow) named(path string) string {
	rest, ok := strings.CutPrefix(path, elementName)
	if r.each == "" || !ok || rest != "" && rest[0] != '.' {
		return path
	}
	return r.each + "[" + r.place + "]" + rest
}

func isEmpty(cell string) bool { return cell == "" || cell == "null" || cell == `""` }

// isText reports whether an entry is a text of people's, and no day and no id.
func (e *entry) isText() bool {
	return e.field.Shape == record.ShapeString && !e.field.Day && !strings.HasSuffix(e.field.Name, "_id")
}

// clean takes out of a row what tools write into cells without a value.
func (r *boundRow) clean() {
	for i, raw := range r.cells {
		if len(raw) <= len(`"null"`) && raw[0] == '"' && !r.texts[i] && record.IsNothing(record.Unquote(raw)) {
			r.cells[i] = "null"
		}
	}
}

// count counts the values of columns that the form has no field for.
func (r *boundRow) count(dropped map[string]int64) {
	for i, name := range r.lost {
		if name != "" && r.cells[i] != "null" {
			record.Count(dropped, name, 1)
		}
	}
}

// columnName returns the column that a field came from, with the path below it.
func (s *shape) columnName(field string) string {
	column, path := "", ""
	for _, e := range s.entries {
		rest, ok := strings.CutPrefix(field, strings.ReplaceAll(e.path, "[0]", "[]"))
		if !ok {
			rest, ok = strings.CutPrefix(field, e.path)
		}
		if ok && len(e.columns) > 0 && (rest == "" || rest[0] == '.' || rest[0] == '[') && len(e.path) > len(path) {
			column, path = e.column, field[:len(field)-len(rest)]
		}
	}
	return column + field[len(path):]
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
	if near := nearest(mappings, file, columns, 1); near != "" {
		return no + "; " + near
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
