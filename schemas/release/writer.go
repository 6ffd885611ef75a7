package release

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/provenance"
)

// defaultMaxPackBytes is the pack length at which a part starts another pack.
const defaultMaxPackBytes = 1 << 30

// A ManifestSpec has the manifest's free fields, in UTF-8. The ID of the release depends on all of them.
type ManifestSpec struct {
	Params  map[string]string // parameters of the build that determine its bytes
	Sources map[string]int64  // counts of the records read by the build
	Parent  string            // ID of the release that this one is based on, or ""
	// Provenance describes the origin of the data; nil if unknown.
	Provenance *provenance.Release
}

// Contents are the files of an unfinished release, as described by their writers.
type Contents struct {
	Parts   []Part // in order
	Indexes []File // in order
	Tables  []File
	Terms   map[string]int64 // search terms, by the name of their table; nil for none
}

// manifest describes the release, without its ID.
func (c *Contents) manifest(o ManifestSpec) *Manifest {
	m := &Manifest{
		FormatVersion: WriteMin, FeatureVersion: FeatureVersion, Parent: o.Parent, Params: o.Params, Sources: o.Sources, Provenance: o.Provenance,
		Parts: []File{}, Index: c.Indexes, Packs: []File{}, Tables: append([]File{}, c.Tables...),
	}
	packs := map[string]Pack{} // by name; Live counts the segments of all parts
	for i := range c.Parts {
		for _, p := range c.Parts[i].Packs {
			p.Live += packs[p.Name].Live
			packs[p.Name] = p
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		p := packs[name]
		m.Packs = append(m.Packs, p.File)
		m.Counts.Segments += p.Segments
		m.Counts.RawBytes += p.RawBytes
		m.Counts.StoredBytes += p.StoredBytes
	}
	m.Counts.Resources, m.Counts.Terms = map[string]int64{}, c.Terms
	m.Counts.ResponseCounts = ResponseCounts{map[string]int64{}, map[string]int64{}}
	for _, p := range c.Parts {
		m.Parts = append(m.Parts, p.File)
		for kind, n := range p.Resources {
			m.Counts.Resources[kind] += n
		}
		m.Counts.Add(p.ResponseCounts)
		m.Counts.Aliases += p.Aliases
		m.Counts.Fragments += p.Fragments
	}
	slices.SortFunc(m.Tables, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return m
}

// Preview opens an unfinished release, to derive tables from it. Each file comes from the first folder that contains
// it. The manifest has no ID.
func Preview(o ManifestSpec, c Contents, dirs ...string) (*Reader, error) {
	r, err := openFiles(c.manifest(o), dirs, true /* trust: it is being written */)
	if err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	return r, nil
}

// WriteManifest completes a release in the folder dir. It writes the manifest, removes all files that the manifest
// does not list, such as files of killed tasks, and syncs the folder. Packs of the previous release may be absent
// until Install. It is idempotent.
func WriteManifest(dir string, o ManifestSpec, c Contents) (Manifest, error) {
	m := c.manifest(o)
	data, err := m.Encode()
	if err == nil {
		m.ID = IDOf(data)
		data, err = m.Encode()
	}
	if err == nil {
		err = file.WriteFile(filepath.Join(dir, ManifestName), data, 0o666)
	}
	if err == nil {
		err = errors.Join(m.RemoveOthers(dir), file.SyncDir(dir))
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("complete release: %w", err)
	}
	return *m, nil
}

// RemoveOthers removes all files of the folder dir except the manifest and the files it lists.
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
