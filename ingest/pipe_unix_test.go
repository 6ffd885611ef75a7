//go:build unix

package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// fifo makes a named pipe.
func fifo(t *testing.T, name string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := syscall.Mkfifo(p, 0o600); err != nil {
		t.Skip(err)
	}
	return p
}

// TestWaitForPipe: a cancelled ingest stops waiting for a pipe, before the first write and between two writes.
func TestWaitForPipe(t *testing.T) {
	run := func(c Config, during func(cancel func())) error {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c.Catalog = t.TempDir()
		ended := make(chan error, 1)
		go func() {
			_, err := Run(ctx, c)
			ended <- err
		}()
		during(cancel)
		var err error
		sharedtest.Within(t, "Run", func() { err = <-ended })
		return err
	}
	p := fifo(t, "movies.ndjson")
	if err := run(Config{Sources: []string{p}}, func(cancel func()) {
		time.Sleep(20 * time.Millisecond)
		cancel()
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run of a pipe without a writer = %v, want %v", err, context.Canceled)
	}

	p = fifo(t, "movies.ndjson")
	if err := run(Config{Sources: []string{p}}, func(cancel func()) {
		w, err := os.OpenFile(p, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = w.Close() })
		fmt.Fprintln(w, `{"id":1,"title":"A"}`)
		time.Sleep(20 * time.Millisecond)
		cancel()
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run of a pipe with an idle writer = %v, want %v", err, context.Canceled)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Explain(ctx, Config{Sources: []string{fifo(t, "movies.ndjson")}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Explain of a pipe without a writer = %v, want %v", err, context.DeadlineExceeded)
	}

	// Too many bad rows in one file end the wait for another.
	none, err := ParseTolerance("0")
	if err != nil {
		t.Fatal(err)
	}
	bad := put(t, t.TempDir(), "movies.ndjson", strings.Repeat(`{"id":"x"}`+"\n", 5))
	var stopped *tooManyBadError
	if err := run(Config{Sources: []string{bad, fifo(t, "tv.ndjson")}, MaxBad: none}, func(func()) {}); !errors.As(err, &stopped) {
		t.Errorf("Run of bad rows and a pipe = %v, want a *tooManyBadError", err)
	}
}

// TestPipeOfNames: rows of a pipe are ingested even if names from other files are needed first.
func TestPipeOfNames(t *testing.T) {
	p := fifo(t, "companies.ndjson")
	go func() { _ = os.WriteFile(p, []byte(`{"id":4,"name":"Paramount, Inc."}`+"\n"), 0o600) }()
	const header = "id,title,vote_average,status,adult,backdrop_path,imdb_id,poster_path,genres,production_companies,production_countries,spoken_languages\n"
	table := put(t, t.TempDir(), "TMDB_movie_dataset_v11.csv", header+"1,A,5.0,Released,False,,,,,,,\n")
	ctx, cancel := context.WithTimeout(t.Context(), sharedtest.Patience)
	defer cancel()
	r, err := Run(ctx, Config{Catalog: t.TempDir(), Sources: []string{p, table}})
	if err != nil || r.Records["company"] != 1 || r.Records["movie"] != 1 {
		t.Errorf("Run = %v, %q, %v, want 1 company and 1 movie", r.Records, r.Failed, err)
	}
}

// TestPipeOfIMDb: a table of IMDb in a pipe is rejected with the reason.
func TestPipeOfIMDb(t *testing.T) {
	p := fifo(t, "title.ratings.tsv")
	go func() { _ = os.WriteFile(p, []byte("tconst\taverageRating\tnumVotes\ntt0000001\t5.7\t100\n"), 0o600) }()
	_, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{p}})
	if want := "title.ratings.tsv: IMDb's tables are read more than once: want a file, not a pipe"; err == nil || err.Error() != want {
		t.Errorf("Run of a pipe = %v, want %s", err, want)
	}
}
