package ingest

import (
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
