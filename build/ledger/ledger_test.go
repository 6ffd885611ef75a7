package ledger_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reelsplice/build/ledger"
)

var mark = ledger.Mark{15: 7}

// A unit is an entry of a test.
type unit struct {
	sum         uint64
	notes, said []string
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
		put(t, w, i, u)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// put writes the entry of unit i.
func put(t *testing.T, w *ledger.Writer, i int, u unit) {
	t.Helper()
	w.Begin(keyOf(2*i), u.sum)
	for j, n := range u.notes {
		w.Note(byte(j%128), []byte(fmt.Sprint("key ", j)), []byte(n))
	}
	for j, n := range u.said {
		w.Say(byte(j%128), []byte(fmt.Sprint("key ", j)), []byte(n))
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
}

// amend writes the entry of unit i, of which r has other notes.
func amend(t *testing.T, w *ledger.Writer, r *ledger.Reader, i int, u unit) {
	t.Helper()
	if _, ok := r.Find(keyOf(2*i), u.sum); !ok {
		t.Fatalf("key %d is not found", 2*i)
	}
	if err := w.Amend(r); err != nil {
		t.Fatal(err)
	}
	for j, n := range u.notes {
		w.Note(byte(j%128), []byte(fmt.Sprint("key ", j)), []byte(n))
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
}

// check fails when an entry is not that of a unit.
func check(t *testing.T, what string, e ledger.Entry, u unit) {
	t.Helper()
	notes, err := e.Notes()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got := payloads(t, notes); !slices.Equal(got, u.notes) {
		t.Fatalf("%s: notes %q, want %q", what, got, u.notes)
	}
	said, err := e.Said()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got := payloads(t, said); !slices.Equal(got, u.said) {
		t.Fatalf("%s: said %q, want %q", what, got, u.said)
	}
}

// payloads returns those of notes; it fails when kinds or keys are others.
func payloads(t *testing.T, notes ledger.Notes) (list []string) {
	t.Helper()
	var n ledger.Note
	for j := 0; notes.Next(&n); j++ {
		if n.Kind != byte(j%128) || string(n.Key) != fmt.Sprint("key ", j) {
			t.Fatalf("note %d has kind %d and key %q", j, n.Kind, n.Key)
		}
		list = append(list, string(n.Payload))
	}
	return list
}

func randomUnits(r *rand.Rand, n int) []unit {
	units := make([]unit, n)
	for i := range units {
		units[i] = unit{sum: r.Uint64(), notes: randomTexts(r, 20), said: randomTexts(r, 300)}
		if r.IntN(3) == 0 {
			units[i].said = nil
		}
	}
	return units
}

// randomTexts returns fewer than n texts, some of them like the one before.
func randomTexts(r *rand.Rand, n int) (texts []string) {
	for range r.IntN(n) {
		texts = append(texts, strings.Repeat(string(rune('a'+r.IntN(3))), r.IntN(20)))
	}
	return texts
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
	r.Passed = func(e ledger.Entry) {
		check(t, "passed", e, units[binary.BigEndian.Uint64(e.Key())/2])
		passed++
	}
	w, err := ledger.Create(filepath.Join(t.TempDir(), "again"), mark)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
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
		check(t, fmt.Sprint("key ", i), e, u)
		if err := w.Take(r); err != nil {
			t.Fatal(err)
		}
		taken++
	}
	r.Close()
	if taken == 0 || passed != len(units)-taken || r.Err() != nil {
		t.Errorf("%d taken and %d passed of %d, %v", taken, passed, len(units), r.Err())
	}
}

// TestTake: a ledger of entries that are taken, amended and others has what it would have if all
// of them were made.
func TestTake(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, share := range []int{0, 1, 30, 300} { // of 1,000 units, how many change
		units := randomUnits(rnd, 1500)
		path := write(t, units)
		r := open(t, path)
		again := filepath.Join(t.TempDir(), "again")
		w, err := ledger.Create(again, mark)
		if err != nil {
			t.Fatal(err)
		}
		gone := map[int]bool{}
		for i, u := range units {
			if rnd.IntN(1000) >= share {
				if _, ok := r.Find(keyOf(2*i), u.sum); !ok {
					t.Fatalf("key %d is not found", 2*i)
				}
				if err := w.Take(r); err != nil {
					t.Fatal(err)
				}
				continue
			}
			switch rnd.IntN(3) {
			case 0:
				gone[i] = true
			case 1:
				units[i] = randomUnits(rnd, 1)[0]
				put(t, w, i, units[i])
			case 2:
				units[i].notes = randomTexts(rnd, 20)
				amend(t, w, r, i, units[i])
			}
		}
		r.Close()
		if err := w.Close(); err != nil || r.Err() != nil {
			t.Fatal(err, r.Err())
		}
		if share == 0 && !bytes.Equal(readFile(t, path), readFile(t, again)) {
			t.Error("nothing changes, and the file is another one")
		}
		r, i := open(t, again), 0
		err = r.Each(func(e ledger.Entry) error {
			for ; gone[i]; i++ {
			}
			if !bytes.Equal(e.Key(), keyOf(2*i)) {
				t.Fatalf("key %x, want %x", e.Key(), keyOf(2*i))
			}
			if e, ok := r.Find(keyOf(2*i), units[i].sum); ok {
				check(t, fmt.Sprintf("%d of 1000: entry %d", share, i), e, units[i])
			} else {
				t.Fatalf("entry %d has another sum", i)
			}
			i++
			return nil
		})
		for ; gone[i]; i++ {
		}
		if err != nil || i != len(units) {
			t.Errorf("%d of 1000: %d entries, want %d, %v", share, i, len(units), err)
		}
		r.Close()
	}
}

// TestAfter: After goes from key to key, and passes what is not taken.
func TestAfter(t *testing.T) {
	units := randomUnits(rand.New(rand.NewPCG(7, 8)), 500)
	r := open(t, write(t, units))
	passed := 0
	r.Passed = func(ledger.Entry) { passed++ }
	if got := r.After(nil); !bytes.Equal(got, keyOf(0)) {
		t.Errorf("After(nil) = %x, want the first key", got)
	}
	for i := range units[1:] {
		for _, below := range []int{2 * i, 2*i + 1} {
			if got := r.After(keyOf(below)); !bytes.Equal(got, keyOf(2*i+2)) || passed != i+1 {
				t.Fatalf("After(%d) = %x with %d passed, want key %d and %d", below, got, passed, 2*i+2, i+1)
			}
		}
	}
	if got := r.After(keyOf(2 * len(units))); got != nil {
		t.Errorf("After the last = %x, want nothing", got)
	}
	r.Close()
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDamage: a file that is cut anywhere, or has any byte wrong, says so, and what it still
// gives is right.
func TestDamage(t *testing.T) {
	units := randomUnits(rand.New(rand.NewPCG(5, 6)), 4)
	path := write(t, units)
	whole := readFile(t, path)
	try := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r := open(t, path)
		defer r.Close()
		for i, u := range units {
			if e, ok := r.Find(keyOf(2*i), u.sum); ok {
				check(t, what, e, u)
			}
		}
		r.Find(keyOf(1<<20), 0)
		if r.Err() == nil {
			t.Errorf("%s: no error", what)
		}
	}
	step := 1
	if testing.Short() {
		step = 23 // of some ten thousand bytes
	}
	for i := 0; i < len(whole); i += step {
		try(fmt.Sprintf("cut at %d", i), whole[:i])
		bad := bytes.Clone(whole)
		bad[i] ^= 0x10
		try(fmt.Sprintf("byte %d wrong", i), bad)
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
		w.Say(4, []byte("key"), []byte("said"))
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
		walk := func(notes ledger.Notes, _ error) {
			for n := (ledger.Note{}); notes.Next(&n); {
			}
		}
		r.Passed = func(e ledger.Entry) {
			walk(e.Notes())
			walk(e.Said())
		}
		w, err := ledger.Create(path+" again", mark)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := r.Find(keyOf(2), 2); ok {
			_ = w.Take(r) // it may be damaged
		}
		r.Close()
		_ = w.Close()
	})
}
