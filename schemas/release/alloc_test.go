//go:build !race

package release

import "testing"

func TestReadAllocs(t *testing.T) {
	r := mustOpen(t, "testdata/v1")
	keys := [][]byte{movie(550), []byte("\x40tt0137523"), movie(1)}
	n := testing.AllocsPerRun(1000, func() {
		for _, key := range keys {
			e, _ := r.Lookup(key)
			for i := range e.Len() {
				f, _ := e.Find(e.Address(i))
				for k := range f.Len() {
					p, _ := f.Piece(k)
					if p.Op == OpReference {
						r.EntryAt(p.Ref)
					}
				}
			}
		}
	})
	if n != 0 {
		t.Errorf("Lookup, Find and Piece allocate %v times, want 0", n)
	}
	if n := testing.AllocsPerRun(1000, func() { CombineCRC(1, 2, CRCOp(3)) }); n != 0 {
		t.Errorf("CombineCRC and CRCOp allocate %v times, want 0", n)
	}
}
