package release

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
)

// FuzzOpen reads all of a release whose three kinds of files are foreign.
func FuzzOpen(f *testing.F) {
	m, err := readManifest(archive)
	if err != nil {
		f.Fatal(err)
	}
	index, pack := readFile(f, archive, indexName(0)), readFile(f, archive, m.Packs[0].Name)
	for _, p := range m.Parts {
		f.Add(index, readFile(f, archive, p.Name), pack, false)
		f.Add(index, readFile(f, archive, p.Name), pack, true)
	}
	f.Add(index[:headerLen], index[:headerLen], pack[:headerLen], true)
	f.Fuzz(func(t *testing.T, index, part, pack []byte, fix bool) {
		m := &Manifest{}
		r := newReader(m, false)
		file := func(name string, data []byte) []File {
			data = bytes.Clone(data)
			if fix {
				data = releasetest.Mended(data)
			}
			r.files[name] = newMapping(r, name, data)
			return []File{{Name: name, Size: int64(len(data))}}
		}
		// The part lists the pack by whatever name it has there.
		name := packPrefix
		if foot, err := parseFooter("", part, uint64(len(part))); err == nil && foot.content >= packNameLen {
			name += hex.EncodeToString(part[foot.content-packNameLen:][:packNameLen])
		}
		m.Parts, m.Index, m.Packs = file(partPrefix, part), file(indexName(0), index), file(name, pack)
		if err := Guard(r.parse); err != nil {
			return
		}
		_ = Guard(func() error { walkReader(r); return nil })
		v := &verifier{r: r, o: VerifyOptions{Subset: 1, Of: 1}}
		if err := v.content(t.Context()); err != nil {
			t.Errorf("content() = %v", err)
		}
	})
}

// FuzzRecipe accepts only recipes that are written again as the same bytes, but for
// segments that could have been near and the form of literals.
func FuzzRecipe(f *testing.F) {
	stored := plain("abc")
	pack := append(make([]byte, headerLen), slices.Concat(stored.Stored, stored.Stored)...)
	end := uint64(headerLen + len(stored.Stored))
	for _, p := range [][]byte{
		appendPiece(nil, &PieceSpec{Op: OpSegment, Segment: stored}, headerLen, headerLen),
		appendPiece(nil, &PieceSpec{Op: OpSegment, Segment: stored}, end, headerLen),
		appendPiece(nil, &PieceSpec{Op: OpSegment, Segment: stored}, headerLen, end),
		{byte(OpIDMark), byte(OpPageMark), byte(OpIDEnd)},
		appendPiece(nil, &PieceSpec{Op: OpReference, Shared: genresKey, Sub: fragment.SubGenres}, 0, 0),
		appendPiece(nil, &PieceSpec{Op: OpReference, Shared: make([]byte, fragment.MaxKeyLen), Sub: maxSub}, 0, 0),
		appendPiece(nil, &PieceSpec{Op: OpInclude, Include: include(550).Include}, 0, 0),
		appendPiece(nil, &PieceSpec{Op: OpInclude, Include: Include{Kind: fragment.KindEpisode, ID: 1399, Season: 1, Episode: 2, Sub: fragment.SubMediaRow}}, 0, 0),
		appendPiece([]byte{byte(OpIDMark)}, &PieceSpec{Op: OpName, Word: WordSpecials, Number: math.MaxUint32}, 0, 0),
		appendPiece([]byte{byte(OpIDMark)}, &PieceSpec{Op: OpLiteral, Literal: bytes.Repeat([]byte("x"), 300)}, 0, 0),
		appendPiece(nil, &PieceSpec{Op: OpLiteral, Literal: []byte(`},{"credit_id":"52fe4250c3a36847f80149f3"` + "\x01")}, 0, 0),
	} {
		f.Add(p, uint64(headerLen))
		f.Add(p, uint64(0))
	}
	f.Fuzz(func(t *testing.T, recipe []byte, base uint64) {
		m := &mapping{name: "pack", data: pack}
		frag := Fragment{p: &part{packs: []*mapping{m}}, off: 1 << 20, base: base, recipe: recipe}
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
		if c.Broken() == (len(c.rest) == 0 && recipe != nil) {
			t.Errorf("Broken() = %v with %d bytes left of %d", c.Broken(), len(c.rest), len(recipe))
		}
	})
}

// FuzzManifest accepts only what names files that lie in the folder of the release.
func FuzzManifest(f *testing.F) {
	f.Add(readFile(f, archive, ManifestName))
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

// FuzzHistory reads the file current.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("r0123456789abcdef\n"))
	f.Add([]byte("r0123456789abcdef\nr0123456789abcdee\n"))
	f.Add([]byte("../../etc\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ids, err := ParseHistory(data)
		if err == nil && len(data) != 18*len(ids) {
			t.Errorf("ParseHistory(%q) = %q", data, ids)
		}
	})
}

// FuzzSegment inflates foreign bytes.
func FuzzSegment(f *testing.F) {
	f.Add(plain("abc").Stored, 3)
	f.Add(deflated("abcabcabcabc").Stored, 12)
	f.Fuzz(func(t *testing.T, stored []byte, rawLen int) {
		var z segmentChecker
		g := Segment{Stored: stored, RawLen: uint32(rawLen)}
		first, second := z.check(&g), z.check(&g)
		if first != second {
			t.Errorf("check(%x) = %q, then %q", stored, first, second)
		}
		_, appended := z.z.Append(nil, &g)
		if written := z.z.WriteTo(io.Discard, &g); (appended == nil) != (written == nil) {
			t.Errorf("Append(%x) = %v, WriteTo = %v", stored, appended, written)
		}
	})
}
