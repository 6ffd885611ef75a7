package release

import (
	"bytes"
	"testing"

	"reelsplice/schemas/fragment"
)

// FuzzOpen reads all of a release whose three kinds of files are foreign.
func FuzzOpen(f *testing.F) {
	index, directory := readFile(f, archive, indexFile), readFile(f, archive, directoryFile)
	pack := readFile(f, archive, packName(0))
	f.Add(index, directory, pack, false)
	f.Add(index, directory, pack, true)
	f.Add(index[:headerLen], directory[:headerLen], pack[:headerLen], true)
	f.Fuzz(func(t *testing.T, index, directory, pack []byte, fix bool) {
		files := map[string][]byte{}
		m := &Manifest{}
		for _, file := range []struct {
			name string
			data []byte
		}{{directoryFile, directory}, {indexFile, index}, {packName(0), pack}} {
			data := bytes.Clone(file.data)
			if fix {
				fixHeader(data)
			}
			files[file.name] = data
			m.Files = append(m.Files, File{Name: file.name, Size: int64(len(data))})
		}
		r, err := newReader(m, func(f File) ([]byte, error) { return files[f.Name], nil })
		if err != nil {
			return
		}
		walkReader(r)
		v := newVerifier(r, VerifyOptions{Subset: 1, Of: 1}, nil)
		if err := v.content(t.Context()); err != nil {
			t.Errorf("content() = %v", err)
		}
	})
}

// FuzzPiece accepts only rows of a piece table that are written again as the same bytes.
func FuzzPiece(f *testing.F) {
	pack := append(make([]byte, headerLen), plain("abc").Stored...)
	for _, p := range []PieceSpec{
		seg(plain("abc")),
		{Op: OpIDMark},
		{Op: OpPageMark},
		{Op: OpReference, Ref: headerLen, Sub: fragment.SubGenres},
		include(550),
		{Op: OpInclude, Include: Include{Kind: fragment.KindEpisode, ID: 1399, Season: 1, Episode: 2, Sub: fragment.SubMediaRow}},
		{Op: OpIDEnd},
		{Op: OpName, Word: WordSpecials},
	} {
		f.Add(appendRow(nil, &p, headerLen))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		if len(row) != pieceLen {
			return
		}
		frag := Fragment{r: &Reader{packs: [][]byte{pack}}, ref: 1 << 20, table: row, n: 1}
		p, ok := frag.Piece(0)
		if !ok || !reservedZero(p.Op, row) {
			return
		}
		where := uint64(p.Pack)<<wherePackShift | uint64(p.Offset)
		spec := PieceSpec{Op: p.Op, Segment: p.Segment, Ref: p.Ref, Sub: p.Sub, Include: p.Include, Word: p.Word, Number: p.Number}
		if again := appendRow(nil, &spec, where); !bytes.Equal(again, row) {
			t.Errorf("Piece() of %x = %+v, which is written as %x", row, p, again)
		}
	})
}

// FuzzManifest accepts only what encodes back to the same bytes.
func FuzzManifest(f *testing.F) {
	f.Add(readFile(f, archive, manifestFile))
	f.Add([]byte(`{"format_version": 2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		if again, err := m.encode(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("parseManifest(%q) encodes to %q, %v", data, again, err)
		}
	})
}

// FuzzHistory reads the file current.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("r0123456789abcdef\n"))
	f.Add([]byte("r0123456789abcdef\nr0123456789abcdee\n"))
	f.Add([]byte("../../etc\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ids, err := parseHistory(data)
		if err == nil && len(data) != 18*len(ids) {
			t.Errorf("parseHistory(%q) = %q", data, ids)
		}
	})
}

// FuzzSegment inflates foreign bytes.
func FuzzSegment(f *testing.F) {
	f.Add(plain("abc").Stored, 3)
	f.Add(deflated("abcabcabcabc").Stored, 12)
	f.Fuzz(func(t *testing.T, stored []byte, rawLen int) {
		var z inflater
		g := Segment{Stored: stored, RawLen: uint32(rawLen)}
		first, second := z.check(&g), z.check(&g)
		if first != second {
			t.Errorf("check(%x) = %q, then %q", stored, first, second)
		}
	})
}
