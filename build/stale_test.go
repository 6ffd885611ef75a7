package build

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"reelsplice/build/ledger"
	"reelsplice/schemas/fragment"
)

// A told is something that a unit of a test says: of whom, and what.
type told struct{ who, what string }

// ledgerOf writes a ledger of units, by their keys.
func ledgerOf(t *testing.T, name string, units [][]told) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := ledger.Create(path, ledger.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range units {
		w.Begin(binary.BigEndian.AppendUint32(nil, uint32(i)), 0)
		say(w, u)
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func say(w *ledger.Writer, list []told) {
	for _, s := range list {
		w.Say(byte(fragment.KindPerson), []byte(s.who), []byte(s.what))
	}
}

// TestNews: those of whom something else is said are found, whether a unit is made again, is
// new or is gone, and in whatever order it says what it said.
func TestNews(t *testing.T) {
	was := [][]told{
		{{"a", "1"}, {"b", "1"}, {"c", "1"}},
		{{"a", "2"}, {"d", "1"}},
		{{"e", "1"}, {"e", "1"}, {"f", "1"}},
	}
	gone := []told(nil)
	tests := []struct {
		name string
		made map[int][]told // by unit; nil for one that is gone
		want []string
	}{
		{"all is kept", nil, nil},
		{"the same, in another order", map[int][]told{0: {{"c", "1"}, {"a", "1"}, {"b", "1"}}}, nil},
		{"something else", map[int][]told{0: {{"a", "1"}, {"b", "2"}, {"c", "1"}}}, []string{"b"}},
		{"something more", map[int][]told{1: {{"a", "2"}, {"d", "1"}, {"g", "1"}}}, []string{"g"}},
		{"something less", map[int][]told{1: {{"d", "1"}}}, []string{"a"}},
		{"less often", map[int][]told{2: {{"e", "1"}, {"f", "1"}}}, []string{"e"}},
		{"of each other", map[int][]told{0: {{"b", "1"}, {"c", "1"}, {"x", "1"}}}, []string{"a", "x"}},
		{"gone", map[int][]told{1: gone}, []string{"a", "d"}},
		{"the last one gone", map[int][]told{2: gone}, []string{"e", "f"}},
		{"new", map[int][]told{7: {{"a", "1"}, {"h", "1"}}}, []string{"a", "h"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var found stale
			found.most = 100
			found.add(newsOf(t, was, tt.made))
			var got []string
			for _, who := range "abcdefghx" {
				if found.has(fragment.KindPerson, []byte(string(who))) {
					got = append(got, string(who))
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("stale are %v, want %v", got, tt.want)
			}
			if found.has(fragment.KindCredit, []byte("a")) {
				t.Error("a resource of another kind is stale")
			}
		})
	}
}

// newsOf runs over a ledger as the map stage does.
func newsOf(t *testing.T, was [][]told, made map[int][]told) []uint64 {
	t.Helper()
	old, err := ledger.Open(ledgerOf(t, "old", was), ledger.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := ledger.Create(filepath.Join(t.TempDir(), "new"), ledger.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	n := &news{}
	old.Passed = func(e ledger.Entry) {
		if err := n.passed(e); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		key := binary.BigEndian.AppendUint32(nil, uint32(i))
		list, isMade := made[i]
		switch {
		case isMade && list != nil:
			w.Begin(key, 1)
			if err := n.begin(key, old); err != nil {
				t.Fatal(err)
			}
			say(w, list)
			n.end(w.Said())
			if err := w.End(); err != nil {
				t.Fatal(err)
			}
		case !isMade && i < len(was):
			if _, ok := old.Find(key, 0); !ok {
				t.Fatalf("unit %d is not found", i)
			}
			if err := w.Take(old); err != nil {
				t.Fatal(err)
			}
		}
	}
	old.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return n.keys()
}

// TestStaleBound: more than there is memory for are all.
func TestStaleBound(t *testing.T) {
	s := stale{most: 10}
	for i := range 20 {
		s.add([]uint64{staleKey(fragment.KindPerson, fmt.Append(nil, i))})
		if stranger := s.has(fragment.KindPerson, []byte("stranger")); stranger != (i >= 10) {
			t.Fatalf("with %d keys, a resource that was not added is stale: %v", i+1, stranger)
		}
	}
	s.add([]uint64{1})
	if !s.has(fragment.KindPerson, []byte("stranger")) || s.keys != nil {
		t.Error("it forgets that all are stale")
	}
}
