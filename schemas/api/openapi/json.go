package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// An object is a JSON object whose fields keep their order: that of the wire in shapes, and the
// same in every run.
type object []field

// A field is a name with its value: an object, a list, a text, a number, a bool or nil.
type field struct {
	name  string
	value any
}

// A list is a JSON array.
type list []any

// MarshalJSON writes the fields in their order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range o {
		if i > 0 {
			b = append(b, ',')
		}
		for _, v := range []any{f.name, f.value} {
			text, err := encode(v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
			b = append(append(b, text...), ':')
		}
		b = b[:len(b)-1]
	}
	return append(b, '}'), nil
}

// encode returns v as JSON, with the marks of HTML as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// get returns the value of a field, nil when there is none.
func (o object) get(name string) any {
	for _, f := range o {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// set replaces a field, or adds it at the end.
func (o *object) set(name string, value any) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, field{name, value})
}

// without returns the fields but those with the names.
func (o object) without(names ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(f field) bool { return slices.Contains(names, f.name) })
}

// decode reads one JSON value.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := decodeValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("text behind the value at byte %d", d.InputOffset())
	}
	return v, nil
}

func decodeValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := decodeValue(d)
			if err != nil {
				return nil, err
			}
			o = append(o, field{fmt.Sprint(name), value})
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		l := list{}
		for d.More() {
			value, err := decodeValue(d)
			if err != nil {
				return nil, err
			}
			l = append(l, value)
		}
		_, err = d.Token()
		return l, err
	}
	return t, nil
}
