package release

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestNearest pairs parts by the resources that they begin with.
func TestNearest(t *testing.T) {
	open := func(parts ...[]fragment.ID) *Reader {
		t.Helper()
		dir := t.TempDir()
		w, err := create(dir, testOptions{Parts: len(parts)})
		for i, ids := range parts {
			var rs []ResourceSpec
			for _, id := range ids {
				rs = append(rs, resource(id))
			}
			if err == nil {
				err = add(w, i, rs...)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return mustOpen(t, filepath.Join(dir, seal(t, w).ID))
	}
	was := open(nil, []fragment.ID{1, 2}, []fragment.ID{10, 12}, []fragment.ID{20})
	is := open(nil, []fragment.ID{1}, []fragment.ID{2, 10}, []fragment.ID{12, 13}, []fragment.ID{20})
	if got, want := is.Nearest(was), []int{-1, 1, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("Nearest = %d, want %d", got, want)
	}
}
