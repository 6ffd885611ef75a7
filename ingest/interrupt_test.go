package ingest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// lateContext is canceled once Err was called a number of times.
type lateContext struct {
	context.Context
	calls atomic.Int64
}

func (c *lateContext) Err() error {
	if c.calls.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedSample: an interrupt between two samples of a file ends the run with its error.
func TestInterruptedSample(t *testing.T) {
	defer func(n int) { headRows = n }(headRows)
	headRows = 2
	file := filepath.Join(t.TempDir(), "unknown.csv")
	if err := os.WriteFile(file, []byte("a,b\n"+strings.Repeat("1,2\n", 5)), 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range 40 {
		ctx := &lateContext{Context: t.Context()}
		ctx.calls.Store(int64(n))
		if _, err := Run(ctx, Config{Catalog: t.TempDir(), Sources: []string{file}}); err == nil {
			t.Errorf("Run with a context of %d calls returns no error", n)
		}
	}
}
