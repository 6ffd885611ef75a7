//go:build unix

package localca

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A renewal by root must not take the certificate and its key away from the edge's user.
func TestRenewalKeepsOwner(t *testing.T) {
	dir := t.TempDir()
	names := []string{"api.themoviedb.org"}
	if _, err := Make(dir, names, 90, now); err != nil {
		t.Fatal(err)
	}
	sharedtest.GiveAway(t, filepath.Join(dir, LeafFile), filepath.Join(dir, LeafKey))
	if _, err := Make(dir, names, 90, now); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint32{LeafFile: sharedtest.OtherUID, LeafKey: sharedtest.OtherUID, CAFile: 0, caKey: 0} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != want {
			t.Errorf("%s is owned by %d, want %d", name, st.Uid, want)
		}
	}
}
