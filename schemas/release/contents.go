package release

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Contents are the files of a release in the making, as their writers described them.
type Contents struct {
	Parts   []Part // in order; the first is the common one
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
func (c *Contents) manifest(dir string, o WriterOptions) (*Manifest, error) {
	m := &Manifest{
		FormatVersion: FormatVersion, Parent: o.Parent, Params: o.Params, Sources: o.Sources,
		Parts: []File{}, Index: c.Indexes, Packs: packsOf(c.Parts), Tables: append([]File{}, c.Tables...),
	}
	if m.Packs == nil {
		m.Packs = []File{}
	}
	m.Counts.Resources = map[string]int64{}
	for _, p := range writtenParts(c.Parts) {
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
func Preview(dir string, o WriterOptions, c Contents) (*Reader, error) {
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

// WriteManifest completes a release in the folder dir: it writes the manifest, removes the files
// that only WriteIndex needed, and makes the folder durable. It may be called again.
func WriteManifest(dir string, o WriterOptions, c Contents) (Manifest, error) {
	m, err := writeManifest(dir, o, c, disk{})
	if err != nil {
		return m, fmt.Errorf("complete release: %w", err)
	}
	return m, nil
}

func writeManifest(dir string, o WriterOptions, c Contents, d disk) (Manifest, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Manifest{}, err
	}
	m, err := c.manifest(dir, o)
	if err != nil {
		return Manifest{}, err
	}
	if m.ID, err = m.contentID(); err != nil {
		return *m, err
	}
	data, err := m.encode()
	if err != nil {
		return *m, err
	}
	if err := d.writeFile(filepath.Join(dir, manifestFile), data); err != nil {
		return *m, err
	}
	left, err := filepath.Glob(filepath.Join(dir, ".keys-*"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return *m, errors.Join(err, d.syncDir(dir))
}

// ReadManifest reads the manifest of a release in the folder dir.
func ReadManifest(dir string) (Manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	return *m, nil
}
