//go:build !race

package release_test

import (
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
)

func TestReadAllocs(t *testing.T) {
	r := MustOpen(t, archive)
	keys := [][]byte{Movie(550), []byte("\x40\x01tt0137523"), Movie(1), fragment.AppendSeason(nil, 1399, 1)}
	n := testing.AllocsPerRun(1000, func() {
		var p Piece
		for _, key := range keys {
			e, _ := r.Lookup(key)
			for i := range e.Len() {
				f, _ := e.Find(e.Address(i))
				for c := f.Pieces(); c.Next(&p); {
					switch p.Op {
					case OpReference:
						r.Lookup(p.Shared)
					case OpInclude:
						r.Include(p.Include)
					default:
					}
				}
			}
		}
	})
	if n != 0 {
		t.Errorf("Lookup, Find, Next and Include allocate %v times, want 0", n)
	}
	list := [][]byte{Movie(550), Movie(1)}
	if n := testing.AllocsPerRun(1000, func() { r.AwaitKeys(len(list), func(i int) []byte { return list[i] }) }); n != 0 {
		t.Errorf("AwaitKeys allocates %v times, want 0", n)
	}
	if n := testing.AllocsPerRun(1000, func() { CombineCRC(1, 2, CRCOp(3)) }); n != 0 {
		t.Errorf("CombineCRC and CRCOp allocate %v times, want 0", n)
	}
}
