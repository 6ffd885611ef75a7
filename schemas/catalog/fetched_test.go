package catalog

import (
	"errors"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestFetched: the end of a file has the days of each row group, be it copied, and the column has the same.
func TestFetched(t *testing.T) {
	for _, typ := range Types() {
		if _, ok := typ.Schema.Field(FetchedColumn); !ok {
			t.Errorf("%s records have no %s, so that a row with one would show it in responses", typ.Name(), FetchedColumn)
		}
	}
	movie := TypeOf(fragment.KindMovie)
	f, err := OpenFile(writeGroups(t, movie, parsed(t, movie,
		`{"id":1,"_fetched":"2026-05-02"}`, `{"id":2}`,
		`{"id":3,"_fetched":"2026-11-01"}`, `{"id":4,"_fetched":"2025-12-31"}`, `{"id":5,"_fetched":"2026-01-01"}`,
	)), movie)
	sharedtest.NoError(t, err)
	defer f.Close()
	var all day.Days
	for i, want := range []day.Days{{Records: 1, Oldest: "2026-05-02", Newest: "2026-05-02"}, {Records: 3, Oldest: "2025-12-31", Newest: "2026-11-01"}} {
		got, err := f.Fetched(i)
		if err != nil || got != want {
			t.Errorf("row group %d: %+v, %v, want %+v", i, got, err, want)
		}
		all.Join(got)
	}
	if want := (day.Days{Records: 4, Oldest: "2025-12-31", Newest: "2026-11-01"}); all != want {
		t.Errorf("all: %+v, want %+v", all, want)
	}
	rows := f.Content(0, f.RowGroups())
	defer rows.Close()
	rec := movie.New()
	n := 0
	for ; rows.Next(rec) == nil; n++ {
		if FetchedOf(rec) != "" || !rec.IntNamed("id").Set {
			t.Errorf("record %d has the day %q and the id %+v, want the id alone", n, FetchedOf(rec), *rec.IntNamed("id"))
		}
	}
	if n != 5 {
		t.Errorf("%d records, want 5", n)
	}
}

func TestFetchedOfNone(t *testing.T) {
	movie := TypeOf(fragment.KindMovie)
	f, err := OpenFile(writeMovies(t, []string{`{"id":1}`, `{"id":2}`}), movie)
	sharedtest.NoError(t, err)
	defer f.Close()
	if got, err := f.Fetched(0); err != nil || got != (day.Days{}) {
		t.Errorf("Fetched = %+v, %v, want none", got, err)
	}
}

func TestCheckFetched(t *testing.T) {
	err := CheckFetched("2026-02-29")
	var fe *record.FieldError
	if !errors.As(err, &fe) || fe.Field != FetchedColumn || !strings.Contains(fe.What, "YYYY-MM-DD") {
		t.Errorf("CheckFetched = %v, want an error of the field", err)
	}
	if err := CheckFetched("2024-02-29"); err != nil {
		t.Error(err)
	}
}
