package release_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestNearest pairs parts by the resources that they begin with.
func TestNearest(t *testing.T) {
	open := func(parts ...[]fragment.ID) *Reader {
		t.Helper()
		dir := t.TempDir()
		w, err := Create(dir)
		for _, ids := range parts {
			var rs []ResourceSpec
			for _, id := range ids {
				rs = append(rs, Resource(id))
			}
			if err == nil {
				err = w.Add(rs...)
			}
		}
		sharedtest.NoError(t, err)
		return MustOpen(t, filepath.Join(dir, Seal(t, w).ID))
	}
	was := open(nil, []fragment.ID{1, 2}, []fragment.ID{10, 12}, []fragment.ID{20})
	is := open(nil, []fragment.ID{1}, []fragment.ID{2, 10}, []fragment.ID{12, 13}, []fragment.ID{20})
	if got, want := is.Nearest(was), []int{-1, 1, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("Nearest = %d, want %d", got, want)
	}
}
