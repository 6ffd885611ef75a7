package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/file"
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
