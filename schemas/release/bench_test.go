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
		step := func(key []byte, i *uint64) bool {
			*i = *i*6364136223846793005 + 1442695040888963407
			e, ok := r.Lookup(fragment.AppendID(key, fragment.KindMovie, fragment.ID(*i>>33)%fragment.ID(n)))
			f, ok2 := e.Find(Videos)
			var p Piece
			c := f.Pieces()
			return ok && ok2 && c.Next(&p) && p.Op == OpSegment
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			key, i := make([]byte, 0, fragment.MaxKeyLen), uint64(1)
			for b.Loop() {
				if !step(key, &i) {
					b.Fatal("not found")
				}
			}
		})
		b.Run(fmt.Sprintf("parallel/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				key, i := make([]byte, 0, fragment.MaxKeyLen), uint64(1)
				for pb.Next() {
					if !step(key, &i) {
						b.Error("not found")
					}
				}
			})
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		r, err := Open(archive)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCombineCRC(b *testing.B) {
	op, crc := CRCOp(12345), uint32(1)
	for b.Loop() {
		crc = CombineCRC(crc, 7, op)
	}
	if crc == 0 {
		b.Fatal("the CRC is 0")
	}
}

func BenchmarkAdd(b *testing.B) {
	w, err := Create(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s, err := w.Part(nil)
	if err != nil {
		b.Fatal(err)
	}
	g := Seg(Plain("a segment of the usual length, which is some hundred bytes for the most part"))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r := ResourceSpec{Key: Movie(fragment.ID(i)), Fragments: []FragmentSpec{Frag(Details, g), Frag(Videos, g)}}
		if err := s.Add(r); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Abort(); err != nil {
		b.Fatal(err)
	}
}
