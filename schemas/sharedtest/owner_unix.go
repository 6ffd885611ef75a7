//go:build unix

package sharedtest

import (
	"os"
	"syscall"
	"testing"
)

// The user and group for GiveAway. They need not exist.
const (
	OtherUID = 12345
	OtherGID = 23456
)

// GiveAway changes the owner of files to another user and group. This requires root: without it, tb is skipped.
func GiveAway(tb testing.TB, paths ...string) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("only root can give a file away")
	}
	for _, path := range paths {
		if err := os.Chown(path, OtherUID, OtherGID); err != nil {
			tb.Skip("this system does not let root give a file away: ", err)
		}
	}
}

// WantOwner checks the owner and the mode of a file.
func WantOwner(tb testing.TB, path string, uid, gid uint32, mode os.FileMode) {
	tb.Helper()
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != uid || st.Gid != gid || info.Mode().Perm() != mode {
		tb.Errorf("%s is owned by %d:%d, mode %v, want %d:%d and %v", path, st.Uid, st.Gid, info.Mode(), uid, gid, mode)
	}
}
