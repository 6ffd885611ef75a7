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
// the objects of a list. Other fields are dropped and counted.
var fields = parseFields()

func parseFields() map[string][]field {
	all := map[string][]field{}
	for line := range strings.Lines(fieldsText) {
		c := strings.Fields(line)
		if c[0] == "#" {
			continue
		}
		i := strings.LastIndexByte(c[0], '.')
		block := c[0][:max(i, 0)]
		f := field{theirs: c[0][i+1:], ours: strings.Trim(c[1], "-"), null: strings.Trim(c[2], "-")}
		if f.null == "count" {
			f.null, f.count = "", true
		}
		all[block] = append(all[block], f)
	}
	return all
}
