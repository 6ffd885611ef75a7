package auth

import (
	"fmt"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/durable"
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
	f, err := durable.CreatePrivate(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Abort() }() // does nothing after the rename
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := keepOwner(f.File, path); err != nil {
		return fmt.Errorf("keep its owner: %w", err)
	}
	if err := f.Commit(); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}
