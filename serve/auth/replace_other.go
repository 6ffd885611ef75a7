//go:build !unix

package auth

import (
	"fmt"
	"os"
	"path/filepath"
)

// replaceFile puts data at path through a rename, which is as close to one step as such systems come.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)) // mode 0600
	if err != nil {
		return fmt.Errorf("replace token file %q: %w", path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // fails after the rename, as it should
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("replace token file %q: %w", path, err)
	}
	return nil
}
