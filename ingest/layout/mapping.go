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
		Objects []objectSpec              `toml:"object"`
		Skips   []skipSpec                `toml:"skip"`
		Aliases map[string]map[string]any `toml:"aliases"` // a text or a list each, by name, by what they are names of
	}
	// tableSpec is a table and all records that its rows make.
	tableSpec struct {
		Name     string       `toml:"name"` // in counts and messages; the first of files by default
		About    string       `toml:"about"`
		Files    []string     `toml:"files"`    // names without extensions, as patterns of path.Match
		Requires []string     `toml:"requires"` // columns by which the table differs from others
		Exact    bool         `toml:"exact"`    // a table with columns that are unknown is another one
		Records  []recordSpec `toml:"record"`
		Ignore   []ignoreSpec `toml:"ignore"`
	}
	// recordSpec is a record that each row makes.
	recordSpec struct {
		Kind  string      `toml:"kind"`
		List  string      `toml:"list"`  // that a row is one element of; "" for none
		Part  bool        `toml:"part"`  // several rows make a record
		Needs []string    `toml:"needs"` // columns without which a row makes none
		Where *whereSpec  `toml:"where"` // rows that make one; nil for all
		Each  *eachSpec   `toml:"each"`  // a list in a cell whose elements each make one
		ID    *idSpec     `toml:"id"`    // of rows that have none
		Map   []entrySpec `toml:"map"`
	}
	// idSpec is the way in which a row without an id gets one. Without keys it is found by its
	// external ids alone.
	idSpec struct {
		Mint []string `toml:"mint"` // fields or columns that an id is made of
	}
	whereSpec struct {
		Column string `toml:"column"`
		Is     string `toml:"is"`
		Not    string `toml:"not"`
	}
	// eachSpec is a column with a list. For the record of an element, the column is that
	// element.
	eachSpec struct {
		Column    string `toml:"column"`
		As        string `toml:"as"`        // of text: json or python
		Separator string `toml:"separator"` // of joined text
	}
	// entrySpec is a column and its field.
	entrySpec struct {
		Column   string         `toml:"column"`
		Path     string         `toml:"path"`  // to the value inside the column's, with dots
		Field    string         `toml:"field"` // see target
		Value    any            `toml:"value"` // for rows of all kinds, in place of a column
		As       string         `toml:"as"`
		Object   string         `toml:"object"`    // what the fields of the value are
		Values   map[string]any `toml:"values"`    // what texts stand for
		Nothing  []string       `toml:"nothing"`   // texts that stand for no value
		Strip    any            `toml:"strip"`     // a text or a list: prefixes that are taken off, before the text is read
		StripEnd any            `toml:"strip_end"` // likewise of suffixes
		Note     string         `toml:"note"`      // for the documents
		convertSpec
	}
	// convertSpec is the keys of single converters.
	convertSpec struct {
		Of        string   `toml:"of"`        // of "names", "name" and "list"
		Mint      bool     `toml:"mint"`      // of "names" and "name": unknown ones get an id that is made of the name
		Separator string   `toml:"separator"` // of "names" and "list"
		Formats   []string `toml:"formats"`   // of "date"
		LastYear  int64    `toml:"last_year"` // of "date": the last one that two digits stand for
		Articles  []string `toml:"articles"`  // of "title": words that go from its end to its front
	}
	// objectSpec is the fields of objects inside a column.
	objectSpec struct {
		Name   string       `toml:"name"`
		Map    []entrySpec  `toml:"map"`
		Ignore []ignoreSpec `toml:"ignore"`
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
func ParseMapping(name string, text []byte) (*Mapping, error) {
	m := &Mapping{Name: name}
	if err := DecodeTOML(text, &m.spec); err != nil {
		return nil, describe(name, text, err)
	}
	var err error
	if m.aliases, err = readAliases(m.spec.Aliases); err == nil {
		err = m.compile()
	}
	if err != nil {
		return nil, describe(name, text, err)
	}
	return m, nil
}

// A matcher recognizes files by their names and columns.
type matcher struct {
	files    []string // patterns in lower case; any name where there are none
	requires []string
	only     []string // no other columns than these; any where it is nil
	reason   string   // of files that are skipped
}

// fits reports whether the name of a file fits one of the patterns.
func (m *matcher) fits(file string) bool {
	return slices.ContainsFunc(m.files, func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ToLower(file))
		return ok && err == nil
	})
}

func (m *matcher) match(file string, columns []string) bool {
	return m.difference(file, columns).count() == 0
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
			m, err := ParseMapping(e.Name(), text)
			if err != nil {
				panic(fmt.Sprintf("layout: %v", err))
			}
			out[layout] = append(out[layout], m)
		}
	}
	return out
})
