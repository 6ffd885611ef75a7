package release_test

import (
	"fmt"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
)

// TestScan finds what Reader.Resource finds, whatever the order, in parts of many pieces.
func TestScan(t *testing.T) {
	var specs []ResourceSpec
	for id := fragment.ID(1); id <= 20_000; id++ {
		spec := Resource(id)
		if id%7 == 0 {
			spec.Aliases = [][]byte{fragment.AppendAlias(nil, fragment.KindMovie, fmt.Sprint("tt", id))}
		}
		specs = append(specs, spec)
	}
	r := Written(t, specs...)
	for name, order := range map[string]func(i int) int{
		"in order": func(i int) int { return i }, "one of three": func(i int) int { return 3 * i },
		"each twice": func(i int) int { return i / 2 }, "backwards": func(i int) int { return len(specs) - 1 - i },
		"back and forth": func(i int) int { return i ^ 512 },
	} {
		s := Scan{Reader: r}
		for i := range len(specs) + 10 {
			key := fragment.AppendID(nil, fragment.KindMovie, fragment.ID(order(i)+1))
			e, ok := s.Resource(key)
			want, found := r.Resource(key)
			if ok != found || ok && (e != want || e.ID() != want.ID() || e.Fingerprint() != want.Fingerprint()) {
				t.Fatalf("%s: resource %d is %v, %v, want %v, %v", name, order(i)+1, e, ok, want, found)
			}
		}
		s.Close()
	}
	if _, ok := (&Scan{}).Resource(Movie(1)); ok {
		t.Error("a Scan without a Reader finds a resource")
	}
}
