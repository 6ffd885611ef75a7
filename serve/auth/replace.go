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
	if err := replaceBy(path, data); err != nil {
		return fmt.Errorf("replace token file %q: %w", path, err)
	}
	return nil
}

func replaceBy(path string, data []byte) error {
	dir := filepath.Dir(path)
	const mode = 0o600
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(mode), renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	defer func() { _ = f.Cleanup() }() // does nothing after the rename
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := keepOwner(f.File, path); err != nil {
		return fmt.Errorf("keep its owner: %w", err)
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync() // makes the rename durable
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
	owner := old.Sys().(*syscall.Stat_t)
	if int(owner.Uid) == os.Geteuid() && int(owner.Gid) == os.Getegid() {
		return nil
	}
	if err := f.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
		return err
	}
	return f.Chmod(old.Mode().Perm()) // a change of owner may have cleared bits
}
