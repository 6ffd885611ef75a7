package array

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
)

// A FolderStore is a store of releases in a folder that the processes of a build reach.
type FolderStore struct{ release.Store }

var _ Releases = FolderStore{}

// Open opens a release where it lies.
func (s FolderStore) Open(_ context.Context, id string, _ *work.Cache) (*release.Reader, release.Source, error) {
	r, err := release.Open(s.Path(id))
	return r, release.Dirs(s.Path(id)), err
}

// Deltas is nil: edges read the folder itself.
func (s FolderStore) Deltas() object.Folder { return nil }

// Named returns the id of a release that is current or previous, or the name.
func (s FolderStore) Named(_ context.Context, name string) (string, error) {
	switch name {
	case "current":
		return s.Current()
	case "previous":
		infos, err := s.List()
		return previousIn(infos, s.Dir, err)
	}
	return name, nil
}

// previousIn returns the release that was current before.
func previousIn(infos []release.Info, store string, err error) (string, error) {
	for _, i := range infos {
		if i.Previous {
			return i.ID, nil
		}
	}
	return "", errors.Join(err, fmt.Errorf("no release in %s has been current before the one that is: %w", store, release.ErrNoRelease))
}

// Publish makes a release current.
func (s FolderStore) Publish(_ context.Context, id string) (previous string, err error) {
	return s.Store.Publish(id)
}

// Install adds a release. Its files become second names of those of the work folder where both are in one
// file system, and copies elsewhere. Packs of the parent become second names of the parent's.
func (s FolderStore) Install(ctx context.Context, m *release.Manifest, report []byte, bring func(release.File) (Origin, error)) (err error) {
	w, err := release.Create(s.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	for _, f := range m.Files() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if isIn(m.Packs, f.Name) && m.Parent != "" {
			if _, err := os.Stat(filepath.Join(s.Path(m.Parent), f.Name)); err == nil {
				continue
			}
		}
		if err := install(ctx, w.Dir(), f, bring); err != nil {
			return fmt.Errorf("install %s: %w", f.Name, err)
		}
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	to := object.Local(w.Dir())
	if err := to.Put(ctx, release.ManifestName, data); err != nil {
		return err
	}
	if _, err := w.Install(); err != nil {
		return err
	}
	return object.Local(s.Path(m.ID)).Put(ctx, release.ReportName, report)
}

func isIn(files []release.File, name string) bool {
	return slices.ContainsFunc(files, func(f release.File) bool { return f.Name == name })
}

// install brings a file into a folder.
func install(ctx context.Context, dir string, f release.File, bring func(release.File) (Origin, error)) (err error) {
	path := filepath.Join(dir, f.Name)
	if _, err := os.Stat(path); err == nil {
		return nil // two parts of the same content
	}
	from, err := bring(f)
	if err != nil {
		return err
	}
	if err := from.check(f); err != nil {
		return err
	}
	err = object.Local(dir).Copy(ctx, from.Folder, from.Info, f.Name)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	for range copies {
		if err = copyFile(ctx, path, f, from); err == nil || !errors.Is(err, release.ErrCorrupt) {
			break
		}
	}
	return err
}

// copies is how often a file is copied that turns out to have other bytes than the manifest has.
const copies = 4

// copyFile makes a durable copy of a file, and checks it.
func copyFile(ctx context.Context, path string, f release.File, from Origin) (err error) {
	mode := os.FileMode(0o644)
	if name, ok := release.TableName(f.Name); ok && (name == accounts.ListTable || name == accounts.AccountTable) {
		mode = 0o600
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	in := from.Folder.NewReader(ctx, from.Info)
	defer func() { _ = in.Close() }() // read side
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, sum), in); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.SHA256 {
		return fmt.Errorf("%s: its SHA-256 is %s, the manifest has %s: %w", from.Folder.URL(from.Info.Key), got, f.SHA256, release.ErrCorrupt)
	}
	return out.Sync()
}
