package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
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

// fixManifest makes the manifest in dir that of the files there, whose names stay.
func fixManifest(tb testing.TB, dir string, change func(*Manifest)) {
	tb.Helper()
	m := new(Manifest)
	*m = *mustOpen(tb, archive).Manifest()
	m.read = nil
	for _, files := range []*[]File{&m.Parts, &m.Index, &m.Packs, &m.Tables} {
		*files = slices.Clone(*files)
		for i, f := range *files {
			sum, err := hashFile(context.Background(), filepath.Join(dir, f.Name), nil)
			if err != nil {
				tb.Fatal(err)
			}
			(*files)[i].Size, (*files)[i].SHA256 = sum.Size, sum.SHA256
		}
	}
	if change != nil {
		change(m)
	}
	var err error
	if m.ID, err = m.contentID(); err != nil {
		tb.Fatal(err)
	}
	data, err := m.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	writeFile(tb, data, dir, ManifestName)
}

// archiveFiles returns the names of the files of the archive.
func archiveFiles(tb testing.TB) []string {
	tb.Helper()
	return filesOf(tb, archive)
}

// TestOpenNamesFile breaks the length of each file, and its header byte by byte.
func TestOpenNamesFile(t *testing.T) {
	for _, name := range append(archiveFiles(t), ManifestName) {
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
		if name != ManifestName {
			sizes = []string{fmt.Sprintf("file is %d bytes long, the manifest has %d", len(whole)-1, len(whole))}
		}
		refused("the last byte less", whole[:len(whole)-1], sizes...)
		refused("nothing", nil)
		refused("a byte more", append(slices.Clone(whole), '\n'))
		n := headerLen
		if name == ManifestName {
			n = len(whole)
		}
		for i := range whole {
			if i >= n && i < len(whole)-footerLen {
				continue
			}
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

// TestVerifyFindsEveryFlip flips one bit in each byte behind the headers.
func TestVerifyFindsEveryFlip(t *testing.T) {
	dir := copyArchive(t)
	for _, name := range archiveFiles(t) {
		whole := readFile(t, dir, name)
		for i := headerLen; i < len(whole); i += 1 + i%3 {
			flipped := slices.Clone(whole)
			flipped[i] ^= 1 << (i % 8)
			writeFile(t, flipped, dir, name)
			problems, err := Verify(context.Background(), dir, VerifyOptions{}, nil)
			if err != nil || !slices.ContainsFunc(problems, func(p CorruptError) bool { return p.File == name }) {
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
	const ( // offsets in parts 1 and 2
		movie550, alias, kindDefault, tv = 16, 200, 160, 480
		rows, recipes                    = movie550 + 48, movie550 + 96
		near, reference, literal, far    = 113, 133, 143, 173
		name, include, second, lastName  = 335, 359, 368, 395
	)
	m, err := readManifest(archive)
	if err != nil {
		t.Fatal(err)
	}
	part1, part2, pack := m.Parts[1].Name, m.Parts[2].Name, packOf(t, archive, movie(550))
	index := indexName(0)
	put := func(off int, bytes ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[off:], bytes); return b }
	}
	count := func(i int, n byte) func([]byte) []byte {
		return func(b []byte) []byte { b[len(b)-footerLen+footerCounts+8*i] = n; return b }
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
		{index, put(0x78, 9), index + `: offset 120: slot leads to 72 in part 0, where no block can start`},
		{index, put(0x7e, 0), index + `: offset 120: genres of movie "18,53": slot is 0d00000000000002, want 0d27000000000002 in index 0`},
		{index, put(0x38, 0, 0, 0, 0, 0, 0, 0, 0), part1 + `: offset 232: movie 551: the index does not lead here`},
		{index, put(0x38, 0, 0, 0, 0, 0, 0, 0, 0), index + `: footer counts 9 slots in use, 8 are`},
		{index, func(b []byte) []byte {
			copy(b[0x50:], b[0x38:0x40])
			return put(0x38, make([]byte, 8)...)(b)
		}, index + `: offset 80: movie 551: slot 8 cannot be found from its ideal slot 5`},

		// Blocks.
		{part1, put(movie550, 65), part1 + `: offset 16: no block can start with 41 05 04 00 52 00 00 00`},
		{part1, put(movie550+blockType, 0), part1 + `: offset 16: no block can start with 09 00`},
		{part1, put(movie550+blockType, 4), part1 + `: offset 16: no block can start with 09 04`},
		{part1, put(movie550+blockType, typeAlias), part1 + `: offset 16: no block can start with 09 02`},
		{part1, put(alias+blockFragments, 1), part1 + `: offset 200: no block can start with 0b 02 01`},
		{part1, put(alias+blockRecipes, 1), part1 + `: offset 200: no block can start with 0b 02 00 00 01`},
		{part1, put(movie550+blockRecipes, 0xff, 0xff, 0xff, 0xff), part1 + `: offset 16: no block can start with`},
		{part1, put(movie550+25, 1), part1 + `: offset 41: movie 550: padding is 01 00 00 00 00 00 00, want zeros`},
		{part1, put(alias+blockNumber, 0x48), part1 + `: offset 200: alias alias of movie "tt0137523" leads to 72, where no resource starts`},
		{part1, put(alias+blockNumber, alias), part1 + `: offset 200: alias alias of movie "tt0137523" leads to 200, where no resource starts`},

		// The base; of tv 1399, with its row and recipe behind it.
		{part1, put(rows-8, 0x0f), part1 + ": offset 113: " + broken550},
		{part1, both(put(rows-8, 0x0f), put(near+1, 1)), part1 + `: offset 56: movie 550: type 5 with base 000000000000000f, the first segment lies at 0000000000000010`},
		{
			part2, both(put(tv+blockType, typeStored), put(tv+blockRecipes, 2), put(tv+40,
				0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, byte(OpIDEnd), 0, 0)),
			part2 + `: offset 520: tv 1399: type 5 with base 0000000000000010, the first segment lies at 0000000000000000`,
		},
		{
			part2, both(put(tv+blockType, typeStored), put(tv+blockRecipes, 2), put(tv+40,
				0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, byte(OpIDEnd), 0, 0)),
			part2 + `: offset 520: tv 1399: type 5 with base 0000000000000000, the first segment lies at 0000000000000000`,
		},
		{part2, func(b []byte) []byte { // without its base, and so much more in the recipe
			facts := bytes.Clone(b[kindDefault+0x37:][:18])
			b[kindDefault+blockType], b[kindDefault+blockRecipes] = typeResource, 33
			copy(b[kindDefault+32:], b[kindDefault+40:][:fragmentLen])
			recipe := append(append([]byte{32, byte(opFar), 0, 0x29}, facts...), byte(OpLiteral), 9)
			copy(b[kindDefault+44:], append(recipe, "123456789\x00\x00\x00"...))
			return b
		}, part2 + `: offset 192: default of movie: type 1 with base 0000000000000000, the first segment lies at 0000000000000029`},

		// The fragment table, and where recipes lie.
		{part1, put(rows+12, 0, 0, 0, 0, 0, 0, 1), part1 + `: offset 76: movie 550 details: address is not above the one before`},
		{part1, put(rows+6, 2), part1 + `: offset 76: movie 550 details deDE: address is not above the one before`},
		{part1, put(rows+8, 7), part1 + `: offset 72: movie 550 details: recipe at 7 of 82 bytes, want one that is known or a whole one at 0`},
		{part1, put(rows+8, 0xff, 0xff, 0xff, 0xff), part1 + `: offset 72: movie 550 details: recipe at 4294967295 of 82 bytes`},
		{part1, put(rows+12+8, 1), part1 + `: offset 84: movie 550 details deDE: recipe at 1 of 82 bytes, want one that is known or a whole one at 42`},
		{part1, put(rows+24+8, 59), part1 + `: offset 96: movie 550 similar page 2: recipe at 59 of 82 bytes, want one that is known or a whole one at 42`},
		{part1, put(rows+36+8, 42), part1 + `: offset 171: movie 550: recipes end at 59, the block has 82 bytes of them`},
		{part1, put(recipes, 0), part1 + `: offset 72: movie 550 details: recipe at 0 of 82 bytes`},
		{part1, put(recipes, 82), part1 + `: offset 72: movie 550 details: recipe at 0 of 82 bytes`},
		{part1, put(recipes, 0xa2, 0), part1 + `: offset 72: movie 550 details: recipe at 0 of 82 bytes`},
		{part1, put(recipes, 40), part1 + `: offset 143: movie 550 details: piece 2, literal, breaks the format`},
		{part1, put(recipes+82, 1), part1 + `: offset 194: movie 550: padding is 01 00 00 00 00 00, want zeros`},
		{part1, put(movie550+blockRecipes, 83), part1 + `: offset 194: movie 550: recipes end at 82, the block has 83 bytes of them`},

		// Pieces.
		{part1, put(near, 0), part1 + `: offset 113: movie 550 details: piece 0, op-0, breaks the format`},
		{part1, put(near, 11), part1 + `: offset 113: movie 550 details: piece 0, op-11, breaks the format`},
		{part1, put(near+1, 1), broken550 + "01 01 14"},
		{part1, put(near+2, 0x15), broken550 + "01 00 15"},
		{part1, put(far+1, 3), part1 + ": offset 173: " + brokenFar + "09 03"},
		{part1, put(far+1, 8), brokenFar + "09 08"},
		{part1, put(far+2, 0x0f), brokenFar + "09 01 0f"},
		{part1, put(far+2, 0x11), brokenFar + "09 01 11"},
		{part1, put(far+1, 0, 0x10, 20), part1 + `: offset 173: movie 550 videos: piece 1, segment, is 09 00 10 14 3e 8e 9e 95 8a e9 04 db c8 57 db 97 24 ea d4 05 cd, want 01 00 14 3e`},
		{part1, put(reference+1, 1), part1 + `: offset 133: movie 550 details: piece 1, reference, leads to genres of movie "18,53" details, which is not there`},
		{part1, put(reference+9, '4'), `movie 550 details: piece 1, reference, leads to genres of movie "18,54" genres, which is not there`},
		{part1, put(reference+2, 0), part1 + `: offset 133: movie 550 details: piece 1, reference, breaks the format`},
		{part1, put(reference+2, 65), part1 + `: offset 133: movie 550 details: piece 1, reference, breaks the format`},
		{part1, put(literal+1, 0), part1 + `: offset 143: movie 550 details: piece 2, literal, breaks the format`},
		{part1, put(literal+1, 10), part1 + `: offset 143: movie 550 details: piece 2, literal, breaks the format`},
		{part2, put(include+1, 0), part2 + `: offset 359: season 1399 1 credits: piece 1, include, breaks the format`},
		{part2, put(include+1, 10), `season 1399 1 credits: piece 1, include, breaks the format`},
		{part2, put(include+2, 0), `season 1399 1 credits: piece 1, include, breaks the format`},
		{part2, put(second+4, 0), part2 + `: offset 368: season 1399 1 credits: piece 3, include, breaks the format`},
		{part2, put(include+3, 14), part2 + `: offset 359: season 1399 1 credits: piece 1, include, leads to movie 14 row, a resource which is not there`},
		{part2, put(include+2, 0x1d), `piece 1, include, leads to movie 13 videos, of which neither the resource nor the default of its kind has the base`},
		{part2, put(include+1, 3), `piece 1, include, leads to season 13 8 row, a resource which is not there`},
		{part2, put(name+1, 0), part2 + `: offset 335: season 1399 1 details: piece 1, name, breaks the format`},
		{part2, put(name+1, 4), `season 1399 1 details: piece 1, name, breaks the format`},
		{part2, put(lastName+6, 0x8f), part2 + `: offset 395: season 1399 1 row: piece 0, name, breaks the format`},
		{part2, put(lastName+6, 0x1f), part2 + `: offset 395: season 1399 1 row: piece 0, name, breaks the format`},

		// Segments.
		{part1, put(near+3, 14), pack + `: offset 16: movie 550 details: it inflates to 15 bytes, want 14`},
		{part1, put(near+3, 16), pack + `: offset 16: movie 550 details: it inflates to 15 bytes, want 16`},
		{part1, put(near+4, 0), pack + `: offset 16: movie 550 details: CRC is f20b5fc4, want f20b5f00`},
		{part1, put(near+8, 0), pack + `: offset 16: movie 550 details: CRC operator is 60c76f00, want 60c76fe0`},
		{part1, put(near+12, 0), pack + `: offset 16: movie 550 details: hash is bbe4bacdf8e4c5e4, want 00e4bacdf8e4c5e4`},
		{part2, count(partBlocks, 10), part2 + `: footer counts 10, the blocks have 5`},
		{part2, count(partPieces, 25), part2 + `: footer counts 25, the blocks have `},
		{pack, put(0x15, 'x'), pack + `: offset 16: movie 550 details: CRC is`},
		{pack, put(0x10, 1), pack + `: offset 16: movie 550 details: it holds a final block`},
		{pack, put(0x10, 7), pack + `: offset 16: movie 550 details: inflating stops after 0 raw bytes`},
		{pack, count(packSegments, 9), `manifest.json: counts of fragments, segments, raw and stored bytes are [16 9 144 189], the files have [16 17 144 189]`},
		{pack, put(headerMagic, 0), pack + `: offset 0: magic is`},
	} {
		dir := copyArchive(t)
		b := releasetest.Mended(c.change(readFile(t, dir, c.file)))
		writeFile(t, b, dir, c.file)
		fixManifest(t, dir, nil)
		problems, err := Verify(context.Background(), dir, VerifyOptions{}, nil)
		if err != nil || !strings.Contains(fmt.Sprint(problems), c.want) {
			t.Errorf("Verify() = %v, %v\nwant %s", problems, err, c.want)
		}
		// The parts together find what the whole finds.
		var parts []CorruptError
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
	for _, x := range r.indexes {
		for i := range x.slots {
			if e, ok := r.block(slotRef(le.Uint64(x.data[headerLen+slotLen*i:]))); ok {
				r.Lookup(e.Key())
			}
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
		if e, ok := r.Lookup(p.Shared); ok && p.Op == OpReference {
			e.hasSub(p.Sub)
			e.Find(a)
		}
		if p.Op == OpInclude {
			r.AwaitIncludes([]Include{p.Include})
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
	v := &verifier{r: mustOpen(t, archive), o: VerifyOptions{Subset: 1, Of: 1}}
	for range maxProblems + 5 {
		v.problem("x", 1, "y")
	}
	got := v.sorted()
	if len(got) != maxProblems+1 || !strings.Contains(got[maxProblems].Error(), "5 more problems") {
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
