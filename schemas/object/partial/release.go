package partial

import (
	"context"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// releaseGranule is how many bytes of a file of a release are fetched at least. Lookups read here and there,
// and opening a release reads the end of thousands of files.
const releaseGranule = 64 << 10

// Release returns the Source of files of a release whose names in folder start with prefix, such as
// "r0123456789abcdef/". Files of a bucket come as they are read, into sparse files of dir, which no other Source may
// use; they are removed when the Reader closes. Files of a file system are opened where they lie. The end of
// ctx ends all fetches.
func Release(ctx context.Context, folder object.Folder, prefix, dir string) release.Source {
	return func(f release.File) (release.Blob, error) {
		name := prefix + f.Name
		if path, ok := folder.Path(name); ok {
			h, err := os.Open(path)
			return release.Blob{Handle: h}, err
		}
		// Without an ETag: a release never changes, its files are checked, and thousands of requests are saved.
		p, err := Open(ctx, Options{
			Folder: folder, Info: object.Info{Key: name, Size: f.Size}, Path: filepath.Join(dir, f.Name), Granule: releaseGranule,
		})
		if err != nil {
			return release.Blob{}, err
		}
		return release.Blob{Handle: p.Handle(), Fill: p.Fill, Refill: p.Refetch, Close: p.Close}, nil
	}
}
