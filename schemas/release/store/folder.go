// Package store keeps releases: a Folder on this machine, filled by a Builder, or a Bucket of an object store, read
// by many edges. In both, the file current has the IDs of the served release and of those before it, canary the ID
// that goes out first, and rolled-back the IDs that are not published again. A bucket contains
//
//	current                ids, newest first, one per line
//	canary                 the id that some edges serve first; may be absent
//	rolled-back            ids rolled back since the last publishing, newest first; absent without one
//	<id>/manifest.json     the manifest, byte for byte
//	<id>/report.json       the report of the build, optional
//	files/<sha256>         the content of a file, once for all releases
//	deltas/<new>-<old>     how to make a file from another one, both by SHA-256; optional
//
// A release exists once its manifest does: Push writes it last. In a bucket, pointers change by conditional writes,
// so one of two concurrent publishers succeeds and the other gets ErrLost.
//
// The names of manifests and files protect their bytes. Pointers, reports and listings have no such protection:
// before anything is written or removed on their basis, they are read until two reads agree.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Names in a folder of releases besides releases. All start with a dot, unlike release IDs.
const (
	builderLock    = ".lock"       // held by a builder
	storeLock      = ".store-lock" // held during changes of current or of the set of releases
	deletingPrefix = ".deleting-"
)

// A Folder is a folder of releases. Methods that change it exclude one another, also across processes; reading takes
// no lock.
type Folder struct{ Dir string }

// Path returns the folder of the release id, even if it does not exist.
func (s Folder) Path(id string) string { return filepath.Join(s.Dir, id) }

// String implements Store.
func (s Folder) String() string { return s.Dir }

func (s Folder) pointer(_ context.Context, name string) (pointer, error) {
	path := filepath.Join(s.Dir, name)
	data, err := file.Read(path, MaxHistoryBytes)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(s.Dir); errors.Is(err, fs.ErrNotExist) {
			return pointer{}, fmt.Errorf("folder %q does not exist: %w", s.Dir, ErrNoRelease)
		}
		return pointer{}, fmt.Errorf("read %q: %w", path, ErrNoRelease)
	}
	if errors.Is(err, file.ErrTooLarge) {
		return pointer{}, release.Corrupt(name, -1, "%v", err)
	}
	if err != nil {
		return pointer{}, fmt.Errorf("read %s release: %w", name, err)
	}
	ids, err := ParseHistory(data)
	if err != nil {
		return pointer{}, fmt.Errorf("read %q: %w", path, err)
	}
	return pointer{ids: ids}, nil
}

// setPointer is durable once it returns. The store is locked, so the pointer is still the one that was read.
func (s Folder) setPointer(_ context.Context, name string, _ pointer, ids []string) error {
	if err := file.WriteFile(filepath.Join(s.Dir, name), encodeHistory(ids), 0o666); err != nil {
		return err
	}
	return file.SyncDir(s.Dir)
}

func (s Folder) removePointer(_ context.Context, name string) error {
	err := os.Remove(filepath.Join(s.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.SyncDir(s.Dir)
}

// change locks the store.
func (s Folder) change(operation string, fn func() error) error {
	l := flock.New(filepath.Join(s.Dir, storeLock))
	if err := l.Lock(); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: folder %q does not exist: %w", operation, s.Dir, ErrNoRelease)
	} else if err != nil {
		return fmt.Errorf("%s: lock %q: %w", operation, l.Path(), err)
	}
	err := fn()
	if err != nil {
		err = fmt.Errorf("%s: %w", operation, err)
	}
	return errors.Join(err, l.Unlock())
}

func (s Folder) check(_ context.Context, id string) error {
	_, err := s.open(id)
	return err
}

// Manifest implements Store.
func (s Folder) Manifest(_ context.Context, id string) (*release.Manifest, error) {
	m, err := release.ReadManifest(s.Path(id))
	return &m, s.missing(id, err)
}

// missing explains the error of a release that does not exist.
func (s Folder) missing(id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release %s is not in %s: %w", id, s, err)
	}
	return err
}

// open opens the release id and returns its manifest, or an error if it cannot be served.
func (s Folder) open(id string) (*release.Manifest, error) {
	if !release.ValidID(id) {
		return nil, fmt.Errorf("%q is not a release id", id)
	}
	r, err := release.Open(s.Path(id))
	if err != nil {
		return nil, s.missing(id, err)
	}
	if got := r.Manifest().ID; got != id {
		err = release.Corrupt(release.ManifestName, -1, "id is %s, the folder is %s", got, id)
	}
	return r.Manifest(), errors.Join(err, r.Close())
}

// List implements Store. If a pointer is corrupt, the list is complete but without its marks, and the error matches
// release.ErrCorrupt.
func (s Folder) List(ctx context.Context) ([]Info, error) {
	current, currentErr := s.pointer(ctx, currentName)
	canary, canaryErr := Canary(ctx, s)
	rolledBack, err := RolledBack(ctx, s)
	if err != nil && !errors.Is(err, release.ErrCorrupt) { // a corrupt list marks none
		return nil, fmt.Errorf("list releases: %w", err)
	}
	var damaged error
	for _, err := range []error{canaryErr, currentErr} {
		switch {
		case err == nil || errors.Is(err, ErrNoRelease):
		case errors.Is(err, release.ErrCorrupt):
			damaged = fmt.Errorf("list releases: %w", err)
		default:
			return nil, fmt.Errorf("list releases: %w", err)
		}
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("list releases: %w", err)
	}
	var infos []Info
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			infos = append(infos, s.info(e.Name()))
		}
	}
	if id := current.first(); id != "" && !slices.ContainsFunc(infos, func(i Info) bool { return i.ID == id }) {
		infos = append(infos, s.info(id))
	}
	arrange(infos, current.ids, canary, rolledBack)
	return infos, damaged
}

// info describes the folder id.
func (s Folder) info(id string) Info {
	data, _ := file.Read(filepath.Join(s.Path(id), release.ReportName), maxReportBytes) // an unreadable report counts as absent
	report := readReport(data)
	if st, err := os.Stat(s.Path(id)); err == nil && report.BuiltAt.IsZero() {
		report.BuiltAt = st.ModTime()
	}
	i := Info{ID: id, Built: report.BuiltAt}
	if m, err := s.open(id); err != nil {
		i.Err = err
	} else {
		i = Describe(m, report.BuiltAt)
	}
	i.Forced = report.Forced != nil
	return i
}

// RecordForced implements Store.
func (s Folder) RecordForced(_ context.Context, id string, reason any) error {
	return s.change("note in the report", func() error {
		path := filepath.Join(s.Path(id), release.ReportName)
		data, err := file.Read(path, maxReportBytes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if data, err = withForced(data, reason); err != nil {
			return err
		}
		return file.WriteFile(path, data, 0o644)
	})
}

// Prune implements Store. It removes the files of killed builders unless a builder is running.
func (s Folder) Prune(ctx context.Context, keep int, _ time.Duration) (removed []string, err error) {
	if keep < 1 {
		return nil, fmt.Errorf("prune releases: keep at least 1, not %d", keep)
	}
	err = s.change("prune releases", func() error {
		if err := s.removeStale(); err != nil {
			return err
		}
		infos, err := s.List(ctx)
		if err != nil {
			return err
		}
		for _, i := range infos {
			if i.Err != nil && release.ValidID(i.ID) && !IsBroken(i.Err) && !errors.Is(i.Err, fs.ErrPermission) {
				return fmt.Errorf("release %s: %w", i.ID, i.Err)
			}
		}
		for _, id := range surplus(infos, keep) {
			if err := remove(s.Path(id)); err != nil {
				return fmt.Errorf("release %s: %w", id, err)
			}
			removed = append(removed, id)
		}
		return nil
	})
	return removed, err
}

// Install renames the complete release in a folder of the store to its ID. It syncs the folder's names; the content
// of files is durable already. It replaces a broken release of that name.
func (s Folder) Install(folder string) (id string, err error) {
	r, err := release.Open(filepath.Join(s.Dir, folder))
	if err == nil {
		id, err = r.Manifest().ID, r.Close()
	}
	if err != nil {
		return "", fmt.Errorf("install release: %w", err)
	}
	return id, s.change("install release "+id, func() error {
		if err := file.SyncDir(filepath.Join(s.Dir, folder)); err != nil {
			return err
		}
		return put(filepath.Join(s.Dir, folder), s.Path(id))
	})
}

// put gives a complete release its name. It replaces something broken.
func put(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		if err := remove(to); err != nil {
			return err
		}
	}
	return file.MoveInto(from, to)
}

// Remove removes a release with everything in its folder. It rejects the current one.
func (s Folder) Remove(id string) error {
	if !release.ValidID(id) {
		return fmt.Errorf("remove release: %q is not a release id", id)
	}
	return s.change("remove release "+id, func() error {
		if current, err := Current(context.Background(), s); err == nil && current == id {
			return errors.New("it is the current one")
		}
		return remove(s.Path(id))
	})
}

// removeStale removes the files of killed processes.
func (s Folder) removeStale() error {
	for _, pointer := range []string{currentName, canaryName, rolledBackName} {
		if err := file.RemovePending(filepath.Join(s.Dir, pointer)); err != nil {
			return err
		}
	}
	if err := removePrefixed(s.Dir, deletingPrefix); err != nil {
		return err
	}
	l, err := tryLock(s.Dir, builderLock)
	if err != nil || l == nil {
		return err
	}
	err = removePrefixed(s.Dir, BuildingPrefix)
	reports, _ := filepath.Glob(filepath.Join(s.Dir, "r*", release.ReportName)) // the pattern is valid
	for _, report := range reports {
		err = errors.Join(err, file.RemovePending(report))
	}
	return errors.Join(err, l.Unlock())
}

// remove removes a release, which no longer exists once it is renamed. On Windows, mapped files stay under the new
// name for a later removeStale.
func remove(path string) error {
	old := filepath.Join(filepath.Dir(path), deletingPrefix+filepath.Base(path))
	if err := removeAll(old); err != nil {
		return err
	}
	if err := file.MoveInto(path, old); err != nil {
		return err
	}
	if err := removeAll(old); !file.InUse(err) {
		return err
	}
	return nil
}

func removeAll(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return file.Did("remove", path)
}

// removePrefixed removes entries of dir whose names start with prefix, except for files in use.
func removePrefixed(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			if err := removeAll(filepath.Join(dir, e.Name())); err != nil && !file.InUse(err) {
				return err
			}
		}
	}
	return nil
}
