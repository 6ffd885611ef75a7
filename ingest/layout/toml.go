package layout

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// decodeTOML reads a text into a struct. Unknown keys, repeated keys and values of a wrong type are errors with the line and
// the key.
func decodeTOML(text []byte, to any) error {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return tomlError(text, err, reflect.TypeOf(to).Elem())
	}
	return nil
}

// tomlError reduces the library's error to one line for each fault, without its drawing of the place.
func tomlError(text []byte, err error, to reflect.Type) error {
	var strict *toml.StrictMissingError
	var syntax *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		var errs []error
		for i := range strict.Errors {
			line, _ := strict.Errors[i].Position()
			key := strict.Errors[i].Key()
			want := ""
			inline := !strings.HasPrefix(strings.TrimSpace(linesOf(text)[line-1]), key[len(key)-1]) // the library has no path of an inline table
			if fields := fieldsOf(typeAt(to, key[:len(key)-1])); fields != nil && !inline {
				want = ": want one of " + strings.Join(fields, ", ")
			}
			errs = append(errs, fmt.Errorf("line %d: unknown key %q%s", line, strings.Join(key, "."), want))
		}
		return errors.Join(errs...)
	case errors.As(err, &syntax):
		line, column := syntax.Position()
		message, key := strings.TrimPrefix(syntax.Error(), "toml: "), syntax.Key()
		if want := typeName(typeAt(to, key)); strings.Contains(message, "cannot ") && want != "" {
			message = fmt.Sprintf("key %q: want %s", strings.Join(key, "."), want)
		}
		if startsWord(linesOf(text), line, column) { // the library reads it as nan, or as no value
			message = "want a value in quotes, such as title = 'name', or true or false"
		}
		return fmt.Errorf("line %d, column %d: %s", line, column, message)
	}
	return err
}

func linesOf(text []byte) []string { return strings.Split(string(text), "\n") }

// startsWord reports whether a value at a position begins with a letter.
func startsWord(lines []string, line, column int) bool {
	if line < 1 || line > len(lines) || column < 2 || column > len(lines[line-1]) {
		return false
	}
	before, at := strings.TrimRight(lines[line-1][:column-1], " \t"), lines[line-1][column-1]
	return strings.HasSuffix(before, "=") && (at|0x20 >= 'a' && at|0x20 <= 'z')
}

// fieldsOf returns the keys of a table, or nil for other types.
func fieldsOf(t reflect.Type) (names []string) {
	if t == nil || elemOf(t).Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(elemOf(t)) {
		if !f.Anonymous {
			names = append(names, f.Tag.Get("toml"))
		}
	}
	return names
}

// typeAt returns the type of a key of a struct, or nil.
func typeAt(of reflect.Type, path []string) reflect.Type {
	if len(path) == 0 {
		return of
	}
	switch of = elemOf(of); of.Kind() {
	case reflect.Map:
		return typeAt(of.Elem(), path[1:])
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(of) {
			if f.Tag.Get("toml") == path[0] {
				return typeAt(f.Type, path[1:])
			}
		}
	}
	return nil
}

// elemOf returns the type inside lists and pointers.
func elemOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// typeName names a type in the terms of TOML.
func typeName(t reflect.Type) string {
	switch {
	case t == nil:
		return ""
	case t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Struct:
		return typeName(t.Elem())
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return "a list of texts"
	}
	return typeNames[t.Kind()]
}

var typeNames = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "true or false", reflect.Int64: "an integer", reflect.Float64: "a number", reflect.Slice: "a list of tables",
	reflect.Struct: "a table", reflect.Pointer: "a table", reflect.Map: "a table",
}

func joinKey(prefix, name string) string { return strings.TrimPrefix(prefix+"."+name, ".") }

// within prefixes each line of an error with a place. Nil stays nil.
func within(place string, err error) error {
	if err == nil {
		return nil
	}
	var out []error
	for line := range strings.SplitSeq(err.Error(), "\n") {
		out = append(out, fmt.Errorf("%s: %s", oneLineOf(place), line))
	}
	return errors.Join(out...)
}
