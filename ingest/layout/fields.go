package layout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A fieldWriter writes the fields of records, in the API's form, from the cells of a row.
type fieldWriter struct {
	names   *identifier      // of what cells of names stand for
	dropped map[string]int64 // by table and column: values without a place in the API

	form    *form                          // of the row at hand
	place   int                            // of the list element at hand
	looking bool                           // for the id of a record: nothing is counted
	out     []byte                         // what was written
	kept    []keptList                     // joined lists that could not be split
	nested  bool                           // a value of a column is itself nested
	objects map[*form]*binding             // of the objects before
	cell    struct{ raw, as, text string } // that a path led into last, and what it was read as
}

// A keptList is a joined list that cannot be split.
type keptList struct{ column, raw string }

// begin starts an object of the row's fields. identify writes those of an id first, in the
// same buffer, and looks at them; the record is written after that.
func (w *fieldWriter) begin() {
	w.kept, w.nested, w.out = w.kept[:0], false, append(w.out[:0], '{')
}

// end ends the object and returns it. The text is good until the next begin.
func (w *fieldWriter) end() string {
	w.out = append(w.out, '}')
	return string(w.out)
}

func (w *fieldWriter) comma() {
	if c := w.out[len(w.out)-1]; c != '{' && c != '[' {
		w.out = append(w.out, ',')
	}
}

// fields writes the fields below an output and reports whether a cell gave one. An object in
// which only constants are given is taken back: no cell asks for it.
func (w *fieldWriter) fields(s *shape, o *output, row boundRow) (given bool, err error) {
	for _, kid := range o.kids {
		before := len(w.out)
		w.comma()
		write := w.entry
		if kid.entry < 0 {
			write = w.object
		}
		one, err := write(s, kid, row)
		if err != nil {
			return false, err
		}
		if !one {
			w.out = w.out[:before]
		}
		given = given || one && (kid.entry < 0 || s.entries[kid.entry].column != "")
	}
	return given, nil
}

// object writes a field that is an object, or a list of one, unless it has nothing
// inside.
func (w *fieldWriter) object(s *shape, o *output, row boundRow) (bool, error) {
	w.out = append(record.AppendString(w.out, o.name), ':')
	if o.list {
		w.out = append(w.out, '[')
	}
	w.out = append(w.out, '{')
	given, err := w.fields(s, o, row)
	w.out = append(w.out, '}')
	if o.list {
		w.out = append(w.out, ']')
	}
	return given, err
}

// entry writes the field of an entry; false for an empty cell.
func (w *fieldWriter) entry(s *shape, o *output, row boundRow) (bool, error) {
	e := s.entries[o.entry]
	raw := e.constant
	if e.column != "" {
		if raw = row.cell(e.column); raw == "" {
			return false, nil
		}
	}
	if e.path != "*" {
		w.out = append(record.AppendString(w.out, o.name), ':')
	}
	if o.list {
		w.out = append(w.out, '[')
	}
	before := len(w.out)
	if err := w.value(e, raw); err != nil {
		return false, err
	}
	given := len(w.out) > before
	if o.list {
		w.out = append(w.out, ']')
	}
	return given, nil
}

// value writes what a cell stands for.
func (w *fieldWriter) value(e *entry, raw string) error {
	if e.column == "" {
		w.out = append(w.out, raw...)
		return nil
	}
	if e.isPlace() {
		w.out = strconv.AppendInt(w.out, int64(w.place), 10)
		return nil
	}
	before := len(w.out)
	w.nested = w.nested || raw[0] == '{' || raw[0] == '['
	err := w.convert(e, raw)
	var left *leftError
	if errors.As(err, &left) {
		w.leave(e, left, raw)
		return nil
	}
	if err == nil && len(w.out) > before && (e.inside != nil || e.form != nil || e.path == "*") {
		text := string(w.out[before:])
		w.out = w.out[:before]
		return w.part(e, raw, text)
	}
	if err != nil {
		return &record.FieldError{Field: e.column, What: err.Error()}
	}
	return nil
}

// leave keeps what a cell of names has besides those that were written, and counts names
// without a place in the API.
func (w *fieldWriter) leave(e *entry, left *leftError, raw string) {
	for _, name := range left.nothing {
		if w.looking {
			break
		}
		record.Count(w.dropped, w.form.label+"."+e.column+": "+name, 1)
	}
	if left.raw != "" {
		raw = left.raw
	}
	if left.raw != "" || left.nothing == nil {
		w.kept = append(w.kept, keptList{e.column, raw})
	}
}

// convert writes a cell as JSON; one that another path led into just before is not read
// again.
func (w *fieldWriter) convert(e *entry, raw string) (err error) {
	if e.inside != nil && w.cell.raw == raw && w.cell.as == e.name {
		w.out = append(w.out, w.cell.text...)
		return nil
	}
	w.out, err = e.convert(w.out, raw, w.names)
	return err
}

// part writes what is at the path of an entry inside a cell, which is text as JSON.
func (w *fieldWriter) part(e *entry, raw, text string) error {
	if e.inside != nil {
		w.cell.raw, w.cell.as, w.cell.text = raw, e.name, text
	}
	if e.siblings != nil {
		w.countSiblings(e, text)
	}
	text, err := inside(text, e.inside)
	if err != nil {
		return &record.FieldError{Field: e.column, What: err.Error()}
	}
	if text == "" || text == "null" {
		return nil
	}
	if e.inside != nil {
		if text = e.changed(text); text == "" {
			return nil
		}
	}
	return w.whatIs(e, text)
}

// countSiblings counts the fields of an object in a cell that no path leads into.
func (w *fieldWriter) countSiblings(e *entry, text string) {
	if w.looking {
		return
	}
	_ = record.EachField(text, func(name, raw string) error { // what is no object has none
		path := e.column + "." + name
		if silent := w.form.columns[path]; raw != "null" && !silent && !slices.Contains(e.siblings, name) {
			record.Count(w.dropped, w.form.label+"."+path, 1)
		}
		return nil
	})
}

// inside returns the value at a path inside another, "" where there is none.
func inside(text string, path []string) (string, error) {
	for i, want := range path {
		next := ""
		if text == "null" || text == "" {
			return "", nil
		}
		if err := record.EachField(text, func(name, raw string) error {
			if name == want {
				next = raw
			}
			return nil
		}); err != nil {
			return "", fmt.Errorf("%s: %w", strings.Join(path[:i+1], "."), err)
		}
		if next == "" {
			return "", nil
		}
		text = next
	}
	return text, nil
}

// whatIs writes a value that was found inside a cell.
func (w *fieldWriter) whatIs(e *entry, text string) error {
	fail := func(field string, err error) error {
		var fe *record.FieldError
		if errors.As(err, &fe) {
			return &record.FieldError{Field: field + "." + fe.Field, What: fe.What}
		}
		return &record.FieldError{Field: field, What: err.Error()}
	}
	switch {
	case e.path == "*": // the fields of an object, without its braces
		if text[0] != '{' {
			return &record.FieldError{Field: e.column, What: "want an object, found " + record.Shown(text)}
		}
		w.out = append(w.out, strings.TrimSpace(text[1:len(text)-1])...)
	case e.form == nil:
		w.out = append(w.out, text...)
	case text[0] == '{':
		if err := w.mappedObject(e.form, text); err != nil {
			return fail(e.column, err)
		}
	case text[0] != '[':
		return &record.FieldError{Field: e.column, What: "want a list, found " + record.Shown(text)}
	default:
		w.out = append(w.out, '[')
		if err := record.EachElement(text, func(i int, raw string) error {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if err := w.mappedObject(e.form, raw); err != nil {
				return fail(fmt.Sprintf("%s[%d]", e.column, i), err)
			}
			return nil
		}); err != nil {
			return err
		}
		w.out = append(w.out, ']')
	}
	return nil
}

// mappedObject writes an object inside a column by its form.
func (w *fieldWriter) mappedObject(f *form, text string) error {
	var columns, cells []string
	if err := record.EachField(text, func(name, raw string) error {
		columns, cells = append(columns, name), append(cells, raw)
		return nil
	}); err != nil {
		return err
	}
	b := w.objects[f]
	if b == nil || !slices.Equal(b.columns, columns) {
		b = f.bind(columns)
		w.objects[f] = b
	}
	w.out = append(w.out, '{')
	row := boundRow{b, cells}
	_, err := w.fields(f.shapes[0], f.shapes[0].root, row)
	w.out = append(w.out, '}')
	if !w.looking {
		row.count(w.dropped)
	}
	return err
}
