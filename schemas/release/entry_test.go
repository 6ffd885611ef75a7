package release_test

import (
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
)

// TestNext walks a part by its resources, past aliases.
func TestNext(t *testing.T) {
	other, first, second := Resource(1), Resource(2), Resource(3)
	first.Aliases = [][]byte{fragment.AppendAlias(nil, fragment.KindMovie, "tt1"), fragment.AppendAlias(nil, fragment.KindMovie, "tt2")}
	e, ok := Written(t, other, first, second).Resource(first.Key)
	var ids []uint64
	for ; ok; e, ok = e.Next() {
		ids = append(ids, e.ID())
	}
	if !slices.Equal(ids, []uint64{2, 3}) {
		t.Errorf("resources %d, want 2 and 3", ids)
	}
	if _, ok := (Entry{}).Next(); ok {
		t.Error("there is a resource behind the zero Entry")
	}
}
