//go:build unix

package file

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// Root takes no file away from its user, and makes a new one for the user of the folder.
func TestWriteOwned(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	if err := WriteOwned(path, []byte("first"), 0o640); err != nil {
		t.Fatal(err)
	}
	sharedtest.GiveAway(t, path)
	if err := WriteOwned(path, []byte("second"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "second")
	sharedtest.WantOwner(t, path, sharedtest.OtherUID, sharedtest.OtherGID, 0o640)
	mine := filepath.Join(dir, "mine")
	if err := WriteOwned(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sharedtest.WantOwner(t, mine, 0, 0, 0o600)

	sharedtest.GiveAway(t, dir)
	created := filepath.Join(dir, "new")
	if err := errors.Join(WriteOwned(created, nil, 0o600), WriteOwned(mine, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	sharedtest.WantOwner(t, created, sharedtest.OtherUID, sharedtest.OtherGID, 0o600)
	sharedtest.WantOwner(t, mine, 0, 0, 0o600) // root's own file stays root's
	if got := names(t, dir); got != "key mine new" {
		t.Errorf("the folder holds %s", got)
	}
}
