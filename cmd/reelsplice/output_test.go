package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCalledAgain(t *testing.T) {
	for path, want := range map[string]string{
		"reelsplice":             "reelsplice",
		"./reelsplice":           "./reelsplice",
		"/opt/movies/reelsplice": "/opt/movies/reelsplice",
		"/home/me/.cache/go-build/0a/0a-d/reelsplice":  "reelsplice",
		filepath.Join(os.TempDir(), "x", "reelsplice"): "reelsplice",
	} {
		if got := calledAgain(filepath.FromSlash(path)); got != filepath.FromSlash(want) {
			t.Errorf("calledAgain(%q) = %q, want %q", path, got, want)
		}
	}
}
