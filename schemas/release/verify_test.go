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
	files, sums := m.Files, map[string][]byte{}
	m.Files = nil
	for _, f := range files {
		if f.Name == checksFile {
			continue
		}
		sum, err := hashFile(context.Background(), filepath.Join(dir, f.Name), nil)
		if err != nil {
			tb.Fatal(err)
		}
		m.Files, sums[f.Name] = append(m.Files, sum.File), sum.blocks
	}
	err := (&Writer{tmp: dir}).writeChecks(context.Background(), m, sums)
	if err != nil {
		tb.Fatal(err)
	}
	sortFiles(m.Files)
	if change != nil {
		change(m)
	}
	if m.ID, err = m.contentID(); err != nil {
		tb.Fatal(err)
	}
	data, err := m.encode()
	if err != nil {
		tb.Fatal(err)
	}
	writeFile(tb, data, dir, manifestFile)
}

var archiveFiles = []string{checksFile, directoryFile, indexFile, packName(0), packName(1), packName(2), packName(4), packName(7)}

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
	writeFile(t, bytes.Replace(m, fmt.Appendf(nil, `"format_version": %d`, FormatVersion), fmt.Appendf(nil, `"format_version": %d`, FormatVersion+1), 1), dir, manifestFile)
	_, err := Open(dir)
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "format version is 5, this program reads 4") {
		t.Errorf("Open(version 5) = %v, want ErrVersion", err)
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
	const ( // offsets in the directory; v4.dump has all of them
		movie550, alias, kindDefault, tv = 0x90, 0x138, 0x228, 0x350
		rows, programs                   = movie550 + 40, movie550 + 88
		near, reference, literal, far    = 0xe9, 0xfd, 0x100, 0x11e
		name, include, second, lastName  = 0x2c7, 0x2df, 0x2e8, 0x303
	)
	put := func(off int, bytes ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[off:], bytes); return b }
	}
	both := func(fs ...func([]byte) []byte) func([]byte) []byte {
		return func(b []byte) []byte {
			for _, f := range fs {
				b = f(b)
			}
			return b
		}
	}
	const (
		broken550 = "movie 550 details: piece 0, segment, breaks the format or leads outside the files: "
		brokenFar = "movie 550 videos: piece 1, far segment, breaks the format or leads outside the files: "
	)
	for _, c := range []struct {
		file   string
		change func([]byte) []byte
		want   string
	}{
		{indexFile, put(0xa8, 9), `index: offset 168: slot leads to 72 in the directory, where no block can start`},
		{indexFile, put(0xae, 0), `index: offset 168: genres of movie "18,53": slot is 0d00000000000008, want 0d27000000000008`},
		{indexFile, put(0x68, 0, 0, 0, 0, 0, 0, 0, 0), `directory: offset 344: movie 551: the index does not lead here`},
		{indexFile, put(0x68, 0, 0, 0, 0, 0, 0, 0, 0), `index: offset 32: header says 9 slots are in use, 8 are`},
		{indexFile, func(b []byte) []byte {
			copy(b[0x80:], b[0x68:0x70])
			return put(0x68, make([]byte, 8)...)(b)
		}, `index: offset 128: movie 551: slot 8 cannot be found from its ideal slot 5`},

		// Blocks.
		{directoryFile, put(movie550, 65), `directory: offset 144: no block can start with 41 03 04 00 4b 00 00 00`},
		{directoryFile, put(movie550+blockType, 0), `directory: offset 144: no block can start with 09 00`},
		{directoryFile, put(movie550+blockType, 4), `directory: offset 144: no block can start with 09 04`},
		{directoryFile, put(movie550+blockType, typeAlias), `directory: offset 144: no block can start with 09 02`},
		{directoryFile, put(alias+blockFragments, 1), `directory: offset 312: no block can start with 0b 02 01`},
		{directoryFile, put(alias+blockPrograms, 1), `directory: offset 312: no block can start with 0b 02 00 00 01`},
		{directoryFile, put(movie550+blockPrograms, 0xff, 0xff, 0xff, 0xff), `directory: offset 144: no block can start with`},
		{directoryFile, put(movie550+25, 1), `directory: offset 169: movie 550: padding is 01 00 00 00 00 00 00, want zeros`},
		{directoryFile, put(alias+blockNumber, 0x48), `directory: offset 312: alias alias of movie "tt0137523" leads to 72, where no resource starts`},
		{directoryFile, put(alias+blockNumber, 0x38, 1), `directory: offset 312: alias alias of movie "tt0137523" leads to 312, where no resource starts`},

		// The base; of tv 1399, with its row and program behind it.
		{directoryFile, put(rows-8, 0x3f), "directory: offset 233: " + broken550},
		{directoryFile, both(put(rows-8, 0x3f), put(near+1, 1)), `directory: offset 176: movie 550: type 3 with base 000100000000003f, the first segment lies at 0001000000000040`},
		{
			directoryFile, both(put(tv+blockType, typeStored), put(tv+blockPrograms, 2), put(tv+32,
				0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, byte(OpIDEnd), 0, 0)),
			`directory: offset 880: tv 1399: type 3 with base 0000000000000040, the first segment lies at 0000000000000000`,
		},
		{
			directoryFile, both(put(tv+blockType, typeStored), put(tv+blockPrograms, 2), put(tv+32,
				0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, byte(OpIDEnd), 0, 0)),
			`directory: offset 880: tv 1399: type 3 with base 0000000000000000, the first segment lies at 0000000000000000`,
		},
		{directoryFile, func(b []byte) []byte { // without its base, and so much more in the program
			facts := bytes.Clone(b[kindDefault+0x2f:][:18])
			b[kindDefault+blockType], b[kindDefault+blockPrograms] = typeResource, 33
			copy(b[kindDefault+24:], b[kindDefault+32:][:fragmentLen])
			program := append(append([]byte{32, byte(opFar), 2, 0x59}, facts...), byte(OpLiteral), 9)
			copy(b[kindDefault+36:], append(program, "123456789\x00\x00\x00"...))
			return b
		}, `directory: offset 576: default of movie: type 1 with base 0000000000000000, the first segment lies at 0002000000000059`},

		// The fragment table, and where programs lie.
		{directoryFile, put(rows+12, 0, 0, 0, 0, 0, 0, 1), `directory: offset 196: movie 550 details: address is not above the one before`},
		{directoryFile, put(rows+6, 2), `directory: offset 196: movie 550 details deDE: address is not above the one before`},
		{directoryFile, put(rows+8, 7), `directory: offset 192: movie 550 details: program at 7 of 75 bytes, want one that is known or a whole one at 0`},
		{directoryFile, put(rows+8, 0xff, 0xff, 0xff, 0xff), `directory: offset 192: movie 550 details: program at 4294967295 of 75 bytes`},
		{directoryFile, put(rows+12+8, 1), `directory: offset 204: movie 550 details deDE: program at 1 of 75 bytes, want one that is known or a whole one at 35`},
		{directoryFile, put(rows+24+8, 52), `directory: offset 216: movie 550 similar page 2: program at 52 of 75 bytes, want one that is known or a whole one at 35`},
		{directoryFile, put(rows+36+8, 35), `directory: offset 284: movie 550: programs end at 52, the block has 75 bytes of them`},
		{directoryFile, put(programs, 0), `directory: offset 192: movie 550 details: program at 0 of 75 bytes`},
		{directoryFile, put(programs, 75), `directory: offset 192: movie 550 details: program at 0 of 75 bytes`},
		{directoryFile, put(programs, 0xa2, 0), `directory: offset 192: movie 550 details: program at 0 of 75 bytes`},
		{directoryFile, put(programs, 33), `directory: offset 256: movie 550 details: piece 2, literal, breaks the format`},
		{directoryFile, put(programs+75, 1), `directory: offset 307: movie 550: padding is 01 00 00 00 00, want zeros`},
		{directoryFile, put(movie550+blockPrograms, 76), `directory: offset 307: movie 550: programs end at 75, the block has 76 bytes of them`},

		// Pieces.
		{directoryFile, put(near, 0), `directory: offset 233: movie 550 details: piece 0, op-0, breaks the format`},
		{directoryFile, put(near, 11), `directory: offset 233: movie 550 details: piece 0, op-11, breaks the format`},
		{directoryFile, put(near+1, 1), broken550 + "01 01 14"},
		{directoryFile, put(near+2, 0x15), broken550 + "01 00 15"},
		{directoryFile, put(far+1, 3), "directory: offset 286: " + brokenFar + "09 03"},
		{directoryFile, put(far+1, 8), brokenFar + "09 08"},
		{directoryFile, put(far+2, 0x3f), brokenFar + "09 04 3f"},
		{directoryFile, put(far+2, 0x41), brokenFar + "09 04 41"},
		{directoryFile, put(far+1, 1, 0x40, 20), `directory: offset 286: movie 550 videos: piece 1, segment, is 09 01 40 14 3e 8e 9e 95 8a e9 04 db c8 57 db 97 24 ea d4 05 cd, want 01 00 14 3e`},
		{directoryFile, put(reference+1, 1), `directory: offset 253: movie 550 details: piece 1, reference, leads to details of a resource at 64, which is not there`},
		{directoryFile, put(reference+2, 9), `movie 550 details: piece 1, reference, leads to genres of a resource at 72, which is not there`},
		{directoryFile, put(reference+2, movie550/blockAlign), `directory: offset 253: movie 550 details: piece 1, reference, breaks the format`},
		{directoryFile, put(literal+1, 0), `directory: offset 256: movie 550 details: piece 2, literal, breaks the format`},
		{directoryFile, put(literal+1, 10), `directory: offset 256: movie 550 details: piece 2, literal, breaks the format`},
		{directoryFile, put(include+1, 0), `directory: offset 735: season 1399 1 credits: piece 1, include, breaks the format`},
		{directoryFile, put(include+1, 10), `season 1399 1 credits: piece 1, include, breaks the format`},
		{directoryFile, put(include+2, 0), `season 1399 1 credits: piece 1, include, breaks the format`},
		{directoryFile, put(second+4, 0), `directory: offset 744: season 1399 1 credits: piece 3, include, breaks the format`},
		{directoryFile, put(include+3, 14), `directory: offset 735: season 1399 1 credits: piece 1, include, leads to movie 14 row, a resource which is not there`},
		{directoryFile, put(include+2, 0x1d), `piece 1, include, leads to movie 13 videos, of which neither the resource nor the default of its kind has the base`},
		{directoryFile, put(include+1, 3), `piece 1, include, leads to season 13 8 row, a resource which is not there`},
		{directoryFile, put(name+1, 0), `directory: offset 711: season 1399 1 details: piece 1, name, breaks the format`},
		{directoryFile, put(name+1, 4), `season 1399 1 details: piece 1, name, breaks the format`},
		{directoryFile, put(lastName+6, 0x8f), `directory: offset 771: season 1399 1 row: piece 0, name, breaks the format`},
		{directoryFile, put(lastName+6, 0x1f), `directory: offset 771: season 1399 1 row: piece 0, name, breaks the format`},

		// Segments.
		{directoryFile, put(near+3, 14), `pack-00001: offset 64: movie 550 details: it inflates to 15 bytes, want 14`},
		{directoryFile, put(near+3, 16), `pack-00001: offset 64: movie 550 details: it inflates to 15 bytes, want 16`},
		{directoryFile, put(near+4, 0), `pack-00001: offset 64: movie 550 details: CRC is f20b5fc4, want f20b5f00`},
		{directoryFile, put(near+8, 0), `pack-00001: offset 64: movie 550 details: CRC operator is 60c76f00, want 60c76fe0`},
		{directoryFile, put(near+12, 0), `pack-00001: offset 64: movie 550 details: hash is bbe4bacdf8e4c5e4, want 00e4bacdf8e4c5e4`},
		{directoryFile, put(headerCounts, 10), `directory: offset 24: header counts 10, the blocks have 9`},
		{directoryFile, put(headerCounts+8*directoryPieces, 25), `directory: offset 48: header counts 25, the blocks have 24`},
		{packName(1), put(0x45, 'x'), `pack-00001: offset 64: movie 550 details: CRC is`},
		{packName(1), put(0x40, 1), `pack-00001: offset 64: movie 550 details: it holds a final block`},
		{packName(1), put(0x40, 7), `pack-00001: offset 64: movie 550 details: inflating stops after 0 raw bytes`},
		{packName(1), put(headerCounts, 9), `manifest.json: counts of fragments, segments, raw and stored bytes are [16 9 144 189], the files have [16 17 144 189]`},
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
		if e, ok := r.block(slotRef(le.Uint64(r.index.data[headerLen+slotLen*i:]))); ok {
			r.Lookup(e.Key())
		}
	}
	return n
}

func walkFragment(r *Reader, f Fragment, a fragment.Address) (n int) {
	pieces, _ := piecesOf(f)
	for _, p := range pieces {
		for _, b := range slices.Concat(p.Segment.Stored, p.Text()) {
			n += int(b)
		}
		if e, ok := r.EntryAt(p.Ref); ok && p.Op == OpReference {
			e.hasSub(p.Sub)
			e.Find(a)
		}
		if p.Op == OpInclude {
			r.Fetch([]Include{p.Include})
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

// TestBrokenFragments tells that a fragment is broken whose bytes break the format.
func TestBrokenFragments(t *testing.T) {
	if (Entry{}).Len() != 0 || (Entry{}).Key() != nil {
		t.Error("zero values hold something")
	}
	if pieces, ok := piecesOf(Fragment{}); ok || len(pieces) > 0 {
		t.Errorf("pieces of the zero Fragment = %v, %v, want none, false", pieces, ok)
	}
}
