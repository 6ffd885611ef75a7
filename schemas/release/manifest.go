package release

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/provenance"
)

// ParamFallback is the parameter that lists the languages whose texts replace missing ones of others.
const ParamFallback = "fallback"

// A Manifest describes a release.
type Manifest struct {
	// FormatVersion is the lowest version of a program that reads the release.
	FormatVersion int    `json:"format_version"`
	ID            string `json:"id"`
	// FeatureVersion is the version of the program that wrote it.
	FeatureVersion int `json:"feature_version"`
	// Parent is the ID of the release before this one, also for a full build; empty for the first.
	Parent string `json:"parent"`
	// Params holds the parameters of the build that determine its bytes, such as ParamFallback.
	Params map[string]string `json:"params"`
	// Sources counts the input of the build, by the caller's names.
	Sources map[string]int64 `json:"sources"`
	// Provenance describes the origin of the data; nil if unknown.
	Provenance *provenance.Release `json:"provenance,omitempty"`
	Counts     Counts              `json:"counts"`
	Parts      []File              `json:"parts"`  // in the order of their numbers
	Index      []File              `json:"index"`  // in the order of their numbers
	Packs      []File              `json:"packs"`  // in order of name
	Tables     []File              `json:"tables"` // in order of name

	read []byte // bytes it was parsed from, which may have more fields; nil for a new one
}

// Files returns all files covered by the ID: parts, indexes, packs, tables.
func (m *Manifest) Files() []File { return slices.Concat(m.Parts, m.Index, m.Packs, m.Tables) }

// Counts are sizes of a release.
type Counts struct {
	Resources map[string]int64 `json:"resources"` // by the name of the fragment.Kind
	ResponseCounts
	Terms       map[string]int64 `json:"terms,omitempty"` // search terms, by the name of their table
	Aliases     int64            `json:"aliases"`
	Fragments   int64            `json:"fragments"`
	Segments    int64            `json:"segments"`     // in all packs, including dead ones; identical ones of one resource count once
	RawBytes    int64            `json:"raw_bytes"`    // inflated size of these segments
	StoredBytes int64            `json:"stored_bytes"` // stored size of these segments
}

// A File is one file of a release.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`   // bytes
	SHA256 string `json:"sha256"` // lower-case hex
	// Live is the number of bytes of a pack that belong to segments of this release. Earlier releases use the rest.
	Live int64 `json:"live,omitempty"`
}

// MaxManifestBytes bounds a manifest: maxPacks files need less.
const MaxManifestBytes = 64 << 20

// Encode returns the bytes of the file: the parsed ones, or the canonical form for a new manifest.
func (m *Manifest) Encode() ([]byte, error) {
	if m.read != nil {
		return m.read, nil
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return append(b, '\n'), nil
}

// IDOf returns the ID of a manifest. b is its bytes with an empty ID.
func IDOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "r" + hex.EncodeToString(sum[:8])
}

// IDLen is the length of a release id.
const IDLen = 17

// ValidID reports whether id has the form of a release ID, so it can only be a folder inside a store.
func ValidID(id string) bool {
	return len(id) == IDLen && id[0] == 'r' && strings.Trim(id[1:], "0123456789abcdef") == ""
}

// readManifest reads and checks the manifest in the release folder dir.
func readManifest(dir string) (*Manifest, error) {
	data, err := file.Read(filepath.Join(dir, ManifestName), MaxManifestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no %s there, so this is not a release: %w", ManifestName, err)
	}
	if errors.Is(err, file.ErrTooLarge) {
		return nil, Corrupt(ManifestName, -1, "%v", err)
	}
	if err != nil {
		return nil, err
	}
	return ParseManifest(data)
}

// ParseManifest parses a manifest, and retains data. Unknown fields are ignored, but the ID covers every byte.
func ParseManifest(data []byte) (*Manifest, error) {
	var v struct {
		FormatVersion  int `json:"format_version"`
		FeatureVersion int `json:"feature_version"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, Corrupt(ManifestName, -1, "%v", err)
	}
	switch {
	case v.FormatVersion > FeatureVersion:
		return nil, fmt.Errorf("%s: it needs a program that reads version %d, this one reads %d to %d: %w", ManifestName, v.FormatVersion, ReadMin, FeatureVersion, ErrVersion)
	case max(v.FormatVersion, v.FeatureVersion) < ReadMin: // version 7 had no feature_version
		return nil, fmt.Errorf("%s: it is of version %d, this program reads %d to %d: %w", ManifestName, v.FormatVersion, ReadMin, FeatureVersion, ErrVersion)
	}
	m := &Manifest{read: data}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, Corrupt(ManifestName, -1, "%v", err)
	}
	field := fmt.Appendf(nil, `"id": %q`, m.ID)
	if id := IDOf(bytes.Replace(data, field, []byte(`"id": ""`), 1)); m.ID != id {
		return nil, Corrupt(ManifestName, int64(bytes.Index(data, []byte(`"id"`))), "id is %q, the content gives %q", m.ID, id)
	}
	if err := m.checkFiles(); err != nil {
		return nil, err
	}
	return m, nil
}

// checkFiles checks names, order and sizes of the listed files.
func (m *Manifest) checkFiles() error {
	rest := int64(maxBytes)
	inOrder := func(files []File, i int) bool { return i == 0 || files[i].Name > files[i-1].Name }
	for _, list := range []struct {
		what  string
		files []File
		limit int
		valid func(files []File, i int) bool
	}{
		{"part", m.Parts, MaxParts, func(files []File, i int) bool { return isHashName(partPrefix, files[i].Name) }},
		{"index", m.Index, maxIndexes, func(files []File, i int) bool { return files[i].Name == indexName(i) }},
		{"pack", m.Packs, maxPacks, func(files []File, i int) bool { return isHashName(packPrefix, files[i].Name) && inOrder(files, i) }},
		{"table", m.Tables, maxPacks, func(files []File, i int) bool { _, ok := TableName(files[i].Name); return ok && inOrder(files, i) }},
	} {
		if len(list.files) > list.limit {
			return Corrupt(ManifestName, -1, "%d files of the kind %s, at most %d are possible", len(list.files), list.what, list.limit)
		}
		for i, f := range list.files {
			if !list.valid(list.files, i) {
				return Corrupt(ManifestName, -1, "%s %d of the list, %q, is not a valid name for a %s, or is out of order", list.what, i, f.Name, list.what)
			}
			if f.Size < HeaderLen+FooterLen {
				return Corrupt(ManifestName, -1, "%q has %d bytes, header and footer need %d", f.Name, f.Size, HeaderLen+FooterLen)
			}
			if rest -= f.Size; rest < 0 {
				return Corrupt(ManifestName, -1, "%q has %d bytes, with the files before it more than %d", f.Name, f.Size, int64(maxBytes))
			}
		}
	}
	if n := len(m.Index); n&(n-1) != 0 || n == 0 {
		return Corrupt(ManifestName, -1, "%d index files, want a power of two", n)
	}
	return nil
}

// Check compares the file at path with its description. An error about its content matches ErrCorrupt.
func (f File) Check(ctx context.Context, path string) error {
	in, err := file.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	sha, buf := sha256.New(), make([]byte, 256<<10)
	for ctx.Err() == nil {
		n, err := in.Read(buf)
		sha.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			if got := hex.EncodeToString(sha.Sum(nil)); got != f.SHA256 {
				return Corrupt(f.Name, -1, "SHA-256 is %s, the manifest has %s", got, f.SHA256)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// CheckAll checks each file of r in the folder releasesDir.
func CheckAll(ctx context.Context, releasesDir string, r *Reader) error {
	for _, f := range r.manifest.Files() {
		if err := f.Check(ctx, filepath.Join(releasesDir, r.manifest.ID, f.Name)); err != nil {
			return err
		}
	}
	return nil
}

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

// ResponseCounts counts the possible responses of resources. Manifests of earlier programs have none.
type ResponseCounts struct {
	// SubRequests counts the resources of a kind that have a sub-request: "movie/credits".
	SubRequests map[string]int64 `json:"sub_requests,omitempty"`
	// Languages counts the resources with details in a language, besides the one that all have: "de".
	Languages map[string]int64 `json:"languages,omitempty"`
}

// Add adds the counts of a part.
func (a *ResponseCounts) Add(o ResponseCounts) {
	for name, n := range o.SubRequests {
		a.SubRequests[name] += n
	}
	for name, n := range o.Languages {
		a.Languages[name] += n
	}
}

// A ResponseCounter makes ResponseCounts. Make it before use.
type ResponseCounter map[responseKey]int64

// A responseKey is a sub-request of a kind, or a language with kind and sub 0.
type responseKey struct {
	kind     fragment.Kind
	sub      fragment.Sub
	language fragment.Variant
}

// addRows counts each sub-request and language of a resource once. The rows of its fragments are sorted by sub-request,
// then by language.
func (c ResponseCounter) addRows(kind fragment.Kind, rows []byte) {
	if kind == 0 || kind >= fragment.KindAlias { // no path leads to it
		return
	}
	var last responseKey
	for ; len(rows) >= fragmentLen; rows = rows[fragmentLen:] {
		a := fragment.AddressOf(le.Uint64(rows))
		if a.Sub != last.sub {
			last.sub = a.Sub
			if !a.Sub.Internal() {
				c[responseKey{kind: kind, sub: a.Sub}]++
			}
		}
		if language := a.Variant.Bare(); a.Sub == fragment.SubDetails && language != last.language && a.Variant.IsLanguage() {
			last.language = language
			c[responseKey{language: language}]++
		}
	}
}

// Add counts the sub-requests and languages of a resource.
func (c ResponseCounter) Add(e Entry) {
	n := fragmentLen * uint64(e.Len())
	e.p.check(e.table, n)
	c.addRows(fragment.Kind(e.Key()[0]), e.p.data[e.table:][:n])
}

// Counts returns the counts by their names in a manifest.
func (c ResponseCounter) Counts() ResponseCounts {
	a := ResponseCounts{map[string]int64{}, map[string]int64{}}
	for key, n := range c {
		if key.kind == 0 {
			a.Languages[key.language.String()] = n
		} else {
			a.SubRequests[key.kind.String()+"/"+key.sub.String()] = n
		}
	}
	return a
}
