package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/release"
)

func fileOf(name string, data []byte) release.File {
	sha := sha256.Sum256(data)
	return release.File{Name: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sha[:])}
}

// TestPushDelta uploads a delta that is worth it, once, and none else.
func TestPushDelta(t *testing.T) {
	folder, err := s3.OpenFolder(t.Context(), objecttest.New(t).URL("releases"))
	if err != nil {
		t.Fatal(err)
	}
	s := Bucket{folder}
	noise := func(seed byte) []byte {
		b := make([]byte, 50_000)
		_, _ = rand.NewChaCha8([32]byte{seed}).Read(b) // it has no errors
		return b
	}
	push := func(made, from []byte) int64 {
		t.Helper()
		n, err := s.pushDelta(t.Context(), pair{fileOf("made", made), fileOf("from", from)}, made, from)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	data := noise(1)
	if n := push(noise(2), data); n != 0 {
		t.Errorf("a delta of files without anything in common has %d bytes, want none", n)
	}
	wanted := slices.Concat(data[1:], []byte("x"))
	made, old := fileOf("made", wanted), fileOf("old", data)
	n := push(wanted, data)
	stored, _, err := s.read(t.Context(), DeltaName(made, old), 1<<20, nil)
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
	f := func(name string) release.File { return fileOf(strings.TrimRight(name, "'"), []byte(name)) }
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
		got = append(got, p.made.Name+"<"+p.from.Name)
	}
	if want := "part-c<part-b index-0000<index-0000 table-movie<table-movie"; strings.Join(got, " ") != want {
		t.Errorf("pairs = %s, want %s", got, want)
	}
}
