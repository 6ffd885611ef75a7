//go:build !windows

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// A Pending is a file in the making, in the folder of the file that it replaces on Commit.
type Pending struct{ *renameio.PendingFile }

// Create starts the file path, which gets the mode less the process's umask.
func Create(path string, mode fs.FileMode) (*Pending, error) {
	return create(path, renameio.WithPermissions(mode))
}

// CreatePrivate is Create with the mode 0600 whatever the umask, or with the mode of the file that it replaces.
func CreatePrivate(path string) (*Pending, error) {
	return create(path, renameio.WithStaticPermissions(0o600), renameio.WithExistingPermissions())
}

func replacement(path string, mode fs.FileMode) (*Pending, error) {
	return create(path, renameio.WithPermissions(mode), renameio.WithExistingPermissions())
}

func create(path string, options ...renameio.Option) (*Pending, error) {
	f, err := renameio.NewPendingFile(path, append(options, renameio.WithTempDir(filepath.Dir(path)))...)
	if err != nil {
		return nil, err
	}
	return &Pending{f}, nil
}

// Commit makes the content durable and gives the file its name. The name is durable after SyncDir.
func (p *Pending) Commit() error { return p.CloseAtomicallyReplace() }

// Abort removes the file. It does nothing after Commit.
func (p *Pending) Abort() error { return p.Cleanup() }

// Rename gives a closed file or a folder another name, replacing a file of that name. It is durable after SyncDir.
func Rename(from, to string) error { return os.Rename(from, to) }

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Open opens a file for reading.
func Open(path string) (*os.File, error) { return os.Open(path) }

// InUse reports whether an error means that another process has the file open. It never does here.
func InUse(error) bool { return false }
