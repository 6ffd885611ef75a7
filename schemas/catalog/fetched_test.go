package catalog

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/age"
	"github.com/reelsplice/reelsplice/schemas/catalog/catalogtest"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// TestFetched: the end of a file has the days of each row group, be it copied, and the column has the same.
func TestFetched(t *testing.T) {
	for _, typ := range Types() {
		if _, ok := typ.Plan.Field(FetchedColumn); !ok {
			t.Errorf("%s records have no %s, so that a row with one would show it in responses", typ.Name(), FetchedColumn)
		}
	}
	movie := TypeOf(fragment.KindMovie)
	f, err := OpenFile(writeGroups(t, movie, []string{
		`"id":1,"_fetched":"2026-05-02"`, `"id":2`,
		`"id":3,"_fetched":"2026-11-01"`, `"id":4,"_fetched":"2025-12-31"`, `"id":5,"_fetched":"2026-01-01"`,
	}), movie)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all age.Days
	for i, want := range []age.Days{{Records: 1, Oldest: "2026-05-02", Newest: "2026-05-02"}, {Records: 3, Oldest: "2025-12-31", Newest: "2026-11-01"}} {
		got, err := f.Fetched(i)
		if err != nil || got != want {
			t.Errorf("row group %d: %+v, %v, want %+v", i, got, err, want)
		}
		if known, ok := f.knownFetched(i); !ok || known != want {
			t.Errorf("row group %d has the statistics %+v, %t, want %+v", i, known, ok, want)
		}
		all.Join(got)
	}
	if want := (age.Days{Records: 4, Oldest: "2025-12-31", Newest: "2026-11-01"}); all != want {
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
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := f.Fetched(0); err != nil || got != (age.Days{}) {
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

// TestUndatedVersion: a file of the version before has all of its records, without days, and is not copied.
func TestUndatedVersion(t *testing.T) {
	rows := []string{
		`{"id":1,"title":"A","_fetched":"2026-05-02","genres":[{"id":1,"name":"g"}],"zzz":1}`,
		`{"id":2,"title":null,"credits":{"cast":[{"id":1,"name":"p"}],"crew":[]},"_details":true}`,
	}
	path := writeMovies(t, rows)
	catalogtest.Undate(t, filepath.Dir(path))
	movie := TypeOf(fragment.KindMovie)
	f, err := OpenFile(path, movie)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := f.Groups(0, f.RowGroups())
	defer got.Close()
	for _, row := range rows {
		want, rec := movie.New(), movie.New()
		if err := record.NewParser().Parse(row, want); err != nil {
			t.Fatal(err)
		}
		SetFetched(want, "")
		if err := got.Next(rec); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(record.Append(nil, want)), string(record.Append(nil, rec))); d != "" {
			t.Errorf("-written +read:\n%s", d)
		}
	}
	if err := got.Next(movie.New()); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last row: %v, want EOF", err)
	}
	if days, err := f.Fetched(0); err != nil || days != (age.Days{}) || !f.Outdated() {
		t.Errorf("Fetched = %+v, %v, outdated %t, want no days of an outdated file", days, err, f.Outdated())
	}
	w, err := Create(filepath.Join(t.TempDir(), movie.File()), movie)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.CopyGroup(f, 0); err == nil || !strings.Contains(err.Error(), "version 4") {
		t.Errorf("CopyGroup = %v, want an error about version 4", err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
}
