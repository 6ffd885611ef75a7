package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reelsplice/schemas/fragment"
)

// copyArchive returns a copy of the archive that may be broken.
func copyArchive(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(archive)); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func readFile(tb testing.TB, elem ...string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func writeFile(tb testing.TB, data []byte, elem ...string) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(elem...), data, 0o644); err != nil {
		tb.Fatal(err)
	}
}

// fixHeader makes length and CRC of a header those of the file.
func fixHeader(b []byte) {
	if len(b) < headerLen {
		return
	}
	le.PutUint64(b[headerFileLen:], uint64(len(b)))
	le.PutUint32(b[headerCRC:], crc32.ChecksumIEEE(b[:headerCRC]))
}

// fixManifest makes the manifest in dir that of the files there.
func fixManifest(tb testing.TB, dir string, change func(*Manifest)) {
	tb.Helper()
	m := new(Manifest)
	*m = *mustOpen(tb, archive).Manifest()
	m.Files = slices.Clone(m.Files)
	for i, f := range m.Files {
		var err error
		if m.Files[i], err = hashFile(context.Background(), filepath.Join(dir, f.Name), nil); err != nil {
			tb.Fatal(err)
		}
	}
	if change != nil {
		change(m)
	}
	var err error
	if m.ID, err = m.contentID(); err != nil {
		tb.Fatal(err)
	}
	data, err := m.encode()
	if err != nil {
		tb.Fatal(err)
	}
	writeFile(tb, data, dir, manifestFile)
}

var archiveFiles = []string{directoryFile, indexFile, packName(0), packName(1), packName(2), packName(4), packName(5), packName(7)}

// TestOpenNamesFile breaks the length of each file, and its header byte by byte.
func TestOpenNamesFile(t *testing.T) {
	for _, name := range append(archiveFiles, manifestFile) {
		dir := copyArchive(t)
		whole := readFile(t, dir, name)
		refused := func(what string, data []byte, words ...string) {
			t.Helper()
			writeFile(t, data, dir, name)
			r, err := Open(dir)
			if err == nil {
				err = r.Close()
				t.Errorf("Open with %s of %s succeeds (%v)", what, name, err)
				return
			}
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
				t.Errorf("Open with %s of %s = %v, which is neither ErrCorrupt nor ErrVersion", what, name, err)
			}
			for _, w := range append(words, name) {
				if strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), w) {
					t.Errorf("Open with %s of %s = %q, want one line with %q", what, name, err, w)
				}
			}
		}
		sizes := []string{}
		if name != manifestFile {
			sizes = []string{fmt.Sprintf("file is %d bytes long, the manifest says %d", len(whole)-1, len(whole))}
		}
		refused("the last byte less", whole[:len(whole)-1], sizes...)
		refused("nothing", nil)
		refused("a byte more", append(slices.Clone(whole), '\n'))
		n := headerLen
		if name == manifestFile {
			n = len(whole)
		}
		for i := range n {
			flipped := slices.Clone(whole)
			flipped[i] ^= 1 << (i % 8)
			refused(fmt.Sprintf("bit %d of byte %d flipped", i%8, i), flipped)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Open without %s = %v, want an error with its name", name, err)
		}
	}
}

func TestOpenVersion(t *testing.T) {
	dir := copyArchive(t)
	m := readFile(t, dir, manifestFile)
	writeFile(t, bytes.Replace(m, []byte(`"format_version": 2`), []byte(`"format_version": 3`), 1), dir, manifestFile)
	_, err := Open(dir)
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "format version is 3, this program reads 1 to 2") {
		t.Errorf("Open(version 3) = %v, want ErrVersion", err)
	}
	var bad *CorruptError
	if err := corrupt("x", 1, "y"); !errors.As(err, &bad) || bad.Error() != "x: offset 1: y" {
		t.Errorf("corrupt() = %v", err)
	}
}

// TestVerifyFindsEveryFlip flips one bit in each byte behind the headers.
func TestVerifyFindsEveryFlip(t *testing.T) {
	dir := copyArchive(t)
	for _, name := range archiveFiles {
		whole := readFile(t, dir, name)
		for i := headerLen; i < len(whole); i += 1 + i%3 {
			flipped := slices.Clone(whole)
			flipped[i] ^= 1 << (i % 8)
			writeFile(t, flipped, dir, name)
			problems, err := Verify(context.Background(), dir, VerifyOptions{}, nil)
			if err != nil || !slices.ContainsFunc(problems, func(p Problem) bool { return p.File == name }) {
				t.Fatalf("Verify() with byte %d of %s changed = %v, %v, want a problem there", i, name, problems, err)
			}
		}
		writeFile(t, whole, dir, name)
	}
	noProblems(t, dir)
}

// TestVerifyNamesPlace changes one thing at a time and mends the sums, so that only
// the check of that thing can find it.
func TestVerifyNamesPlace(t *testing.T) {
	const ( // offsets in the directory; v1.dump has all of them
		movie550, alias                 = 0xd8, 0x278
		include, seasonRow, name, idEnd = 0x510, 0x668, 0x4b0, 0x5d0
	)
	put := func(off int, bytes ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[off:], bytes); return b }
	}
	for _, c := range []struct {
		file   string
		change func([]byte) []byte
		want   string
	}{
		{indexFile, put(0xa8, 9), `index: offset 168: slot leads to 72 in the directory, where no block can start`},
		{indexFile, put(0xae, 0), `index: offset 168: genres of movie "18,53": slot is 0d00000000000008, want 0d27000000000008`},
		{indexFile, put(0x68, 0, 0, 0, 0, 0, 0, 0, 0), `directory: offset 664: movie 551: the index does not lead here`},
		{indexFile, put(0x68, 0, 0, 0, 0, 0, 0, 0, 0), `index: offset 32: header says 9 slots are in use, 8 are`},
		{indexFile, func(b []byte) []byte {
			copy(b[0x80:], b[0x68:0x70])
			return put(0x68, make([]byte, 8)...)(b)
		}, `index: offset 128: movie 551: slot 8 cannot be found from its ideal slot 5`},
		{directoryFile, put(movie550, 65), `directory: offset 216: no block can start with 41 01 03 00 07 00 00 00`},
		{directoryFile, put(movie550+1, 3), `directory: offset 216: no block can start with 09 03`},
		{directoryFile, put(movie550+1, 2), `directory: offset 216: no block can start with 09 02`},
		{directoryFile, put(movie550+4, 0xff, 0xff, 0xff, 0xff), `directory: offset 216: no block can start with`},
		{directoryFile, put(movie550+25, 1), `directory: offset 241: movie 550: padding is 01 00 00 00 00 00 00, want zeros`},
		{directoryFile, put(alias+8, 0x48), `directory: offset 632: alias alias of movie "tt0137523" leads to 72, where no resource starts`},
		{directoryFile, put(movie550+32+14, 1), `directory: offset 262: movie 550 details: reserved bytes are not zero`},
		{directoryFile, put(movie550+32+8, 7), `directory: offset 256: movie 550 details: pieces from 7 on, 3 of them, are not among the 7 of the resource`},
		{directoryFile, put(movie550+32+12, 0), `directory: offset 256: movie 550 details: pieces from 0 on, 0 of them`},
		{directoryFile, put(movie550+32+6, 0x18), `directory: offset 264: movie 550 similar page 2: address is not above the one before`},
		{directoryFile, put(0x150, 9), `directory: offset 296: movie 550 details: piece 0, op-9, breaks the format`},
		{directoryFile, put(0x12e, 3), `movie 550 details: piece 0, segment, breaks the format or leads outside the files`},
		{directoryFile, put(0x130, 0xff), `movie 550 details: piece 0, segment, breaks the format or leads outside the files`},
		{directoryFile, put(0x128, 0x3f), `movie 550 details: piece 0, segment, breaks the format or leads outside the files`},
		{directoryFile, put(0x158, 0xd8), `directory: offset 344: movie 550 details: piece 1, reference, breaks the format`},
		{directoryFile, put(0x182, 1), `directory: offset 344: movie 550 details: piece 1, reference, leads to details of a resource at 64, which is not there`},
		{directoryFile, put(0x151, 1), `directory: offset 296: movie 550 details: piece 0, segment, has bytes that have to be zero`},
		{directoryFile, put(0x160, 1), `directory: offset 344: movie 550 details: piece 1, reference, has bytes that have to be zero`},
		{directoryFile, put(0x220, 1), `directory: offset 536: movie 550 videos: piece 0, id mark, has bytes that have to be zero`},
		{directoryFile, put(include+pieceCRC, 0), `directory: offset 1296: season 1399 1 credits: piece 1, include, breaks the format`},
		{directoryFile, put(include+pieceCRC, 10), `season 1399 1 credits: piece 1, include, breaks the format`},
		{directoryFile, put(include+pieceCRC+1, 1), `season 1399 1 credits: piece 1, include, breaks the format`},
		{directoryFile, put(include+pieceStored, 1), `season 1399 1 credits: piece 1, include, breaks the format`},
		{directoryFile, put(include+pieceRaw, 1), `season 1399 1 credits: piece 1, include, breaks the format`},
		{directoryFile, put(include+pieceSub, 0), `season 1399 1 credits: piece 1, include, breaks the format`},
		{directoryFile, put(include+pieceCRCOp, 1), `season 1399 1 credits: piece 1, include, has bytes that have to be zero`},
		{directoryFile, put(include, 14), `directory: offset 1296: season 1399 1 credits: piece 1, include, leads to movie 14 row, a resource which is not there`},
		{directoryFile, put(include+pieceSub, 0x1d), `piece 1, include, leads to movie 13 videos, of which neither the resource nor the default of its kind has the base`},
		{directoryFile, put(seasonRow+pieceRaw, 1), `directory: offset 1640: episode 1399 1 2 details: piece 0, include, breaks the format`},
		{directoryFile, put(name+4, 1), `directory: offset 1200: season 1399 1 details: piece 1, name, breaks the format`},
		{directoryFile, put(name+pieceSub, 0), `season 1399 1 details: piece 1, name, breaks the format`},
		{directoryFile, put(name+pieceSub, 4), `season 1399 1 details: piece 1, name, breaks the format`},
		{directoryFile, put(name+pieceSub+1, 1), `season 1399 1 details: piece 1, name, breaks the format`},
		{directoryFile, put(name+pieceStored, 1), `season 1399 1 details: piece 1, name, has bytes that have to be zero`},
		{directoryFile, put(idEnd, 1), `season 1399 1 credits: piece 5, id end, has bytes that have to be zero`},
		{directoryFile, put(idEnd+pieceSub, 1), `season 1399 1 credits: piece 5, id end, has bytes that have to be zero`},
		{directoryFile, put(0x134, 14), `pack-00001: offset 64: movie 550 details: it inflates to 15 bytes, want 14`},
		{directoryFile, put(0x134, 16), `pack-00001: offset 64: movie 550 details: it inflates to 15 bytes, want 16`},
		{directoryFile, put(0x138, 0), `pack-00001: offset 64: movie 550 details: CRC is f20b5fc4, want f20b5f00`},
		{directoryFile, put(0x13c, 0), `pack-00001: offset 64: movie 550 details: CRC operator is 60c76f00, want 60c76fe0`},
		{directoryFile, put(0x140, 0), `pack-00001: offset 64: movie 550 details: hash is 378f`},
		{directoryFile, put(headerCounts, 10), `directory: offset 24: header counts 10, the blocks have 9`},
		{packName(1), put(0x45, 'x'), `pack-00001: offset 64: movie 550 details: CRC is`},
		{packName(1), put(0x40, 1), `pack-00001: offset 64: movie 550 details: it holds a final block`},
		{packName(1), put(0x40, 7), `pack-00001: offset 64: movie 550 details: inflating stops after 0 raw bytes`},
		{packName(1), put(headerCounts, 9), `manifest.json: counts of fragments, segments, raw and stored bytes are [15 13 177 242], the files have [15 19 177 242]`},
		{packName(1), put(headerMagic, 0), `pack-00001: offset 0: magic is`},
	} {
		dir := copyArchive(t)
		b := c.change(readFile(t, dir, c.file))
		fixHeader(b)
		writeFile(t, b, dir, c.file)
		fixManifest(t, dir, nil)
		problems, err := Verify(context.Background(), dir, VerifyOptions{}, nil)
		if err != nil || !strings.Contains(fmt.Sprint(problems), c.want) {
			t.Errorf("Verify() = %v, %v\nwant %s", problems, err, c.want)
		}
		// The parts together find what the whole finds.
		var parts []Problem
		for i := range 3 {
			part, err := Verify(context.Background(), dir, VerifyOptions{Subset: i + 1, Of: 3}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range part {
				if !slices.Contains(parts, p) {
					parts = append(parts, p)
				}
			}
		}
		if len(parts) != len(problems) {
			t.Errorf("Verify() in three parts = %v, want %v", parts, problems)
		}
		walk(t, dir)
	}
}

// walk reads all that a Reader gives, which must not panic.
func walk(tb testing.TB, dir string) {
	tb.Helper()
	r, err := Open(dir)
	if err != nil {
		return
	}
	defer r.Close()
	walkReader(r)
	if err := Dump(new(bytes.Buffer), dir); err != nil && !errors.Is(err, ErrCorrupt) {
		tb.Errorf("Dump() = %v", err)
	}
}

// walkReader reads every piece in every way and returns how many bytes it met.
func walkReader(r *Reader) (n int) {
	_ = r.Resources(context.Background(), func(key []byte, e Entry, ref Ref) error {
		r.Lookup(key)
		for i := range e.Len() {
			f, _ := e.Find(e.Address(i))
			n += walkFragment(r, f, e.Address(i)) + walkFragment(r, e.Fragment(i), e.Address(i))
		}
		return nil
	})
	for i := range r.slots {
		if e, ok := r.block(slotRef(le.Uint64(r.index[headerLen+slotLen*i:]))); ok {
			r.Lookup(e.Key())
		}
	}
	return n
}

func walkFragment(r *Reader, f Fragment, a fragment.Address) (n int) {
	for k := range f.Len() {
		p, ok := f.Piece(k)
		if !ok {
			continue
		}
		for _, b := range p.Segment.Stored {
			n += int(b)
		}
		if e, ok := r.EntryAt(p.Ref); ok && p.Op == OpReference {
			e.hasSub(p.Sub)
			e.Find(a)
		}
		if e, ok := r.Include(p.Include); ok && p.Op == OpInclude {
			e.hasSub(p.Include.Sub)
			e.Find(a)
		}
	}
	return n
}

func TestVerifyOptions(t *testing.T) {
	for _, o := range []VerifyOptions{{Subset: 1}, {Of: 1}, {Subset: 3, Of: 2}, {Subset: -1, Of: -1}} {
		if _, err := Verify(context.Background(), archive, o, nil); err == nil {
			t.Errorf("Verify(%+v) succeeds", o)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Verify(ctx, archive, VerifyOptions{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify(cancelled) = %v, want context.Canceled", err)
	}
	if _, err := Verify(context.Background(), t.TempDir(), VerifyOptions{}, nil); !missing(err) {
		t.Errorf("Verify(no release) = %v, want fs.ErrNotExist", err)
	}
	var last [2]int64
	_, err := Verify(context.Background(), archive, VerifyOptions{}, func(done, total int64) { last = [2]int64{done, total} })
	if err != nil || last[0] != last[1] || last[0] == 0 {
		t.Errorf("Verify() ends its progress with %v, %v, want all of it", last, err)
	}
}

func TestVerifyManyProblems(t *testing.T) {
	v := newVerifier(mustOpen(t, archive), VerifyOptions{Subset: 1, Of: 1}, nil)
	for range maxProblems + 5 {
		v.problem("x", 1, "y")
	}
	got := v.sorted()
	if len(got) != maxProblems+1 || !strings.Contains(got[maxProblems].String(), "5 more problems") {
		t.Errorf("%d problems, the last %v", len(got), got[len(got)-1])
	}
}

// TestBrokenFragments serves nothing of a fragment whose bytes break the format.
func TestBrokenFragments(t *testing.T) {
	dir := copyArchive(t)
	b := readFile(t, dir, directoryFile)
	b[0xd8+32+12] = 0 // movie 550 details: no pieces
	writeFile(t, b, dir, directoryFile)
	e, ok := mustOpen(t, dir).Lookup(movie(550))
	f, ok2 := e.Find(details)
	if !ok || !ok2 || f.Len() == 0 {
		t.Fatalf("Lookup, Find = %v, %v, %d pieces, want true and some", ok, ok2, f.Len())
	}
	if p, ok := f.Piece(0); ok {
		t.Errorf("Piece(0) = %v, true, want false", p)
	}
	if (Entry{}).Len() != 0 || (Entry{}).Key() != nil || (Fragment{}).Len() != 0 {
		t.Error("zero values hold something")
	}
}
