package record

import (
	"errors"
	"slices"
	"strings"
	"unicode"
)

// A RawField is a field of a JSON object. Its value is an unmodified slice of the text.
type RawField struct{ Name, Raw string }

// RawFields are the fields of an object, in their order.
type RawFields []RawField

// Fields returns the fields of a JSON object, whose text must be valid.
func Fields(text string) (RawFields, error) {
	var all RawFields
	err := EachField(text, func(name, raw string) error {
		all = append(all, RawField{name, raw})
		return nil
	})
	return all, err
}

// Take removes a field and returns its value, which may be null. Of several with that name it returns the last, as
// parsers do.
func (f *RawFields) Take(name string) (raw string, ok bool) {
	rest := (*f)[:0]
	for _, field := range *f {
		if field.Name == name {
			raw, ok = field.Raw, true
			continue
		}
		rest = append(rest, field)
	}
	*f = rest
	return raw, ok
}

// TakeValue is Take with "" for null.
func (f *RawFields) TakeValue(name string) string {
	raw, _ := f.Take(name)
	if raw == "null" {
		return ""
	}
	return raw
}

// Value returns the value of the first field of that name, or "".
func (f RawFields) Value(name string) string {
	for _, field := range f {
		if field.Name == name {
			return field.Raw
		}
	}
	return ""
}

// Has reports whether a field of that name exists.
func (f RawFields) Has(name string) bool {
	return slices.ContainsFunc(f, func(field RawField) bool { return field.Name == name })
}

// Object returns the fields as an object.
func (f RawFields) Object() string {
	out := []byte{'{'}
	for _, field := range f {
		out = AppendField(out, field.Name, field.Raw)
	}
	return string(append(out, '}'))
}

// List returns elements, JSON texts, as an array.
func List(elements []string) string { return "[" + strings.Join(elements, ",") + "]" }

// Extra returns the fields in the form of Object.Extra, without braces.
func (f RawFields) Extra() string {
	text := f.Object()
	return text[1 : len(text)-1]
}

// AppendField appends a field to an unfinished object, or nothing if raw is empty.
func AppendField(dst []byte, name, raw string) []byte {
	if raw == "" {
		return dst
	}
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(AppendString(dst, name), ':'), raw...)
}

// EachField calls fn with the fields of a JSON object in order, until fn returns an error. raw is the unmodified text
// of the value. The text must be valid.
func EachField(text string, fn func(name, raw string) error) error {
	c := cursor{s: text}
	if c.peek() != '{' {
		return errors.New("want an object, found " + Shown(text))
	}
	for first := true; ; first = false {
		name, ok, err := c.member(first)
		if !ok {
			return err
		}
		c.peek()
		raw, err := c.skip()
		if err != nil {
			return err
		}
		if err := fn(name, raw); err != nil {
			return err
		}
	}
}

// EachElement calls fn with the elements of a JSON array, like EachField.
func EachElement(text string, fn func(i int, raw string) error) error {
	c := cursor{s: text}
	if c.peek() != '[' {
		return errors.New("want a list, found " + Shown(text))
	}
	for i := 0; ; i++ {
		if ok, err := c.element(i == 0); !ok {
			return err
		}
		c.peek()
		raw, err := c.skip()
		if err != nil {
			return err
		}
		if err := fn(i, raw); err != nil {
			return err
		}
	}
}

// Unquote returns the text of a JSON string, or "" for other values.
func Unquote(raw string) string {
	if !strings.HasPrefix(raw, `"`) {
		return ""
	}
	c := cursor{s: raw}
	text, _ := c.text() // "" for an unfinished string
	return text
}

// Shown returns the start of a value for a message, on field line. Control characters become blanks.
func Shown(raw string) string {
	const maxShown = 60
	text, end := strings.TrimSpace(raw), ""
	if len(text) > maxShown {
		text, end = strings.ToValidUTF8(text[:maxShown], ""), "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text) + end
}
