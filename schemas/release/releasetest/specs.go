package releasetest

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// segmentOf describes raw as stored bytes.
func segmentOf(raw string, stored []byte) release.Segment {
	return release.Segment{
		Stored: stored, RawLen: uint32(len(raw)), CRC: crc32.ChecksumIEEE([]byte(raw)),
		Op: release.CRCOp(uint64(len(raw))), Hash: release.HashOf([]byte(raw)),
	}
}

// Plain returns raw, at most 65535 bytes, in one stored block. Its bytes never change.
func Plain(raw string) release.Segment {
	n := uint16(len(raw))
	stored := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16([]byte{0}, n), ^n)
	return segmentOf(raw, append(stored, raw...))
}

// Deflated returns raw compressed.
func Deflated(raw string) release.Segment {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 6) // the level is valid
	_, _ = w.Write([]byte(raw))    // a buffer takes all
	_ = w.Flush()
	return segmentOf(raw, b.Bytes())
}

// Seg returns the piece of a segment.
func Seg(g release.Segment) release.PieceSpec {
	return release.PieceSpec{Op: release.OpSegment, Segment: g}
}

// Lit returns a literal.
func Lit(text string) release.PieceSpec {
	return release.PieceSpec{Op: release.OpLiteral, Literal: []byte(text)}
}

// RowOf returns an include of a movie's row.
func RowOf(id uint64) release.PieceSpec {
	return release.PieceSpec{Op: release.OpInclude, Include: release.Include{Kind: fragment.KindMovie, ID: id, Sub: fragment.SubRow}}
}

// Frag returns a fragment of pieces.
func Frag(a fragment.Address, pieces ...release.PieceSpec) release.FragmentSpec {
	return release.FragmentSpec{Address: a, Pieces: pieces}
}

// Addresses of fragments.
var (
	Details   = fragment.Address{Sub: fragment.SubDetails}
	DetailsDE = fragment.Address{Sub: fragment.SubDetails, Variant: fragment.Language("de", "DE")}
	Videos    = fragment.Address{Sub: fragment.SubVideos}
	Genres    = fragment.Address{Sub: fragment.SubGenres}
	Row       = fragment.Address{Sub: fragment.SubRow}
	Credits   = fragment.Address{Sub: fragment.SubCredits}
)

// Movie returns the key of a movie.
func Movie(id fragment.ID) []byte { return fragment.AppendID(nil, fragment.KindMovie, id) }

// Resource returns a movie with fragments.
func Resource(id fragment.ID, fragments ...release.FragmentSpec) release.ResourceSpec {
	return release.ResourceSpec{Key: Movie(id), ID: uint64(id), Fragments: fragments}
}

// Removed returns the entry of a removed movie. into is 0 if it was deleted.
func Removed(id, into fragment.ID) release.ResourceSpec {
	r := release.ResourceSpec{Key: fragment.AppendRemoved(nil, Movie(id))}
	if into != 0 {
		r.Fragments = []release.FragmentSpec{Frag(fragment.Address{Sub: fragment.SubMergedInto}, Seg(Deflated(string(Movie(into)))))}
	}
	return r
}

// MustOpen opens a release until the test ends.
func MustOpen(tb testing.TB, dir string) *release.Reader {
	tb.Helper()
	r, err := release.Open(dir)
	sharedtest.NoError(tb, err)
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// Seal completes a release, and returns its manifest.
func Seal(tb testing.TB, w *Writer) release.Manifest {
	tb.Helper()
	m, err := w.Seal(tb.Context())
	if err != nil {
		tb.Fatalf("Seal() = %v", err)
	}
	return m
}

// Write writes resources into a release of two parts, half into each, and returns its folder.
func Write(tb testing.TB, rs ...release.ResourceSpec) string {
	tb.Helper()
	dir := tb.TempDir()
	w, err := Create(dir)
	half := len(rs) / 2
	if err == nil {
		err = w.Add(rs[:half]...)
	}
	if err == nil {
		err = w.Add(rs[half:]...)
	}
	sharedtest.NoError(tb, err)
	return filepath.Join(dir, Seal(tb, w).ID)
}

// Written opens a release of resources.
func Written(tb testing.TB, rs ...release.ResourceSpec) *release.Reader {
	tb.Helper()
	return MustOpen(tb, Write(tb, rs...))
}

// Pieces returns the pieces of f; false if its bytes break the format.
func Pieces(f release.Fragment) (all []release.Piece, ok bool) {
	var p release.Piece // reused, as in production code
	c := f.Pieces()
	for c.Next(&p) {
		all = append(all, p)
	}
	return all, !c.Broken
}

// PackOf returns the name of the pack with the first segment of a resource.
func PackOf(tb testing.TB, dir string, key []byte) string {
	tb.Helper()
	e, _ := MustOpen(tb, dir).Lookup(key)
	for i := range e.Len() {
		pieces, _ := Pieces(e.Fragment(i))
		for _, p := range pieces {
			if p.Op == release.OpSegment {
				file, _ := p.Segment.Place()
				return file
			}
		}
	}
	tb.Fatalf("%s has no segment", fragment.DescribeKey(key))
	return ""
}
