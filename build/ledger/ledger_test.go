package ledger_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"reelsplice/build/ledger"
)

var mark = ledger.Mark{15: 7}

// A unit is an entry of a test.
type unit struct {
	sum   uint64
	notes []string
}

func keyOf(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }

// write writes units whose keys are twice their places.
func write(t *testing.T, units []unit) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	w, err := ledger.Create(path, mark)
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range units {
		w.Begin(keyOf(2*i), u.sum)
		for j, n := range u.notes {
			w.Note(byte(j%128), []byte(fmt.Sprint("key ", j)), []byte(n))
		}
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// notesOf returns the payloads of an entry; it fails when kinds or keys are others.
func notesOf(t *testing.T, e ledger.Entry) (payloads []string) {
	t.Helper()
	var n ledger.Note
	for j := 0; e.Next(&n); j++ {
		if n.Kind != byte(j%128) || string(n.Key) != fmt.Sprint("key ", j) {
			t.Fatalf("note %d has kind %d and key %q", j, n.Kind, n.Key)
		}
		payloads = append(payloads, string(n.Payload))
	}
	return payloads
}

func randomUnits(r *rand.Rand, n int) []unit {
	units := make([]unit, n)
	for i := range units {
		units[i].sum = r.Uint64()
		for range r.IntN(300) {
			payload := bytes.Repeat([]byte{byte('a' + r.IntN(3))}, r.IntN(20)) // some are like the one before
			units[i].notes = append(units[i].notes, string(payload))
		}
	}
	return units
}

func open(t *testing.T, path string) *ledger.Reader {
	t.Helper()
	r, err := ledger.Open(path, mark)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFind: entries are found by key and sum, in ascending order, some of them left out;
// those that are not taken are passed.
func TestFind(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	units := randomUnits(rnd, 3000) // several blocks
	r := open(t, write(t, units))
	var passed, taken int
	r.Passed = func(ledger.Entry) { passed++ }
	for i := range 2 * len(units) {
		if rnd.IntN(4) == 0 {
			continue // nobody asks for it
		}
		if i%2 == 1 {
			if _, ok := r.Find(keyOf(i), units[i/2].sum); ok {
				t.Fatalf("key %d is found, and was never written", i)
			}
			continue
		}
		u := units[i/2]
		if rnd.IntN(5) == 0 {
			if _, ok := r.Find(keyOf(i), u.sum+1); ok {
				t.Fatalf("key %d is found by another sum", i)
			}
			continue
		}
		e, ok := r.Find(keyOf(i), u.sum)
		if !ok {
			t.Fatalf("key %d is not found", i)
		}
		if got := notesOf(t, e); !slices.Equal(got, u.notes) {
			t.Fatalf("key %d: notes %q, want %q", i, got, u.notes)
		}
		r.Take()
		taken++
	}
	r.Close()
	if taken == 0 || passed != len(units)-taken || r.Err() != nil {
		t.Errorf("%d taken and %d passed of %d, %v", taken, passed, len(units), r.Err())
	}
}

// TestCopy: a copy of an entry is the entry.
func TestCopy(t *testing.T) {
	units := randomUnits(rand.New(rand.NewPCG(3, 4)), 200)
	path := write(t, units)
	r := open(t, path)
	again := filepath.Join(t.TempDir(), "again")
	w, err := ledger.Create(again, mark)
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range units {
		e, ok := r.Find(keyOf(2*i), u.sum)
		if !ok {
			t.Fatalf("key %d is not found", 2*i)
		}
		if err := w.Copy(keyOf(2*i), u.sum, e); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(again)
	if err != nil || !bytes.Equal(x, y) {
		t.Errorf("the copy has %d bytes, want the same %d, %v", len(y), len(x), err)
	}
}

// TestDamage: a file that is cut anywhere, or has any byte wrong, says so, and what it still
// gives is right.
func TestDamage(t *testing.T) {
	units := randomUnits(rand.New(rand.NewPCG(5, 6)), 4)
	path := write(t, units)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r := open(t, path)
		defer r.Close()
		for i, u := range units {
			if e, ok := r.Find(keyOf(2*i), u.sum); ok && !slices.Equal(notesOf(t, e), u.notes) {
				t.Fatalf("%s: entry %d is wrong", what, i)
			}
		}
		r.Find(keyOf(1<<20), 0)
		if r.Err() == nil {
			t.Errorf("%s: no error", what)
		}
	}
	for i := range whole {
		check(fmt.Sprintf("cut at %d", i), whole[:i])
		bad := bytes.Clone(whole)
		bad[i] ^= 0x10
		check(fmt.Sprintf("byte %d wrong", i), bad)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r := open(t, path); r.Err() == nil {
		t.Error("a file that is gone: no error")
	}
}

// TestEmpty: a ledger without entries is sound.
func TestEmpty(t *testing.T) {
	r := open(t, write(t, nil))
	if _, ok := r.Find(keyOf(0), 0); ok || r.Err() != nil {
		t.Errorf("found %v, %v", ok, r.Err())
	}
	r.Close()
}

// TestOtherBuild: a ledger with another mark gives nothing, and says so.
func TestOtherBuild(t *testing.T) {
	path := write(t, []unit{{sum: 3}})
	r, err := ledger.Open(path, ledger.Mark{15: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, ok := r.Find(keyOf(0), 3); ok || r.Err() == nil {
		t.Errorf("Find = %v, Err = %v, want nothing and an error", ok, r.Err())
	}
}

// FuzzOpen reads any bytes as a ledger.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "ledger")
	w, err := ledger.Create(path, mark)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 5 {
		w.Begin(keyOf(i), uint64(i))
		w.Note(3, []byte("key"), []byte("said"))
		w.Note(4, []byte("key"), []byte("said"))
		if err := w.End(); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	seed, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r := open(t, path)
		r.Passed = func(e ledger.Entry) {
			for n := (ledger.Note{}); e.Next(&n); {
			}
		}
		r.Find(keyOf(2), 2)
		r.Close()
	})
}
