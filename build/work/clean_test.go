package work

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestClean removes all files of tasks, including unfinished ones of killed tasks, and nothing else.
func TestClean(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"plan.json", ".new-1", "0123456789abcdef/report.json", "0123456789abcdef/done/a-0.json", "0123456789abcdef/runs/.a.json123", "fedcba9876543210/files/.new-2",
		"notes.txt", "0123456789abcdef/mine", "0123456789ABCDEF/files/mine", "films/files/.new-3",
	} {
		path := filepath.Join(dir, name)
		sharedtest.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		sharedtest.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	sharedtest.NoError(t, Clean(dir))
	for name, want := range map[string]bool{
		"plan.json": false, ".new-1": false, "0123456789abcdef/report.json": false, "0123456789abcdef/done": false, "0123456789abcdef/runs": false, "fedcba9876543210": false,
		"notes.txt": true, "0123456789abcdef/mine": true, "films/files/.new-3": true,
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it to stay: %v", name, err, want)
		}
	}
}

// TestRemoveAll: a folder is removed while files are created in it.
func TestRemoveAll(t *testing.T) {
	for range 4 {
		dir := filepath.Join(t.TempDir(), "files")
		var making sync.WaitGroup
		making.Go(func() {
			for i := range 300 {
				_ = os.MkdirAll(dir, 0o700)
				_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600) // dir may be gone again
			}
		})
		for range 30 {
			sharedtest.NoError(t, removeAll(dir))
		}
		making.Wait()
	}
}
