//go:build unix

package auth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// replaceFile puts data at path in one step that survives a crash. A new file gets mode 0600; an old
// one passes on its mode and owner, so that an issuer run as root does not lock the server out.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	const mode = 0o600
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(mode), renameio.WithExistingPermissions())
	if err != nil {
		return fmt.Errorf("replace token file %q: %w", path, err)
	}
	defer func() { _ = f.Cleanup() }() // does nothing after the rename
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("replace token file %q: %w", path, err)
	}
	if err := keepOwner(f.File, path); err != nil {
		return fmt.Errorf("replace token file %q: keep its owner: %w", path, err)
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("replace token file %q: %w", path, err)
	}
	return syncDir(dir)
}

// keepOwner gives f the owner and group of the file at path, if there is one.
func keepOwner(f *os.File, path string) error {
	old, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	was, ok1 := old.Sys().(*syscall.Stat_t)
	is, ok2 := now.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || (was.Uid == is.Uid && was.Gid == is.Gid) {
		return nil
	}
	if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
		return err
	}
	return f.Chmod(old.Mode().Perm()) // a change of owner may have cleared bits
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder %q: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync folder %q: %w", dir, err)
	}
	return nil
}
