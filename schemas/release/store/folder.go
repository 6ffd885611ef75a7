package store

import (
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

// Names in a folder of releases that are no releases. All start with a dot, which no
// release id does.
const (
	builderLock    = ".lock"       // held while a builder works
	storeLock      = ".store-lock" // held while current or the set of releases changes
	deletingPrefix = ".deleting-"
	currentFile    = "current"
	canaryFile     = "canary"
	rolledBackFile = "rolled-back"
)

// ErrNoRelease matches, through errors.Is, the error about a store in which nothing
// has been published.
var ErrNoRelease = errors.New("no release has been published")

// A Folder is a folder of releases. Methods that change it wait for one another, also
// across processes; reading takes no lock.
type Folder struct{ Dir string }

// Path returns the folder of the release id, whether it exists or not.
func (s Folder) Path(id string) string { return filepath.Join(s.Dir, id) }

// Current returns the id of the served release. The error matches ErrNoRelease when
// nothing has been published yet.
func (s Folder) Current() (string, error) { return s.first(currentFile) }

// Canary returns the id of the release that goes out first to the edges that follow it. The error matches
// ErrNoRelease when there is no canary.
func (s Folder) Canary() (string, error) { return s.first(canaryFile) }

// RolledBack returns the ids of the releases that were rolled back after a release was last published or made the
// canary, the newest first.
func (s Folder) RolledBack() ([]string, error) { return noneIfAbsent(s.pointer(rolledBackFile)) }

func (s Folder) first(name string) (string, error) {
	ids, err := s.pointer(name)
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// pointer returns the ids in the file current, canary or rolled-back, newest first; at least one.
func (s Folder) pointer(name string) ([]string, error) {
	path := filepath.Join(s.Dir, name)
	data, err := file.Read(path, MaxHistoryBytes)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(s.Dir); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("folder %q does not exist: %w", s.Dir, ErrNoRelease)
		}
		return nil, fmt.Errorf("read %q: %w", path, ErrNoRelease)
	}
	if errors.Is(err, file.ErrTooLarge) {
		return nil, release.Corrupt(name, -1, "%v", err)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s release: %w", name, err)
	}
	ids, err := ParseHistory(data)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return ids, nil
}

// setPointer durably makes ids the content of a file.
func (s Folder) setPointer(name string, ids []string) error {
	if err := file.WriteFile(filepath.Join(s.Dir, name), encodeHistory(ids), 0o666); err != nil {
		return err
	}
	return file.SyncDir(s.Dir)
}

// locked waits for the right to change the store, and calls fn. What is done starts its error.
func (s Folder) locked(doing string, fn func() error) error {
	l := flock.New(filepath.Join(s.Dir, storeLock))
	if err := l.Lock(); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: folder %q does not exist: %w", doing, s.Dir, ErrNoRelease)
	} else if err != nil {
		return fmt.Errorf("%s: lock %q: %w", doing, l.Path(), err)
	}
	err := fn()
	if err != nil {
		err = fmt.Errorf("%s: %w", doing, err)
	}
	return errors.Join(err, l.Unlock())
}

// check opens the release id and returns its manifest, or why it cannot be served.
func (s Folder) check(id string) (*release.Manifest, error) {
	if !release.ValidID(id) {
		return nil, fmt.Errorf("%q is no release id", id)
	}
	r, err := release.Open(s.Path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("release %s is not in %q: %w", id, s.Dir, err)
	}
	if err != nil {
		return nil, err
	}
	if got := r.Manifest().ID; got != id {
		err = release.Corrupt(release.ManifestName, -1, "id is %s, the folder is %s", got, id)
	}
	return r.Manifest(), errors.Join(err, r.Close())
}

// Publish makes the release id the current one and returns the one before, which is
// empty at first and id itself when it was current already. A release that Open
// refuses is not published.
func (s Folder) Publish(id string) (previous string, err error) {
	err = s.locked("publish", func() (err error) {
		previous, err = s.point(currentFile, id)
		return err
	})
	return previous, err
}

// SetCanary makes the release id the canary and returns the one before, if any. A release that Open refuses
// becomes none.
func (s Folder) SetCanary(id string) (previous string, err error) {
	err = s.locked("set canary", func() (err error) {
		previous, err = s.point(canaryFile, id)
		return err
	})
	return previous, err
}

// point makes a pointer name the release id, and returns which it named before.
func (s Folder) point(name, id string) (previous string, err error) {
	if _, err := s.check(id); err != nil {
		return "", err
	}
	// A file that cannot be understood is replaced: publishing is how to mend it. Only
	// what could be gone back to is lost with it.
	ids, err := s.pointer(name)
	if err != nil && !errors.Is(err, ErrNoRelease) && !errors.Is(err, release.ErrCorrupt) {
		return "", err
	}
	if len(ids) > 0 {
		previous = ids[0]
	}
	if previous == id {
		return previous, nil
	}
	if name == canaryFile {
		ids = nil // it has no history
	}
	if err := s.setPointer(name, append([]string{id}, ids...)); err != nil {
		return "", err
	}
	return previous, s.removePointer(rolledBackFile)
}

// removePointer removes a file of ids, if it is there.
func (s Folder) removePointer(name string) error {
	if err := os.Remove(filepath.Join(s.Dir, name)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return file.SyncDir(s.Dir)
}

// noteRolledBack adds a release to those that were rolled back, unless it is broken: a build may mend that. A list that
// cannot be understood is replaced.
func (s Folder) noteRolledBack(id string) error {
	if _, err := s.check(id); IsBroken(err) {
		return nil
	}
	ids, err := s.RolledBack()
	if err != nil && !errors.Is(err, release.ErrCorrupt) {
		return err
	}
	return s.setPointer(rolledBackFile, withFirst(ids, id))
}

// RemoveCanary makes the edges that follow the canary follow the current release. It returns the id of the
// canary; without one the error matches ErrNoRelease. Unless it is current, RolledBack lists it.
func (s Folder) RemoveCanary() (id string, err error) {
	err = s.locked("remove canary", func() (err error) {
		if id, err = s.Canary(); err != nil && !errors.Is(err, release.ErrCorrupt) {
			return err
		}
		if current, _ := s.Current(); id != "" && id != current { // else it went out to all
			if err := s.noteRolledBack(id); err != nil {
				return err
			}
		}
		return s.removePointer(canaryFile)
	})
	return id, err
}

// Rollback makes the release current that was so before, and forgets the present one
// as if it had not been published, but for RolledBack. It can be called several times.
func (s Folder) Rollback() (from, to string, err error) {
	err = s.locked("roll back", func() error {
		ids, err := s.pointer(currentFile)
		if err != nil {
			return err
		}
		if len(ids) < 2 {
			return fmt.Errorf("no release has been current before %s", ids[0])
		}
		from, to = ids[0], ids[1]
		if _, err := s.check(to); err != nil {
			return fmt.Errorf("from %s: %w", from, err)
		}
		if err := s.noteRolledBack(from); err != nil {
			return err
		}
		return s.setPointer(currentFile, ids[1:])
	})
	return from, to, err
}

// List returns every folder of the store, the newest first, and the current release
// even when its folder is gone. A damaged pointer marks none: the error then matches release.ErrCorrupt, and the
// list is complete.
func (s Folder) List() ([]Info, error) {
	ids, currentErr := s.pointer(currentFile)
	canary, canaryErr := s.Canary()
	rolledBack, err := s.RolledBack()
	if err != nil && !errors.Is(err, release.ErrCorrupt) { // a damaged list marks none
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
	if len(ids) > 0 && !slices.ContainsFunc(infos, func(i Info) bool { return i.ID == ids[0] }) {
		infos = append(infos, s.info(ids[0]))
	}
	arrange(infos, ids, canary, rolledBack)
	return infos, damaged
}

// info describes the folder id.
func (s Folder) info(id string) Info {
	i := Info{ID: id}
	i.Built, i.Forced = s.reported(id)
	m, err := s.check(id)
	if i.Err = err; err != nil {
		return i
	}
	i.count(m)
	return i
}

// reported returns when release id was built by its report, or else when its folder changed, and whether it was
// published against the gate.
func (s Folder) reported(id string) (built time.Time, forced bool) {
	data, _ := file.Read(filepath.Join(s.Path(id), release.ReportName), maxReportBytes) // unreadable is like none
	r := readReport(data)
	if built = r.BuiltAt; built.IsZero() {
		if st, err := os.Stat(s.Path(id)); err == nil {
			built = st.ModTime()
		}
	}
	return built, r.Forced != nil
}

// NoteForced notes in the report of release id why it was published against the gate. The manifest cannot have it: the
// id, by which edges know a release, covers every byte there.
func (s Folder) NoteForced(id string, why any) error {
	return s.locked("note in the report", func() error {
		path := filepath.Join(s.Path(id), release.ReportName)
		data, err := file.Read(path, maxReportBytes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if data, err = withForced(data, why); err != nil {
			return err
		}
		return file.WriteFile(path, data, 0o644)
	})
}

// Prune removes releases and returns their ids. It keeps the current one, the one that
// Rollback goes to, the canary, those that were rolled back, and then the newest ones until keep, at least 1, are there; folders
// that List gives an Err for it neither counts nor touches. What killed builders left
// behind goes too, unless a builder is at work.
func (s Folder) Prune(keep int) (removed []string, err error) {
	if keep < 1 {
		return nil, fmt.Errorf("prune releases: keep at least 1, not %d", keep)
	}
	err = s.locked("prune releases", func() error {
		if err := s.removeStale(); err != nil {
			return err
		}
		infos, err := s.List()
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

// IsBroken reports whether an error is about a release that is not there, or whose bytes are no release, and not about
// a disk or a limit that may let it pass the next time.
func IsBroken(err error) bool {
	for _, is := range []error{ErrNoRelease, release.ErrCorrupt, release.ErrVersion, fs.ErrNotExist} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// Install gives the release that is complete in a folder of the store with another name its own name. It makes the
// names in the folder durable; the content of files is durable already. A broken release of that name goes.
func (s Folder) Install(folder string) (id string, err error) {
	r, err := release.Open(filepath.Join(s.Dir, folder))
	if err == nil {
		id, err = r.Manifest().ID, r.Close()
	}
	if err != nil {
		return "", fmt.Errorf("install release: %w", err)
	}
	return id, s.locked("install release "+id, func() error {
		if _, err := os.Lstat(s.Path(id)); err == nil {
			if err := remove(s.Path(id)); err != nil {
				return err
			}
		}
		if err := file.SyncDir(filepath.Join(s.Dir, folder)); err != nil {
			return err
		}
		return file.MoveInto(filepath.Join(s.Dir, folder), s.Path(id))
	})
}

// Remove removes a release, and all that its folder holds. The current one is refused.
func (s Folder) Remove(id string) error {
	if !release.ValidID(id) {
		return fmt.Errorf("remove release: %q is no release id", id)
	}
	return s.locked("remove release "+id, func() error {
		if current, err := s.Current(); err == nil && current == id {
			return errors.New("it is the current one")
		}
		return remove(s.Path(id))
	})
}

// removeStale removes what killed processes left behind.
func (s Folder) removeStale() error {
	for _, pointer := range []string{currentFile, canaryFile, rolledBackFile} {
		if err := file.RemovePending(filepath.Join(s.Dir, pointer)); err != nil {
			return err
		}
	}
	if err := removeStale(s.Dir, deletingPrefix); err != nil {
		return err
	}
	l, err := tryLock(s.Dir, builderLock)
	if err != nil || l == nil {
		return err
	}
	err = removeStale(s.Dir, BuildingPrefix)
	reports, _ := filepath.Glob(filepath.Join(s.Dir, "r*", release.ReportName)) // the pattern is valid
	for _, report := range reports {
		err = errors.Join(err, file.RemovePending(report))
	}
	return errors.Join(err, l.Unlock())
}

// remove removes a release, which is gone as a whole once it has another name. On Windows, files that a process has
// mapped stay under that name for a later removeStale.
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

// removeStale removes what is left in dir under names that start with prefix, except for files in use.
func removeStale(dir, prefix string) error {
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
