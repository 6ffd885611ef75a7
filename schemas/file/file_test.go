package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// names returns the names in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	sharedtest.NoError(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", filepath.Base(path), got, err, want)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "", "second"} {
		sharedtest.NoError(t, WriteFile(path, []byte(text), 0o640))
		wantFile(t, path, text)
	}
	sharedtest.NoError(t, os.Chmod(path, 0o600))
	sharedtest.NoError(t, WriteFile(path, []byte("third"), 0o644))
	if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("a replaced file: %v, %v, want its own mode 0600", st, err)
	}
	if got := names(t, dir); got != "file" {
		t.Errorf("the folder holds %s, want file", got)
	}
	if err := WriteFile(filepath.Join(dir, "none", "file"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a folder that is not there: %v, want fs.ErrNotExist", err)
	}
}

// TestRemovePending: what a killed writer left goes, and nothing that only looks like it.
func TestRemovePending(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	sharedtest.NoError(t, RemovePending(path))
	f, err := Create(path, 0o600)
	if err == nil {
		err = f.Close() // and the writer is gone
	}
	sharedtest.NoError(t, err)
	for _, name := range []string{"file", ".file", ".file.lock", ".files1", ".file1x", "file1"} {
		sharedtest.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	sharedtest.NoError(t, RemovePending(path))
	if got, want := names(t, dir), ".file .file.lock .file1x .files1 file file1"; got != want {
		t.Errorf("left: %s, want %s", got, want)
	}
}

// TestFailedCommit: a name that cannot be taken leaves no file behind.
func TestFailedCommit(t *testing.T) {
	dir := t.TempDir()
	sharedtest.NoError(t, os.MkdirAll(filepath.Join(dir, "name", "below"), 0o700))
	if err := WriteFile(filepath.Join(dir, "name"), []byte("text"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if got := names(t, dir); got != "name" {
		t.Errorf("the folder holds %s, want name", got)
	}
}

func TestPending(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	create := func() *Pending {
		f, err := Create(path, 0o600)
		sharedtest.NoError(t, err)
		return f
	}
	f := create()
	_, _ = f.WriteString("lost")
	if err := f.Abort(); err != nil {
		t.Errorf("Abort: %v", err)
	}
	if got := names(t, dir); got != "" {
		t.Errorf("Abort leaves %s", got)
	}
	f = create()
	if _, err := f.WriteString("kept"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Commit(), f.Abort()); err != nil {
		t.Errorf("Commit and Abort: %v", err)
	}
	wantFile(t, path, "kept")
}

func TestRename(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := Rename(from, to); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), from) {
		t.Errorf("rename of no file: %v, want fs.ErrNotExist with its name", err)
	}
	for _, path := range []string{from, to} {
		sharedtest.NoError(t, os.MkdirAll(path+"-dir", 0o700))
		sharedtest.NoError(t, os.WriteFile(path, []byte(path), 0o600))
	}
	sharedtest.NoError(t, errors.Join(Rename(from, to), Rename(from+"-dir", from), SyncDir(dir)))
	wantFile(t, to, from)
	if got := names(t, dir); got != "from to to-dir" {
		t.Errorf("the folder holds %s, want from to to-dir", got)
	}
}

// TestReadersAndWriter: readers see one of the contents, whole, while a writer replaces the file again and again.
func TestReadersAndWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "current")
	contents := []string{strings.Repeat("a", 5000), strings.Repeat("b", 3000)}
	sharedtest.NoError(t, WriteFile(path, []byte(contents[0]), 0o600))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond): // some file systems of Windows replace no file that is open all the time
				}
				if got, err := ReadFile(path); err != nil || string(got) != contents[0] && string(got) != contents[1] {
					t.Errorf("a reader sees %d bytes, %v, want one of the contents", len(got), err)
					return
				}
			}
		})
	}
	for i := range 50 {
		if err := WriteFile(path, []byte(contents[i%2]), 0o600); err != nil {
			t.Errorf("write %d: %v", i, err)
		}
	}
	close(done)
	readers.Wait()
}

// TestOpenFileIsReplaced: a file that Open has opened can be replaced or removed, and stays readable.
func TestOpenFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	sharedtest.NoError(t, WriteFile(path, []byte("old"), 0o600))
	f, err := Open(path)
	sharedtest.NoError(t, err)
	defer f.Close()
	sharedtest.NoError(t, Rename(path, path+"-old"))
	sharedtest.NoError(t, WriteFile(path, []byte("new"), 0o600))
	sharedtest.NoError(t, os.Remove(path+"-old"))
	b := make([]byte, 3)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "old" {
		t.Errorf("the open file holds %q, %v, want old", b, err)
	}
	wantFile(t, path, "new")
}

// TestLink: a file gets another name, or a copy of its own where the file system has no links. A copy replaces a file.
func TestLink(t *testing.T) {
	for _, links := range []bool{true, false} {
		if !links {
			defer func(old func(from, to string) error) { link = old }(link)
			link = func(string, string) error { return errors.ErrUnsupported }
		}
		from := filepath.Join(t.TempDir(), "from")
		to := from + "-too"
		sharedtest.NoError(t, os.WriteFile(from, []byte("text"), 0o600))
		sharedtest.NoError(t, Link(from, to))
		wantFile(t, to, "text")
		a, _ := os.Stat(from)
		b, err := os.Stat(to)
		if err != nil || os.SameFile(a, b) != links || a.Mode() != b.Mode() {
			t.Errorf("with links %v: one file %v, modes %s and %s (%v)", links, os.SameFile(a, b), a.Mode(), b.Mode(), err)
		}
		sharedtest.NoError(t, os.WriteFile(from, []byte("other text"), 0o600))
		sharedtest.NoError(t, Copy(from, to))
		wantFile(t, to, "other text")
	}
}

// TestMkdirAll makes the folders that are missing, and syncs each one that gets a new name in it.
func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	var synced []string
	Step = func(action, path string) error {
		synced = append(synced, action+" "+path)
		return nil
	}
	defer func() { Step = nil }()
	deep := filepath.Join(dir, "a", "b")
	for range 2 {
		sharedtest.NoError(t, MkdirAll(deep, 0o700))
		if want := []string{"sync " + dir, "sync " + filepath.Join(dir, "a")}; !slices.Equal(synced, want) {
			t.Errorf("synced %q, want %q", synced, want)
		}
	}
	sharedtest.NoError(t, os.WriteFile(filepath.Join(deep, "file"), nil, 0o600))
	for _, path := range []string{filepath.Join(deep, "file"), filepath.Join(deep, "file", "below")} {
		if err := MkdirAll(path, 0o700); err == nil {
			t.Errorf("MkdirAll(%s) = nil, want an error: a file is there", path)
		}
	}
}
