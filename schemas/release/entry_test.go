package release

import (
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestNext walks a part by its resources, past aliases.
func TestNext(t *testing.T) {
	details := frag(fragment.Address{Sub: fragment.SubDetails}, lit("x"))
	first, second, third := resource(1, details), resource(2, details), resource(3, details)
	second.Aliases = [][]byte{fragment.AppendAlias(nil, fragment.KindMovie, "tt1"), fragment.AppendAlias(nil, fragment.KindMovie, "tt2")}
	third.Aliases = second.Aliases[:0:0]
	r := plainRelease(t, first, second, third)
	e, ok := r.Resource(first.Key)
	var ids []uint64
	for ; ok; e, ok = e.Next() {
		ids = append(ids, e.ID())
	}
	if !slices.Equal(ids, []uint64{1, 2, 3}) {
		t.Errorf("resources %d, want 1, 2 and 3", ids)
	}
	if _, ok := (Entry{}).Next(); ok {
		t.Error("there is a resource behind the zero Entry")
	}
}
