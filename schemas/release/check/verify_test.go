package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

const archive = "../testdata/v9"

func noProblems(tb testing.TB, dir string) {
	tb.Helper()
	problems, err := Verify(context.Background(), dir, Options{}, nil)
	if err != nil || len(problems) != 0 {
		tb.Errorf("Verify(%q) = %v, %v, want nothing", dir, problems, err)
	}
}

// TestVerifyFindsEveryFlip flips one bit in each byte behind the headers.
func TestVerifyFindsEveryFlip(t *testing.T) {
	dir := Copy(t, archive)
	for _, f := range MustOpen(t, dir).Manifest().Files() {
		name := f.Name
		whole := ReadFile(t, dir, name)
		for i := HeaderLen; i < len(whole); i += 1 + i%3 {
			flipped := slices.Clone(whole)
			flipped[i] ^= 1 << (i % 8)
			WriteFile(t, flipped, dir, name)
			problems, err := Verify(context.Background(), dir, Options{}, nil)
			if err != nil || !slices.ContainsFunc(problems, func(p CorruptError) bool { return p.File == name }) {
				t.Fatalf("Verify() with byte %d of %s changed = %v, %v, want a problem there", i, name, problems, err)
			}
		}
		WriteFile(t, whole, dir, name)
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

		blockType, blockFragments, blockRecipes, blockNumber = 1, 2, 4, 8
		typeResource, typeAlias, typeStored                  = 1, 2, 5
		fragmentLen                                          = 12
	)
	m, err := ReadManifest(archive)
	sharedtest.NoError(t, err)
	part1, part2, pack := m.Parts[1].Name, m.Parts[2].Name, PackOf(t, archive, Movie(550))
	index := "index-0000"
	put := func(off int, bytes ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[off:], bytes); return b }
	}
	count := func(i int, n byte) func([]byte) []byte {
		return func(b []byte) []byte { b[len(b)-60+8+8*i] = n; return b }
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
		{index, put(0x78, 9), `genres of movie "18,53": the index does not lead here`},
		{index, put(0x7e, 0), `genres of movie "18,53": the index does not lead here`},
		{index, put(0x38, 0, 0, 0, 0, 0, 0, 0, 0), part1 + `: offset 232: movie 551: the index does not lead here`},
		{index, put(0x38, 0, 0, 0, 0, 0, 0, 0, 0), index + `: footer counts 9 slots in use, 8 are`},
		{index, func(b []byte) []byte {
			copy(b[0x50:], b[0x38:0x40])
			return put(0x38, make([]byte, 8)...)(b)
		}, part1 + `: offset 232: movie 551: the index does not lead here`},

		// Blocks.
		{part1, put(movie550, 65), part1 + `: offset 16: no block can start with 41 05 04 00 52 00 00 00`},
		{part1, put(movie550+blockType, 0), part1 + `: offset 16: no block can start with 09 00`},
		{part1, put(movie550+blockType, 4), part1 + `: offset 16: no block can start with 09 04`},
		{part1, put(movie550+blockType, typeAlias), part1 + `: offset 16: no block can start with 09 02`},
		{part1, put(alias+blockFragments, 1), part1 + `: offset 200: no block can start with 0b 02 01`},
		{part1, put(alias+blockRecipes, 1), part1 + `: offset 200: no block can start with 0b 02 00 00 01`},
		{part1, put(movie550+blockRecipes, 0xff, 0xff, 0xff, 0xff), part1 + `: offset 16: no block can start with`},
		{part1, put(movie550+25, 1), part1 + `: offset 41: movie 550: 01 00 00 00 00 00 00 00, want 00 00`},
		{part1, put(alias+blockNumber, 0x48), part1 + `: offset 200: alias alias of movie "tt0137523" leads to 72, where no resource starts`},
		{part1, put(alias+blockNumber, alias), part1 + `: offset 200: alias alias of movie "tt0137523" leads to 200, where no resource starts`},

		// The base; of tv 1399, with its row and recipe behind it.
		{part1, put(rows-8, 0x0f), part1 + ": offset 113: " + broken550},
		{part1, both(put(rows-8, 0x0f), put(near+1, 1)), part1 + `: offset 56: movie 550: 0f 00 00 00 00 00 00 00, want 10 00`},
		{
			part2, both(put(tv+blockType, typeStored), put(tv+blockRecipes, 2), put(tv+40,
				0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, byte(OpIDEnd), 0, 0)),
			part2 + `: offset 481: tv 1399: 05 01 00 02 00 00 00 77, want 01 01`,
		},
		{
			part2, both(put(tv+blockType, typeStored), put(tv+blockRecipes, 2), put(tv+40,
				0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, byte(OpIDEnd), 0, 0)),
			part2 + `: offset 481: tv 1399: 05 01 00 02 00 00 00 77, want 01 01`,
		},
		{part2, func(b []byte) []byte { // without its base, and so much more in the recipe
			facts := bytes.Clone(b[kindDefault+0x37:][:18])
			b[kindDefault+blockType], b[kindDefault+blockRecipes] = typeResource, 33
			copy(b[kindDefault+32:], b[kindDefault+40:][:fragmentLen])
			recipe := append(append([]byte{32, 9, 0, 0x29}, facts...), byte(OpLiteral), 9)
			copy(b[kindDefault+44:], append(recipe, "123456789\x00\x00\x00"...))
			return b
		}, part2 + `: offset 161: default of movie: 01 01 00 21 00 00 00 00, want 05 01 00 20`},

		// The fragment table, and where recipes lie.
		{part1, put(rows+12, 0, 0, 0, 0, 0, 0, 1), part1 + `: offset 76: movie 550 details: address is not above the one before`},
		{part1, put(rows+6, 2), part1 + `: offset 76: movie 550 details deDE: address is not above the one before`},
		{part1, put(rows+8, 7), part1 + `: offset 72: movie 550 details: recipe at 7 of 82 bytes, want an earlier one or a complete one at 0`},
		{part1, put(rows+8, 0xff, 0xff, 0xff, 0xff), part1 + `: offset 72: movie 550 details: recipe at 4294967295 of 82 bytes`},
		{part1, put(rows+12+8, 1), part1 + `: offset 84: movie 550 details deDE: recipe at 1 of 82 bytes, want an earlier one or a complete one at 42`},
		{part1, put(rows+24+8, 59), part1 + `: offset 96: movie 550 similar page 2: recipe at 59 of 82 bytes, want an earlier one or a complete one at 42`},
		{part1, put(rows+36+8, 42), part1 + `: offset 20: movie 550: 52 00 00 00 26 02 00 00, want 3b 00`},
		{part1, put(recipes, 0), part1 + `: offset 72: movie 550 details: recipe at 0 of 82 bytes`},
		{part1, put(recipes, 82), part1 + `: offset 72: movie 550 details: recipe at 0 of 82 bytes`},
		{part1, put(recipes, 0xa2, 0), part1 + `: offset 72: movie 550 details: recipe at 0 of 82 bytes`},
		{part1, put(recipes, 40), part1 + `: offset 143: movie 550 details: piece 2, literal, breaks the format`},
		{part1, put(recipes+82, 1), part1 + `: offset 194: movie 550: 01 00 00 00 00 00, want 00 00`},
		{part1, put(movie550+blockRecipes, 83), part1 + `: offset 20: movie 550: 53 00 00 00 26 02 00 00, want 52 00`},

		// Pieces.
		{part1, put(near, 0), part1 + `: offset 113: movie 550 details: piece 0, op-0, breaks the format`},
		{part1, put(near, 11), part1 + `: offset 113: movie 550 details: piece 0, op-11, breaks the format`},
		{part1, put(near+1, 1), broken550 + "01 01 14"},
		{part1, put(near+2, 0x15), broken550 + "01 00 15"},
		{part1, put(far+1, 3), part1 + ": offset 173: " + brokenFar + "09 03"},
		{part1, put(far+1, 8), brokenFar + "09 08"},
		{part1, put(far+2, 0x0f), brokenFar + "09 01 0f"},
		{part1, put(far+2, 0x11), brokenFar + "09 01 11"},
		{part1, put(far+1, 0, 0x10, 20), part1 + `: offset 20: movie 550: 52 00 00 00 26 02 00 00, want 51 00`},
		{part1, put(reference+1, 1), part1 + `: offset 16: movie 550 details: piece 1, reference, leads to genres of movie "18,53" details, which is not there`},
		{part1, put(reference+9, '4'), `movie 550 details: piece 1, reference, leads to genres of movie "18,54" genres, which is not there`},
		{part1, put(reference+2, 0), part1 + `: offset 133: movie 550 details: piece 1, reference, breaks the format`},
		{part1, put(reference+2, 65), part1 + `: offset 133: movie 550 details: piece 1, reference, breaks the format`},
		{part1, put(literal+1, 0), part1 + `: offset 143: movie 550 details: piece 2, literal, breaks the format`},
		{part1, put(literal+1, 10), part1 + `: offset 143: movie 550 details: piece 2, literal, breaks the format`},
		{part2, put(include+1, 0), part2 + `: offset 359: season 1399 1 credits: piece 1, include, breaks the format`},
		{part2, put(include+1, 10), `season 1399 1 credits: piece 1, include, breaks the format`},
		{part2, put(include+2, 0), `season 1399 1 credits: piece 1, include, breaks the format`},
		{part2, put(second+4, 0), part2 + `: offset 368: season 1399 1 credits: piece 3, include, breaks the format`},
		{part2, put(include+3, 14), part2 + `: offset 240: season 1399 1 credits: piece 1, include, leads to movie 14 row, a resource which is not there`},
		{part2, put(include+2, 0x1d), `piece 1, include, leads to movie 13 videos, whose base is in neither the resource nor its kind's default`},
		{part2, put(include+1, 3), `piece 1, include, leads to season 13 8 row, a resource which is not there`},
		{part2, put(name+1, 0), part2 + `: offset 335: season 1399 1 details: piece 1, name, breaks the format`},
		{part2, put(name+1, 4), `season 1399 1 details: piece 1, name, breaks the format`},
		{part2, put(lastName+6, 0x8f), part2 + `: offset 395: season 1399 1 row: piece 0, name, breaks the format`},
		{part2, put(lastName+6, 0x1f), part2 + `: offset 395: season 1399 1 row: piece 0, name, breaks the format`},

		// Segments.
		{part1, put(near+3, 14), pack + `: offset 16: movie 550 details: it inflates to at least 15 bytes, want 14`},
		{part1, put(near+3, 16), pack + `: offset 16: movie 550 details: it inflates to 15 bytes, want 16`},
		{part1, put(near+4, 0), pack + `: offset 16: movie 550 details: CRC is f20b5fc4, want f20b5f00`},
		{part1, put(near+8, 0), pack + `: offset 16: movie 550 details: CRC operator is 60c76f00, want 60c76fe0`},
		{part1, put(near+12, 0), pack + `: offset 16: movie 550 details: hash is bbe4bacdf8e4c5e4, want 00e4bacdf8e4c5e4`},
		{part2, count(PartBlocks, 10), part2 + `: footer counts 10, the blocks have 5`},
		{part2, count(PartPieces, 25), part2 + `: footer counts 25, the blocks have `},
		{pack, put(0x15, 'x'), pack + `: offset 16: movie 550 details: CRC is`},
		{pack, put(0x10, 1), pack + `: offset 16: movie 550 details: it holds a final block`},
		{pack, put(0x10, 7), pack + `: offset 16: movie 550 details: inflating stops after 0 raw bytes`},
		{pack, count(PackSegments, 9), `manifest.json: counts of fragments, segments, raw and stored bytes are [16 9 144 189], the files have [16 17 144 189]`},
		{pack, put(0, 0), pack + `: offset 0: magic is`},
	} {
		dir := Copy(t, archive)
		b := Mended(c.change(ReadFile(t, dir, c.file)))
		WriteFile(t, b, dir, c.file)
		FixManifest(t, dir)
		problems, err := Verify(context.Background(), dir, Options{}, nil)
		if err != nil || !strings.Contains(fmt.Sprint(problems), c.want) {
			t.Errorf("Verify() = %v, %v\nwant %s", problems, err, c.want)
		}
		// The subsets together find what the whole finds but for live bytes. No two walk the same part.
		problems = slices.DeleteFunc(problems, func(p CorruptError) bool { return strings.Contains(p.What, " are live, ") })
		var all []CorruptError
		for i := range 3 {
			subset, err := Verify(context.Background(), dir, Options{Subset: i + 1, Of: 3}, nil)
			sharedtest.NoError(t, err)
			for _, p := range subset {
				if known := slices.Contains(all, p); known && strings.HasPrefix(p.File, "part-") {
					t.Errorf("two subsets report %v", p)
				} else if !known {
					all = append(all, p)
				}
			}
		}
		if len(all) != len(problems) {
			t.Errorf("Verify() in three subsets = %v, want %v", all, problems)
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
	return n
}

func walkFragment(r *Reader, f Fragment, a fragment.Address) (n int) {
	pieces, _ := Pieces(f)
	for _, p := range pieces {
		for _, b := range slices.Concat(p.Segment.Stored, p.Text()) {
			n += int(b)
		}
		if e, ok := r.Lookup(p.Shared); ok && p.Op == OpReference {
			e.Has(p.Sub)
			e.Find(a)
		}
		if p.Op == OpInclude {
			r.AwaitKeys(1, func(int) []byte { return p.Include.AppendKey(nil) })
		}
		if e, ok := r.Include(p.Include); ok && p.Op == OpInclude {
			e.Has(p.Include.Sub)
			e.Find(a)
		}
	}
	return n
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{Subset: 1}, {Of: 1}, {Subset: 3, Of: 2}, {Subset: -1, Of: -1}} {
		if _, err := Verify(context.Background(), archive, o, nil); err == nil {
			t.Errorf("Verify(%+v) succeeds", o)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Verify(ctx, archive, Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify(cancelled) = %v, want context.Canceled", err)
	}
	if _, err := Verify(context.Background(), t.TempDir(), Options{}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Verify(no release) = %v, want fs.ErrNotExist", err)
	}
	var last [2]int64
	_, err := Verify(context.Background(), archive, Options{}, func(done, total int64) { last = [2]int64{done, total} })
	if err != nil || last[0] != last[1] || last[0] == 0 {
		t.Errorf("Verify() ends its progress with %v, %v, want all of it", last, err)
	}
}

func TestVerifyManyProblems(t *testing.T) {
	v := &verifier{r: MustOpen(t, archive), o: Options{Subset: 1, Of: 1}}
	for range maxProblems + 5 {
		v.problem("x", 1, "y")
	}
	got := v.sorted()
	if len(got) != maxProblems+1 || !strings.Contains(got[maxProblems].Error(), "5 more problems") {
		t.Errorf("%d problems, the last %v", len(got), got[len(got)-1])
	}
}

// TestFormatEnd: FORMAT.md has the block that ends a response.
func TestFormatEnd(t *testing.T) {
	if want := fmt.Sprintf("`% x`, a final empty block", endOfStream); !bytes.Contains(ReadFile(t, "..", "FORMAT.md"), []byte(want)) {
		t.Errorf("FORMAT.md lacks %q", want)
	}
}

// TestVerifyAnswers compares what resources answer with the counts of the manifest, unless it has none.
func TestVerifyAnswers(t *testing.T) {
	x := Seg(Plain("x"))
	dir := Write(t, Resource(1, Frag(Details, x), Frag(DetailsDE, x)), Resource(2, Frag(Details, x)))
	noProblems(t, dir)
	m, err := ReadManifest(dir)
	sharedtest.NoError(t, err)
	for _, c := range []struct {
		from, to string
		want     []string
	}{
		{`"movie/details": 2`, `"movie/details": 3`, []string{"sub_requests: movie/details is 3, the parts have 2"}},
		{`"de": 1`, `"fr": 1`, []string{"languages: de is 0, the parts have 1", "languages: fr is 1, the parts have 0"}},
		{`"sub_requests"`, `"earlier"`, []string{"sub_requests: movie/details is 0, the parts have 2"}},
	} {
		dir := Copy(t, dir)
		text := ReadFile(t, dir, ManifestName)
		changed := bytes.Replace(text, []byte(c.from), []byte(c.to), 1)
		if bytes.Equal(changed, text) {
			t.Fatalf("%s is not in the manifest:\n%s", c.from, text)
		}
		changed = bytes.Replace(changed, []byte(m.ID), nil, 1)
		WriteFile(t, bytes.Replace(changed, []byte(`"id": ""`), []byte(`"id": "`+IDOf(changed)+`"`), 1), dir, ManifestName)
		problems, err := Verify(t.Context(), dir, Options{}, nil)
		var got []string
		for _, p := range problems {
			got = append(got, p.What)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s for %s: Verify() = %q, %v, want %q", c.to, c.from, got, err, c.want)
		}
	}
}
