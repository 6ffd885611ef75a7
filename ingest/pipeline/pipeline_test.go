package pipeline

import (
	"compress/gzip"
	"context"
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
	"github.com/reelsplice/reelsplice/ingest/journal"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
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
	j, err := journal.New(t.TempDir(), journal.Plan{Start: time.Now()}, log)
	if err != nil {
		t.Fatal(err)
	}
	j.Progress.Report.Begin(j.Plan.Start)
	p := &Pipeline{List: l, Options: o, Dir: j.Path(""), Memory: 1 << 20, Resolver: &crosswalk.Resolver{Dir: j.Path(""), State: &j.Progress.IDs}}
	p.Sorter = &Sorter{
		Rows: extsort.New(extsort.Options{Dir: j.Path(journal.RunsDir), Memory: p.Memory}), Memory: p.Memory, Journal: j,
		Quarantine: quarantine.New(j.Path(journal.QuarantineFile)), Resolver: p.Resolver, List: l, Log: log,
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
// however often memory is full, and a reading that goes on takes the rest alone.
func TestOrder(t *testing.T) {
	const n = 3*batchRows + 5
	for _, skip := range []int64{0, batchRows, n - 1} {
		p := newPipeline(t, "movies.ndjson", sameMovie(n))
		if err := p.Read(t.Context(), journal.Position{Rows: skip}); err != nil {
			t.Fatal(err)
		}
		rows := rowsOf(t, p.Sorter)
		if len(rows) != int(n-skip) || rows[0] != skip+1 || !slices.IsSorted(rows) {
			t.Errorf("behind %d rows: %d rows from %d on, sorted %v, want %d", skip, len(rows), rows[0], slices.IsSorted(rows), n-skip)
		}
		if at := p.Sorter.Journal.Progress.At; at != (journal.Position{Input: 1}) {
			t.Errorf("the reading ends at %+v, want behind the file", at)
		}
		if skip == 0 && len(p.Sorter.Rows.Runs()) == 0 {
			t.Error("all rows fit into memory, want some on disk")
		}
	}
}

// TestBadRows: a bad row goes to quarantine with file, row and field, and the others go on.
func TestBadRows(t *testing.T) {
	text := sameMovie(2) + `{"id":8,"title":5}` + "\n" + `{"id":9,` + "\n" + sameMovie(1)
	p := newPipeline(t, "movies.ndjson", text)
	if err := p.Read(t.Context(), journal.Position{}); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, p.Sorter); !slices.Equal(rows, []int64{1, 2, 5}) {
		t.Errorf("sorted rows %v, want 1, 2 and 5", rows)
	}
	state, err := p.Sorter.Quarantine.State()
	want := []string{"movies.ndjson:3: title: want a string, found 5", "movies.ndjson:4: byte 8: unexpected end of JSON input"}
	if err != nil || !slices.Equal(state.First, want) {
		t.Errorf("quarantine has %q, %v, want %q", state.First, err, want)
	}
	p = newPipeline(t, "movies.ndjson", text)
	p.Sorter.MaxBad, _ = quarantine.ParseTolerance("1")
	var many *quarantine.TooManyError
	if err := p.Read(t.Context(), journal.Position{}); !errors.As(err, &many) || many.Bad != 2 || many.Rows != 5 {
		t.Errorf("Read with one bad row allowed: %v, want an error about 2 of 5", err)
	}
}

// TestDamage: the rows before a file's damage are kept, its tally has the reason, and the next file is
// read.
func TestDamage(t *testing.T) {
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(sameMovie(3)))
	_ = z.Close()
	p := newPipeline(t, "movies.ndjson.gz", packed.String()[:packed.Len()-8], "films.ndjson", sameMovie(1))
	if err := p.Read(t.Context(), journal.Position{}); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, p.Sorter); !slices.Equal(rows, []int64{1, 2, 3, 1}) {
		t.Errorf("sorted rows %v, want those of both files", rows)
	}
	files, want := p.Sorter.Journal.Progress.Files, "movies.ndjson.gz: row 4 (line 4): unexpected end of gzip stream"
	if files.Failed != 1 || files.Failures[0] != want || p.Sorter.Journal.Progress.Report.Of(0).Failure != want {
		t.Errorf("files = %+v, want one that failed: %s", files, want)
	}
}

// TestCancel: the end of the context ends all steps, with its error.
func TestCancel(t *testing.T) {
	p := newPipeline(t, "movies.ndjson", sameMovie(4*batchRows))
	ctx, cancel := context.WithCancel(t.Context())
	p.Sorter.Progress = func(int64, int64) { cancel() }
	if err := p.Read(ctx, journal.Position{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Read = %v, want %v", err, context.Canceled)
	}
}
