package array

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/bucket"
)

// A BucketStore is a store of releases in a bucket.
type BucketStore struct{ bucket.Store }

var _ Releases = BucketStore{}

// Open opens a release as far as it is read.
func (s BucketStore) Open(ctx context.Context, id string, cache *work.Cache) (*release.Reader, release.Source, error) {
	m, err := s.Manifest(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	files := func(f release.File) (release.Blob, error) {
		return cache.Blob(s.Folder, object.Info{Key: bucket.FileName(f), Size: f.Size})
	}
	r, err := release.OpenFrom(m, files)
	return r, files, err
}

// Deltas returns the bucket.
func (s BucketStore) Deltas() object.Folder { return s.Folder }

// Named returns the id of a release that is current or previous, or the name.
func (s BucketStore) Named(ctx context.Context, name string) (string, error) {
	switch name {
	case "current":
		return s.Current(ctx)
	case "previous":
		infos, err := s.List(ctx)
		return previousIn(infos, s.String(), err)
	}
	return name, nil
}

// copiesAtOnce is how many files a bucket copies at a time.
const copiesAtOnce = 16

// Install adds a release. The bucket copies files itself where the work folder lies in it too.
func (s BucketStore) Install(ctx context.Context, m *release.Manifest, report []byte, bring func(release.File) (Origin, error)) error {
	have, err := s.Files(ctx)
	if err != nil {
		return err
	}
	g, copying := errgroup.WithContext(ctx)
	g.SetLimit(copiesAtOnce)
	for _, f := range m.Files() {
		if have.Has(f) {
			continue
		}
		g.Go(func() error {
			if err := s.bring(copying, f, bring); err != nil {
				return fmt.Errorf("install %s: %w", f.Name, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return s.Store.Install(ctx, m, report)
}

// bring adds a file of a release.
func (s BucketStore) bring(ctx context.Context, f release.File, bring func(release.File) (Origin, error)) error {
	from, err := bring(f)
	if err != nil {
		return err
	}
	if err := from.check(f); err != nil {
		return err
	}
	err = s.Folder.Copy(ctx, from.Folder, from.Info, bucket.FileName(f))
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if path, ok := from.Folder.Path(from.Info.Key); ok {
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		return s.PutFile(ctx, f, in)
	}
	return s.putFrom(ctx, f, from)
}

// putFrom puts a file that lies in another bucket, by way of this machine.
func (s BucketStore) putFrom(ctx context.Context, f release.File, from Origin) error {
	copied, err := os.CreateTemp("", "reelsplice-install-*")
	if err != nil {
		return err
	}
	defer os.Remove(copied.Name())
	defer copied.Close()
	in := from.Folder.NewReader(ctx, from.Info)
	defer func() { _ = in.Close() }() // read side
	if _, err := io.Copy(copied, in); err != nil {
		return err
	}
	return s.PutFile(ctx, f, copied)
}
