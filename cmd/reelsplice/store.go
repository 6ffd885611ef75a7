package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/store"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/bucket"
)

// A releaseStore is the releases of a folder or of a bucket. release.Store has the contract of its methods.
type releaseStore interface {
	String() string
	Current(ctx context.Context) (string, error)
	Publish(ctx context.Context, id string) (previous string, err error)
	Rollback(ctx context.Context) (from, to string, err error)
	SetCanary(ctx context.Context, id string) (previous string, err error)
	RemoveCanary(ctx context.Context) (id string, err error)
	List(ctx context.Context) ([]release.Info, error)
	// Prune removes releases. In a bucket, objects that no release names go once they are older than grace.
	Prune(ctx context.Context, keep int, grace time.Duration) (removed []string, err error)
	// Open opens a release. An error that matches fs.ErrNotExist is about one that is not there.
	Open(ctx context.Context, id string) (*release.Reader, error)
	// Check calls do with a folder of this machine that has the release id. Problems that it finds name their objects.
	Check(ctx context.Context, id string, do checker) ([]release.CorruptError, error)
}

// A checker looks for problems of the release in a folder.
type checker func(dir string) ([]release.CorruptError, error)

// storeFlag adds --releases, which the command cannot do without.
func storeFlag(c *cobra.Command, releases *string) {
	c.Flags().StringVar(releases, "releases", "", "`DIR` of the releases, or the URL of a bucket's")
	required(c, "releases")
}

// atStore calls do with the releases of a folder, or of a bucket by its URL.
func (a *app) atStore(ctx context.Context, releases string, do func(releaseStore) error) (err error) {
	dir, local, err := localFolder(releases)
	if err != nil {
		return err
	}
	if local {
		return do(localStore{release.Store{Dir: dir}})
	}
	f, err := store.OpenFolder(ctx, releases)
	if err != nil {
		return err
	}
	s := bucketStore{Store: bucket.Store{Folder: f}, app: a}
	if s.scratch, err = os.MkdirTemp("", "reelsplice-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.scratch)) }()
	return do(s)
}

// localFolder returns the folder that a path or a URL names, and false for a bucket.
func localFolder(name string) (dir string, local bool, err error) {
	if !object.IsURL(name) {
		return name, true, nil
	}
	l, err := object.Parse(name)
	if err != nil {
		return "", false, usage(err)
	}
	dir, local = l.Path()
	return dir, local, nil
}

// folderOf returns the folder that a flag names by a path or a file: URL. A bucket is an error with a hint.
func folderOf(flag, name, hint string) (string, error) {
	dir, local, err := localFolder(name)
	if err == nil && !local {
		err = usage(fmt.Errorf("%s %q: want a folder: %s", flag, object.WithoutSecrets(name), hint))
	}
	return dir, err
}

func catalogFolder(name string) (string, error) {
	return folderOf("catalog", name, "buckets hold dumps, which ingest reads, and releases, which publish uploads")
}

func workFolder(name string) (string, error) {
	return folderOf("work", name, "one that all machines of the build share")
}

func releasesFolder(name string) (string, error) {
	return folderOf("releases", name, fmt.Sprintf("build there, then run publish --releases %s --from DIR", object.WithoutSecrets(name)))
}

// A localStore is a folder of releases.
type localStore struct{ store release.Store }

var _ releaseStore = localStore{}

func (s localStore) String() string { return s.store.Dir }

func (s localStore) Current(context.Context) (string, error) { return s.store.Current() }

func (s localStore) Publish(_ context.Context, id string) (string, error) { return s.store.Publish(id) }

func (s localStore) Rollback(context.Context) (from, to string, err error) { return s.store.Rollback() }

func (s localStore) SetCanary(_ context.Context, id string) (string, error) {
	return s.store.SetCanary(id)
}

func (s localStore) RemoveCanary(context.Context) (string, error) { return s.store.RemoveCanary() }

func (s localStore) List(context.Context) ([]release.Info, error) { return s.store.List() }

func (s localStore) Prune(_ context.Context, keep int, _ time.Duration) ([]string, error) {
	return s.store.Prune(keep)
}

func (s localStore) Open(_ context.Context, id string) (*release.Reader, error) {
	r, err := release.Open(s.store.Path(id))
	return r, s.missing(id, err)
}

func (s localStore) Check(_ context.Context, id string, do checker) ([]release.CorruptError, error) {
	problems, err := do(s.store.Path(id))
	return problems, s.missing(id, err)
}

// missing explains an error about a release that is not there.
func (s localStore) missing(id string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("release %s is not in %s: %w", id, s, err)
	}
	return err
}

// A bucketStore is the releases of a bucket, with a folder of this machine for what is read of them.
type bucketStore struct {
	bucket.Store
	app     *app // shows progress
	scratch string
}

var _ releaseStore = bucketStore{}

// Check copies the release.
func (s bucketStore) Check(ctx context.Context, id string, do checker) ([]release.CorruptError, error) {
	dir, err := s.copied(ctx, id)
	if err != nil {
		return nil, err
	}
	problems, err := do(dir)
	for i := range problems {
		p := &problems[i]
		p.What = fmt.Sprintf("%s (%s)", p.What, s.objectOf(ctx, id, p.File))
	}
	return problems, err
}

// objectOf names the object of a file of a release.
func (s bucketStore) objectOf(ctx context.Context, id, file string) string {
	m, err := s.Manifest(ctx, id)
	if err == nil {
		for _, f := range m.Files() {
			if f.Name == file {
				return s.Folder.URL(bucket.FileName(f))
			}
		}
	}
	return s.Folder.URL(id + "/" + file)
}

// Open copies the release.
func (s bucketStore) Open(ctx context.Context, id string) (*release.Reader, error) {
	dir, err := s.copied(ctx, id)
	if err != nil {
		return nil, err
	}
	return release.Open(dir)
}

// copied returns a copy of a release on this machine.
func (s bucketStore) copied(ctx context.Context, id string) (dir string, err error) {
	dir = filepath.Join(s.scratch, id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) { // both are the same
			return dir, nil
		}
		return "", err
	}
	p := s.app.progress("download", true)
	defer p.stop()
	return dir, s.Copy(ctx, id, dir, p.update)
}
