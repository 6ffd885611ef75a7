package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/ingest/journal"
	"github.com/reelsplice/reelsplice/schemas/extsort"
)

// TestMovesEnd: an ingest that is complete but for the places of its files, and whose
// quarantine is gone, loses none of them.
func TestMovesEnd(t *testing.T) {
	dir := t.TempDir()
	rows := put(t, t.TempDir(), "movies.ndjson", `{"id":1,"title":"A"}`+"\n"+`{"id":"x"}`+"\n")
	c := Config{Catalog: dir, Sources: []string{rows}}
	c.setDefaults()
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	begin := func() *run {
		t.Helper()
		o, err := c.options()
		if err != nil {
			t.Fatal(err)
		}
		r := &run{Config: c, options: o, start: time.Now()}
		if err := r.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := begin()
	for _, step := range []func() error{
		func() error { return r.read(t.Context()) }, func() error { return r.write(t.Context()) },
		func() error { return os.Remove(r.journal.Path(journal.QuarantineFile)) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	begin()
	if got := records(t, dir); len(got) != 1 {
		t.Errorf("records = %q, want that of the interrupted ingest", got)
	}
}

// TestDamagedRuns: sorted rows that a fall of the machine has damaged are no reason to
// fail each time: the next ingest starts anew.
func TestDamagedRuns(t *testing.T) {
	t.Parallel()
	sources := killedSources(t)
	f := func(damage func(b []byte), want error) {
		t.Helper()
		dir := t.TempDir()
		c := killedConfig(dir, sources)
		ctx, cancel := context.WithCancel(t.Context())
		c.Progress = func(done, of int64) {
			if done > of/2 {
				cancel()
			}
		}
		if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
			t.Fatalf("Run = %v, want %v", err, context.Canceled)
		}
		c.Progress = nil
		files, err := filepath.Glob(filepath.Join(dir, journal.Dir, journal.RunsDir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("runs = %v, %v, want some", files, err)
		}
		b, err := os.ReadFile(files[0])
		if err == nil {
			damage(b)
			err = os.WriteFile(files[0], b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if want != nil {
			if _, err := Run(t.Context(), c); !errors.Is(err, want) {
				t.Errorf("Run with a damaged run = %v, want %v", err, want)
			}
		}
		if r := ingestInto(t, dir, c); r.Resumed {
			t.Error("the ingest went on with the damaged run, want it to start anew")
		}
	}
	f(func(b []byte) { b[len(b)/2] ^= 1 }, extsort.ErrDamaged) // found when the run is read
	f(func(b []byte) { clear(b) }, nil)                        // found when it is opened
}
