//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// Root takes no file away from its user, and makes a new one for the user of the folder.
func TestWriteOwned(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	sharedtest.NoError(t, WriteOwned(path, []byte("first"), 0o640))
	sharedtest.GiveAway(t, path)
	sharedtest.NoError(t, WriteOwned(path, []byte("second"), 0o600))
	wantFile(t, path, "second")
	sharedtest.WantOwner(t, path, sharedtest.OtherUID, sharedtest.OtherGID, 0o640)
	mine := filepath.Join(dir, "mine")
	sharedtest.NoError(t, WriteOwned(mine, nil, 0o600))
	sharedtest.WantOwner(t, mine, 0, 0, 0o600)

	sharedtest.GiveAway(t, dir)
	created := filepath.Join(dir, "new")
	sharedtest.NoError(t, errors.Join(WriteOwned(created, nil, 0o600), WriteOwned(mine, nil, 0o600)))
	sharedtest.WantOwner(t, created, sharedtest.OtherUID, sharedtest.OtherGID, 0o600)
	sharedtest.WantOwner(t, mine, 0, 0, 0o600) // root's own file stays root's
	if got := names(t, dir); got != "key mine new" {
		t.Errorf("the folder holds %s", got)
	}
}

// TestRead reads regular files of bounded size alone, and waits for nobody.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(at("text"), []byte("12345"), 0o600), os.Symlink("text", at("link")),
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("/dev/zero", at("zero")), os.Mkdir(at("folder"), 0o700),
	); err != nil {
		t.Fatal(err)
	}
	sharedtest.Within(t, "reading", func() {
		for _, name := range []string{"text", "link"} {
			if data, err := Read(at(name), 5); string(data) != "12345" || err != nil {
				t.Errorf("Read(%s) = %q, %v, want its content", name, data, err)
			}
		}
		if _, err := Read(at("text"), 4); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), at("text")+": file is too large: larger than 4 bytes") {
			t.Errorf("Read of a byte too much: %v, want ErrTooLarge", err)
		}
		if _, err := Read(at("none"), 5); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read of nothing: %v, want fs.ErrNotExist", err)
		}
		for _, name := range []string{"pipe", "zero", "folder"} {
			if _, err := Read(at(name), 5); err == nil || !strings.Contains(err.Error(), "want a regular file") {
				t.Errorf("Read(%s): %v, want an error: it is not a regular file", name, err)
			}
		}
		// The name may come to be a pipe's after it was looked at.
		f, err := Open(at("pipe"))
		sharedtest.NoError(t, err)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}
