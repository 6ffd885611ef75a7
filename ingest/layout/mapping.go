package layout

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Mapping is the meaning of the tables of a dump: the contents of a mapping file, once
// it is checked. It does not change, so layouts may share it. docs/tables.md describes
// the files.
type Mapping struct {
	Name    string // of the file, for messages
	spec    mappingSpec
	aliases map[string]aliases // by what they are names of
	tables  []*table
	skips   []matcher
}

// The keys of mapping files.
type (
	mappingSpec struct {
		About   string                    `toml:"about"` // for the documents
		Tables  []tableSpec               `toml:"table"`
		Skips   []skipSpec                `toml:"skip"`
		Aliases map[string]map[string]any `toml:"aliases"` // a text or a list each, by name, by what they are names of
	}
	// tableSpec is a table and all records that its rows make.
	tableSpec struct {
		Name      string             `toml:"name"` // in counts and messages; the first of files by default
		About     string             `toml:"about"`
		Files     []string           `toml:"files"`     // names without extensions, as patterns of path.Match
		Requires  []string           `toml:"requires"`  // columns without which a row makes no record
		Rows      string             `toml:"rows"`      // path to the rows, where they lie deeper: see source.CheckRows
		MinFit    *float64           `toml:"min_fit"`   // least share of the cells that must be used, 0 to 1
		Decimal   string             `toml:"decimal"`   // see numberReader
		Thousands string             `toml:"thousands"` // likewise
		Scale     map[string]float64 `toml:"scale"`     // likewise
		Records   []recordSpec       `toml:"record"`
		Ignore    []ignoreSpec       `toml:"ignore"`
	}
	// recordSpec is a record that each row makes. The values of Fields and Element are expressions, or
	// constants that are no texts.
	recordSpec struct {
		Kind    string         `toml:"kind"`
		List    string         `toml:"list"`  // that a row is one element of; "" for none
		Part    bool           `toml:"part"`  // several rows make a record
		Where   string         `toml:"where"` // a condition: rows that make one; "" for all
		Each    string         `toml:"each"`  // a list whose elements each make one
		Match   bool           `toml:"match"` // a row without an id is found by its external ids
		Mint    []string       `toml:"mint"`  // fields or columns that the id of a row without one is made of
		Fields  map[string]any `toml:"fields"`
		Element any            `toml:"element"` // the fields of the element of List, or an expression for all of it
	}
	// ignoreSpec is a column that the API has no place for.
	ignoreSpec struct {
		Column string `toml:"column"`
		Silent bool   `toml:"silent"` // not even counted
		Note   string `toml:"note"`
	}
	// skipSpec is a file that holds no records.
	skipSpec struct {
		Files    []string `toml:"files"`
		Requires []string `toml:"requires"`
		MinFit   float64  `toml:"min_fit"` // least share of the values that stand in the required columns
		Reason   string   `toml:"reason"`
	}
)

// textsOf returns the texts of a key that is one text or a list of texts.
func textsOf(key string, v any) ([]string, error) {
	bad := fmt.Errorf("%s: want a text or a list of texts", key)
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return []string{v}, nil
	case []any:
		out := make([]string, len(v))
		for i := range v {
			var ok bool
			if out[i], ok = v[i].(string); !ok {
				return nil, bad
			}
		}
		return out, nil
	}
	return nil, bad
}

// ReadMapping reads a mapping file.
func ReadMapping(file string) (*Mapping, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read mapping: %w", err)
	}
	return ParseMapping(filepath.Base(file), text)
}

// ParseMapping checks the text of a mapping file; name is what messages call it. The
// error has a line for every fault that was found.
func ParseMapping(name string, text []byte) (*Mapping, error) { return parseMapping(name, text, true) }

// parseMapping parses a mapping file, and checks it if it may be wrong.
func parseMapping(name string, text []byte, check bool) (*Mapping, error) {
	m := &Mapping{Name: name}
	err := DecodeTOML(text, &m.spec)
	if err == nil {
		m.aliases, err = readAliases(m.spec.Aliases)
	}
	if err == nil {
		err = m.compile(check)
	}
	if err != nil {
		return nil, within("mapping "+name, err)
	}
	return m, nil
}

// A matcher recognizes files by their names and columns.
type matcher struct {
	files    []string // patterns in lower case; any name where there are none
	requires []string
	least    float64 // share of the values in required columns, of files that are skipped
	reason   string  // of those files
}

// fits reports whether the name of a file fits one of the patterns.
func (m *matcher) fits(file string) bool {
	return slices.ContainsFunc(m.files, func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ToLower(file))
		return ok && err == nil
	})
}

// has reports whether all columns that are required are there.
func (m *matcher) has(columns []string) bool {
	return !slices.ContainsFunc(m.requires, func(name string) bool { return !slices.Contains(columns, name) })
}

// match reports whether a file has the name and the columns.
func (m *matcher) match(file string, columns []string) bool {
	return m.has(columns) && (len(m.files) == 0 || m.fits(file))
}

// newMatcher returns the matcher of a table or a file that is skipped.
func newMatcher(files, requires []string) (matcher, error) {
	if len(files) == 0 && len(requires) == 0 {
		return matcher{}, errors.New("want files or requires, found neither")
	}
	m := matcher{requires: requires}
	for _, pattern := range files {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return m, fmt.Errorf("files: %q is no pattern of file names", pattern)
		}
		m.files = append(m.files, strings.ToLower(pattern))
	}
	return m, nil
}

// The mappings that come with the program, a folder for each layout.
//
//go:embed mappings
var mappingFiles embed.FS

// ready returns the mappings of a layout, which is one of mappedLayouts.
func ready(layout string) []*Mapping { return readyMappings()[layout] }

var readyMappings = sync.OnceValue(func() map[string][]*Mapping {
	out := map[string][]*Mapping{}
	for _, layout := range mappedLayouts {
		dir := path.Join("mappings", layout)
		entries, err := mappingFiles.ReadDir(dir)
		if err != nil {
			panic(fmt.Sprintf("layout: %v", err)) // of our own making
		}
		for _, e := range entries {
			text, err := mappingFiles.ReadFile(path.Join(dir, e.Name()))
			if err != nil {
				panic(fmt.Sprintf("layout: %v", err))
			}
			m, err := parseMapping(e.Name(), text, false)
			if err != nil {
				panic(fmt.Sprintf("layout: %v", err))
			}
			out[layout] = append(out[layout], m)
		}
	}
	return out
})
