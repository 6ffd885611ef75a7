package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// An entryResult is the value of an entry in the current record. Both the search for an ID and the record read it.
type entryResult struct {
	known bool
	text  []byte // JSON; empty for no value
	fate  record.Fate
	err   error
}

// begin starts a record of a shape.
func (m *mapped) begin(s *shape) {
	m.kept, m.nested, m.out = m.kept[:0], false, append(m.out[:0], '{')
	m.results = slices.Grow(m.results[:0], len(s.entries))[:len(s.entries)]
	for i := range m.results {
		m.results[i] = entryResult{text: m.results[i].text[:0]}
	}
}

// fields writes the fields below an output and reports whether a cell provided one. An object that has only constants is
// removed again.
func (m *mapped) fields(o *output) (given bool, err error) {
	for _, kid := range o.kids {
		before := len(m.out)
		if c := m.out[before-1]; c != '{' && c != '[' {
			m.out = append(m.out, ',')
		}
		if kid.name != wholeRecord {
			m.out = append(record.AppendString(m.out, kid.name), ':')
		}
		if kid.list {
			m.out = append(m.out, '[')
		}
		var one bool
		fromCell := true
		if kid.entry == nil {
			m.out = append(m.out, '{')
			one, err = m.fields(kid)
			m.out = append(m.out, '}')
		} else {
			var text []byte
			text, err = m.entry(kid.entry)
			m.out = append(m.out, text...)
			one, fromCell = len(text) > 0, len(kid.entry.columns) > 0
		}
		if err != nil {
			return false, err
		}
		if kid.list {
			m.out = append(m.out, ']')
		}
		if !one {
			m.out = m.out[:before]
		}
		given = given || one && fromCell
	}
	return given, nil
}

// entry returns the JSON text of an entry's value, or nothing if it is empty. The text is valid until the next begin.
func (m *mapped) entry(e *entry) ([]byte, error) {
	to := &m.results[e.number]
	if !to.known {
		to.known = true
		to.err = m.read(e, to)
	}
	return to.text, to.err
}

// read reads the value of an entry. A value that fits no field is left out, but an error if the field is part of the record's key.
func (m *mapped) read(e *entry, to *entryResult) error {
	var value any
	var err error
	switch {
	case len(e.columns) == 0:
		to.text = append(to.text, e.constant...)
		return nil
	case e.isColumn(): // nearly all, without a value of their own
		to.text, err = e.appendCell(to.text, m.row.cell(e.columns[0]))
	default:
		if value, err = m.value(e.expression, m.row); err == nil {
			m.keep(e, to)
			to.text, err = e.append(to.text, value)
		}
	}
	if n := len(to.text); err == nil && n > 0 {
		m.nested = m.nested || to.text[0] == '{' || to.text[0] == '['
		switch {
		case e.path != wholeRecord:
		case to.text[0] == '{': // its fields, without its braces
			to.text = append(to.text[:0], bytes.TrimSpace(to.text[1:n-1])...)
		default:
			err = errors.New("want an object")
		}
	}
	if err == nil {
		return nil
	}
	to.text, to.fate = to.text[:0], record.IsLeftOut
	found := m.row.cell(e.columns[0])
	if value != nil && e.column != e.columns[0] { // the value at the path
		text, _ := appendValue(nil, value) // decoded JSON
		found = string(text)
	}
	found = record.Shown(found)
	err = &record.FieldError{Field: m.row.named(e.column), What: fmt.Sprintf("%v, found %s", err, found), Value: found}
	if e.key {
		return err
	}
	return m.values.Reject(err)
}

// keep keeps the unresolved names of a cell and counts names without a place in the API.
func (m *mapped) keep(e *entry, to *entryResult) {
	column := e.columns[0]
	for _, left := range m.left {
		for _, name := range left.nothing {
			record.Count(m.dropped, m.form.label+"."+column+": "+name, 1)
		}
		switch {
		case left.whole:
			to.fate = record.IsExtra
			m.kept = append(m.kept, record.RawField{Name: column, Raw: m.row.cell(column)})
		case left.unknown != nil:
			names, _ := json.Marshal(left.unknown) // texts
			m.kept = append(m.kept, record.RawField{Name: column, Raw: string(names)})
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
		return e.appendText(dst, v, e.numbers)
	case []any:
		if e.field.Shape == record.ShapeInts {
			return e.appendInts(dst, v)
		}
	}
	text, err := appendValue(nil, value)
	if err != nil {
		return dst, err
	}
	return e.appendCell(dst, string(text))
}

// appendCell appends the JSON text of the field for a JSON text, or nothing if that is empty.
func (e *entry) appendCell(dst []byte, raw string) ([]byte, error) {
	isText := e.field.Shape == record.ShapeString
	switch {
	case raw == "":
		return dst, nil
	case raw[0] == '"' && isText:
		return append(dst, raw...), nil
	case raw[0] == '"':
		return e.appendText(dst, record.Unquote(raw), e.numbers)
	case (raw[0] == 't' || raw[0] == 'f') && isText:
		return dst, errors.New("want a text")
	case raw[0] != '{' && raw[0] != '[':
		return e.appendText(dst, raw, numberReader{decimal: "."})
	case e.field.Shape <= record.ShapeBool:
		return dst, errors.New("want one value")
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
