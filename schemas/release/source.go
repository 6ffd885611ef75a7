package release

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"reelsplice/schemas/release/mmap"
)

// A Source opens the files of a release.
type Source func(f File) (Blob, error)

// A Blob is an open file of a release.
type Blob struct {
	Handle *os.File // of f.Size bytes; the Reader maps and closes it
}

// Dirs returns the Source of folders: a file comes from the first one that has it. That no one has it
// is an error that matches ErrCorrupt.
func Dirs(dirs ...string) Source {
	return func(f File) (Blob, error) {
		for _, dir := range dirs {
			h, err := os.Open(filepath.Join(dir, f.Name))
			if !missing(err) {
				return Blob{Handle: h}, err
			}
		}
		return Blob{}, corrupt(f.Name, -1, "file is missing, the manifest has %d bytes", f.Size)
	}
}

// mapFile maps a file, provided it has the length that the manifest says.
func (r *Reader) mapFile(want File, s Source) (*mapping, error) {
	blob, err := s(want)
	if err != nil {
		return nil, err
	}
	defer blob.Handle.Close()
	st, err := blob.Handle.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() != want.Size {
		return nil, corrupt(want.Name, min(st.Size(), want.Size), "file is %d bytes long, the manifest has %d", st.Size(), want.Size)
	}
	if want.Size > math.MaxInt {
		return nil, fmt.Errorf("%s: %d bytes are more than this machine can address", want.Name, want.Size)
	}
	b, err := mmap.Map(blob.Handle, int(want.Size))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", want.Name, err)
	}
	m := newMapping(r, want.Name, b)
	m.path = blob.Handle.Name()
	return m, nil
}
