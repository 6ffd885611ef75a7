package release

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gofrs/flock"
)

// DefaultMaxPackBytes is the pack length at which a part starts another pack.
const DefaultMaxPackBytes = 1 << 30

// A ManifestSpec has the manifest's free fields, in UTF-8. The id of the release depends on all of them.
type ManifestSpec struct {
	Params  map[string]string // parameters of the build that determine its bytes
	Sources map[string]int64  // counts of the records that the build read
	Parent  string            // id of the release that this one was built upon, or ""

	disk disk
}

// A Writer holds the folder of one release in the making, and the lock that keeps other builders
// out. Tasks write the files of the release into Dir: see CreatePart, CreateTable, WriteIndex and
// WriteManifest. Install or Abort ends the work.
type Writer struct {
	dir  string // of the releases
	tmp  string // folder of the release while it grows, "" at the end
	lock *flock.Flock
	disk disk
}

// Create starts a release in the folder releasesDir, which is made if need be. One
// builder works in a folder at a time: while another one does, the error matches
// ErrLocked. It removes the files of killed builders.
func Create(releasesDir string) (*Writer, error) {
	if err := os.MkdirAll(releasesDir, 0o755); err != nil {
		return nil, fmt.Errorf("create release: %w", err)
	}
	lock, err := tryLock(releasesDir, builderLock)
	if err != nil {
		return nil, fmt.Errorf("create release: %w", err)
	}
	if lock == nil {
		return nil, fmt.Errorf("create release in %q: %w", releasesDir, ErrLocked)
	}
	w := &Writer{dir: releasesDir, lock: lock, tmp: filepath.Join(releasesDir, BuildingPrefix+strconv.Itoa(os.Getpid()))}
	err = w.disk.removeStale(w.dir, BuildingPrefix)
	if err == nil {
		err = w.disk.mkdir(w.tmp)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create release: %w", err), lock.Unlock())
	}
	return w, nil
}

// Dir returns the folder of the release until it is installed.
func (w *Writer) Dir() string { return w.tmp }

// Take gives the release a file that lies in another folder: as a second name of it where both are in one file
// system, as a copy elsewhere.
func (w *Writer) Take(dir string, f File) error {
	from, to := filepath.Join(dir, f.Name), filepath.Join(w.tmp, f.Name)
	if _, err := os.Lstat(to); err == nil {
		return nil // two parts of the same content
	}
	st, err := os.Stat(from)
	if err != nil {
		return err
	}
	if st.Size() != f.Size {
		return corrupt(f.Name, min(st.Size(), f.Size), "%s is %d bytes long, want %d", from, st.Size(), f.Size)
	}
	return w.disk.link(from, to, ".copy")
}

// Install gives the release its name, after WriteManifest has completed it in Dir. It links the packs that lie
// in its parent alone. A kill at any moment leaves either no release of that name or a complete one. A
// whole release with the same content stays, with its report. An error leaves everything for Abort to
// remove.
func (w *Writer) Install() (Manifest, error) {
	m, err := ReadManifest(w.tmp)
	if err == nil {
		err = w.install(&m)
	}
	if err != nil {
		return m, fmt.Errorf("install release: %w", err)
	}
	w.tmp = ""
	return m, w.lock.Unlock()
}

// install gives the complete release its name.
func (w *Writer) install(m *Manifest) error {
	final := filepath.Join(w.dir, m.ID)
	if r, err := Open(final); err == nil {
		// The same content is there and whole. It may be the one that is served.
		if err := r.Close(); err != nil {
			return err
		}
		return w.disk.removeAll(w.tmp)
	}
	if err := w.linkPacks(m); err != nil {
		return err
	}
	if _, err := os.Lstat(final); err == nil {
		// Something broken has the name.
		if err := w.disk.delete(final); err != nil {
			return err
		}
	}
	return w.disk.rename(w.tmp, final)
}

// linkPacks gives the release the packs of its parent that it uses, and makes their names durable.
func (w *Writer) linkPacks(m *Manifest) error {
	linked := false
	for _, f := range m.Packs {
		to := filepath.Join(w.tmp, f.Name)
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if m.Parent == "" {
			return corrupt(f.Name, -1, "file is missing, and the release has no parent")
		}
		if err := w.disk.link(filepath.Join(w.dir, m.Parent, f.Name), to, ".copy"); err != nil {
			return fmt.Errorf("take over %s of %s: %w", f.Name, m.Parent, err)
		}
		linked = true
	}
	if !linked {
		return nil
	}
	return w.disk.syncDir(w.tmp)
}

// Abort removes a release that is not installed. Another builder may start then. After Install
// or an earlier Abort it does nothing.
func (w *Writer) Abort() error {
	if w.tmp == "" {
		return nil
	}
	err := errors.Join(w.disk.removeAll(w.tmp), w.lock.Unlock())
	w.tmp = ""
	if err != nil {
		return fmt.Errorf("abort release: %w", err)
	}
	return nil
}

// Contents are the files of a release in the making, as their writers described them.
type Contents struct {
	Parts   []Part // in order
	Indexes []File // in order
	Tables  []File
}

// packsOf returns the packs that parts use, in order of name. Live counts the segments of all parts.
func packsOf(parts []Part) []Pack {
	byName := map[string]Pack{}
	for i := range parts {
		for _, p := range parts[i].Packs {
			p.Live += byName[p.Name].Live
			byName[p.Name] = p
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b Pack) int { return cmp.Compare(a.Name, b.Name) })
}

// manifest describes the release, without its id.
func (c *Contents) manifest(o ManifestSpec) *Manifest {
	m := &Manifest{
		FormatVersion: WriteMin, FeatureVersion: FeatureVersion, Parent: o.Parent, Params: o.Params, Sources: o.Sources,
		Parts: []File{}, Index: c.Indexes, Packs: []File{}, Tables: append([]File{}, c.Tables...),
	}
	for _, p := range packsOf(c.Parts) {
		m.Packs = append(m.Packs, p.File)
		m.Counts.Segments += p.Segments
		m.Counts.RawBytes += p.RawBytes
		m.Counts.StoredBytes += p.StoredBytes
	}
	m.Counts.Resources = map[string]int64{}
	for _, p := range c.Parts {
		m.Parts = append(m.Parts, p.File)
		for kind, n := range p.Resources {
			m.Counts.Resources[kind] += n
		}
		m.Counts.Aliases += p.Aliases
		m.Counts.Fragments += p.Fragments
	}
	slices.SortFunc(m.Tables, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return m
}

// Preview opens a release in the making, so that tables can be made of it. Each file comes from the first of
// the folders that has it. The manifest has no id.
func Preview(o ManifestSpec, c Contents, dirs ...string) (*Reader, error) {
	r, err := openFiles(c.manifest(o), dirs, true /* trust: it is being written */)
	if err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	return r, nil
}

// NewManifest returns the manifest of a release. It reads no file.
func NewManifest(o ManifestSpec, c Contents) (m *Manifest, err error) {
	m = c.manifest(o)
	m.ID, err = m.contentID()
	return m, err
}

// WriteManifest completes a release in the folder dir: it writes the manifest, removes all other
// files, those of killed tasks and those that only WriteIndex needed, and makes the folder durable.
// Packs of the previous release need not be there before Install. It may be called again.
func WriteManifest(dir string, o ManifestSpec, c Contents) (Manifest, error) {
	m, err := NewManifest(o, c)
	if err == nil {
		err = m.write(dir, o.disk)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("complete release: %w", err)
	}
	return *m, nil
}

func (m *Manifest) write(dir string, d disk) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if err := d.writeFile(filepath.Join(dir, ManifestName), data); err != nil {
		return err
	}
	return errors.Join(m.RemoveOthers(dir), d.syncDir(dir))
}

// RemoveOthers removes all files of the folder dir but the manifest and those that it lists.
func (m *Manifest) RemoveOthers(dir string) error {
	listed := map[string]bool{ManifestName: true}
	for _, f := range m.Files() {
		listed[f.Name] = true
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !listed[e.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// ReadManifest reads the manifest of a release in the folder dir.
func ReadManifest(dir string) (Manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	return *m, nil
}
