package ingest

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"reelsplice/ingest/runs"
)

// TestGroupFlush: in a group that takes long, only a full memory makes runs.
func TestGroupFlush(t *testing.T) {
	i := &ingester{Config: Config{Catalog: t.TempDir(), Memory: 1 << 20}}
	i.work = i.Catalog
	if err := i.restore(&checkpoint{}, &plan{}); err != nil {
		t.Fatal(err)
	}
	i.saved = time.Now().Add(-time.Hour)
	for n := range 10 {
		b := &batch{group: true}
		if err := i.makeRoom(b); err != nil {
			t.Fatal(err)
		}
		i.seq++
		if err := i.sorter.Add(runs.Key{Lo: uint64(n)}, i.seq, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(i.sorter.State()); n > 1 {
		t.Errorf("%d runs, want 1 at most", n)
	}
}

// TestMovesEnd: an ingest that is complete but for the places of its files, and whose
// quarantine is gone, loses none of them.
func TestMovesEnd(t *testing.T) {
	dir := t.TempDir()
	rows := put(t, t.TempDir(), "movies.ndjson", `{"id":1,"title":"A"}`+"\n"+`{"id":"x"}`+"\n")
	c := Config{Catalog: dir, Sources: []string{rows}, Layout: "auto", Memory: DefaultMemory, Language: "en-US", Log: slog.New(slog.DiscardHandler)}
	i := &ingester{Config: c, start: time.Now()}
	i.ctx = t.Context()
	if err := i.prepare(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		func() error { return i.read(t.Context()) }, i.sorted, func() error { return i.write(t.Context()) },
		func() error { return os.Remove(filepath.Join(i.work, quarantineFile)) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	next := &ingester{Config: c, start: time.Now()}
	if err := next.prepare(); err != nil {
		t.Fatal(err)
	}
	if got := records(t, dir); len(got) != 1 {
		t.Errorf("records = %q, want that of the interrupted ingest", got)
	}
}
