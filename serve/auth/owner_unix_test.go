//go:build unix

package auth

import (
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

func wantOwner(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid != uid || st.Gid != gid || info.Mode().Perm() != 0o600 {
		t.Errorf("%s is owned by %d:%d, mode %v, want %d:%d and 0600", filepath.Base(path), st.Uid, st.Gid, info.Mode(), uid, gid)
	}
}

// An issuer run as root must not take the file away from the server's user.
func TestIssueKeepsOwner(t *testing.T) {
	path := tokensPath(t)
	mustWrite(t, path, lineA)
	chown(t, path)
	mustIssue(t, path, "new")
	wantOwner(t, path)
}

// The first issuer may be root: the server's user, who owns the folder, needs the file and its lock.
func TestIssueGivesToFolder(t *testing.T) {
	path := tokensPath(t)
	chown(t, filepath.Dir(path))
	mustIssue(t, path, "first")
	wantOwner(t, path)
	wantOwner(t, path+".lock")
}
