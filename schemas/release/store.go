package release

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/schemas/age"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Store is a folder of releases. Methods that change it wait for one another, also
// across processes; reading takes no lock.
type Store struct {
	Dir  string
	disk disk
}

// Path returns the folder of the release id, whether it exists or not.
func (s Store) Path(id string) string { return filepath.Join(s.Dir, id) }

// Current returns the id of the served release. The error matches ErrNoRelease when
// nothing has been published yet.
func (s Store) Current() (string, error) { return s.first(currentFile) }

// Canary returns the id of the release that goes out first to the edges that follow it. The error matches
// ErrNoRelease when there is no canary.
func (s Store) Canary() (string, error) { return s.first(canaryFile) }

func (s Store) first(name string) (string, error) {
	ids, err := s.pointer(name)
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// pointer returns the ids in the file current or canary, newest first; at least one.
func (s Store) pointer(name string) ([]string, error) {
	path := filepath.Join(s.Dir, name)
	data, err := file.ReadFile(path)
	if missing(err) {
		if _, err := os.Stat(s.Dir); missing(err) {
			return nil, fmt.Errorf("folder %q does not exist: %w", s.Dir, ErrNoRelease)
		}
		return nil, fmt.Errorf("read %q: %w", path, ErrNoRelease)
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

// setPointer makes ids the content of a file, by way of another one: all of it, durably, or none of it.
func (s Store) setPointer(name string, ids []string) error {
	temporary := filepath.Join(s.Dir, "."+name+"-new")
	if err := s.disk.writeFile(temporary, EncodeHistory(ids)); err != nil {
		return err
	}
	return s.disk.rename(temporary, filepath.Join(s.Dir, name))
}

// locked waits for the right to change the store, and calls fn. What is done starts its error.
func (s Store) locked(doing string, fn func() error) error {
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
func (s Store) check(id string) (*Manifest, error) {
	if !ValidID(id) {
		return nil, fmt.Errorf("%q is no release id", id)
	}
	r, err := Open(s.Path(id))
	if missing(err) {
		return nil, fmt.Errorf("release %s is not in %q: %w", id, s.Dir, err)
	}
	if err != nil {
		return nil, err
	}
	if got := r.manifest.ID; got != id {
		err = corrupt(ManifestName, -1, "id is %s, the folder is %s", got, id)
	}
	return r.manifest, errors.Join(err, r.Close())
}

// Publish makes the release id the current one and returns the one before, which is
// empty at first and id itself when it was current already. A release that Open
// refuses is not published.
func (s Store) Publish(id string) (previous string, err error) {
	err = s.locked("publish", func() (err error) {
		previous, err = s.point(currentFile, id)
		return err
	})
	return previous, err
}

// SetCanary makes the release id the canary and returns the one before, if any. A release that Open refuses
// becomes none.
func (s Store) SetCanary(id string) (previous string, err error) {
	err = s.locked("set canary", func() (err error) {
		previous, err = s.point(canaryFile, id)
		return err
	})
	return previous, err
}

// point makes a pointer name the release id, and returns which it named before.
func (s Store) point(name, id string) (previous string, err error) {
	if _, err := s.check(id); err != nil {
		return "", err
	}
	// A file that cannot be understood is replaced: publishing is how to mend it. Only
	// what could be gone back to is lost with it.
	ids, err := s.pointer(name)
	if err != nil && !errors.Is(err, ErrNoRelease) && !errors.Is(err, ErrCorrupt) {
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
	return previous, s.setPointer(name, append([]string{id}, ids...))
}

// RemoveCanary makes the edges that follow the canary follow the current release. It returns the id of the
// canary; without one the error matches ErrNoRelease.
func (s Store) RemoveCanary() (id string, err error) {
	err = s.locked("remove canary", func() (err error) {
		if id, err = s.Canary(); err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
		if err := os.Remove(filepath.Join(s.Dir, canaryFile)); err != nil {
			return err
		}
		return s.disk.syncDir(s.Dir)
	})
	return id, err
}

// Rollback makes the release current that was so before, and forgets the present one
// as if it had not been published. It can be called several times.
func (s Store) Rollback() (from, to string, err error) {
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
		return s.setPointer(currentFile, ids[1:])
	})
	return from, to, err
}

// List returns every folder of the store, the newest first, and the current release
// even when its folder is gone. A damaged pointer marks none: the error then matches ErrCorrupt, and the
// list is complete.
func (s Store) List() ([]Info, error) {
	ids, currentErr := s.pointer(currentFile)
	canary, canaryErr := s.Canary()
	var damaged error
	for _, err := range []error{canaryErr, currentErr} {
		switch {
		case err == nil || errors.Is(err, ErrNoRelease):
		case errors.Is(err, ErrCorrupt):
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
	Arrange(infos, ids, canary)
	return infos, damaged
}

// info describes the folder id.
func (s Store) info(id string) Info {
	i := Info{ID: id, Built: s.built(id)}
	m, err := s.check(id)
	if i.Err = err; err != nil {
		return i
	}
	i.count(m)
	return i
}

// built returns the time in the report of release id, or when its folder changed.
func (s Store) built(id string) time.Time {
	if data, err := os.ReadFile(filepath.Join(s.Path(id), ReportName)); err == nil {
		if at := BuiltAt(data); !at.IsZero() {
			return at
		}
	}
	if st, err := os.Stat(s.Path(id)); err == nil {
		return st.ModTime()
	}
	return time.Time{}
}

// Prune removes releases and returns their ids. It keeps the current one, the one that
// Rollback goes to, the canary, and then the newest ones until keep, at least 1, are there; folders
// that List gives an Err for it neither counts nor touches. What killed builders left
// behind goes too, unless a builder is at work.
func (s Store) Prune(keep int) (removed []string, err error) {
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
		for _, id := range Surplus(infos, keep) {
			if err := s.disk.delete(s.Path(id)); err != nil {
				return fmt.Errorf("release %s: %w", id, err)
			}
			removed = append(removed, id)
		}
		return nil
	})
	return removed, err
}

// Install gives the release that is complete in a folder of the store with another name its own name. It makes the
// names in the folder durable; the content of files is durable already. A broken release of that name goes.
func (s Store) Install(folder string) (id string, err error) {
	r, err := Open(filepath.Join(s.Dir, folder))
	if err == nil {
		id, err = r.manifest.ID, r.Close()
	}
	if err != nil {
		return "", fmt.Errorf("install release: %w", err)
	}
	return id, s.locked("install release "+id, func() error {
		if _, err := os.Lstat(s.Path(id)); err == nil {
			if err := s.disk.delete(s.Path(id)); err != nil {
				return err
			}
		}
		if err := s.disk.syncDir(filepath.Join(s.Dir, folder)); err != nil {
			return err
		}
		return s.disk.rename(filepath.Join(s.Dir, folder), s.Path(id))
	})
}

// Remove removes a release, and all that its folder holds. The current one is refused.
func (s Store) Remove(id string) error {
	if !ValidID(id) {
		return fmt.Errorf("remove release: %q is no release id", id)
	}
	return s.locked("remove release "+id, func() error {
		if current, err := s.Current(); err == nil && current == id {
			return errors.New("it is the current one")
		}
		return s.disk.delete(s.Path(id))
	})
}

// removeStale removes what killed processes left behind.
func (s Store) removeStale() error {
	if err := s.disk.removeStale(s.Dir, deletingPrefix); err != nil {
		return err
	}
	l, err := tryLock(s.Dir, builderLock)
	if err != nil || l == nil {
		return err
	}
	return errors.Join(s.disk.removeStale(s.Dir, BuildingPrefix), l.Unlock())
}

// maxHistory is how many ids the file current keeps.
const maxHistory = 100

// MaxHistoryBytes bounds the files current and canary.
const MaxHistoryBytes = maxHistory * (idLen + 1)

// Info describes one release of a store.
type Info struct {
	ID       string // name of the folder
	Current  bool   // it is served
	Previous bool   // Rollback goes there
	Canary   bool   // it goes out first
	Bytes    int64  // length of the files that its manifest lists
	// Fragments is the number of fragments.
	Fragments int64
	// Empty reports whether it has no record: it serves nothing but 404.
	Empty bool
	// Built is the time in its report.json, or else when the folder last changed.
	Built time.Time
	// Fetched is when its records were fetched, as far as their dumps have the day.
	Fetched age.Days
	// Err is why the folder is no release that Open accepts; the numbers are 0 then.
	Err error
}

// Describe returns the numbers of a release.
func Describe(m *Manifest, built time.Time) Info {
	i := Info{ID: m.ID, Built: built}
	i.count(m)
	return i
}

func (i *Info) count(m *Manifest) {
	i.Fragments, i.Bytes, i.Empty = m.Counts.Fragments, 0, m.isEmpty()
	i.Fetched = age.All(age.Of(m.Sources))
	for _, f := range m.Files() {
		i.Bytes += f.Size
	}
}

// isEmpty reports whether every resource is one that a release has without records too.
func (m *Manifest) isEmpty() bool {
	for kind, n := range m.Counts.Resources {
		if n > 0 && kind != fragment.KindDefault.String() && kind != fragment.KindRemoved.String() {
			return false
		}
	}
	return true
}

// BuiltAt returns the time in the report of a build, zero for none.
func BuiltAt(report []byte) time.Time {
	var v struct {
		BuiltAt time.Time `json:"built_at"`
	}
	if json.Unmarshal(report, &v) != nil {
		return time.Time{}
	}
	return v.BuiltAt
}

// Arrange sorts the releases of a store, the newest first, and marks those that its pointers name. History
// may be empty, and canary "".
func Arrange(infos []Info, history []string, canary string) {
	for n := range infos {
		i := &infos[n]
		i.Current = len(history) > 0 && i.ID == history[0]
		i.Previous = len(history) > 1 && i.ID == history[1] && !i.Current
		i.Canary = i.ID == canary
	}
	slices.SortStableFunc(infos, func(a, b Info) int {
		return cmp.Or(b.Built.Compare(a.Built), cmp.Compare(a.ID, b.ID))
	})
}

// Surplus returns the ids of the releases beyond keep, of infos as Arrange leaves them. It keeps those that
// are marked, then the newest. Those with an Err it neither counts nor returns.
func Surplus(infos []Info, keep int) []string {
	marked := func(i *Info) bool { return i.Current || i.Previous || i.Canary }
	for n := range infos {
		if i := &infos[n]; i.Err == nil && marked(i) {
			keep--
		}
	}
	var ids []string
	for n := range infos {
		i := &infos[n]
		if i.Err != nil || marked(i) {
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		ids = append(ids, i.ID)
	}
	return ids
}

// EncodeHistory returns the content of the file current, or of canary: as many of ids, the newest first, as it keeps.
func EncodeHistory(ids []string) []byte {
	return []byte(strings.Join(ids[:min(len(ids), maxHistory)], "\n") + "\n")
}

// ParseHistory reads the content of the file current: one id a line, each line ended, newest first; at least one.
// The file canary has the same form, with one id.
func ParseHistory(data []byte) ([]string, error) {
	text, ended := strings.CutSuffix(string(data), "\n")
	if !ended {
		return nil, corrupt(currentFile, int64(len(data)), "the last line does not end")
	}
	ids := strings.Split(text, "\n")
	off := int64(0)
	for _, id := range ids {
		if !ValidID(id) {
			return nil, corrupt(currentFile, off, "%q is no release id", id)
		}
		off += int64(len(id)) + 1
	}
	return ids, nil
}
