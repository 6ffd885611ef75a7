//go:build unix

package release_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestPipes refuses a release with a pipe, or a link to a device, in the place of a file, and waits for no writer.
func TestPipes(t *testing.T) {
	m, err := ReadManifest(archive)
	sharedtest.NoError(t, err)
	for _, name := range []string{ManifestName, m.Parts[0].Name, m.Index[0].Name, m.Packs[0].Name} {
		for odd, make := range map[string]func(path string) error{
			"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"link": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			dir := Copy(t, archive)
			path := filepath.Join(dir, name)
			sharedtest.NoError(t, errors.Join(os.Remove(path), make(path)))
			sharedtest.Within(t, "opening "+name, func() {
				if r, err := Open(dir); err == nil {
					t.Errorf("Open of a release with a %s for %s = nil, want an error", odd, name)
					_ = r.Close()
				}
			})
		}
	}
}
