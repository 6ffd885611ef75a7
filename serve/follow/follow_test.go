package follow

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestPollReadsOnce: polls of a file that has not changed do not read it.
func TestPollReadsOnce(t *testing.T) {
	t.Parallel()
	const size, polls = 1 << 20, 20
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := Open(Files[int]{
		Name: "file", Paths: []string{path}, MaxSize: size, Log: slog.New(slog.DiscardHandler),
		Make: func([][]byte) (*int, []any, error) { return new(int), nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(grain + 100*time.Millisecond)
	v.Poll() // the last one that reads it
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range polls {
		v.Poll()
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > size {
		t.Errorf("%d polls of an unchanged file of %d bytes took %d bytes of memory", polls, size, n)
	}
}
