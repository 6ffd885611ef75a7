package layout

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// DecodeTOML reads a text into a struct. Keys that the struct does not have, keys that
// come twice and values of another type are errors, which tell the line and the key.
func DecodeTOML(text []byte, to any) error {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return tomlError(text, err, reflect.TypeOf(to).Elem())
	}
	return nil
}

// tomlError is the library's error on one line for each fault: it adds a drawing of the
// place.
func tomlError(text []byte, err error, to reflect.Type) error {
	var strict *toml.StrictMissingError
	var syntax *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		var errs []error
		for i := range strict.Errors {
			line, column := strict.Errors[i].Position()
			key := strings.Split(keyAt(text, line, column), ".") // the library's lacks what is around an inline table
			want := otherKeys(to, key[:len(key)-1])
			if now := renamedKeys[key[len(key)-1]]; now != "" {
				want = fmt.Sprintf(": it is named %q now", now)
			}
			errs = append(errs, fmt.Errorf("line %d: unknown key %q%s", line, strings.Join(key, "."), want))
		}
		return errors.Join(errs...)
	case errors.As(err, &syntax):
		line, column := syntax.Position()
		return fmt.Errorf("line %d, column %d: %s", line, column, decodeMessage(text, syntax, to))
	}
	return err
}

// renamedKeys are keys of old mapping files and their names of today.
var renamedKeys = map[string]string{"member": "field"}

// keyAt returns the path of the last key at or before a position.
func keyAt(text []byte, line, column int) string {
	key := tomlKey{}
	for _, k := range keysOf(text) {
		if k.line < line || k.line == line && k.column <= column {
			key = k
		}
	}
	return key.name()
}

// otherKeys lists the keys that may stand where an unknown one was found.
func otherKeys(to reflect.Type, path []string) string {
	of := elemOf(typeAt(to, path))
	if of == nil || of.Kind() != reflect.Struct {
		return ""
	}
	var names []string
	for i := range of.NumField() {
		names = append(names, of.Field(i).Tag.Get("toml"))
	}
	return ": want one of " + strings.Join(names, ", ")
}

// typeAt returns the type of a key of a struct, nil for none.
func typeAt(of reflect.Type, path []string) reflect.Type {
	for _, name := range path {
		of = elemOf(of)
		switch {
		case of == nil:
			return nil
		case of.Kind() == reflect.Map:
			of = of.Elem()
			continue
		case of.Kind() != reflect.Struct:
			return nil
		}
		i := 0
		for i < of.NumField() && of.Field(i).Tag.Get("toml") != name {
			i++
		}
		if i == of.NumField() {
			return nil
		}
		of = of.Field(i).Type
	}
	return of
}

// elemOf returns the type inside lists and pointers.
func elemOf(t reflect.Type) reflect.Type {
	for t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer) {
		t = t.Elem()
	}
	return t
}

// decodeMessage says what is wrong at a place: of a value of another type, its key and
// what it should be.
func decodeMessage(text []byte, e *toml.DecodeError, to reflect.Type) string {
	message := strings.TrimPrefix(e.Error(), "toml: ")
	line, column := e.Position()
	key := keyAt(text, line, column)
	want := typeName(typeAt(to, strings.Split(key, ".")))
	if !strings.Contains(message, "cannot ") || want == "" {
		return message
	}
	return fmt.Sprintf("key %q: want %s", key, want)
}

// typeName says what a type is in TOML.
func typeName(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "an integer"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "a list of texts"
		}
		return "a list of tables"
	case reflect.Struct, reflect.Pointer, reflect.Map:
		return "a table"
	}
	return ""
}

// A tomlKey is a key of a TOML text, or an element of an array.
type tomlKey struct {
	path         string // table[0].record[1].map[2].column
	line, column int    // from 1
}

// name returns the path without the places in arrays.
func (k *tomlKey) name() string { return elements.ReplaceAllString(k.path, "") }

var elements = regexp.MustCompile(`\[\d+\]`)

// keysOf returns the keys of a TOML text in their order, up to the first fault.
func keysOf(text []byte) []tomlKey {
	w := keyWalker{arrays: map[string]int{}}
	w.parser.Reset(text)
	for w.parser.NextExpression() {
		switch e := w.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			w.table(e)
		case unstable.KeyValue:
			w.keyValue(w.prefix, e)
		}
	}
	return w.keys
}

// A keyWalker finds the keys of a text.
type keyWalker struct {
	parser unstable.Parser
	keys   []tomlKey
	prefix string         // of the table at hand
	arrays map[string]int // by path: the number of their tables so far
}

func (w *keyWalker) add(path string, at unstable.Range) {
	p := w.parser.Shape(at).Start
	w.keys = append(w.keys, tomlKey{path, p.Line, p.Column})
}

// table enters the table of a header.
func (w *keyWalker) table(e *unstable.Node) {
	w.prefix = ""
	var at unstable.Range
	key := e.Key()
	for key.Next() {
		if n := w.arrays[w.prefix]; n > 0 {
			w.prefix += "[" + strconv.Itoa(n-1) + "]"
		}
		w.prefix = joinKey(w.prefix, string(key.Node().Data))
		at = key.Node().Raw
	}
	if e.Kind == unstable.ArrayTable {
		w.arrays[w.prefix]++
		w.prefix += "[" + strconv.Itoa(w.arrays[w.prefix]-1) + "]"
	}
	w.add(w.prefix, at)
}

// keyValue adds a key and those inside its value.
func (w *keyWalker) keyValue(prefix string, e *unstable.Node) {
	var at unstable.Range
	key := e.Key()
	for key.Next() {
		prefix = joinKey(prefix, string(key.Node().Data))
		at = key.Node().Raw
	}
	w.add(prefix, at)
	w.value(prefix, e.Value())
}

func (w *keyWalker) value(path string, v *unstable.Node) {
	i := 0
	children := v.Children()
	for v.Kind == unstable.Array && children.Next() {
		child := children.Node()
		if child.Kind == unstable.Comment {
			continue
		}
		element := path + "[" + strconv.Itoa(i) + "]"
		if child.Kind == unstable.InlineTable {
			w.add(element, child.Raw)
		}
		w.value(element, child)
		i++
	}
	for v.Kind == unstable.InlineTable && children.Next() {
		w.keyValue(path, children.Node())
	}
}

func joinKey(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// A fault is an error at a place of a mapping file. The error begins with the key that is
// at fault, if it is one key.
type fault struct {
	at   string // path of the place, below that of the fault around it; from the top with a slash before
	what string // what is there, for messages
	err  error
}

func (f *fault) Error() string { return f.what + ": " + f.err.Error() }

func (f *fault) Unwrap() error { return f.err }

// faultAt wraps an error; nil stays nil.
func faultAt(err error, at, what string) error {
	if err == nil {
		return nil
	}
	return &fault{at, what, err}
}

// describe returns an error of a mapping with one line for each fault, with the line of
// the file that it is in.
func describe(name string, text []byte, err error) error {
	keys := keysOf(text)
	var lines []error
	var walk func(err error, at, what string)
	walk = func(err error, at, what string) {
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range many.Unwrap() {
				walk(one, at, what)
			}
			return
		}
		if f, ok := err.(*fault); ok {
			below, top := strings.CutPrefix(f.at, "/")
			if !top {
				below = joinKey(at, f.at)
			}
			walk(f.err, below, what+f.what+": ")
			return
		}
		for _, one := range strings.Split(err.Error(), "\n") {
			line := ""
			if n := lineOf(keys, at, one); n > 0 {
				line = fmt.Sprintf("line %d: ", n)
			}
			lines = append(lines, fmt.Errorf("mapping %s: %s%s%s", name, line, oneLineOf(what), one))
		}
	}
	walk(err, "", "")
	return errors.Join(lines...)
}

// lineOf returns the line of the key that a message begins with, or else that of the
// place; 0 where neither is told.
func lineOf(keys []tomlKey, at, message string) int {
	first, _, _ := strings.Cut(message, ":")
	first, _, _ = strings.Cut(first, " ")
	for _, path := range []string{joinKey(at, first), at} {
		if i := slices.IndexFunc(keys, func(k tomlKey) bool { return k.path == path }); i >= 0 {
			return keys[i].line
		}
	}
	// Of a table that only [[table.record]] opens, no key is that of the table itself.
	name := elements.ReplaceAllString(at, "")
	if i := slices.IndexFunc(keys, func(k tomlKey) bool { return name != "" && strings.HasPrefix(k.name(), name+".") }); i >= 0 {
		return keys[i].line
	}
	return 0
}
