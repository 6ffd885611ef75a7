package bucket

import (
	"context"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/partial"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// granule is how many bytes of a file are fetched at least. Lookups read here and there, and opening a release reads
// the end of many files.
const granule = 64 << 10

// Open opens the release id. What is read of it is fetched into sparse files of the folder dir, which no other
// release may use; they go when the Reader closes. The end of ctx ends all fetches. The error matches fs.ErrNotExist if
// there is no such release.
func (s Store) Open(ctx context.Context, id, dir string) (*release.Reader, error) {
	m, err := s.Manifest(ctx, id)
	if err != nil {
		return nil, err
	}
	return release.OpenFrom(m, s.Source(ctx, dir))
}

// Source returns the Source of the files of all releases, with sparse files in the folder dir as Open has them.
// Files of a file system are opened where they lie.
func (s Store) Source(ctx context.Context, dir string) release.Source {
	return func(f release.File) (release.Blob, error) {
		name := FileName(f)
		if path, ok := s.Folder.Path(name); ok {
			h, err := durable.Open(path)
			return release.Blob{Handle: h}, err
		}
		// Without an ETag: an object never changes, its blocks are checked, and thousands of requests are saved.
		p, err := partial.Open(ctx, partial.Options{
			Folder: s.Folder, Info: object.Info{Key: name, Size: f.Size}, Path: filepath.Join(dir, f.Name), Granule: granule,
		})
		if err != nil {
			return release.Blob{}, err
		}
		return release.Blob{Handle: p.Handle(), Fill: p.Fill, Refill: p.Refetch, Close: p.Close}, nil
	}
}
