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
	r := newReader(m, false)
	if err := errors.Join(r.mapFiles([]string{dir}), between()); err != nil {
		return err
	}
	return errors.Join(Guard(r.parse), r.Close())
}
