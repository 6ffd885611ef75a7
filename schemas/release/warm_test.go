package release_test

import (
	"os"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// warmAddresses are of fragments in the order in which their segments are to lie.
func warmAddresses() []fragment.Address {
	german := fragment.Language("de", "")
	return []fragment.Address{
		// What many responses have.
		{Sub: fragment.SubDetails},
		{Sub: fragment.SubVideos},
		// All other, by address.
		{Sub: fragment.SubDetails, Variant: german},
		{Sub: fragment.SubReviews, Page: 1},
		{Sub: fragment.SubTranslations},
		{Sub: fragment.SubVideos, Variant: german},
	}
}

// warmRelease makes a release of one movie with those fragments, each of a segment of its own.
func warmRelease(t *testing.T) *Reader {
	t.Helper()
	spec := ResourceSpec{Key: Movie(1), ID: 1}
	for _, a := range slices.Backward(warmAddresses()) {
		spec.Fragments = append(spec.Fragments, FragmentSpec{Address: a, Pieces: []PieceSpec{{Op: OpSegment, Segment: Deflated(a.String())}}})
	}
	return Written(t, spec)
}

// TestSegmentOrder: segments that many responses have lie side by side, before all others.
func TestSegmentOrder(t *testing.T) {
	r := warmRelease(t)
	e, ok := r.Lookup(Movie(1))
	if !ok {
		t.Fatal("the movie is not there")
	}
	end := int64(HeaderLen)
	for _, a := range warmAddresses() {
		f, _ := e.Find(a)
		var p Piece
		if c := f.Pieces(); !c.Next(&p) || p.Op != OpSegment {
			t.Fatalf("%s has no segment", a)
		}
		if _, off := p.Segment.Place(); off != end {
			t.Errorf("the segment of %s lies at %d, want %d", a, off, end)
		}
		end += int64(len(p.Segment.Stored))
	}
}

// TestWarm: Warm reads indexes and checks, and no more than its limit.
func TestWarm(t *testing.T) {
	r := warmRelease(t)
	r.Forget()
	for _, f := range r.Manifest().Files() {
		f, err := os.Open(r.File(f.Name).Path())
		sharedtest.NoError(t, err)
		file.DropCache(f, 0, 0)
		_ = f.Close()
	}
	index, pack := r.File("index-0000").Bytes(), r.File(r.Manifest().Packs[0].Name).Checks()
	inMemory := func(want bool, what string) {
		t.Helper()
		for _, b := range [][]byte{index, pack} {
			if file.Resident(b) != want {
				t.Errorf("%s: %d bytes are in memory: %v, want %v", what, len(b), !want, want)
			}
		}
	}
	if file.Resident(index) {
		t.Skip("this file system keeps its pages in memory")
	}
	r.Warm(t.Context(), 0)
	inMemory(false, "nothing allowed")
	r.Warm(t.Context(), 1<<20)
	inMemory(true, "all allowed")
}
