package neighbours

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"reelsplice/build/ledger"
)

// TestIsSame: of a title for which IsSame says so, Find finds what it found before, whatever
// became of others.
func TestIsSame(t *testing.T) {
	const n = 3000
	of := settings{4, 1, 2, 1 << 20}
	first := Sums{Path: filepath.Join(t.TempDir(), "near"), Mark: ledger.Mark{1}}
	titles := someTitles(rand.New(rand.NewPCG(3, 3)), n)
	before := summedTable(t, t.TempDir(), titles, of, &first)
	defer before.Close()
	if before.Finder().IsSame(&titles[0]) {
		t.Error("IsSame without a Table before")
	}

	for _, c := range []struct {
		name        string
		change      func(titles []Title) []Title
		least, most int // titles for which IsSame says so
	}{
		{"nothing", func(titles []Title) []Title { return titles }, n, n},
		{"other order", func(titles []Title) []Title { slices.Reverse(titles); return titles }, n, n},
		{"a vote for some", func(titles []Title) []Title {
			for i := 0; i < n; i += 50 {
				titles[i].Votes++
			}
			return titles
		}, n / 3, n},
		{"votes for one", func(titles []Title) []Title { titles[0].Votes = 1 << 20; return titles }, 1, n - 1},
		{"keywords of one", func(titles []Title) []Title { titles[7].Keywords = []int64{1, 2, 3}; return titles }, 1, n - 1},
		{"genres of one", func(titles []Title) []Title { titles[7].Genres = []int64{1, 2, 3}; return titles }, 1, n - 1},
		{"one is gone", func(titles []Title) []Title { return titles[1:] }, 1, n - 1},
		{"one has come", func(titles []Title) []Title {
			return append(titles, Title{ID: n + 1, Keywords: []int64{1, 1000}, People: []int64{5}, Votes: 1 << 20})
		}, 1, n - 1},
		{"many have come", func(titles []Title) []Title {
			more := someTitles(rand.New(rand.NewPCG(4, 4)), n+n)
			for i := range more {
				more[i].ID += n
			}
			return append(titles, more...)
		}, 0, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			next := Sums{
				Path: filepath.Join(t.TempDir(), "near"), Mark: ledger.Mark{2},
				Previous: first.Path, PreviousMark: first.Mark,
			}
			changed := c.change(slices.Clone(titles))
			after := summedTable(t, t.TempDir(), changed, of, &next)
			defer after.Close()
			was, is, same := before.Finder(), after.Finder(), 0
			for i := range titles {
				if !is.IsSame(&titles[i]) {
					continue
				}
				if same++; !equal(find(t, was, &titles[i]), find(t, is, &titles[i])) {
					t.Errorf("title %d has other neighbours than before", titles[i].ID)
				}
			}
			if same < c.least || same > c.most {
				t.Errorf("IsSame says so of %d titles of %d, want %d to %d", same, n, c.least, c.most)
			}
		})
	}
}

// TestSumsDamaged: when it is not known what lists were, all are others.
func TestSumsDamaged(t *testing.T) {
	of := settings{1, 1, 1, 1 << 20}
	titles := someTitles(rand.New(rand.NewPCG(5, 5)), 300)
	first := Sums{Path: filepath.Join(t.TempDir(), "near"), Mark: ledger.Mark{1}}
	summedTable(t, t.TempDir(), titles, of, &first).Close()
	whole, err := os.ReadFile(first.Path + "-0")
	if err != nil {
		t.Fatal(err)
	}
	mark := first.Mark
	f := func(name string, data []byte, want bool) {
		t.Helper()
		next := Sums{Path: filepath.Join(t.TempDir(), "near"), Mark: ledger.Mark{2}, Previous: filepath.Join(t.TempDir(), "was"), PreviousMark: mark}
		if data != nil {
			if err := os.WriteFile(next.Previous+"-0", data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		table := summedTable(t, t.TempDir(), titles, of, &next)
		defer table.Close()
		finder := table.Finder()
		for i := range titles {
			if got := len(titles[i].appendFeatures(nil)) == 0; !want && finder.IsSame(&titles[i]) != got {
				t.Fatalf("%s: IsSame of title %d = %v", name, titles[i].ID, !got)
			}
			if want && !finder.IsSame(&titles[i]) {
				t.Fatalf("%s: IsSame of title %d = false", name, titles[i].ID)
			}
		}
	}
	f("whole", whole, true)
	f("gone", nil, false)
	f("cut", whole[:len(whole)-1], false)
	damaged := slices.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	f("damaged", damaged, false)
	mark = ledger.Mark{9}
	f("another's", whole, false)
}

// TestIsSameParts: with another number of partitions all lists are others. A title that is gone
// leaves a feature without a list, which only the ledger of its old partition tells of.
func TestIsSameParts(t *testing.T) {
	titles := []Title{{ID: 1, Keywords: []int64{5000}}, {ID: 2, Keywords: []int64{5000}}}
	for n := int64(3); n < 600; n++ {
		titles = append(titles, Title{ID: n, Keywords: []int64{n, n + 1}})
	}
	for _, parts := range [][2]int{{3, 3}, {3, 4}, {4, 3}, {5, 1}} {
		first := Sums{Path: filepath.Join(t.TempDir(), "near"), Mark: ledger.Mark{1}}
		summedTable(t, t.TempDir(), titles, settings{parts[0], 1, 1, 1 << 20}, &first).Close()
		next := Sums{
			Path: filepath.Join(t.TempDir(), "near"), Mark: ledger.Mark{2},
			Previous: first.Path, PreviousMark: first.Mark,
		}
		without := slices.Concat(titles[:1], titles[2:]) // as many by two binary digits
		table := summedTable(t, t.TempDir(), without, settings{parts[1], 1, 1, 1 << 20}, &next)
		f := table.Finder()
		if f.IsSame(&titles[0]) {
			t.Errorf("%d partitions after %d: IsSame of the title whose only neighbour is gone", parts[1], parts[0])
		}
		if got, want := f.IsSame(&titles[300]), parts[0] == parts[1]; got != want {
			t.Errorf("%d partitions after %d: IsSame = %v of a title that nothing happened to", parts[1], parts[0], got)
		}
		table.Close()
	}
}
