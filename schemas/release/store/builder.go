package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// BuildingPrefix is the prefix of a running build's names in a releases folder. Create removes names of killed builders.
const BuildingPrefix = ".building-"

// ErrLocked matches, through errors.Is, the error of Create while another builder works in the same folder.
var ErrLocked = errors.New("another builder is running there")

// A Builder holds the folder of an unfinished release, and a lock against other builders. Tasks write the files of
// the release into Dir: see release.CreatePart, CreateTable, WriteIndex and WriteManifest. Install or Abort ends the
// work.
type Builder struct {
	dir  string // releases folder
	tmp  string // folder of the unfinished release, "" at the end
	lock *flock.Flock
}

// Create starts a release in the folder releasesDir, creating it if necessary. Only one builder works in a folder at
// a time: otherwise the error matches ErrLocked. Create removes the files of killed builders.
func Create(releasesDir string) (*Builder, error) {
	if err := file.MkdirAll(releasesDir, 0o755); err != nil {
		return nil, fmt.Errorf("create release: %w", err)
	}
	lock, err := tryLock(releasesDir, builderLock)
	if err != nil {
		return nil, fmt.Errorf("create release: %w", err)
	}
	if lock == nil {
		return nil, fmt.Errorf("create release in %q: %w", releasesDir, ErrLocked)
	}
	b := &Builder{dir: releasesDir, lock: lock, tmp: filepath.Join(releasesDir, BuildingPrefix+strconv.Itoa(os.Getpid()))}
	err = removePrefixed(b.dir, BuildingPrefix)
	if err == nil {
		err = os.Mkdir(b.tmp, 0o755)
	}
	if err == nil {
		err = file.Did("make", b.tmp)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create release: %w", err), lock.Unlock())
	}
	return b, nil
}

// Dir returns the folder of the release until it is installed.
func (b *Builder) Dir() string { return b.tmp }

// LinkFile links a file of the folder dir into the release, or copies it between file systems.
func (b *Builder) LinkFile(dir string, f release.File) error {
	from, to := filepath.Join(dir, f.Name), filepath.Join(b.tmp, f.Name)
	if _, err := os.Lstat(to); err == nil {
		return nil // two parts with the same content
	}
	st, err := os.Stat(from)
	if err != nil {
		return err
	}
	if st.Size() != f.Size {
		return release.Corrupt(f.Name, min(st.Size(), f.Size), "%s is %d bytes long, want %d", from, st.Size(), f.Size)
	}
	return file.Link(from, to)
}

// Install renames the release after release.WriteManifest has completed it in Dir. It links packs that exist only in
// the parent, and files with the same bytes there. If it is killed, the release is complete or absent. An intact
// release with the same content stays, with its report. After an error, Abort removes everything.
func (b *Builder) Install() (release.Manifest, error) {
	m, err := release.ReadManifest(b.tmp)
	if err == nil {
		err = b.install(&m)
	}
	if err != nil {
		return m, fmt.Errorf("install release: %w", err)
	}
	b.tmp = ""
	return m, b.lock.Unlock()
}

// install renames the complete release.
func (b *Builder) install(m *release.Manifest) error {
	final := filepath.Join(b.dir, m.ID)
	if r, err := release.Open(final); err == nil {
		// The same content exists and is intact. It may be in service.
		if err := r.Close(); err != nil {
			return err
		}
		return removeAll(b.tmp)
	}
	if err := b.linkPacks(m); err != nil {
		return err
	}
	if err := b.linkEqual(m); err != nil {
		return err
	}
	return put(b.tmp, final)
}

// linkPacks links the packs of the parent that the release uses, and syncs their names.
func (b *Builder) linkPacks(m *release.Manifest) error {
	linked := false
	for _, f := range m.Packs {
		to := filepath.Join(b.tmp, f.Name)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if m.Parent == "" {
			return release.Corrupt(f.Name, -1, "file is missing, and the release has no parent")
		}
		if err := file.Link(filepath.Join(b.dir, m.Parent, f.Name), to); err != nil {
			return fmt.Errorf("reuse %s of %s: %w", f.Name, m.Parent, err)
		}
		linked = true
	}
	if !linked {
		return nil
	}
	return file.SyncDir(b.tmp)
}

// linkEqual replaces files by links to the parent's files with the same bytes: the parts and tables of unchanged
// resources, more than half of the bytes of an incremental build. It checks them first, because the parent's file may be
// damaged. It leaves files on file systems without links.
func (b *Builder) linkEqual(m *release.Manifest) error {
	if m.Parent == "" {
		return nil
	}
	parent, err := release.ReadManifest(filepath.Join(b.dir, m.Parent))
	if err != nil {
		return nil //nolint:nilerr // a damaged release has no files to share
	}
	sums := map[string]string{}
	for _, f := range parent.Files() {
		sums[f.Name] = f.SHA256
	}
	for _, f := range m.Files() {
		from, to := filepath.Join(b.dir, m.Parent, f.Name), filepath.Join(b.tmp, f.Name)
		fromInfo, fromErr := os.Lstat(from)
		toInfo, toErr := os.Lstat(to)
		if sums[f.Name] != f.SHA256 || fromErr != nil || toErr != nil || os.SameFile(fromInfo, toInfo) || fromInfo.Mode() != toInfo.Mode() {
			continue
		}
		link := to + ".link"
		if f.Check(context.Background(), from) != nil || os.Link(from, link) != nil {
			continue
		}
		if err := file.Rename(link, to); err != nil {
			return err
		}
	}
	return file.SyncDir(b.tmp)
}

// Abort removes a release that is not installed, and the lock. After Install or an earlier Abort it does nothing.
func (b *Builder) Abort() error {
	if b.tmp == "" {
		return nil
	}
	err := errors.Join(removeAll(b.tmp), b.lock.Unlock())
	b.tmp = ""
	if err != nil {
		return fmt.Errorf("abort release: %w", err)
	}
	return nil
}

// tryLock acquires the lock file name in dir; nil if it is held elsewhere.
func tryLock(dir, name string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(dir, name))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", l.Path(), err)
	}
	if !ok {
		return nil, nil
	}
	return l, nil
}
