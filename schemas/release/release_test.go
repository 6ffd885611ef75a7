package release

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// segmentOf describes raw as stored bytes.
func segmentOf(raw string, stored []byte) Segment {
	return Segment{
		Stored: stored, RawLen: uint32(len(raw)), CRC: crc32.ChecksumIEEE([]byte(raw)),
		Op: CRCOp(uint64(len(raw))), Hash: HashOf([]byte(raw)),
	}
}

// plain returns raw, at most 65535 bytes, in one stored block: the same bytes for ever.
func plain(raw string) Segment {
	n := uint16(len(raw))
	stored := le.AppendUint16(le.AppendUint16([]byte{0}, n), ^n)
	return segmentOf(raw, append(stored, raw...))
}

// deflated returns raw compressed.
func deflated(raw string) Segment {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 6)
	if err != nil {
		panic(err)
	}
	if _, err := w.Write([]byte(raw)); err != nil {
		panic(err)
	}
	if err := w.Flush(); err != nil {
		panic(err)
	}
	return segmentOf(raw, b.Bytes())
}

func seg(g Segment) PieceSpec { return PieceSpec{Op: OpSegment, Segment: g} }

// lit returns text that stands in the recipe itself.
func lit(text string) PieceSpec { return PieceSpec{Op: OpLiteral, Literal: []byte(text)} }

// piecesOf returns the pieces of f, and false when its bytes break the format.
func piecesOf(f Fragment) (all []Piece, ok bool) {
	var p Piece // used again, as by all who read
	c := f.Pieces()
	for c.Next(&p) {
		all = append(all, p)
	}
	return all, !c.Broken()
}

func frag(a fragment.Address, pieces ...PieceSpec) FragmentSpec {
	return FragmentSpec{Address: a, Pieces: pieces}
}

var (
	details   = fragment.Address{Sub: fragment.SubDetails}
	detailsDE = fragment.Address{Sub: fragment.SubDetails, Variant: fragment.Language("de", "DE")}
	videos    = fragment.Address{Sub: fragment.SubVideos}
	genres    = fragment.Address{Sub: fragment.SubGenres}
	genresDE  = fragment.Address{Sub: fragment.SubGenres, Variant: fragment.Language("de", "")}
	row       = fragment.Address{Sub: fragment.SubRow}
	credits   = fragment.Address{Sub: fragment.SubCredits}
	similar2  = fragment.Address{Sub: fragment.SubSimilar, Page: 2}
)

func movie(id fragment.ID) []byte { return fragment.AppendID(nil, fragment.KindMovie, id) }

// include returns the inclusion of a movie's row.
func include(id uint64) PieceSpec {
	return PieceSpec{Op: OpInclude, Include: Include{Kind: fragment.KindMovie, ID: id, Sub: fragment.SubRow}}
}

// tinyOptions and tinyParts make the release that the archive holds.
func tinyOptions() testOptions {
	return testOptions{
		Params: map[string]string{"level": "6"}, Sources: map[string]int64{"movies": 3},
		Parent: "r0000000000000000", Parts: 3, MaxPackBytes: 80,
	}
}

// genresKey is the key of a list of genres that others refer to.
var genresKey = fragment.AppendShared(nil, fragment.KindGenres, fragment.KindMovie, "18,53")

// toGenres returns the reference to it.
func toGenres() PieceSpec {
	return PieceSpec{Op: OpReference, Shared: genresKey, Sub: fragment.SubGenres}
}

func tinyCommon() ResourceSpec {
	return ResourceSpec{
		Key: genresKey, Fingerprint: 0x0102030405060708,
		Fragments: []FragmentSpec{
			frag(genresDE, seg(plain(`"genres":[{"id":18,"name":"Drama"}]`))),
			frag(genres, seg(plain(`"genres":[{"id":18,"name":"Drama"}]`))),
		},
	}
}

func tinyParts() [][]ResourceSpec {
	genres := toGenres()
	return [][]ResourceSpec{
		1: {
			{
				Key: movie(550), ID: 550, Aliases: [][]byte{fragment.AppendAlias(nil, fragment.KindMovie, "tt0137523")},
				Fragments: []FragmentSpec{
					frag(details, seg(plain(`{"adult":false,`)), genres, lit(`,"ID":550`)),
					frag(detailsDE, seg(plain(`{"adult":false,`)), genres, lit(`,"ID":550`)),
					frag(similar2, PieceSpec{Op: OpPageMark}, lit(`"results":[]}`)),
					frag(videos, PieceSpec{Op: OpIDMark}, seg(plain(`"results":[{"name":"a trailer with a name that fills a row"}]}`))),
				},
			},
			{Key: movie(551), ID: 551, Fragments: []FragmentSpec{frag(details, seg(plain("")))}},
		},
		2: {
			{Key: movie(13), ID: 13, Fragments: []FragmentSpec{
				frag(detailsDE, genres), frag(details, seg(plain(`{"id":13`))), frag(row, seg(plain(`"id":13`))),
			}},
			{Key: fragment.AppendShared(nil, fragment.KindDefault, fragment.KindMovie, ""), Fragments: []FragmentSpec{frag(row, seg(plain(`"id":0`)))}},
			{Key: fragment.AppendSeason(nil, 1399, 1), ID: 3624, Fragments: []FragmentSpec{
				frag(details, lit(`{"name":`), PieceSpec{Op: OpName, Word: WordSeason, Number: 1}),
				frag(credits, seg(plain(`"cast":[{`)), include(13), lit(`}|{`), include(551), seg(plain(`}]`)), PieceSpec{Op: OpIDEnd}),
				frag(row, PieceSpec{Op: OpName, Word: WordEpisode, Number: 1<<32 - 1}),
			}},
			{Key: fragment.AppendEpisode(nil, 1399, 1, 2), ID: 63057, Fragments: []FragmentSpec{frag(details, PieceSpec{
				Op: OpInclude, Include: Include{Kind: fragment.KindSeason, ID: 1399, Season: 1, Sub: fragment.SubRow},
			})}},
			{Key: fragment.AppendID(nil, fragment.KindTV, 1399), ID: 1399, Fragments: []FragmentSpec{frag(details, PieceSpec{
				Op: OpInclude, Include: Include{Kind: fragment.KindEpisode, ID: 1399, Season: 1, Episode: 2, Sub: fragment.SubDetails},
			})}},
		},
	}
}

// add fills part i of w and closes it.
func add(w *testWriter, i int, rs ...ResourceSpec) error {
	p, err := w.Part(i)
	if err != nil {
		return err
	}
	for _, r := range rs {
		if err := p.Add(r); err != nil {
			return err
		}
	}
	_, err = p.Close()
	return err
}

// packOf returns the name of the pack that the first segment of a resource lies in.
func packOf(tb testing.TB, dir string, key []byte) string {
	tb.Helper()
	e, _ := mustOpen(tb, dir).Lookup(key)
	for i := range e.Len() {
		pieces, _ := piecesOf(e.Fragment(i))
		for _, p := range pieces {
			if p.Op == OpSegment {
				return p.Segment.pack.name
			}
		}
	}
	tb.Fatalf("%s has no segment", fragment.DescribeKey(key))
	return ""
}

// fillTiny writes the parts and the table of the tiny release.
func fillTiny(w *testWriter) error {
	err := add(w, 0, tinyCommon())
	for i, rs := range tinyParts() {
		if i > 0 && err == nil {
			err = add(w, i, rs...)
		}
	}
	if err != nil {
		return err
	}
	return tinyTable(w)
}

// buildTiny writes the tiny release, with the given parent, into dir.
func buildTiny(tb testing.TB, dir, parent string) Manifest {
	tb.Helper()
	o := tinyOptions()
	o.Parent = parent
	w, err := create(dir, o)
	if err != nil {
		tb.Fatalf("create() = %v", err)
	}
	if err := fillTiny(w); err != nil {
		tb.Fatalf("fill the tiny release: %v", err)
	}
	return seal(tb, w)
}

// tinyTable adds a table to a release.
func tinyTable(w *testWriter) error {
	t, err := w.Table("tiny", 3)
	if err != nil {
		return err
	}
	for _, s := range []string{"rows", "columns.id"} {
		if _, err := t.Section(s).Write([]byte("the bytes of " + s)); err != nil {
			return err
		}
	}
	return t.Close()
}

func seal(tb testing.TB, w *testWriter) Manifest {
	tb.Helper()
	m, err := w.Seal(context.Background())
	if err != nil {
		tb.Fatalf("Seal() = %v", err)
	}
	return m
}

func mustOpen(tb testing.TB, dir string) *Reader {
	tb.Helper()
	r, err := Open(dir)
	if err != nil {
		tb.Fatalf("Open(%q) = %v", dir, err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Errorf("Close() = %v", err)
		}
	})
	return r
}

// readTree returns the content of every file below dir by its name there.
func readTree(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		tree[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		tb.Fatalf("read %q: %v", dir, err)
	}
	return tree
}

func sameTree(tb testing.TB, what string, got, want map[string]string) {
	tb.Helper()
	for name := range want {
		if got[name] != want[name] {
			tb.Errorf("%s: %s differs", what, name)
		}
	}
	if len(got) != len(want) {
		tb.Errorf("%s: %d files, want %d", what, len(got), len(want))
	}
}

func noProblems(tb testing.TB, dir string) {
	tb.Helper()
	problems, err := Verify(context.Background(), dir, VerifyOptions{}, nil)
	if err != nil || len(problems) != 0 {
		tb.Errorf("Verify(%q) = %v, %v, want nothing", dir, problems, err)
	}
}

// archive is a release of the version that is written.
const archive = "testdata/v8"

// TestArchive keeps the bytes of a release of the version that is written the same.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	m := buildTiny(t, dir, tinyOptions().Parent)
	got := readTree(t, filepath.Join(dir, m.ID))
	if *update {
		if err := os.RemoveAll(archive); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(archive, os.DirFS(filepath.Join(dir, m.ID))); err != nil {
			t.Fatal(err)
		}
	}
	sameTree(t, "tiny release against "+archive+", which go test ./schemas/release -update writes", got, readTree(t, archive))
	noProblems(t, archive)
}

// TestRoundTrip writes random resources and reads the same back.
func TestRoundTrip(t *testing.T) {
	includes := []Include{
		{Kind: fragment.KindMovie, ID: 1<<64 - 1, Sub: 1<<16 - 1},
		{Kind: fragment.KindSeason, ID: 1, Season: 1<<32 - 1, Sub: fragment.SubRow},
		{Kind: fragment.KindEpisode, ID: 1 << 63, Season: 1, Episode: 1<<32 - 2, Sub: fragment.SubDetails},
		{Kind: fragment.KindKeyword, Sub: fragment.SubRow},
	}
	var included []ResourceSpec
	for _, i := range includes {
		f := frag(fragment.Address{Sub: i.Sub}, seg(plain(i.String())))
		included = append(included, ResourceSpec{Key: i.AppendKey(nil), Fragments: []FragmentSpec{f}})
	}
	key := rapid.SliceOfN(rapid.Byte(), 1, fragment.MaxKeyLen)
	raw := rapid.StringN(0, 40, 200)
	piece := rapid.Custom(func(t *rapid.T) PieceSpec {
		switch op := rapid.SampledFrom([]Op{OpSegment, OpSegment, OpLiteral, OpIDMark, OpPageMark, OpInclude, OpIDEnd, OpName}).Draw(t, "op"); op {
		case OpSegment:
			return seg(deflated(raw.Draw(t, "raw")))
		case OpLiteral:
			return PieceSpec{Op: op, Literal: rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "literal")}
		case OpInclude:
			return PieceSpec{Op: op, Include: rapid.SampledFrom(includes).Draw(t, "include")}
		case OpName:
			word := Word(rapid.IntRange(1, 3).Draw(t, "word"))
			return PieceSpec{Op: op, Word: word, Number: rapid.Uint32().Draw(t, "number")}
		default:
			return PieceSpec{Op: op}
		}
	})
	frags := rapid.Custom(func(t *rapid.T) FragmentSpec {
		return frag(fragment.AddressOf(rapid.Uint64().Draw(t, "address")), rapid.SliceOfN(piece, 1, 5).Draw(t, "pieces")...)
	})
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(key.Filter(notRemoved), 1, 40, func(k []byte) string { return string(k) }).Draw(t, "keys")
		shards := rapid.IntRange(1, 4).Draw(t, "shards")
		specs := make([][]ResourceSpec, shards)
		last := rapid.IntRange(0, shards-1).Draw(t, "shard of what is included")
		specs[last] = append(specs[last], included...)
		for len(keys) > 0 {
			n := rapid.IntRange(1, min(3, len(keys))).Draw(t, "keys of the resource")
			r := ResourceSpec{Key: keys[0], Aliases: keys[1:n]}
			r.Fragments = rapid.SliceOfNDistinct(frags, 0, 4, func(f FragmentSpec) uint64 { return f.Address.Uint64() }).Draw(t, "fragments")
			i := rapid.IntRange(0, shards-1).Draw(t, "shard")
			specs[i], keys = append(specs[i], r), keys[n:]
		}
		roundTrip(t, specs, rapid.Int64Range(1, 400).Draw(t, "pack bytes"))
	})
}

// notRemoved reports whether a key is not of the kind whose keys must name what was
// removed.
func notRemoved(key []byte) bool { return key[0] != byte(fragment.KindRemoved) }

func roundTrip(t *rapid.T, specs [][]ResourceSpec, packBytes int64) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w, err := create(dir, testOptions{Parts: len(specs), MaxPackBytes: packBytes})
	if err != nil {
		t.Fatal(err)
	}
	for i, rs := range specs {
		if err := add(w, i, rs...); err != nil {
			t.Fatal(err)
		}
	}
	m, err := w.Seal(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, m.ID)
	if problems, err := Verify(context.Background(), path, VerifyOptions{}, nil); err != nil || len(problems) > 0 {
		t.Fatalf("Verify() = %v, %v, want nothing", problems, err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var inOrder [][]byte
	for _, rs := range specs {
		for _, want := range rs {
			inOrder = append(inOrder, want.Key)
			for _, key := range append([][]byte{want.Key}, want.Aliases...) {
				e, ok := r.Lookup(key)
				if !ok {
					t.Fatalf("Lookup(%x) = false, want true", key)
				}
				if diff := compare(e, want); diff != "" {
					t.Fatalf("Lookup(%x): %s", key, diff)
				}
			}
		}
	}
	err = r.Resources(context.Background(), func(key []byte, e Entry, ref Ref) error {
		if again, ok := r.entryAt(ref); !ok || again != e || len(inOrder) == 0 || !bytes.Equal(key, inOrder[0]) {
			return fmt.Errorf("entryAt(%d) = %v, %v, of key %x", ref, again, ok, key)
		}
		inOrder = inOrder[1:]
		return nil
	})
	if err != nil || len(inOrder) != 0 {
		t.Fatalf("Resources() = %v, %d left", err, len(inOrder))
	}
}

// compare returns how e differs from what was written.
func compare(e Entry, want ResourceSpec) string {
	if !bytes.Equal(e.Key(), want.Key) || e.Len() != len(want.Fragments) {
		return fmt.Sprintf("key %x with %d fragments, want %x with %d", e.Key(), e.Len(), want.Key, len(want.Fragments))
	}
	for i, w := range want.Fragments {
		f, ok := e.Find(w.Address)
		pieces, whole := piecesOf(f)
		if !ok || !whole || len(pieces) != len(w.Pieces) {
			return fmt.Sprintf("fragment %d: %d pieces, %v, %v, want %d", i, len(pieces), ok, whole, len(w.Pieces))
		}
		for k, w := range w.Pieces {
			if p := &pieces[k]; !samePiece(p, &w) {
				return fmt.Sprintf("piece %d of fragment %d: %+v, want %+v", k, i, p, w)
			}
		}
	}
	return ""
}

// samePiece reports whether what counts for the operation of p is what was written.
func samePiece(p *Piece, w *PieceSpec) bool {
	if p.Op != w.Op {
		return false
	}
	switch p.Op {
	case OpSegment:
		return bytes.Equal(p.Segment.Stored, w.Segment.Stored) && p.Segment.Op == w.Segment.Op && p.Segment.id() == w.Segment.id()
	case OpLiteral:
		return bytes.Equal(p.Text(), w.Literal)
	case OpReference:
		return p.Sub == w.Sub && bytes.Equal(p.Shared, w.Shared)
	case OpInclude:
		return p.Include == w.Include
	case OpName:
		return p.Word == w.Word && p.Number == w.Number
	default:
		return true
	}
}

func TestWriterRefuses(t *testing.T) {
	w, err := create(t.TempDir(), testOptions{Parts: 2})
	if err != nil {
		t.Fatal(err)
	}
	s0, err := w.Part(0)
	if err != nil {
		t.Fatal(err)
	}
	s1, err := w.Part(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s0.Add(tinyCommon()); err != nil {
		t.Fatal(err)
	}
	good := seg(plain("x"))
	f := func(want string, r ResourceSpec) {
		t.Helper()
		if err := s1.Add(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Add(%s) = %v, want an error with %q", fragment.DescribeKey(r.Key), err, want)
		}
	}
	one := func(ps ...PieceSpec) ResourceSpec {
		return ResourceSpec{Key: movie(1), Fragments: []FragmentSpec{frag(videos, ps...)}}
	}
	f("key \"\" has 0 bytes", ResourceSpec{})
	f("has 65 bytes", ResourceSpec{Key: make([]byte, 65)})
	f("has 0 bytes", ResourceSpec{Key: movie(1), Aliases: [][]byte{{}}})
	f("movie 1: 65536 fragments", ResourceSpec{Key: movie(1), Fragments: make([]FragmentSpec, 65536)})
	f("movie 1: videos: 0 pieces", one())
	f("65536 pieces", one(make([]PieceSpec, 65536)...))
	f("unknown operation 0", one(PieceSpec{}))
	f("unknown operation 9", one(PieceSpec{Op: opFar, Segment: good.Segment}))
	f("unknown operation 10", one(PieceSpec{Op: 10}))
	f("literal of 0 bytes, 1 to 65535 are possible", one(PieceSpec{Op: OpLiteral}))
	f("literal of 65536 bytes", one(lit(strings.Repeat("x", MaxLiteral+1))))
	inc := func(want string, i Include) {
		t.Helper()
		f(want, one(good, PieceSpec{Op: OpInclude, Include: i}))
	}
	inc("piece 1: include of kind-0 0: kinds from movie to keyword", Include{Sub: fragment.SubRow})
	inc("include of review 1: kinds from movie to keyword", Include{Kind: fragment.KindReview, ID: 1, Sub: fragment.SubRow})
	inc("include of movie 1: it names no sub-request", Include{Kind: fragment.KindMovie, ID: 1})
	inc("include of movie 1: it has the number of a season", Include{Kind: fragment.KindMovie, ID: 1, Season: 3, Sub: fragment.SubRow})
	inc("include of person 1: it has the number of an episode", Include{Kind: fragment.KindPerson, ID: 1, Episode: 3, Sub: fragment.SubRow})
	inc("include of season 1: it has the number of an episode", Include{Kind: fragment.KindSeason, ID: 1, Season: 1, Episode: 3, Sub: fragment.SubRow})
	f("name of unknown word 0", one(PieceSpec{Op: OpName, Number: 1}))
	f("name of unknown word 4", one(PieceSpec{Op: OpName, Word: 4}))
	f("piece 1: CRC operator is 00000000, 1 raw bytes need 00800000", one(good, seg(Segment{Stored: []byte("x"), RawLen: 1})))
	f("segment of 0 bytes for 1 raw ones", one(seg(Segment{RawLen: 1, Op: CRCOp(1)})))
	f(`piece 0: key "" has 0 bytes`, one(PieceSpec{Op: OpReference, Sub: fragment.SubGenres}))
	f("videos is there twice", ResourceSpec{Key: movie(1), Fragments: []FragmentSpec{frag(videos, good), frag(details, good), frag(videos, good)}})

	// What was refused has left nothing behind.
	if err := s1.Add(one(good)); err != nil {
		t.Errorf("Add() after refusals = %v", err)
	}
	if err := errors.Join(w.Abort(), w.Abort()); err != nil {
		t.Errorf("Abort() = %v", err)
	}
	if err := s1.Add(one(good)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Add() after Abort = %v, want os.ErrClosed", err)
	}
}

// TestManyPieces has as many pieces in a fragment as can be, and another behind it.
func TestManyPieces(t *testing.T) {
	pieces := make([]PieceSpec, MaxPieces)
	for i := range pieces {
		pieces[i] = PieceSpec{Op: OpName, Word: WordEpisode, Number: uint32(i)}
	}
	r := resource(1, frag(details, pieces...), frag(videos, PieceSpec{Op: OpIDEnd}))
	dir := releaseOf(t, r)
	noProblems(t, dir)
	e, _ := mustOpen(t, dir).Lookup(movie(1))
	if diff := compare(e, r); diff != "" {
		t.Error(diff)
	}
}

// TestEmptyPart: a part may have no resources. Each resource has segments of its own, here in packs
// of one content.
func TestEmptyPart(t *testing.T) {
	dir := t.TempDir()
	w, err := create(dir, testOptions{Parts: 2, MaxPackBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	var rs []ResourceSpec
	for id := range fragment.ID(2) {
		rs = append(rs, ResourceSpec{Key: movie(id), Fragments: []FragmentSpec{frag(details, seg(plain("x")))}})
	}
	if err := errors.Join(add(w, 0), add(w, 1, rs...)); err != nil {
		t.Fatal(err)
	}
	noProblems(t, filepath.Join(dir, seal(t, w).ID))
}

// TestFailedPart: a part that has failed stays failed, and so does its release.
func TestFailedPart(t *testing.T) {
	w, err := create(t.TempDir(), testOptions{MaxPackBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Part(0)
	if err != nil {
		t.Fatal(err)
	}
	p.o.disk.step = func(string) error { return errKilled }
	for i := 0; err == nil; i++ { // each segment ends a pack
		err = p.Add(ResourceSpec{Key: movie(fragment.ID(i)), Fragments: []FragmentSpec{frag(details, seg(plain("x")))}})
		err = errors.Join(err, p.Add(ResourceSpec{Key: movie(fragment.ID(1000 + i)), Fragments: []FragmentSpec{frag(details, seg(plain("y")))}}))
	}
	if !errors.Is(err, errKilled) {
		t.Errorf("Add() = %v, want the error of the disk", err)
	}
	if p.Add(ResourceSpec{Key: movie(1)}) == nil {
		t.Error("Add() to a part that has failed succeeds")
	}
	if _, err := p.Close(); err == nil {
		t.Error("Close() of a part that has failed succeeds")
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort() = %v", err)
	}
}

func TestDuplicateKeys(t *testing.T) {
	for _, second := range []ResourceSpec{
		{Key: movie(550)},
		{Key: movie(551), Aliases: [][]byte{movie(550)}},
		{Key: movie(551), Aliases: [][]byte{movie(7)}},
	} {
		dir := t.TempDir()
		w, err := create(dir, testOptions{Parts: 2})
		if err != nil {
			t.Fatal(err)
		}
		err0 := add(w, 0, ResourceSpec{Key: movie(550), ID: 550, Aliases: [][]byte{movie(7)}})
		err1 := add(w, 1, second)
		if err := errors.Join(err0, err1); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Seal(context.Background()); err == nil || !strings.Contains(err.Error(), "two resources or aliases have the key of movie ") {
			t.Errorf("Seal() = %v, want an error about the key", err)
		}
		if err := w.Abort(); err != nil {
			t.Errorf("Abort() = %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "[.r]*")); !slices.Equal(left, []string{filepath.Join(dir, builderLock)}) {
			t.Errorf("Abort() leaves %v", left)
		}
	}
}

func TestOneBuilderAtATime(t *testing.T) {
	dir := t.TempDir()
	stale := filepath.Join(dir, BuildingPrefix+"1")
	if err := os.MkdirAll(filepath.Join(stale, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := create(dir, testOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !missing(err) {
		t.Errorf("create() leaves %q: %v", stale, err)
	}
	if _, err := create(dir, testOptions{}); !errors.Is(err, ErrLocked) {
		t.Errorf("create() while another works = %v, want ErrLocked", err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	w, err = create(dir, testOptions{})
	if err != nil {
		t.Fatalf("create() after Abort = %v", err)
	}
	m := seal(t, w)
	noProblems(t, filepath.Join(dir, m.ID)) // an empty release is one too
}

// TestSameReleaseTwice keeps the first, and replaces it when it is broken.
func TestSameReleaseTwice(t *testing.T) {
	dir := t.TempDir()
	m := buildTiny(t, dir, "")
	marker := filepath.Join(dir, m.ID, ReportName)
	if err := os.WriteFile(marker, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if again := buildTiny(t, dir, ""); again.ID != m.ID {
		t.Errorf("id = %s, then %s", m.ID, again.ID)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Errorf("the first release is gone: %v", err)
	}
	if err := os.Truncate(filepath.Join(dir, m.ID, m.Packs[1].Name), 70); err != nil {
		t.Fatal(err)
	}
	buildTiny(t, dir, "")
	noProblems(t, filepath.Join(dir, m.ID))
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) != 1 {
		t.Errorf("left in the folder: %v, want the lock alone", names)
	}
}

// TestStops: walks and the index end with their contexts, and with an error of the caller.
func TestStops(t *testing.T) {
	r, err := Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	stop, calls := errors.New("stop"), 0
	err = r.Resources(context.Background(), func([]byte, Entry, Ref) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("Resources() = %v after %d calls, want stop after 1", err, calls)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Resources(ctx, func([]byte, Entry, Ref) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Resources(cancelled) = %v, want context.Canceled", err)
	}
	w, err := create(t.TempDir(), testOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Seal(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Seal(cancelled) = %v, want context.Canceled", err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if _, ok := r.Lookup(movie(550)); ok {
		t.Error("Lookup() after Close = true")
	}
}
