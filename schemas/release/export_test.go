package release

import (
	"errors"
)

// OpenCut opens a release, and does something between mapping its files and reading them.
func OpenCut(dir string, between func() error) error {
	m, err := readManifest(dir)
	if err != nil {
		return err
	}
	r, err := mapFiles(m, []string{dir}, false)
	if err := errors.Join(err, between()); err != nil {
		return err
	}
	return errors.Join(Guard(r.parse), r.Close())
}
