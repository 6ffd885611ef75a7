package work

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// TestRanges: a sample divides the rows about evenly, and each row goes to the range that contains its key.
func TestRanges(t *testing.T) {
	const people = 2000
	dir := t.TempDir()
	var lines []string
	var keys [][]byte
	for i := range people {
		popularity := float64(i%7) / float64(1+i) // most are equal
		lines = append(lines, fmt.Sprintf(`{"id":%d,"name":"P","popularity":%v}`, i+1, popularity))
		keys = append(keys, index.AppendRowKey(nil, uint64(i+1), popularity))
	}
	buildtest.WriteKind(t, dir, fragment.KindPerson, lines...)
	in, err := OpenCatalog(dir)
	sharedtest.NoError(t, err)
	defer in.Close()
	sample, err := sampleRows(in.Of(fragment.KindPerson), people)
	slices.SortFunc(keys, bytes.Compare)
	if err != nil || !slices.EqualFunc(sample, keys, bytes.Equal) {
		t.Fatalf("a sample of all has %d keys, %v, want those of %d people", len(sample), err, people)
	}
	p, err := MakePlan(in, Params{Catalog: dir})
	sharedtest.NoError(t, err)
	if n := p.RangeTasks(); n != len(tables.Kinds) {
		t.Errorf("%d ranges of small tables, want %d", n, len(tables.Kinds))
	}
	person := slices.Index(tables.Kinds, fragment.KindPerson)
	p.Ranges[person] = [][]byte{keys[10], keys[20], keys[1000]}
	first, end := p.RangesOf(person)
	if end-first != 4 || p.RangeTasks() != len(tables.Kinds)+3 || p.ContributionSections() != p.RangeSection(p.RangeTasks())+1 {
		t.Errorf("ranges of people %d to %d of %d", first, end, p.RangeTasks())
	}
	for i, key := range keys {
		want := first
		for _, from := range []int{10, 20, 1000} {
			if i >= from {
				want++
			}
		}
		if got := p.RowSection(person, key); got != p.RangeSection(want) {
			t.Fatalf("row %d goes to section %d, want %d", i, got, p.RangeSection(want))
		}
	}
	if got := p.RowSection(len(tables.Kinds), []byte("id")); got != p.RangeSection(p.RangeTasks()) {
		t.Errorf("credits go to section %d, want %d", got, p.RangeSection(p.RangeTasks()))
	}
}
