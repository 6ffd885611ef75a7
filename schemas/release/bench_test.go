package release_test

import (
	"fmt"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
)

// benchRelease has n movies of three fragments each.
func benchRelease(b *testing.B, n int) *Reader {
	b.Helper()
	rs := make([]ResourceSpec, n)
	for i := range rs {
		g := Seg(Plain(fmt.Sprint("movie ", i)))
		rs[i] = Resource(fragment.ID(i), Frag(Details, g), Frag(DetailsDE, g), Frag(Videos, g))
	}
	return Written(b, rs...)
}

func BenchmarkLookupFind(b *testing.B) {
	for _, n := range []int{1000, 200_000} {
		r := benchRelease(b, n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			key, i := make([]byte, 0, fragment.MaxKeyLen), uint64(1)
			for b.Loop() {
				i = i*6364136223846793005 + 1442695040888963407
				e, ok := r.Lookup(fragment.AppendID(key, fragment.KindMovie, fragment.ID(i>>33)%fragment.ID(n)))
				f, ok2 := e.Find(Videos)
				var p Piece
				c := f.Pieces()
				if !ok || !ok2 || !c.Next(&p) || p.Op != OpSegment {
					b.Fatal("not found")
				}
			}
		})
	}
}
