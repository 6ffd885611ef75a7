package work

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

const planID = "0123456789abcdef"

// processes returns the Folders of two processes that share a folder.
func processes(t *testing.T) (a, b *Folder) {
	t.Helper()
	shared := t.TempDir()
	var both [2]*Folder
	for i := range both {
		both[i] = Shared(shared, planID)
		sharedtest.NoError(t, both[i].SetScratch(t.TempDir()))
	}
	return both[0], both[1]
}

// give writes a file in the folder of a process and shares it.
func give(t *testing.T, f *Folder, name, content string) File {
	t.Helper()
	sharedtest.NoError(t, os.WriteFile(filepath.Join(f.OutDir(Files), name), []byte(content), 0o600))
	file, err := f.Describe(name)
	if err == nil {
		err = f.Share(Files, name)
	}
	sharedtest.NoError(t, err)
	return file
}

// TestShared: a process finds the files that another one shares; no file stays in its original place.
func TestShared(t *testing.T) {
	a, b := processes(t)
	file := give(t, a, "x", "content")
	path, err := b.Path(file)
	sharedtest.NoError(t, err)
	if data, err := os.ReadFile(path); err != nil || string(data) != "content" {
		t.Errorf("another process reads %q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(a.OutDir(Files), "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file in the making: %v, want none", err)
	}
	if err := a.Share(Files, "y"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("sharing a file that is not there: %v", err)
	}
	if err := a.Share(Files, "x"); err != nil {
		t.Errorf("sharing what another task of the process has shared: %v", err)
	}
}

// TestRecords: a record is created once. An equal twin is accepted, a different one is not.
func TestRecords(t *testing.T) {
	a, b := processes(t)
	var got map[string]int
	if err := a.Read(Done+"/"+DoneName("titles", 3), &got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a task that is not done: %v", err)
	}
	for _, f := range []*Folder{a, b, a} {
		sharedtest.NoError(t, f.PutDone("titles", 3, map[string]int{"n": 1}))
	}
	if err := b.PutDone("titles", 3, map[string]int{"n": 2}); err == nil || !strings.Contains(err.Error(), "titles-00003.json: another run of this task wrote different bytes") {
		t.Errorf("a twin that has made something else: %v", err)
	}
	if err := b.Read(Done+"/"+DoneName("titles", 3), &got); err != nil || got["n"] != 1 {
		t.Errorf("record %v, %v", got, err)
	}
	if done, err := a.Names(Done); err != nil || len(done) != 1 || done[0] != DoneName("titles", 3) {
		t.Errorf("done are %v, %v", done, err)
	}
}

// TestWrongBytes: a record with changed bytes is rejected by its name, and so is a file of another size.
func TestWrongBytes(t *testing.T) {
	a, b := processes(t)
	file := give(t, a, "x", "content")
	sharedtest.NoError(t, a.PutDone("titles", 0, "record"))
	path, err := b.Path(file)
	sharedtest.NoError(t, err)
	sharedtest.NoError(t, os.Truncate(path, 3))
	if _, err := b.Path(file); !errors.Is(err, errMismatch) || !strings.Contains(err.Error(), path+": it has 3 bytes, its record 7") {
		t.Errorf("a file that lost its end: %v", err)
	}
	path = b.recordPath(Done + "/" + DoneName("titles", 0))
	data, err := os.ReadFile(path)
	sharedtest.NoError(t, err)
	var got string
	for i := range data[:len(data)-1] { // the last byte ends the line
		data[i] ^= 1
		sharedtest.NoError(t, os.WriteFile(path, data, 0o600))
		if err := b.Read(Done+"/"+DoneName("titles", 0), &got); err == nil && got != "record" {
			t.Errorf("a wrong bit in byte %d: record %q", i, got)
		}
		data[i] ^= 1
	}
	data[len(data)/2] ^= 1
	sharedtest.NoError(t, os.WriteFile(path, data, 0o600))
	if err := b.Read(Done+"/"+DoneName("titles", 0), &got); !errors.Is(err, errMismatch) || !strings.Contains(err.Error(), path) {
		t.Errorf("a wrong bit: %v", err)
	}
}
