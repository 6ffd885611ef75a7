package release_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/writertest"
)

// TestNearest pairs parts by the resources that they begin with.
func TestNearest(t *testing.T) {
	open := func(parts ...[]fragment.ID) *release.Reader {
		t.Helper()
		dir := t.TempDir()
		w, err := writertest.Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, ids := range parts {
			p, err := w.Part(nil)
			for _, id := range ids {
				if err == nil {
					err = p.Add(release.ResourceSpec{Key: fragment.AppendID(nil, fragment.KindMovie, id), Fingerprint: 1})
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		m, err := w.Seal(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, err := release.Open(filepath.Join(dir, m.ID))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	was := open(nil, []fragment.ID{1, 2}, []fragment.ID{10, 12}, []fragment.ID{20})
	is := open(nil, []fragment.ID{1}, []fragment.ID{2, 10}, []fragment.ID{12, 13}, []fragment.ID{20})
	if got, want := is.Nearest(was), []int{-1, 1, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("Nearest = %d, want %d", got, want)
	}
}
