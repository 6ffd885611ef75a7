package layout

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	return m, nil
}

// fits reports whether a file's name matches one of the patterns.
func (m *matcher) fits(file string) bool {
	return slices.ContainsFunc(m.Files, func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ToLower(file))
		return ok && err == nil
	})
}

// has reports whether all required columns are present.
func (m *matcher) has(columns []string) bool {
	return !slices.ContainsFunc(m.Requires, func(name string) bool { return !slices.Contains(columns, name) })
}

// match reports whether a file has the name and the columns.
func (m *matcher) match(file string, columns []string) bool {
	return m.has(columns) && (len(m.Files) == 0 || m.fits(file))
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
	files, err := fs.Glob(mappingFiles, "mappings/*/*.toml")
	if err != nil {
		panic(fmt.Sprintf("layout: %v", err)) // the pattern is broken
	}
	out := map[string][]*Mapping{}
	for _, file := range files {
		layout := path.Base(path.Dir(file))
		out[layout] = append(out[layout], readyMapping(file))
	}
	return out
})

// readyMapping parses a file of mappingFiles.
func readyMapping(file string) (m *Mapping) {
	text, err := mappingFiles.ReadFile(file)
	if err == nil {
		m, err = parseMapping(path.Base(file), text, false)
	}
	if err != nil {
		panic(fmt.Sprintf("layout: %v", err)) // a built-in mapping is broken
	}
	return m
}
