package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A fieldWriter writes the fields of a row's records in the API's form.
type fieldWriter struct {
	*evaluator
	dropped map[string]int64 // values without a place in the API, by table and column
	values  *record.Values   // receives values that fit no field; see Options

	form    *form
	looking bool       // searching a record's ID: nothing is counted
	out     []byte     // buffer of the current object
	kept    []keptList // joined lists that could not be split
	nested  bool       // a value of a column is a list or an object
}

// A keptList is a joined list that could not be split.
type keptList struct {
	column, raw string
	whole       bool // no name of it was resolved
}

// begin starts an object. identify writes and examines ID fields in the same buffer before the record is written.
func (w *fieldWriter) begin() {
	w.kept, w.nested, w.out = w.kept[:0], false, append(w.out[:0], '{')
}

// end closes the object and returns it. The text is valid until the next begin.
func (w *fieldWriter) end() string {
	w.out = append(w.out, '}')
	return string(w.out)
}

// fields writes the fields below an output and reports whether a cell provided one. An object that has only constants is
// removed again.
func (w *fieldWriter) fields(s *shape, o *output, row *boundRow) (given bool, err error) {
	for _, kid := range o.kids {
		before := len(w.out)
		if c := w.out[before-1]; c != '{' && c != '[' {
			w.out = append(w.out, ',')
		}
		whole := kid.entry >= 0 && s.entries[kid.entry].path == wholeRecord
		if !whole {
			w.out = append(record.AppendString(w.out, kid.name), ':')
		}
		if kid.list {
			w.out = append(w.out, '[')
		}
		start := len(w.out)
		var one bool
		fromCell := true
		if kid.entry < 0 {
			w.out = append(w.out, '{')
			one, err = w.fields(s, kid, row)
			w.out = append(w.out, '}')
		} else {
			e := s.entries[kid.entry]
			err = w.entry(e, row)
			one, fromCell = len(w.out) > start, len(e.columns) > 0
		}
		if err != nil {
			return false, err
		}
		if kid.list {
			w.out = append(w.out, ']')
		}
		if !one {
			w.out = w.out[:before]
		}
		given = given || one && fromCell
	}
	return given, nil
}

// entry writes the value of an entry, or nothing if it is empty.
func (w *fieldWriter) entry(e *entry, row *boundRow) error {
	if len(e.columns) == 0 {
		w.out = append(w.out, e.constant...)
		return nil
	}
	fail := func(err error, value any) error {
		found := row.cell(e.columns[0])
		if value != nil && e.column != e.columns[0] { // the value at the path
			text, _ := appendValue(nil, value) // decoded JSON
			found = string(text)
		}
		found = record.Shown(found)
		if !w.looking {
			row.lose(e.columns)
		}
		return w.leaveOut(e, &record.FieldError{Field: row.named(e.column), What: fmt.Sprintf("%v, found %s", err, found), Value: found})
	}
	before := len(w.out)
	var value any
	var err error
	if e.isColumn() { // nearly all, without a value of their own
		w.out, err = e.appendCell(w.out, row.cell(e.columns[0]))
	} else {
		if value, err = w.value(e.expression, row); err != nil {
			return fail(err, nil)
		}
		w.leave(e, row)
		w.out, err = e.append(w.out, value)
	}
	if err != nil {
		w.out = w.out[:before]
		return fail(err, value)
	}
	if text := w.out[before:]; len(text) > 0 {
		w.nested = w.nested || text[0] == '{' || text[0] == '['
		if e.path == wholeRecord { // the fields of an object, without its braces
			if text[0] != '{' {
				w.out = w.out[:before]
				return fail(errors.New("want an object"), value)
			}
			inner := strings.TrimSpace(string(text[1 : len(text)-1]))
			w.out = append(w.out[:before], inner...)
		}
	}
	return nil
}

// leaveOut leaves out a value that fits no field. It returns the error if the field is part of the record's key. While looking,
// nothing is recorded: the value is read again.
func (w *fieldWriter) leaveOut(e *entry, err error) error {
	if w.values == nil || e.key {
		return err
	}
	if w.looking {
		return nil
	}
	return w.values.Reject(err)
}

// leave keeps the unresolved names of a cell and counts names without a place in the API.
func (w *fieldWriter) leave(e *entry, row *boundRow) {
	column := e.columns[0]
	for _, left := range w.left {
		for _, name := range left.nothing {
			if !w.looking {
				record.Count(w.dropped, w.form.label+"."+column+": "+name, 1)
			}
		}
		if left.whole {
			left.raw = row.cell(column)
		}
		if left.raw != "" {
			w.kept = append(w.kept, keptList{column, left.raw, left.whole})
		}
	}
}

// fitsField checks the type of an expression's result before any row is read.
func (e *entry) fitsField() error {
	if e.isColumn() || e.result == nil {
		return nil
	}
	one := e.field.Shape <= record.ShapeBool
	switch kind := e.result.Kind(); {
	case one && (kind == reflect.Slice || kind == reflect.Map),
		!one && (kind == reflect.Bool || kind == reflect.Int || kind == reflect.Float64),
		e.result == reflect.TypeFor[day]() && e.field.Shape != record.ShapeString,
		kind == reflect.Bool && e.field.Shape != record.ShapeBool:
		return fmt.Errorf("%s is %s, and the field %s", e.source, kindNames[kind], shapeNames[e.field.Shape])
	}
	return nil
}

var kindNames = map[reflect.Kind]string{
	reflect.Slice: "a list", reflect.Map: "an object", reflect.Bool: "true or false", reflect.Int: "an integer", reflect.Float64: "a number", reflect.String: "a text",
}

var shapeNames = map[record.Shape]string{
	record.ShapeString: "a text", record.ShapeInt: "an integer", record.ShapeFloat: "a number", record.ShapeBool: "true or false",
	record.ShapeObject: "an object", record.ShapeObjects: "a list of objects", record.ShapeStrings: "a list of texts", record.ShapeInts: "a list of integers",
	record.ShapeKeyed: "an object of objects", record.ShapePages: "an object with pages", record.ShapeRaw: "any JSON",
}

// append appends the JSON text of a value as the entry's field, or nothing if it is empty. Errors state the expected value. The
// parser of records checks values inside lists and objects.
func (e *entry) append(dst []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return dst, nil
	case rawJSON:
		return e.appendCell(dst, string(v))
	case string:
		if e.field.Shape == record.ShapeString {
			return record.AppendString(dst, v), nil
		}
		return e.appendText(dst, v, e.numbers)
	case day:
		return record.AppendString(dst, string(v)), nil
	case []any:
		if e.field.Shape == record.ShapeInts {
			return e.appendInts(dst, v)
		}
	case bool:
		return e.appendBool(dst, v)
	case int, int64, float64:
		text, err := json.Marshal(v)
		if err != nil {
			return dst, err
		}
		return e.appendText(dst, string(text), numberReader{})
	}
	if e.field.Shape <= record.ShapeBool {
		return dst, errOneValue
	}
	return appendValue(dst, value)
}

var errOneValue = errors.New("want one value")

// appendCell appends the JSON text of the field for a JSON text, or nothing if that is empty.
func (e *entry) appendCell(dst []byte, raw string) ([]byte, error) {
	switch {
	case raw == "":
		return dst, nil
	case raw[0] == '"' && e.field.Shape == record.ShapeString:
		return append(dst, raw...), nil
	case raw[0] == '"':
		return e.appendText(dst, record.Unquote(raw), e.numbers)
	case raw[0] == 't' || raw[0] == 'f':
		return e.appendBool(dst, raw[0] == 't')
	case raw[0] != '{' && raw[0] != '[':
		return e.appendText(dst, raw, numberReader{})
	case e.field.Shape <= record.ShapeBool:
		return dst, errOneValue
	}
	return append(dst, raw...), nil
}

// isNothing reports whether a value is nil or an object of nothing but nil.
func isNothing(value any) bool {
	object, ok := value.(map[string]any)
	for _, inner := range object {
		ok = ok && isNothing(inner)
	}
	return value == nil || ok
}

// appendValue appends the JSON text of a value. An empty value in an object becomes null, as in the API.
func appendValue(dst []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case []any:
		dst = append(dst, '[')
		for i, element := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendValue(dst, element); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case map[any]any: // a result of fromPairs
		object := map[string]any{}
		for key, inner := range v {
			object[textOf(key)] = inner
		}
		return appendValue(dst, object)
	case map[string]any:
		dst = append(dst, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = append(record.AppendString(dst, name), ':')
			if isNothing(v[name]) {
				dst = append(dst, "null"...)
				continue
			}
			var err error
			if dst, err = appendValue(dst, v[name]); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	case string:
		return record.AppendString(dst, v), nil
	}
	text, err := json.Marshal(value)
	return append(dst, text...), err
}

// appendText appends the value of a field from a text or the digits of a number.
func (e *entry) appendText(dst []byte, s string, numbers numberReader) ([]byte, error) {
	if e.field.Shape != record.ShapeString && record.IsNothing(s) {
		return dst, nil
	}
	switch e.field.Shape {
	case record.ShapeString:
		return record.AppendString(dst, s), nil
	case record.ShapeInt:
		n, err := numbers.integer(s)
		if err != nil {
			return dst, err
		}
		return strconv.AppendInt(dst, n, 10), nil
	case record.ShapeFloat:
		f, err := numbers.number(s)
		if err != nil {
			return dst, err
		}
		return strconv.AppendFloat(dst, f, 'g', -1, 64), nil
	case record.ShapeBool:
		b, err := boolean(s)
		if err != nil {
			return dst, err
		}
		return strconv.AppendBool(dst, b), nil
	}
	text, err := readJSON(s)
	return append(dst, text...), err
}

func (e *entry) appendBool(dst []byte, b bool) ([]byte, error) {
	if e.field.Shape == record.ShapeString {
		return dst, errors.New("want a text")
	}
	return e.appendText(dst, strconv.FormatBool(b), numberReader{})
}

// appendInts appends integers, which may be written as texts.
func (e *entry) appendInts(dst []byte, list []any) ([]byte, error) {
	dst = append(dst, '[')
	for i, v := range list {
		n, err := e.numbers.forValue(v).integer(textOf(v))
		if err != nil {
			return dst, errors.New("want integers")
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, n, 10)
	}
	return append(dst, ']'), nil
}
