package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestProgramName(t *testing.T) {
	for path, want := range map[string]string{
		"reelsplice":             "reelsplice",
		"./reelsplice":           "./reelsplice",
		"/opt/movies/reelsplice": "/opt/movies/reelsplice",
		"/home/me/.cache/go-build/0a/0a-d/reelsplice":  "reelsplice",
		filepath.Join(os.TempDir(), "x", "reelsplice"): "reelsplice",
	} {
		if got := programName(filepath.FromSlash(path)); got != filepath.FromSlash(want) {
			t.Errorf("programName(%q) = %q, want %q", path, got, want)
		}
	}
}

// TestPanic: a command that panics returns an error, so that it ends with one line and exit code 1.
func TestPanic(t *testing.T) {
	c := new(app).leaf(&cobra.Command{Use: "build"}, func(context.Context, []string) error { panic("no such\nfield") })
	err := c.RunE(c, nil)
	if err == nil || !strings.Contains(oneLine(err), ": no such; field (at output_test.go:") {
		t.Errorf("a command that panics = %v, want an error with the panic and its place", err)
	}
}
