package release

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDirs: a file comes from the first folder that has it.
func TestDirs(t *testing.T) {
	whole := largeRelease(t)
	first, second := copyOf(t, whole), copyOf(t, whole)
	for i, name := range filesOf(t, whole) {
		if err := os.Remove(filepath.Join([]string{first, second}[i%2], name)); err != nil {
			t.Fatal(err)
		}
	}
	m, err := readManifest(whole)
	if err != nil {
		t.Fatal(err)
	}
	r, err := openFiles(m, []string{first, second}, false)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := digest(mustOpen(t, whole))
	if got, err := digest(r); err != nil || got != want {
		t.Errorf("digest = %x, %v, want %x", got, err, want)
	}
	if err := errors.Join(r.Scrub(t.Context(), 1<<40), r.Close()); err != nil {
		t.Error(err)
	}
	if _, err := openFiles(m, []string{first}, false); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "file is missing") {
		t.Errorf("openFiles of a folder without some files = %v", err)
	}
}
