package layout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A row is the current row of a table.
type row struct {
	columns map[string]*column // columns that expressions read, and other columns of earlier rows
	cells   []*column          // the row's columns that are not null
	each    string             // column with the element of the current record, or ""
	// the current element and its index
	element, place column
	counts         map[string]*record.Cells // by column, or by column and field
}

// A column is a column of a table, with its cell in the current row.
type column struct {
	name    string
	isName  bool        // a title or a name reads the column, so "-" may be a value
	raw     string      // the cell's JSON text; "" if it is missing or null
	value   any         // the decoded cell
	decoded bool        // value is set: several fields may read one cell
	fates   []fieldFate // results of the expressions that read the cell
}

// A fieldFate is the use of a field of an object in a cell, or of the whole cell if field is "".
type fieldFate struct {
	field string
	fate  record.Fate
}

// read reads the cells of a row. With clean, placeholders for empty values count as empty.
func (r *row) read(text string, clean bool) error {
	for _, c := range r.cells {
		c.set("")
	}
	r.cells = r.cells[:0]
	return record.EachField(text, func(name, raw string) error {
		c := r.columns[name]
		if c == nil {
			c = &column{name: name}
			if len(r.columns) < record.MaxPaths { // rows of NDJSON may have any fields
				r.columns[name] = c
			}
		}
		if raw == "null" || clean && len(raw) <= len(`"null"`) && raw[0] == '"' && !c.isName && record.IsNothing(record.Unquote(raw)) {
			raw = ""
		}
		if c.raw == "" && raw != "" { // the last of columns with the same name is used, as in JSON parsers
			r.cells = append(r.cells, c)
		}
		c.set(raw)
		return nil
	})
}

// set sets the cell.
func (c *column) set(raw string) {
	c.raw, c.value, c.decoded, c.fates = raw, nil, false, c.fates[:0]
}

// count counts the values of the row. In tables, an object counts as one value.
func (r *row) count(table bool) {
	for _, c := range r.cells {
		if isBlank(c.raw) {
			continue
		}
		if c.raw[0] != '{' || table {
			r.countOf(c.name).Count(c.fate(""))
			continue
		}
		_ = record.EachField(c.raw, func(name, raw string) error { // valid JSON
			if !isBlank(raw) {
				r.countOf(c.name + "." + name).Count(c.fate(name))
			}
			return nil
		})
	}
}

// countOf returns the counts of a column.
func (r *row) countOf(name string) *record.Cells {
	if r.counts[name] == nil && len(r.counts) >= record.MaxPaths {
		name = record.OtherPaths
	}
	if r.counts[name] == nil {
		r.counts[name] = &record.Cells{}
	}
	return r.counts[name]
}

// setFate records how the values that an expression reads were used. If several expressions read a value, the best fate is kept.
func (r *row) setFate(paths []cellPath, fate record.Fate) {
	for _, path := range paths {
		c := r.columns[path.column]
		if c == nil || r.each != "" && (path.column == elementName || path.column == placeName) {
			continue // an element is not a cell, and a row may lack a column
		}
		if i := slices.IndexFunc(c.fates, func(f fieldFate) bool { return f.field == path.field }); i >= 0 {
			c.fates[i].fate = min(c.fates[i].fate, fate)
		} else {
			c.fates = append(c.fates, fieldFate{path.field, fate})
		}
	}
}

// fate returns how the cell, or a field of the object in it, was used.
func (c *column) fate(field string) record.Fate {
	best := record.IsUnused
	for _, f := range c.fates {
		if field == "" || f.field == "" || f.field == field {
			best = min(best, f.fate)
		}
	}
	return best
}

// setElement sets the element of the next record. An empty each means that there is no element.
func (r *row) setElement(each, element string, place int) {
	r.each = each
	r.element.set(element)
	r.place.set(strconv.Itoa(place))
}

// column returns a column with its cell, or the current element or its place.
func (r *row) column(name string) *column {
	switch {
	case r.each != "" && name == elementName:
		return &r.element
	case r.each != "" && name == placeName:
		return &r.place
	case r.columns[name] == nil:
		return &column{}
	}
	return r.columns[name]
}

// cell returns the JSON of a column, or "" if it is missing or null.
func (r *row) cell(name string) string { return r.column(name).raw }

// pathOf returns a path in the row: element.x becomes the path of the element in its column.
func (r *row) pathOf(path string) string {
	rest, ok := strings.CutPrefix(path, elementName)
	if r.each == "" || !ok || rest != "" && rest[0] != '.' {
		return path
	}
	return r.each + "[" + r.place.raw + "]" + rest
}

func isEmpty(cell string) bool { return cell == "" || cell == "null" || cell == `""` }

// isBlank reports whether a cell is empty, including an empty list or object.
func isBlank(cell string) bool { return isEmpty(cell) || cell == "[]" || cell == "{}" }
