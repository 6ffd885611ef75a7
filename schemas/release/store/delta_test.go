package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func described(name string, data []byte) release.File {
	sha := sha256.Sum256(data)
	return release.File{Name: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sha[:])}
}

// encode returns the delta from one content to another.
func encode(tb testing.TB, newData, oldData []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	sharedtest.NoError(tb, encodeDelta(&b, described("new", newData), newData, described("old", oldData), oldData))
	return b.Bytes()
}

// apply returns what a delta makes of a file.
func apply(newFile release.File, delta, oldData []byte) ([]byte, error) {
	var b bytes.Buffer
	err := ApplyDelta(&b, newFile, bytes.NewReader(delta), described("old", oldData), bytes.NewReader(oldData))
	return b.Bytes(), err
}

// noise returns bytes that do not compress.
func noise(seed uint64, n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed)})
	b := make([]byte, n)
	_, _ = r.Read(b) // it has no errors
	return b
}

// records returns n records of 64 bytes, each with an offset that add moves.
func records(n, add int) []byte {
	out := noise(9, 64*n)
	for i := range n {
		binary.LittleEndian.PutUint64(out[64*i:], uint64(1000*i+add))
	}
	return out
}

func TestDelta(t *testing.T) {
	old := noise(1, 300_000)
	edited := slices.Clone(old)
	for i := 500; i < len(edited); i += 10_000 {
		edited[i]++
	}
	f := func(name string, newData, oldData []byte, most int) {
		t.Helper()
		d := encode(t, newData, oldData)
		if len(d) > most {
			t.Errorf("%s: delta has %d bytes, want %d at most", name, len(d), most)
		}
		got, err := apply(described("new", newData), d, oldData)
		if err != nil || !bytes.Equal(got, newData) {
			t.Errorf("%s: Apply makes %d bytes, %v, want the new file of %d", name, len(got), err, len(newData))
		}
	}
	f("equal", old, old, 150)
	f("a byte in 10,000 differs", edited, old, 500)
	f("halves swapped", slices.Concat(old[150_001:], old[:150_001]), old, 200)
	f("bytes inserted and removed", slices.Concat(old[:1000], []byte("hello"), old[1003:200_000], old[200_123:]), old, 250)
	f("a field of each record differs", records(4000, 7), records(4000, 0), 4000*24)
	f("nothing in common", noise(2, 100_000), old, 101_000)
	f("zeros", make([]byte, 1<<20), old, 400)
	f("from nothing", old[:1000], nil, 1200)
	f("to nothing", nil, old, 150)
	f("shorter than a block", old[:20], old[:25], 200)
}

// TestDeltaRandom: every other file has several slices.
func TestDeltaRandom(t *testing.T) {
	usual := deltaSlice
	sharedtest.Set(t, &deltaSlice, usual)
	for seed := range uint64(100) {
		deltaSlice = usual
		if seed%2 == 1 {
			deltaSlice = 300 + 7*int(seed)
		}
		r := rand.New(rand.NewPCG(seed, 1))
		alphabet := 1 + r.IntN(3) // many equal blocks
		old := make([]byte, r.IntN(5000))
		for i := range old {
			old[i] = byte(r.IntN(alphabet)) * byte(r.IntN(7)/6)
		}
		var made []byte
		for range r.IntN(20) {
			if from := r.IntN(len(old) + 1); r.IntN(2) == 0 {
				made = append(made, old[from:from+r.IntN(len(old)-from+1)]...)
			}
			made = append(made, noise(seed, r.IntN(90))...)
		}
		got, err := apply(described("new", made), encode(t, made, old), old)
		if err != nil || !bytes.Equal(got, made) {
			t.Fatalf("seed %d: Apply makes %d bytes, %v, want the new file of %d", seed, len(got), err, len(made))
		}
	}
}

// TestApplyRefuses: whatever is wrong with a delta or the old file is an error, and output is bounded.
func TestApplyRefuses(t *testing.T) {
	old := noise(1, 50_000)
	made := slices.Concat(old[20_000:], noise(2, 5_000), old[:20_000])
	d, want := encode(t, made, old), described("new", made)
	f := func(name string, newFile release.File, delta, oldData []byte) {
		t.Helper()
		got, err := apply(newFile, delta, oldData)
		if err == nil || int64(len(got)) > newFile.Size {
			t.Errorf("%s: Apply makes %d bytes of %d, %v, want an error", name, len(got), newFile.Size, err)
		}
	}
	for cut := range d {
		if cut%97 == 0 || cut < 100 {
			f("cut delta", want, d[:cut], old)
		}
	}
	for i := 0; i < len(d); i += 53 {
		bad := slices.Clone(d)
		bad[i] ^= 0x55
		if got, err := apply(want, bad, old); err == nil && !bytes.Equal(got, made) {
			t.Errorf("byte %d differs: Apply makes another file, want an error", i)
		}
	}
	f("another new file", described("other", noise(3, len(made))), d, old)
	f("another old file", want, d, noise(4, len(old)))
	smaller := want
	smaller.Size = 100
	f("smaller new file", smaller, d, old)
	for name, slice := range map[string]uint32{"no slices": 0, "slices of 2 GiB": 1 << 31} {
		bad := slices.Clone(d)
		binary.LittleEndian.PutUint32(bad[deltaHeaderLen-4:], slice)
		f(name, want, bad, old)
	}
	huge := append(slices.Clone(d[:deltaHeaderLen]), binary.AppendUvarint(nil, 1<<62)...)
	f("frame of 2^62 bytes", want, huge, old)
	f("a byte after the end", want, append(slices.Clone(d), 0), old)
	short := bytes.NewReader(old[:100])
	if err := ApplyDelta(io.Discard, want, bytes.NewReader(d), described("old", old), short); !errors.Is(err, errInvalidDelta) {
		t.Errorf("Apply to an old file that was cut = %v, want ErrInvalid", err)
	}
}

// TestPushDelta uploads a delta that is worth it, once, and none else.
func TestPushDelta(t *testing.T) {
	folder, err := s3.OpenFolder(t.Context(), objecttest.New(t).URL("releases"))
	sharedtest.NoError(t, err)
	push := func(made, from []byte) int64 {
		t.Helper()
		n, err := pushDelta(t.Context(), folder, pair{described("made", made), described("from", from)}, made, from)
		sharedtest.NoError(t, err)
		return n
	}
	data := noise(1, 50_000)
	if n := push(noise(2, 50_000), data); n != 0 {
		t.Errorf("a delta of files without anything in common has %d bytes, want none", n)
	}
	wanted := slices.Concat(data[1:], []byte("x"))
	made, old := described("made", wanted), described("old", data)
	n := push(wanted, data)
	stored, _, err := readObject(t.Context(), folder, DeltaName(made, old), 1<<20, nil)
	if err != nil || int64(len(stored)) != n {
		t.Fatalf("the bucket has a delta of %d bytes, %v, want %d", len(stored), err, n)
	}
	var got bytes.Buffer
	if err := ApplyDelta(&got, made, bytes.NewReader(stored), old, bytes.NewReader(data)); err != nil || !bytes.Equal(got.Bytes(), wanted) {
		t.Errorf("Apply = %v, want the new file", err)
	}
	if again := push(wanted, data); again != n {
		t.Errorf("the same delta again has %d bytes, want %d", again, n)
	}
	all, err := folder.List(t.Context(), DeltasPrefix, object.MaxListed)
	if err != nil || len(all) != 1 {
		t.Fatalf("the bucket has %d deltas, %v, want 1", len(all), err)
	}
	if newSHA, oldSHA, ok := SplitDeltaName(all[0].Key); !ok || newSHA != made.SHA256 || oldSHA != old.SHA256 {
		t.Errorf("SplitDeltaName(%s) = %s, %s, %v", all[0].Key, newSHA, oldSHA, ok)
	}
}

func TestPairs(t *testing.T) {
	f := func(name string) release.File { return described(strings.TrimRight(name, "'"), []byte(name)) }
	old := &release.Manifest{
		Parts: []release.File{f("part-a"), f("part-b")}, Index: []release.File{f("index-0000")},
		Packs: []release.File{f("pack-a")}, Tables: []release.File{f("table-movie"), f("table-tv")},
	}
	m := &release.Manifest{
		Parts: []release.File{f("part-a"), f("part-c"), f("part-d")}, Index: []release.File{f("index-0000'")},
		Packs: []release.File{f("pack-a"), f("pack-b")}, Tables: []release.File{f("table-movie'"), f("table-person"), f("table-tv")},
	}
	var got []string
	for _, p := range pairs(m, old, []int{0, 1, -1}) {
		got = append(got, p.new.Name+"<"+p.old.Name)
	}
	if want := "part-c<part-b index-0000<index-0000 table-movie<table-movie"; strings.Join(got, " ") != want {
		t.Errorf("pairs = %s, want %s", got, want)
	}
}

func FuzzApplyDelta(f *testing.F) {
	old := noise(1, 2_000)
	made := slices.Concat(old[1_000:], noise(2, 50), old[:1_000])
	good := encode(f, made, old)
	want := described("new", made)
	f.Add(good[deltaHeaderLen:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, frame []byte) {
		got, err := apply(want, slices.Concat(good[:deltaHeaderLen], frame), old)
		if int64(len(got)) > want.Size {
			t.Errorf("Apply makes %d bytes, want %d at most", len(got), want.Size)
		}
		if err == nil && !bytes.Equal(got, made) {
			t.Error("Apply makes another file without an error")
		}
	})
}
