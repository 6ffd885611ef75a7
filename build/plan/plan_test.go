package plan

import (
	"fmt"
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/records"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// TestManyOfEachKind: each table has more rows than a range. Those whose records have a popularity are divided.
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
	in, err := records.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := Make(in, Params{Catalog: dir})
	if err != nil {
		t.Fatal(err)
	}
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
