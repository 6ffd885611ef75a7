package release_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

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
	problems, err := check.Verify(context.Background(), dir, check.Options{}, nil)
	if err != nil || len(problems) != 0 {
		tb.Errorf("Verify(%q) = %v, %v, want nothing", dir, problems, err)
	}
}

// archive is the release in testdata of the version that is written. Each version has one, which stays as it is: programs
// in the field wrote and read such releases.
var archive = archiveOf(FeatureVersion)

func archiveOf(version int) string { return fmt.Sprintf("testdata/v%d", version) }

// addArchive adds a release to the archives, unless there is one of its version.
func addArchive(tb testing.TB, archive, dir string) {
	tb.Helper()
	if _, err := os.Stat(archive); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	sharedtest.NoError(tb, os.CopyFS(archive, os.DirFS(dir)))
}

// TestArchive writes the archive of this version byte for byte, and reads the archives of all versions.
func TestArchive(t *testing.T) {
	dir := TinyDir(t)
	if *sharedtest.Update {
		addArchive(t, archive, dir)
	}
	if _, err := os.Stat(archive); err != nil {
		t.Fatalf("%v: go test ./schemas/release -update adds it", err)
	}
	sameTree(t, "tiny release against "+archive+" (another form raises FeatureVersion in version.go; go test ./schemas/release -update then adds its archive)",
		readTree(t, dir), readTree(t, archive))
	for version := FeatureVersion; version >= ReadMin; version-- {
		noProblems(t, archiveOf(version))
	}
}

// TestSharedBySeries: equal texts of a series, its seasons and its episodes are one segment; those of others are not.
func TestSharedBySeries(t *testing.T) {
	text, own := Seg(Deflated(strings.Repeat("cast ", 40))), Seg(Deflated(strings.Repeat("crew ", 40)))
	of := func(key []byte, pieces ...PieceSpec) ResourceSpec {
		return ResourceSpec{Key: key, Fragments: []FragmentSpec{Frag(Details, pieces...)}}
	}
	rs := []ResourceSpec{
		of(fragment.AppendEpisode(nil, 1, 1, 1), text), of(fragment.AppendEpisode(nil, 1, 1, 2), own, text),
		of(fragment.AppendSeason(nil, 1, 1), text, text), of(fragment.AppendID(nil, fragment.KindTV, 1), text),
		of(fragment.AppendID(nil, fragment.KindTV, 2), text), of(Movie(2), text), of(Movie(3), text),
	}
	dir := t.TempDir()
	w, err := Create(dir)
	if err == nil {
		err = w.Add(rs...)
	}
	sharedtest.NoError(t, err)
	m := Seal(t, w)
	dir = filepath.Join(dir, m.ID)
	if noProblems(t, dir); m.Counts.Segments != 5 {
		t.Errorf("%d segments, want one of series 1 and one of its own, one each of series 2 and two movies", m.Counts.Segments)
	}
	r := MustOpen(t, dir)
	for _, want := range rs {
		e, _ := r.Lookup(want.Key)
		pieces, _ := Pieces(e.Fragment(0))
		for i, p := range pieces {
			if p.Segment.Hash != want.Fragments[0].Pieces[i].Segment.Hash {
				t.Errorf("%s: piece %d is another text", fragment.DescribeKey(want.Key), i)
			}
		}
	}
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
		f := Frag(fragment.Address{Sub: i.Sub}, Seg(Plain(i.String())))
		included = append(included, ResourceSpec{Key: i.AppendKey(nil), Fragments: []FragmentSpec{f}})
	}
	key := rapid.SliceOfN(rapid.Byte(), 1, fragment.MaxKeyLen)
	raw := rapid.StringN(0, 40, 200)
	piece := rapid.Custom(func(t *rapid.T) PieceSpec {
		switch op := rapid.SampledFrom([]Op{OpSegment, OpSegment, OpLiteral, OpIDMark, OpPageMark, OpInclude, OpIDEnd, OpName}).Draw(t, "op"); op {
		case OpSegment:
			return Seg(Deflated(raw.Draw(t, "raw")))
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
	letters := rapid.StringMatching("[a-z]{2}")
	variant := rapid.OneOf(
		rapid.SampledFrom([]fragment.Variant{fragment.Base, fragment.Untranslated, fragment.NoLanguage, fragment.All}),
		rapid.Map(letters, func(lang string) fragment.Variant { return fragment.Language(lang, "") }),
		rapid.Map(letters, fragment.AnyRegion[string]),
		rapid.Custom(func(t *rapid.T) fragment.Variant {
			return fragment.Language(letters.Draw(t, "language"), strings.ToUpper(letters.Draw(t, "region")))
		}),
	)
	frags := rapid.Custom(func(t *rapid.T) FragmentSpec {
		a := fragment.Address{
			Sub: fragment.Sub(rapid.Uint16().Draw(t, "sub-request")), Page: rapid.Uint16().Draw(t, "page"), Variant: variant.Draw(t, "variant"),
		}
		return Frag(a, rapid.SliceOfN(piece, 1, 5).Draw(t, "pieces")...)
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
	sharedtest.NoError(t, err)
	defer os.RemoveAll(dir)
	w, err := Create(dir)
	sharedtest.NoError(t, err)
	w.MaxPackBytes = packBytes
	for _, rs := range specs {
		sharedtest.NoError(t, w.Add(rs...))
	}
	m, err := w.Seal(context.Background())
	sharedtest.NoError(t, err)
	path := filepath.Join(dir, m.ID)
	if problems, err := check.Verify(context.Background(), path, check.Options{}, nil); err != nil || len(problems) > 0 {
		t.Fatalf("Verify() = %v, %v, want nothing", problems, err)
	}
	r, err := Open(path)
	sharedtest.NoError(t, err)
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
		if again, ok := r.At(ref); !ok || again != e || len(inOrder) == 0 || !bytes.Equal(key, inOrder[0]) {
			return fmt.Errorf("At(%d) = %v, %v, of key %x", ref, again, ok, key)
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
		pieces, whole := Pieces(f)
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
		return bytes.Equal(p.Segment.Stored, w.Segment.Stored) && p.Segment.Op == w.Segment.Op && p.Segment.Hash == w.Segment.Hash
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
	w, err := Create(t.TempDir())
	sharedtest.NoError(t, err)
	s0, err := w.Part(nil)
	sharedtest.NoError(t, err)
	s1, err := w.Part(nil)
	sharedtest.NoError(t, err)
	sharedtest.NoError(t, s0.Add(GenresOf()))
	good := Seg(Plain("x"))
	f := func(want string, r ResourceSpec) {
		t.Helper()
		if err := s1.Add(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Add(%s) = %v, want an error with %q", fragment.DescribeKey(r.Key), err, want)
		}
	}
	one := func(ps ...PieceSpec) ResourceSpec {
		return ResourceSpec{Key: Movie(1), Fragments: []FragmentSpec{Frag(Videos, ps...)}}
	}
	f("key \"\" has 0 bytes", ResourceSpec{})
	f("has 65 bytes", ResourceSpec{Key: make([]byte, 65)})
	f("has 0 bytes", ResourceSpec{Key: Movie(1), Aliases: [][]byte{{}}})
	f("movie 1: 65536 fragments", ResourceSpec{Key: Movie(1), Fragments: make([]FragmentSpec, 65536)})
	f("movie 1: videos: 0 pieces", one())
	f("65536 pieces", one(make([]PieceSpec, 65536)...))
	for _, v := range []fragment.Variant{1, '~' << 8, '~'<<24 | 1, '/' << 24, 'd' << 24, 'd'<<24 | 0xef<<16, 'd'<<24 | 'e'<<16 | 'D'<<8, 'd'<<24 | 'e'<<16 | '~'<<8 | 1} {
		f("movie 1: videos: variant "+strconv.Quote(v.String())+" is no language",
			ResourceSpec{Key: Movie(1), Fragments: []FragmentSpec{Frag(fragment.Address{Sub: fragment.SubVideos, Variant: v}, good)}})
	}
	f("unknown operation 0", one(PieceSpec{}))
	f("unknown operation 9", one(PieceSpec{Op: 9, Segment: good.Segment}))
	f("unknown operation 10", one(PieceSpec{Op: 10}))
	f("literal of 0 bytes, 1 to 65535 are possible", one(PieceSpec{Op: OpLiteral}))
	f("literal of 65536 bytes", one(Lit(strings.Repeat("x", 1<<16))))
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
	f("piece 1: CRC operator is 00000000, 1 raw bytes need 00800000", one(good, Seg(Segment{Stored: []byte("x"), RawLen: 1})))
	f("segment of 0 bytes for 1 raw ones", one(Seg(Segment{RawLen: 1, Op: CRCOp(1)})))
	f(`piece 0: key "" has 0 bytes`, one(PieceSpec{Op: OpReference, Sub: fragment.SubGenres}))
	f("duplicate fragment videos", ResourceSpec{Key: Movie(1), Fragments: []FragmentSpec{Frag(Videos, good), Frag(Details, good), Frag(Videos, good)}})

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
	r := Resource(1, Frag(Details, pieces...), Frag(Videos, PieceSpec{Op: OpIDEnd}))
	dir := Write(t, r)
	noProblems(t, dir)
	e, _ := MustOpen(t, dir).Lookup(Movie(1))
	if diff := compare(e, r); diff != "" {
		t.Error(diff)
	}
}

// TestEmptyPart: a part may have no resources. Each resource has segments of its own, here in packs
// of one content.
func TestEmptyPart(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir)
	sharedtest.NoError(t, err)
	w.MaxPackBytes = 1
	var rs []ResourceSpec
	for id := range fragment.ID(2) {
		rs = append(rs, ResourceSpec{Key: Movie(id), Fragments: []FragmentSpec{Frag(Details, Seg(Plain("x")))}})
	}
	sharedtest.NoError(t, errors.Join(w.Add(), w.Add(rs...)))
	noProblems(t, filepath.Join(dir, Seal(t, w).ID))
}

// TestFailedPart: a part that has failed stays failed, and so does its release.
func TestFailedPart(t *testing.T) {
	w, err := Create(t.TempDir())
	sharedtest.NoError(t, err)
	w.MaxPackBytes = 1
	p, err := w.Part(nil)
	sharedtest.NoError(t, err)
	errKilled := errors.New("killed")
	file.Step = func(string, string) error { return errKilled }
	defer func() { file.Step = nil }()
	for i := 0; err == nil; i++ { // each segment ends a pack
		err = p.Add(ResourceSpec{Key: Movie(fragment.ID(i)), Fragments: []FragmentSpec{Frag(Details, Seg(Plain("x")))}})
		err = errors.Join(err, p.Add(ResourceSpec{Key: Movie(fragment.ID(1000 + i)), Fragments: []FragmentSpec{Frag(Details, Seg(Plain("y")))}}))
	}
	if !errors.Is(err, errKilled) {
		t.Errorf("Add() = %v, want the error of the disk", err)
	}
	if p.Add(ResourceSpec{Key: Movie(1)}) == nil {
		t.Error("Add() to a part that has failed succeeds")
	}
	if _, err := p.Close(); err == nil {
		t.Error("Close() of a part that has failed succeeds")
	}
	file.Step = nil
	if err := w.Abort(); err != nil {
		t.Errorf("Abort() = %v", err)
	}
}

func TestDuplicateKeys(t *testing.T) {
	for _, second := range []ResourceSpec{
		{Key: Movie(550)},
		{Key: Movie(551), Aliases: [][]byte{Movie(550)}},
		{Key: Movie(551), Aliases: [][]byte{Movie(7)}},
	} {
		dir := t.TempDir()
		w, err := Create(dir)
		sharedtest.NoError(t, err)
		err0 := w.Add(ResourceSpec{Key: Movie(550), ID: 550, Aliases: [][]byte{Movie(7)}})
		err1 := w.Add(second)
		sharedtest.NoError(t, errors.Join(err0, err1))
		if _, err := w.Seal(context.Background()); err == nil || !strings.Contains(err.Error(), "two resources or aliases have the key of movie ") {
			t.Errorf("Seal() = %v, want an error about the key", err)
		}
		if err := w.Abort(); err != nil {
			t.Errorf("Abort() = %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "[.r]*")); !slices.Equal(left, []string{filepath.Join(dir, ".lock")}) {
			t.Errorf("Abort() leaves %v", left)
		}
	}
}

// TestStops: walks and the index end with their contexts, and with an error of the caller.
func TestStops(t *testing.T) {
	r, err := Open(archive)
	sharedtest.NoError(t, err)
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
	w, err := Create(t.TempDir())
	sharedtest.NoError(t, err)
	if _, err := w.Seal(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Seal(cancelled) = %v, want context.Canceled", err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if _, ok := r.Lookup(Movie(550)); ok {
		t.Error("Lookup() after Close = true")
	}
}

// TestManyIndexes looks up all keys in a release whose index has several files.
func TestManyIndexes(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir)
	sharedtest.NoError(t, err)
	const n = 3000
	for i := range 3 {
		var rs []ResourceSpec
		for k := i; k < n; k += 3 {
			rs = append(rs, ResourceSpec{Key: fmt.Appendf(nil, "key %d", k), ID: uint64(k)})
		}
		sharedtest.NoError(t, w.Add(rs...))
	}
	w.Indexes = 8
	m := Seal(t, w)
	noProblems(t, filepath.Join(dir, m.ID))
	r := MustOpen(t, filepath.Join(dir, m.ID))
	for k := range n {
		if e, ok := r.Lookup(fmt.Appendf(nil, "key %d", k)); !ok || e.ID() != uint64(k) {
			t.Fatalf("key %d is not found", k)
		}
		if _, ok := r.Lookup(fmt.Appendf(nil, "no key %d", k)); ok {
			t.Fatalf("a key is found that is not there")
		}
	}
	for _, missing := range [][]byte{nil, {1}, make([]byte, 65), make([]byte, 1000)} {
		if _, ok := r.Lookup(missing); ok {
			t.Errorf("the key %x is found", missing)
		}
	}
}

// TestOpenNamesFile breaks the length of each file, and its header byte by byte.
func TestOpenNamesFile(t *testing.T) {
	for _, name := range append(filesOf(t, archive), ManifestName) {
		dir := Copy(t, archive)
		whole := ReadFile(t, dir, name)
		refused := func(what string, data []byte, words ...string) {
			t.Helper()
			WriteFile(t, data, dir, name)
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
		n := HeaderLen
		if name == ManifestName {
			n = len(whole)
		}
		for i := range whole {
			if i >= n && i < len(whole)-FooterLen {
				continue
			}
			flipped := slices.Clone(whole)
			flipped[i] ^= 1 << (i % 8)
			refused(fmt.Sprintf("bit %d of byte %d flipped", i%8, i), flipped)
		}
		sharedtest.NoError(t, os.Remove(filepath.Join(dir, name)))
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Open without %s = %v, want an error with its name", name, err)
		}
	}
}

// TestBrokenFragments tells that a fragment is broken whose bytes break the format.
func TestBrokenFragments(t *testing.T) {
	if (Entry{}).Len() != 0 || (Entry{}).Key() != nil {
		t.Error("zero values hold something")
	}
	if pieces, ok := Pieces(Fragment{}); ok || len(pieces) > 0 {
		t.Errorf("pieces of the zero Fragment = %v, %v, want none, false", pieces, ok)
	}
}
