package catalog

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// A Source is an open file of a catalogue, wherever it lies. Goroutines may share it.
type Source struct {
	io.ReaderAt
	io.Closer
	Size int64  // in bytes
	Name string // path or URL, for messages
}

// Files opens a file of a catalogue by its name. The error matches fs.ErrNotExist if there is none.
type Files func(name string) (*Source, error)

// Dir returns the Files of a folder.
func Dir(dir string) Files {
	return func(name string) (*Source, error) { return openSource(filepath.Join(dir, name)) }
}

func openSource(path string) (*Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Source{ReaderAt: f, Closer: f, Size: info.Size(), Name: path}, nil
}
