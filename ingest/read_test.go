package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/resolve"
	"github.com/reelsplice/reelsplice/schemas/encoding"
)

// rowsOf returns the numbers of the rows in the order of their sorted records.
func rowsOf(t *testing.T, r *run) (rows []int64) {
	t.Helper()
	it, err := r.sorter.Sort(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, payload, err := it.Next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		head := encoding.NewReader(payload) // a merge.Head: source and flags, row
		_, row := head.Uvarint(), head.Uvarint()
		rows = append(rows, int64(row))
	}
}

// sameMovie returns n rows about one movie.
func sameMovie(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":7,"title":"%d"}`+"\n", i)
	}
	return b.String()
}

// TestOrder: rows of one record stay in reading order, whichever mapper finishes first and however often memory is full.
func TestOrder(t *testing.T) {
	n := 3*batchRows + 5
	r, err := newRun(Config{Catalog: t.TempDir(), Sources: []string{put(t, t.TempDir(), "movies.ndjson", sameMovie(n))}, Memory: 1 << 20})
	if err == nil {
		err = r.prepare(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.release()
	if err := r.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if runs, err := filepath.Glob(r.work.path("*", "*.run")); err != nil || len(runs) == 0 {
		t.Errorf("runs on disk are %v, %v, want some", runs, err)
	}
	if rows := rowsOf(t, r); len(rows) != n || rows[0] != 1 || !slices.IsSorted(rows) || r.progress.rows != int64(n) {
		t.Errorf("%d rows from %d on, sorted %v, %d read, want %d", len(rows), rows[0], slices.IsSorted(rows), r.progress.rows, n)
	}
}

// TestPanic: a panic in a step ends the reading with an error.
func TestPanic(t *testing.T) {
	for name, decode := range map[string]func(ctx context.Context, send func(*batch) error) error{
		"decode": func(context.Context, func(*batch) error) error { panic("of the reader") },
		"map":    func(_ context.Context, send func(*batch) error) error { return send(&batch{rows: make([]row, 1)}) }, // without a file
		"take":   func(_ context.Context, send func(*batch) error) error { return send(&batch{result: &mapped{}}) },
	} {
		err := (&run{resolver: &resolve.Resolver{}}).inParallel(t.Context(), decode)
		if err == nil || !strings.Contains(err.Error(), "please report it") {
			t.Errorf("%s: inParallel = %v, want an error with the panic", name, err)
		}
	}
}

// TestManyFilesBeforeIMDb: IMDb's tables are counted after any number of files.
func TestManyFilesBeforeIMDb(t *testing.T) {
	t.Parallel()
	src := t.TempDir()
	for id := range 2100 {
		put(t, src, fmt.Sprintf("movie/%d.json", id+1), fmt.Sprintf(`{"id":%d,"title":"T"}`, id+1))
	}
	put(t, src, "title.ratings.tsv", "tconst\taverageRating\tnumVotes\ntt0137523\t8.8\t2000000\n")
	ingestInto(t, t.TempDir(), Config{Sources: []string{src}})
}
