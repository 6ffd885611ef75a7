//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestOwnerNote: an error about a file of another user, or in the other's folder, names that user.
func TestOwnerNote(t *testing.T) {
	mine, theirs := t.TempDir(), t.TempDir()
	sharedtest.GiveAway(t, theirs)
	denied := func(path string) error {
		return fmt.Errorf("lock: %w", &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission})
	}
	note := fmt.Sprintf(" (%s belongs to user %d)", theirs, sharedtest.OtherUID)
	for _, c := range []struct {
		err  error
		want string
	}{
		{denied(theirs), note},
		{denied(filepath.Join(theirs, "releases", ".lock")), note},
		{denied(filepath.Join(mine, ".lock")), ""},
		{&fs.PathError{Op: "open", Path: theirs, Err: fs.ErrNotExist}, ""},
		{errors.Join(fs.ErrPermission, errors.New("a bucket")), ""},
		{errors.Join(&fs.PathError{Op: "open", Path: theirs, Err: fs.ErrNotExist}, denied(filepath.Join(mine, ".lock"))), ""},
	} {
		if got := ownerNote(c.err); got != c.want {
			t.Errorf("ownerNote(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}
