package facts

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestShared compares the facts with the files that they were copied from, where those lie
// beside the checkout.
func TestShared(t *testing.T) {
	shared := sharedtest.Path(t, "reference")
	err := fs.WalkDir(Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		got, err := Files.ReadFile(name)
		if err != nil {
			return err
		}
		if want, err := os.ReadFile(filepath.Join(shared, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the shared file: copy it to schemas/api/facts and run go generate ./schemas/api (%v)", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"operations.tsv", "append-names.tsv", "status-codes.tsv"} {
		if _, err := Rows(row, 1); err == nil {
			t.Errorf("%s has rows of one column", row)
		}
	}
}
