package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// TestCheckTables: verify opens the same files as an edge, so it reports a missing column without which no edge
// serves the table.
func TestCheckTables(t *testing.T) {
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	w, err := releasetest.Create(dir)
	ok(err)
	table, err := w.Table(fragment.KindMovie.String(), 1)
	ok(err)
	ok(posting.Write(table, tables.ID.String(), []uint64{550}))
	ok(table.Close())
	m, err := w.Seal(t.Context())
	ok(err)
	problems, err := checkTables(t.Context(), filepath.Join(dir, m.ID), check.Options{})
	ok(err)
	if len(problems) != 1 || problems[0].File != "table-movie" || !strings.Contains(problems[0].What, tables.Popularity.String()) {
		t.Errorf("problems are %v, want one of table-movie that names popularity", problems)
	}
}
