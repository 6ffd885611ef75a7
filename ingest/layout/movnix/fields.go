package movnix

import (
	_ "embed"
	"strings"
)

// A field is the field of TMDB that one of the crawl is, "" for none.
type field struct {
	theirs, ours string
	null         string // what null becomes; "" where the field stays absent
	count        bool   // what is not empty is counted as dropped
}

//go:embed fields.txt
var fieldsText string

// fields has the fields of each block of a row, by the path of the block: an object, or
// the objects of a list. paths are those of all fields. Other fields are dropped and
// counted.
var fields, paths = parseFields()

func parseFields() (map[string][]field, []string) {
	all := map[string][]field{}
	var paths []string
	for line := range strings.Lines(fieldsText) {
		c := strings.Fields(strings.ReplaceAll(line, " -", " \x00"))
		if c[0] == "#" {
			continue
		}
		for i := range c {
			c[i] = strings.Trim(c[i], "\x00")
		}
		i := strings.LastIndexByte(c[0], '.')
		block, name := c[0][:max(i, 0)], c[0][i+1:]
		f := field{theirs: name, ours: c[1], null: c[2]}
		if f.null == "count" {
			f.null, f.count = "", true
		}
		all[block] = append(all[block], f)
		paths = append(paths, c[0])
	}
	return all, paths
}

// Paths returns the paths of all fields that rows may have, in the order of the documents.
func Paths() []string { return paths }
