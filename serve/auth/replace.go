package auth

import (
	"fmt"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/durable"
)

// replaceFile puts data at path in one step that survives a crash. A new file gets mode 0600; an old
// one passes on its mode and owner, so that an issuer run as root does not lock the server out.
func replaceFile(path string, data []byte) error {
	err := durable.WriteOwned(path, data, 0o600)
	if err == nil {
		err = durable.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("replace token file %q: %w", path, err)
	}
	return nil
}
