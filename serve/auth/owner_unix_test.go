//go:build unix

package auth

import (
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func wantOwner(t *testing.T, path string) {
	t.Helper()
	sharedtest.WantOwner(t, path, sharedtest.OtherUID, sharedtest.OtherGID, 0o600)
}

// An issuer run as root must not take the file away from the server's user.
func TestIssueKeepsOwner(t *testing.T) {
	path := tokensPath(t)
	mustWrite(t, path, lineA)
	sharedtest.GiveAway(t, path)
	mustIssue(t, path, "new")
	wantOwner(t, path)
}

// The first issuer may be root: the server's user, who owns the folder, needs the file and its lock.
func TestIssueGivesToFolder(t *testing.T) {
	path := tokensPath(t)
	sharedtest.GiveAway(t, filepath.Dir(path))
	mustIssue(t, path, "first")
	wantOwner(t, path)
	wantOwner(t, path+".lock")
}
