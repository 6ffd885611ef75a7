//go:build unix

package localca

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A renewal by root must not take the certificate and its key away from the edge's user.
func TestRenewalKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	dir := t.TempDir()
	names := []string{"api.themoviedb.org"}
	if _, err := Make(dir, names, 90, now); err != nil {
		t.Fatal(err)
	}
	const uid, gid = 12345, 23456
	for _, name := range []string{LeafFile, LeafKey} {
		if err := os.Chown(filepath.Join(dir, name), uid, gid); err != nil {
			t.Skip(err)
		}
	}
	if _, err := Make(dir, names, 90, now); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint32{LeafFile: uid, LeafKey: uid, CAFile: 0, CAKey: 0} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != want {
			t.Errorf("%s is owned by %d, want %d", name, st.Uid, want)
		}
	}
}
