//go:build unix

package auth

import (
	"os"
	"syscall"
	"testing"
)

// An issuer run as root must not take the file away from the server's user.
func TestIssueKeepsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := tokensPath(t)
	mustWrite(t, path, lineA)
	const uid, gid = 12345, 23456
	if err := os.Chown(path, uid, gid); err != nil {
		t.Skip(err)
	}
	mustIssue(t, path, "new")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid != uid || st.Gid != gid || info.Mode().Perm() != 0o600 {
		t.Errorf("token file is owned by %d:%d, mode %v, want %d:%d and 0600", st.Uid, st.Gid, info.Mode(), uid, gid)
	}
}
