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

// Install gives the release its name, after WriteManifest has completed it in Dir. A kill at any
// moment leaves either no release of that name or a complete one. A whole release with the same
// content stays, with its report. An error leaves everything for Abort to remove.
func (w *Writer) Install() (Manifest, error) {
	m, err := ReadManifest(w.tmp)
	if err == nil {
		err = w.install(m.ID)
	}
	if err != nil {
		return m, fmt.Errorf("install release: %w", err)
	}
	w.tmp = ""
	return m, w.lock.Unlock()
}

// install gives the complete release its name.
func (w *Writer) install(id string) error {
	final := filepath.Join(w.dir, id)
	if r, err := Open(final); err == nil {
		// The same content is there and whole. It may be the one that is served.
		if err := r.Close(); err != nil {
			return err
		}
		return w.disk.removeAll(w.tmp)
	}
	if _, err := os.Lstat(final); err == nil {
		// Something broken has the name.
		if err := w.disk.delete(final); err != nil {
			return err
		}
	}
	return w.disk.rename(w.tmp, final)
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

// packsOf returns the packs that parts use, in order of name.
func packsOf(parts []Part) []File {
	byName := map[string]File{}
	for i := range parts {
		for _, f := range parts[i].Packs {
			f.Live += byName[f.Name].Live
			byName[f.Name] = f
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
}

// manifest describes the release in the folder dir.
func (c *Contents) manifest(dir string, o ManifestSpec) (*Manifest, error) {
	m := &Manifest{
		FormatVersion: FormatVersion, Parent: o.Parent, Params: o.Params, Sources: o.Sources,
		Parts: []File{}, Index: c.Indexes, Packs: packsOf(c.Parts), Tables: append([]File{}, c.Tables...),
	}
	if m.Packs == nil {
		m.Packs = []File{}
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
	return m, countPacks(dir, m)
}

// countPacks counts the segments of the packs by their footers.
func countPacks(dir string, m *Manifest) error {
	for _, f := range m.Packs {
		foot, err := readFooter(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		m.Counts.Segments += int64(foot.counts[packSegments])
		m.Counts.RawBytes += int64(foot.counts[packRawBytes])
		m.Counts.StoredBytes += int64(foot.content - headerLen)
	}
	return nil
}

// Preview opens a release in the making, in the folder dir, so that tables can be made of it.
// Its manifest has no id.
func Preview(dir string, o ManifestSpec, c Contents) (*Reader, error) {
	m, err := c.manifest(dir, o)
	if err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	r, err := openFiles(dir, m, true /* trust: it is being written */)
	if err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	return r, nil
}

// WriteManifest completes a release in the folder dir: it writes the manifest, removes all other
// files, those of killed tasks and those that only WriteIndex needed, and makes the folder durable.
// It may be called again.
func WriteManifest(dir string, o ManifestSpec, c Contents) (Manifest, error) {
	m, err := c.manifest(dir, o)
	if err == nil {
		m.ID, err = m.contentID()
	}
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
	if err := d.writeFile(filepath.Join(dir, manifestFile), data); err != nil {
		return err
	}
	listed := map[string]bool{manifestFile: true}
	for _, f := range m.Files() {
		listed[f.Name] = true
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !listed[e.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(err, d.syncDir(dir))
}

// ReadManifest reads the manifest of a release in the folder dir.
func ReadManifest(dir string) (Manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	return *m, nil
}
