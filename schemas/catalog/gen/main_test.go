package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeptDocument checks that SCHEMA.md is what gen writes today.
func TestKeptDocument(t *testing.T) {
	out := filepath.Join(t.TempDir(), "SCHEMA.md")
	if err := run([]string{"-dir", "..", "-o", out}, t.Output()); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../SCHEMA.md")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("SCHEMA.md is stale: run go generate ./schemas/catalog (-want +got):\n%s", d)
	}
}

func TestRunRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "SCHEMA.md")
	if err := run([]string{"-dir", t.TempDir(), "-o", out}, t.Output()); err == nil {
		t.Error("run in a folder without Go files succeeds")
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written all the same")
	}
}
