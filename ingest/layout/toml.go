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
// come twice and values of another type are errors with the line and the key.
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
			key := keyAt(text, line, column) // the library's lacks the keys around an inline table
			want := otherKeys(to, key)
			if now := renamedKeys[key[strings.LastIndexByte(key, '.')+1:]]; now != "" {
				want = fmt.Sprintf(": it is %q now, a table of expressions", now)
			}
			errs = append(errs, fmt.Errorf("line %d: unknown key %q%s", line, key, want))
		}
		return errors.Join(errs...)
	case errors.As(err, &syntax):
		line, column := syntax.Position()
		message := strings.TrimPrefix(syntax.Error(), "toml: ")
		key := keyAt(text, line, column)
		if want := typeName(typeAt(to, strings.Split(key, "."))); strings.Contains(message, "cannot ") && want != "" {
			message = fmt.Sprintf("key %q: want %s", key, want)
		}
		if startsWord(text, line, column) { // the library takes it for nan, or for no value
			message = "want a value in quotes, such as title = 'name', or true or false"
		}
		return fmt.Errorf("line %d, column %d: %s", line, column, message)
	}
	return err
}

// startsWord reports whether a value that begins with a letter is at a position of a TOML text.
func startsWord(text []byte, line, column int) bool {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) || column < 2 || column > len(lines[line-1]) {
		return false
	}
	before, at := strings.TrimRight(lines[line-1][:column-1], " \t"), lines[line-1][column-1]
	return strings.HasSuffix(before, "=") && (at|0x20 >= 'a' && at|0x20 <= 'z')
}

// renamedKeys are keys of old mapping files and their names of today.
var renamedKeys = map[string]string{"map": "fields"}

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

// otherKeys lists the keys of the table that an unknown key stands in.
func otherKeys(to reflect.Type, key string) string {
	path := strings.Split(key, ".")
	of := typeAt(to, path[:len(path)-1])
	if of == nil || elemOf(of).Kind() != reflect.Struct {
		return ""
	}
	var names []string
	for _, f := range reflect.VisibleFields(elemOf(of)) {
		if !f.Anonymous {
			names = append(names, f.Tag.Get("toml"))
		}
	}
	return ": want one of " + strings.Join(names, ", ")
}

// typeAt returns the type of a key of a struct, nil for none.
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

// typeName names a type in TOML.
func typeName(t reflect.Type) string {
	switch {
	case t == nil:
		return ""
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return "a list of texts"
	}
	return typeNames[t.Kind()]
}

var typeNames = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "true or false", reflect.Int64: "an integer", reflect.Slice: "a list of tables",
	reflect.Struct: "a table", reflect.Pointer: "a table", reflect.Map: "a table",
}

// A tomlKey is a key of a TOML text, or an inline table of a list.
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
	table := ""
	for w.parser.NextExpression() {
		switch e := w.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = w.key("", e)
		case unstable.KeyValue:
			w.value(w.key(table, e), e.Value())
		}
	}
	return w.keys
}

// A keyWalker finds the keys of a text.
type keyWalker struct {
	parser unstable.Parser
	keys   []tomlKey
	arrays map[string]int // by path: the number of their tables so far
}

// key adds the key of an expression in a table and returns its path.
func (w *keyWalker) key(path string, e *unstable.Node) string {
	var at unstable.Range
	for key := e.Key(); key.Next(); {
		if n := w.arrays[path]; n > 0 {
			path = elementPath(path, n-1)
		}
		path = joinKey(path, string(key.Node().Data))
		at = key.Node().Raw
	}
	if e.Kind == unstable.ArrayTable {
		w.arrays[path]++
		path = elementPath(path, w.arrays[path]-1)
	}
	w.add(path, at)
	return path
}

func (w *keyWalker) add(path string, at unstable.Range) {
	p := w.parser.Shape(at).Start
	w.keys = append(w.keys, tomlKey{path, p.Line, p.Column})
}

// value adds the keys inside a value.
func (w *keyWalker) value(path string, v *unstable.Node) {
	i := 0
	for children := v.Children(); children.Next(); {
		switch child := children.Node(); {
		case child.Kind == unstable.KeyValue:
			w.value(w.key(path, child), child.Value())
		case child.Kind != unstable.Comment:
			if child.Kind == unstable.InlineTable {
				w.add(elementPath(path, i), child.Raw)
			}
			w.value(elementPath(path, i), child)
			i++
		}
	}
}

func elementPath(array string, i int) string { return array + "[" + strconv.Itoa(i) + "]" }

func joinKey(prefix, name string) string { return strings.TrimPrefix(prefix+"."+name, ".") }

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
			lines = append(lines, fmt.Errorf("mapping %s: %s%s%s", name, lineOf(keys, at, one), oneLineOf(what), one))
		}
	}
	walk(err, "", "")
	return errors.Join(lines...)
}

// lineOf names the line of the key that a message begins with, or else that of the place; it is empty
// where none is known.
func lineOf(keys []tomlKey, at, message string) string {
	if at == "" {
		return ""
	}
	first := message[:max(0, strings.IndexAny(message, ": "))]
	name := elements.ReplaceAllString(at, "")
	for _, is := range []func(k tomlKey) bool{
		func(k tomlKey) bool { return k.path == joinKey(at, first) },
		func(k tomlKey) bool { return k.path == at },
		func(k tomlKey) bool { return strings.HasPrefix(k.name(), name+".") }, // [[table.record]] alone opens the table
	} {
		if i := slices.IndexFunc(keys, is); i >= 0 {
			return fmt.Sprintf("line %d: ", keys[i].line)
		}
	}
	return ""
}
