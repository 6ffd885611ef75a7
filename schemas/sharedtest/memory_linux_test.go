package sharedtest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMemoryFolder: a folder goes with its process; those of running processes and of others stay.
func TestMemoryFolder(t *testing.T) {
	root := t.TempDir()
	first, removeFirst, err := memoryFolder(root)
	if err != nil {
		t.Skipf("no room for files: %v", err)
	}
	left, other := filepath.Join(root, memoryPrefix+"left"), filepath.Join(root, "other")
	for _, dir := range []string{left, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	second, removeSecond, err := memoryFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	if second == first {
		t.Errorf("two processes have %s", first)
	}
	for path, want := range map[string]bool{first: true, second: true, left: false, other: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there = %t, want %t", path, err == nil, want)
		}
	}
	removeFirst()
	removeSecond()
	if names, err := os.ReadDir(root); err != nil || len(names) != 1 {
		t.Errorf("the root holds %v, %v; want other alone", names, err)
	}
}
