package layout

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// A Mapping gives the tables of a dump their meaning: the checked contents of a mapping file. It is immutable, so layouts share
// it. docs/tables.md describes the files.
type Mapping struct {
	Name    string             // file name, for messages
	aliases map[string]aliases // by kind of name
	tables  []*table
	skips   []skipSpec
}

// The keys of mapping files.
type (
	mappingSpec struct {
		About   string                    `toml:"about"` // for the documentation
		Tables  []tableSpec               `toml:"table"`
		Skips   []skipSpec                `toml:"skip"`
		Aliases map[string]map[string]any `toml:"aliases"` // by kind and name: a text or a list of texts
	}
	// tableSpec is a table and the records that its rows make.
	tableSpec struct {
		Name  string `toml:"name"` // in counts and messages; the first of files by default
		About string `toml:"about"`
		matcher
		Rows      string             `toml:"rows"`      // path to nested rows: see source.CheckRows
		MinFit    *float64           `toml:"min_fit"`   // least share of cells that must be used, 0 to 1
		Decimal   string             `toml:"decimal"`   // see numberReader
		Thousands string             `toml:"thousands"` // likewise
		Scale     map[string]float64 `toml:"scale"`     // likewise
		Records   []recordSpec       `toml:"record"`
		Ignore    []ignoreSpec       `toml:"ignore"`
	}
	// recordSpec is a record that each row makes. The values of Fields and Element are expressions, or constants other than
	// texts.
	recordSpec struct {
		Kind    string         `toml:"kind"`
		List    string         `toml:"list"`  // list that a row is one element of; may be empty
		Part    bool           `toml:"part"`  // several rows together make a record
		Where   string         `toml:"where"` // condition on rows; "" for all
		Each    string         `toml:"each"`  // list whose elements make one record each
		Match   bool           `toml:"match"` // a row without an ID is looked up by external IDs
		Mint    []string       `toml:"mint"`  // fields or columns that an ID is minted from
		Fields  map[string]any `toml:"fields"`
		Element any            `toml:"element"` // fields of the element of List, or one expression
	}
	// ignoreSpec is a column without a place in the API.
	ignoreSpec struct {
		Column string `toml:"column"`
		Silent bool   `toml:"silent"` // not even counted
		Note   string `toml:"note"`
	}
	// skipSpec is a file without records.
	skipSpec struct {
		matcher
		MinFit float64 `toml:"min_fit"` // least share of values in the required columns
		Reason string  `toml:"reason"`
	}
	// matcher selects files by name and columns.
	matcher struct {
		Files    []string `toml:"files"`    // name patterns for path.Match, without extensions; any name by default
		Requires []string `toml:"requires"` // columns without which a row makes no record
	}
)

// ReadMapping reads a mapping file.
func ReadMapping(file string) (*Mapping, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read mapping: %w", err)
	}
	return parseMapping(filepath.Base(file), text, true)
}

// parseMapping parses a mapping file. name appears in messages; the error has one line for each fault. check is false for built-in
// mappings, which tests check.
func parseMapping(name string, text []byte, check bool) (*Mapping, error) {
	m := &Mapping{Name: name}
	var spec mappingSpec
	err := decodeTOML(text, &spec)
	if err == nil {
		m.aliases, err = readAliases(spec.Aliases)
	}
	if err == nil {
		err = m.compile(&spec, check)
	}
	if err != nil {
		return nil, within("mapping "+name, err)
	}
	m.addDoubts(text)
	return m, nil
}

// checkPrefix starts a comment with a doubt of a draft. A person deletes the line after the check.
const checkPrefix = "# Check: "

// addDoubts gives each table the doubts in the lines above it.
func (m *Mapping) addDoubts(text []byte) {
	n := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if doubt, ok := strings.CutPrefix(line, checkPrefix); ok && n < len(m.tables) {
			m.tables[n].doubts = append(m.tables[n].doubts, strings.TrimSuffix(doubt, "."))
		} else if strings.HasPrefix(line, "[[table]]") {
			n++
		}
	}
}

// fitsName reports whether a file's name matches one of the patterns.
func (m *matcher) fitsName(file string) bool {
	return slices.ContainsFunc(m.Files, func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ToLower(file))
		return ok && err == nil
	})
}

// hasColumns reports whether all required columns are present.
func (m *matcher) hasColumns(columns []string) bool {
	return !slices.ContainsFunc(m.Requires, func(name string) bool { return !slices.Contains(columns, name) })
}

// matches reports whether a file has the name and the columns.
func (m *matcher) matches(file string, columns []string) bool {
	return m.hasColumns(columns) && (len(m.Files) == 0 || m.fitsName(file))
}

// check checks the patterns and puts them in lower case.
func (m *matcher) check() error {
	if len(m.Files) == 0 && len(m.Requires) == 0 {
		return errors.New("want files or requires, found neither")
	}
	for i, pattern := range m.Files {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("files: %q is not a pattern of file names", pattern)
		}
		m.Files[i] = strings.ToLower(pattern)
	}
	return nil
}

// mappingFiles has the built-in mappings, one folder for each layout.
//
//go:embed mappings
var mappingFiles embed.FS

// ready returns the built-in mappings of a layout.
func ready(layout string) []*Mapping { return readyMappings()[layout] }

var readyMappings = sync.OnceValue(func() map[string][]*Mapping {
	out := map[string][]*Mapping{}
	files, err := fs.Glob(mappingFiles, "mappings/*/*.toml")
	for _, file := range files {
		text, readErr := mappingFiles.ReadFile(file)
		m, parseErr := parseMapping(path.Base(file), text, false)
		err = errors.Join(err, readErr, parseErr)
		layout := path.Base(path.Dir(file))
		out[layout] = append(out[layout], m)
	}
	if err != nil {
		panic(fmt.Sprintf("layout: %v", err)) // a built-in mapping is broken
	}
	return out
})

// decodeTOML reads a text into a struct. Unknown keys, repeated keys and values of a wrong type are errors of one line for each
// fault, with its line and key, without the library's drawing of the place.
func decodeTOML(text []byte, dst any) error {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(dst)
	var strict *toml.StrictMissingError
	var syntax *toml.DecodeError
	lines, root := strings.Split(string(text), "\n"), reflect.TypeOf(dst).Elem()
	switch {
	case errors.As(err, &strict):
		var errs []error
		for i := range strict.Errors {
			line, _ := strict.Errors[i].Position()
			key := strict.Errors[i].Key()
			message := fmt.Sprintf("line %d: unknown key %q", line, strings.Join(key, "."))
			isInline := !strings.HasPrefix(strings.TrimSpace(lines[line-1]), key[len(key)-1]) // the library has no path of an inline table
			if t := typeAt(root, key[:len(key)-1]); t != nil && elemOf(t).Kind() == reflect.Struct && !isInline {
				var names []string
				for _, f := range reflect.VisibleFields(elemOf(t)) {
					if !f.Anonymous {
						names = append(names, f.Tag.Get("toml"))
					}
				}
				message += ": want one of " + strings.Join(names, ", ")
			}
			errs = append(errs, errors.New(message))
		}
		return errors.Join(errs...)
	case errors.As(err, &syntax):
		line, column := syntax.Position()
		message, key := strings.TrimPrefix(syntax.Error(), "toml: "), syntax.Key()
		if want := typeName(typeAt(root, key)); strings.Contains(message, "cannot ") && want != "" {
			message = fmt.Sprintf("key %q: want %s", strings.Join(key, "."), want)
		}
		if startsWord(lines, line, column) { // the library reads it as nan, or as no value
			message = "want a value in quotes, such as title = 'name', or true or false"
		}
		return fmt.Errorf("line %d, column %d: %s", line, column, message)
	}
	return err
}

// startsWord reports whether a value at a position begins with a letter.
func startsWord(lines []string, line, column int) bool {
	if line < 1 || line > len(lines) || column < 2 || column > len(lines[line-1]) {
		return false
	}
	before, letter := strings.TrimRight(lines[line-1][:column-1], " \t"), lines[line-1][column-1]|0x20
	return strings.HasSuffix(before, "=") && letter >= 'a' && letter <= 'z'
}

// typeAt returns the type of a key of a struct, or nil.
func typeAt(t reflect.Type, path []string) reflect.Type {
	if len(path) == 0 {
		return t
	}
	switch t = elemOf(t); t.Kind() {
	case reflect.Map:
		return typeAt(t.Elem(), path[1:])
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
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
