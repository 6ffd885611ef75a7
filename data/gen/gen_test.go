package gen

import (
	"strings"
	"testing"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/wire"
)

// kindOf are the kinds of records that the parts of a dump hold.
var kindOf = map[string]string{
	"movies": "movie", "tv": "tv", "people": "person", "collections": "collection", "companies": "company",
	"networks": "network", "keywords": "keyword",
}

func TestRecordsParse(t *testing.T) {
	w := newWorld(&Config{Movies: 3000, TV: 300, Seed: 7})
	for _, part := range w.parts() {
		typ, ok := catalog.TypeNamed(kindOf[part.name])
		if !ok {
			t.Fatalf("no kind for %s", part.name)
		}
		p := wire.NewParser()
		var b []byte
		for i := range min(part.n, 5000) {
			b = part.append(b[:0], i)
			row := strings.TrimSuffix(string(b), "\n")
			r := typ.New()
			if err := p.Parse(row, r); err != nil {
				t.Fatalf("%s %d: %v in %s", part.name, i, err, row)
			}
			if got := string(wire.Append(nil, r)); got != row {
				t.Fatalf("%s %d: parsed and appended = %s, want %s", part.name, i, got, row)
			}
		}
		if len(p.Counts.Unknown)+len(p.Counts.Coerced) > 0 {
			t.Errorf("%s: counts = %+v, want none", part.name, p.Counts)
		}
	}
}
