package ingest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/ingest/report"
)

// interrupted ingests into an empty folder, and stops when most is read.
func interrupted(t *testing.T, sources []string) Config {
	t.Helper()
	c := Config{Catalog: t.TempDir(), Sources: sources, Memory: 16 << 10}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Progress = func(done, of int64) {
		if done > of*3/4 {
			cancel()
		}
	}
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Fatalf("Run = %v, want %v", err, context.Canceled)
	}
	c.Progress = nil
	return c
}

// TestTalliesResumed: an ingest that goes on has the counts of the files that were read before.
func TestTalliesResumed(t *testing.T) {
	t.Parallel()
	var sources []string
	src := t.TempDir()
	for n := range 5 {
		var rows strings.Builder
		for i := range 100 {
			fmt.Fprintf(&rows, `{"id":%d,"title":"%d"}`+"\n", 1000*n+i/2+1, i%3) // some repeat others, some differ
		}
		sources = append(sources, put(t, src, fmt.Sprintf("movies_%d.ndjson", n), rows.String()+`{"id":"x"}`+"\n"))
	}
	counts := func(r Report) []report.Source {
		list := append([]report.Source{r.Details.Totals}, r.Details.Sources...)
		for i := range list {
			s := &list[i]
			s.Seconds, s.BytesPerSecond, s.RowsPerSecond, s.Modified = 0, 0, 0, time.Time{}
			s.ModifiedAge, s.NewestAge = nil, nil
		}
		return list
	}
	want := counts(ingestInto(t, t.TempDir(), Config{Sources: sources}))
	c := interrupted(t, sources)
	r := ingestInto(t, c.Catalog, c)
	if !r.Resumed {
		t.Error("the ingest began anew")
	}
	if got := counts(r); !reflect.DeepEqual(got, want) {
		t.Errorf("counts = %+v\nwant %+v", got, want)
	}
}
