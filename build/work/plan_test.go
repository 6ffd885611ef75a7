package work

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// TestManyOfEachKind: each table has more rows than a range. Tables whose records have a popularity are divided.
func TestManyOfEachKind(t *testing.T) {
	sharedtest.Set(t, &rowsOfRange, 10)
	sharedtest.Set(t, &rowsOfTitles, 10)
	const rows = 45
	dir := t.TempDir()
	for _, kind := range tables.Kinds {
		var lines []string
		for i := range rows {
			lines = append(lines, fmt.Sprintf(`{"id":%d,"name":"N"%s}`, i+1, map[bool]string{true: fmt.Sprintf(`,"popularity":%d`, i)}[hasPopularity(kind)]))
		}
		buildtest.WriteKind(t, dir, kind, lines...)
	}
	in, err := OpenCatalog(dir)
	sharedtest.NoError(t, err)
	defer in.Close()
	p, err := MakePlan(in, Params{Catalog: dir})
	sharedtest.NoError(t, err)
	for i, kind := range tables.Kinds {
		want := 1
		switch kind {
		case fragment.KindMovie, fragment.KindTV, fragment.KindPerson:
			want = 5
		}
		if from, to := p.RangesOf(i); to-from != want {
			t.Errorf("%d rows of %s have %d ranges, want %d", rows, kind, to-from, want)
		}
	}
}

// TestMostTasks: the largest plan stays within the limits of parts in a release and sections in a sorted file.
func TestMostTasks(t *testing.T) {
	dir := t.TempDir()
	buildtest.WriteKind(t, dir, fragment.KindMovie)
	in, err := OpenCatalog(dir)
	sharedtest.NoError(t, err)
	defer in.Close()
	p, err := MakePlan(in, Params{})
	sharedtest.NoError(t, err)
	p.Movies, p.Series, p.Finds = make([]Span, maxTitleTasks), make([]Span, maxTitleTasks), maxOtherTasks
	p.Ranges = slices.Repeat([][][]byte{make([][]byte, maxRanges-1)}, len(tables.Kinds))
	first := 0
	for i := range p.Resources {
		r, tasks := &p.Resources[i], maxOtherTasks
		if r.Kind == fragment.KindPerson {
			tasks = maxPersonTasks
		}
		r.Spans, r.Subs, r.First = make([]Span, tasks), 1, first
		first += r.Partitions()
	}
	if n := 1 + p.TitleTasks() + p.Partitions() + p.Finds + 1; n > release.MaxParts {
		t.Errorf("%d parts, a release has %d at most", n, release.MaxParts)
	}
	if n := p.ContributionSections(); n > extsort.MaxSections {
		t.Errorf("%d sections, a file has %d at most", n, extsort.MaxSections)
	}
}
