package release_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestScanForgets scans two parts of 6 MB each: less than 3 MB of them stay mapped, and hardly any after Close.
func TestScanForgets(t *testing.T) {
	const movies, size = 3000, 4000
	var specs []ResourceSpec
	for id := fragment.ID(1); id <= movies; id++ {
		specs = append(specs, Resource(id, Frag(Details, Lit(strings.Repeat(fmt.Sprintf("%016x", xxh3.Hash(Movie(id))), size/16)))))
	}
	r := Written(t, specs...)
	mapped := func() (kb int) {
		for _, p := range r.Manifest().Parts {
			kb += mappedKB(t, r.File(p.Name).Path())
		}
		return kb
	}
	s := Scan{Reader: r}
	for id := range fragment.ID(movies) {
		e, ok := s.Resource(Movie(id + 1))
		if pieces, _ := Pieces(e.Fragment(0)); !ok || len(pieces) != 1 || len(pieces[0].Text()) != size {
			t.Fatalf("movie %d is incomplete or missing", id+1)
		}
	}
	if kb := mapped(); kb == 0 || kb > 3<<10 {
		t.Errorf("%d KB are mapped after a scan of %d KB, want 1 to 3072", kb, movies*size>>10)
	}
	s.Close()
	if kb := mapped(); kb > 1<<10 {
		t.Errorf("%d KB are mapped after Close, want at most 1024", kb)
	}
}

// mappedKB returns the mapped memory of a file, from /proc/self/smaps.
func mappedKB(t *testing.T, path string) (kb int) {
	t.Helper()
	all, err := os.ReadFile("/proc/self/smaps")
	sharedtest.NoError(t, err)
	_, text, ok := bytes.Cut(all, []byte(path+"\n"))
	_, text, _ = bytes.Cut(text, []byte("\nRss:"))
	if _, err := fmt.Sscan(string(text[:min(40, len(text))]), &kb); !ok || err != nil {
		t.Skipf("no memory of %s in smaps: %v", path, err)
	}
	return kb
}
