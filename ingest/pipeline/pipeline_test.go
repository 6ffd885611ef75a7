package pipeline

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/ingest/crosswalk"
	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
)

// newPipeline returns a pipeline of files, which are written to a folder by name and text in turn.
func newPipeline(t *testing.T, files ...string) *Pipeline {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	var sources []string
	for n := 0; n < len(files); n += 2 {
		sources = append(sources, filepath.Join(dir, files[n]))
		if err := os.WriteFile(sources[n/2], []byte(files[n+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := &input.Options{Sources: sources, Layout: layout.Auto, Rows: layout.Options{Language: "en-US"}, Log: log}
	l, err := input.Find(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	p := &Pipeline{List: l, Options: o, Dir: work, Memory: 1 << 20, Resolver: &crosswalk.Resolver{Dir: work}}
	p.Sorter = &Sorter{
		Rows: extsort.New(extsort.Options{Dir: work, Memory: p.Memory}), Quarantine: quarantine.New(filepath.Join(work, "quarantine")),
		Report: report.NewCollector(time.Now()), Resolver: p.Resolver, List: l, Log: log,
	}
	t.Cleanup(func() { _ = errors.Join(p.Sorter.Rows.Close(), p.Sorter.Quarantine.Close()) })
	return p
}

// rowsOf returns the numbers of the rows in the order of their sorted records.
func rowsOf(t *testing.T, s *Sorter) (rows []int64) {
	t.Helper()
	it, err := s.Rows.Sort(t.Context(), 0)
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
		r := encoding.NewReader(payload) // a merge.Head: source and flags, row
		_, row := r.Uvarint(), r.Uvarint()
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

// TestOrder: rows of one record stay in the order of the reading, whichever mapper is done first and
// however often memory is full.
func TestOrder(t *testing.T) {
	const n = 3*batchRows + 5
	p := newPipeline(t, "movies.ndjson", sameMovie(n))
	if err := p.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if runs, err := filepath.Glob(filepath.Join(p.Dir, "*", "*.run")); err != nil || len(runs) == 0 {
		t.Errorf("runs on disk are %v, %v, want some", runs, err)
	}
	if rows := rowsOf(t, p.Sorter); len(rows) != n || rows[0] != 1 || !slices.IsSorted(rows) || p.Sorter.Read != n {
		t.Errorf("%d rows from %d on, sorted %v, %d read, want %d", len(rows), rows[0], slices.IsSorted(rows), p.Sorter.Read, n)
	}
}
