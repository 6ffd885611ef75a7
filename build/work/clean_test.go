package work

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// TestClean removes all that tasks have left, also what killed ones had in the making, and nothing else.
func TestClean(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"plan.json", ".new-1", "0123456789abcdef/done/a-0.json", "0123456789abcdef/runs/.a.json123", "fedcba9876543210/files/.new-2",
		"notes.txt", "0123456789abcdef/mine", "0123456789ABCDEF/files/mine", "films/files/.new-3",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Clean(t.Context(), object.Local(dir), ""); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"plan.json": false, ".new-1": false, "0123456789abcdef/done": false, "0123456789abcdef/runs": false, "fedcba9876543210": false,
		"notes.txt": true, "0123456789abcdef/mine": true, "films/files/.new-3": true,
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it to stay: %v", name, err, want)
		}
	}
}
