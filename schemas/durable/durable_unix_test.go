//go:build unix

package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

const uid, gid = 12345, 23456

// chown gives path to the user above.
func chown(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	if err := os.Chown(path, uid, gid); err != nil {
		t.Skip(err)
	}
}

func wantOwner(t *testing.T, path string, wantUID, wantGID uint32, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if has := info.Sys().(*syscall.Stat_t); has.Uid != wantUID || has.Gid != wantGID || info.Mode().Perm() != mode {
		t.Errorf("%s is owned by %d:%d, mode %v, want %d:%d and %v", filepath.Base(path), has.Uid, has.Gid, info.Mode(), wantUID, wantGID, mode)
	}
}

// Root takes no file away from its user, and makes a new one for the user of the folder.
func TestWriteOwned(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	if err := WriteOwned(path, []byte("first"), 0o640); err != nil {
		t.Fatal(err)
	}
	chown(t, path)
	if err := WriteOwned(path, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "second")
	wantOwner(t, path, uid, gid, 0o640)
	mine := filepath.Join(dir, "mine")
	if err := WriteOwned(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantOwner(t, mine, 0, 0, 0o600)

	chown(t, dir)
	created := filepath.Join(dir, "new")
	if err := errors.Join(WriteOwned(created, nil, 0o600), WriteOwned(mine, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	wantOwner(t, created, uid, gid, 0o600)
	wantOwner(t, mine, 0, 0, 0o600) // root's own file stays root's
	if got := names(t, dir); got != "key mine new" {
		t.Errorf("the folder holds %s", got)
	}
}
