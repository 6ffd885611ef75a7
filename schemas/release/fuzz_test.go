package release

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// FuzzRecipe accepts only recipes that are written again as the same bytes, but for
// segments that could have been near and the form of literals.
func FuzzRecipe(f *testing.F) {
	abc := []byte("abc")
	stored := Segment{Stored: append([]byte{0, 3, 0, 0xfc, 0xff}, abc...), RawLen: 3, CRC: crc32.ChecksumIEEE(abc), Op: CRCOp(3), Hash: HashOf(abc)}
	pack := append(make([]byte, HeaderLen), slices.Concat(stored.Stored, stored.Stored)...)
	end := uint64(HeaderLen + len(stored.Stored))
	for _, p := range [][]byte{
		appendPiece(nil, &PieceSpec{Op: OpSegment, Segment: stored}, HeaderLen, HeaderLen),
		appendPiece(nil, &PieceSpec{Op: OpSegment, Segment: stored}, end, HeaderLen),
		appendPiece(nil, &PieceSpec{Op: OpSegment, Segment: stored}, HeaderLen, end),
		{byte(OpIDMark), byte(OpPageMark), byte(OpIDEnd)},
		appendPiece(nil, &PieceSpec{Op: OpReference, Shared: []byte("a key"), Sub: fragment.SubGenres}, 0, 0),
		appendPiece(nil, &PieceSpec{Op: OpReference, Shared: make([]byte, fragment.MaxKeyLen), Sub: maxSub}, 0, 0),
		appendPiece(nil, &PieceSpec{Op: OpInclude, Include: Include{Kind: fragment.KindMovie, ID: 550, Sub: fragment.SubRow}}, 0, 0),
		appendPiece(nil, &PieceSpec{Op: OpInclude, Include: Include{Kind: fragment.KindEpisode, ID: 1399, Season: 1, Episode: 2, Sub: fragment.SubMediaRow}}, 0, 0),
		appendPiece([]byte{byte(OpIDMark)}, &PieceSpec{Op: OpName, Word: WordSpecials, Number: math.MaxUint32}, 0, 0),
		appendPiece([]byte{byte(OpIDMark)}, &PieceSpec{Op: OpLiteral, Literal: bytes.Repeat([]byte("x"), 300)}, 0, 0),
		appendPiece(nil, &PieceSpec{Op: OpLiteral, Literal: []byte(`},{"credit_id":"52fe4250c3a36847f80149f3"` + "\x01")}, 0, 0),
	} {
		f.Add(p, uint64(HeaderLen))
		f.Add(p, uint64(0))
	}
	f.Fuzz(func(t *testing.T, recipe []byte, base uint64) {
		m := &Mapping{name: "pack", data: pack}
		frag := Fragment{p: &part{packs: []*Mapping{m}}, off: 1 << 20, base: base, recipe: recipe}
		var again []byte
		var p Piece
		c := frag.Pieces()
		for before := len(c.rest); c.Next(&p); before = len(c.rest) {
			if p.Op == OpLiteral { // Verify checks which of its two forms it has
				again = append(again, recipe[len(recipe)-before:len(recipe)-len(c.rest)]...)
				continue
			}
			where := uint64(p.Pack)<<wherePackShift | uint64(p.Offset)
			spec := PieceSpec{Op: p.Op, Segment: p.Segment, Shared: p.Shared, Sub: p.Sub, Include: p.Include, Word: p.Word, Number: p.Number}
			near := base
			if recipe[len(recipe)-before] == byte(opFar) {
				near = 0 // whether it should have been near is for Verify to say
			}
			again = appendPiece(again, &spec, where, near)
		}
		if want := recipe[:len(recipe)-len(c.rest)]; !bytes.Equal(again, want) {
			t.Errorf("pieces of %x from %x on are written as %x", want, base, again)
		}
		if c.Broken == (len(c.rest) == 0 && recipe != nil) {
			t.Errorf("Broken() = %v with %d bytes left of %d", c.Broken, len(c.rest), len(recipe))
		}
	})
}

// FuzzManifest accepts only what names files that lie in the folder of the release.
func FuzzManifest(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "v9", ManifestName))
	sharedtest.NoError(f, err)
	f.Add(data)
	f.Add(fmt.Appendf(nil, `{"format_version": %d}`, WriteMin))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			return
		}
		for _, file := range m.Files() {
			if !ValidID(m.ID) || file.Name != filepath.Base(file.Name) {
				t.Errorf("release %q has the file %q", m.ID, file.Name)
			}
		}
	})
}
