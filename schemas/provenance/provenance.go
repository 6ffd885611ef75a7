// Package provenance records the origin of data: the dumps that a catalogue was made from, in one of its files, and
// the program that built a release, in the manifest.
package provenance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// FileName is the name of the catalogue's file with its Dumps.
const FileName = "dumps.json"

// maxListed is the maximum number of listed dumps.
const maxListed = 100

// Dumps are the files that all ingests into a catalogue have read, since one into an empty folder.
type Dumps struct {
	// Catalog identifies the state of the catalogue: a hash of the previous state and the dumps.
	Catalog string `json:"catalog"`
	Files   int64  `json:"files"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"` // hash of the lines "SHA256  NAME" of the last ingest's files, in the order of reading
	Listed  []Dump `json:"listed"` // latest ingest first; maxListed at most
}

// A Dump is a file read by an ingest.
type Dump struct {
	Name   string `json:"name"`             // relative to the folder on the command line, or the last element of its path
	Bytes  int64  `json:"bytes"`            // 0 for a pipe
	SHA256 string `json:"sha256,omitempty"` // lower-case hex; "" for a pipe, or a file that could not be read completely
}

// Of describes the dumps of a catalogue after an ingest. previous are its earlier dumps, or nil. A dump that was ingested
// again counts once.
func Of(ingested []Dump, previous *Dumps) *Dumps {
	d := &Dumps{Files: int64(len(ingested)), Listed: slices.Clone(ingested)}
	if previous != nil {
		d.Files, d.Bytes = d.Files+previous.Files, previous.Bytes
		for _, old := range previous.Listed {
			if slices.Contains(ingested, old) {
				d.Files, d.Bytes = d.Files-1, d.Bytes-old.Bytes
				continue
			}
			d.Listed = append(d.Listed, old)
		}
	}
	d.Listed = d.Listed[:min(len(d.Listed), maxListed)]
	lines, chain := sha256.New(), sha256.New()
	for i := range ingested {
		d.Bytes += ingested[i].Bytes
		fmt.Fprintf(lines, "%s  %s\n", ingested[i].SHA256, ingested[i].Name)
	}
	d.SHA256 = hex.EncodeToString(lines.Sum(nil))
	if previous != nil {
		fmt.Fprintln(chain, previous.Catalog)
	}
	fmt.Fprintln(chain, d.SHA256)
	d.Catalog = "c" + hex.EncodeToString(chain.Sum(nil)[:8])
	return d
}

// Read reads the file of a catalogue; nil if it is absent.
func Read(dir string) (*Dumps, error) {
	path := filepath.Join(dir, FileName)
	data, err := file.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	d := new(Dumps)
	if err == nil {
		err = json.Unmarshal(data, d)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// Write writes the file into a folder.
func (d *Dumps) Write(dir string) error {
	data, err := json.MarshalIndent(d, "", "  ")
	if err == nil {
		err = file.WriteFile(filepath.Join(dir, FileName), append(data, '\n'), 0o644)
	}
	return err
}

// A Release describes the origin of a release.
type Release struct {
	Program string `json:"program,omitempty"` // version of reelsplice that built it
	Dumps   *Dumps `json:"dumps,omitempty"`   // dumps of the catalogue; nil if it has no record of them
}
