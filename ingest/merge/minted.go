package merge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// Minted ids are hashes, so two resources can get the same one. The catalogue keeps a second hash of the same fields beside
// each minted id. The first resource keeps the id, and rows of another go to quarantine.

// MintedFile is the file of minted ids, in the catalogue.
const MintedFile = "minted.ids"

// HasMinted reports whether a catalogue has minted ids.
func HasMinted(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, MintedFile))
	return err == nil
}

// The file holds mintedMagic, then entries in order.
const (
	mintedMagic = "rsmint01"
	mintedKey   = 1 + 8 // kind, id
	mintedBytes = mintedKey + 8
)

// A mintedID is an entry: kind, id and hash, big-endian.
type mintedID [mintedBytes]byte

// compare orders entries by kind and id.
func (m mintedID) compare(o mintedID) int { return bytes.Compare(m[:mintedKey], o[:mintedKey]) }

// A mintedList is the entries of the catalogue, in order, and the entries that an ingest adds.
type mintedList struct{ old, added []mintedID }

// readMinted reads the minted ids of a catalogue.
func readMinted(dir string) (m mintedList, err error) {
	path := filepath.Join(dir, MintedFile)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("read minted ids: %w", err)
	}
	entries, ok := bytes.CutPrefix(b, []byte(mintedMagic))
	ok = ok && len(entries)%mintedBytes == 0
	for entry := range slices.Chunk(entries[:len(entries)/mintedBytes*mintedBytes], mintedBytes) {
		next := mintedID(entry)
		ok = ok && (len(m.old) == 0 || m.old[len(m.old)-1].compare(next) < 0)
		m.old = append(m.old, next)
	}
	if err == nil && !ok {
		return m, fmt.Errorf("read minted ids: %s is damaged: remove it, the ids stay the same without", path)
	}
	return m, nil
}

// isTaken reports whether an id that was minted with a hash is another resource's. The first
// resource that has an id keeps it. Rows without a minted id have hash 0. Calls must come in the order of the ids.
func (m *mintedList) isTaken(kind fragment.Kind, id, hash uint64) bool {
	if hash == 0 {
		return false
	}
	entry := mintedID{byte(kind)}
	binary.BigEndian.PutUint64(entry[1:], id)
	binary.BigEndian.PutUint64(entry[mintedKey:], hash)
	if i, ok := slices.BinarySearchFunc(m.old, entry, mintedID.compare); ok {
		return m.old[i] != entry
	}
	if n := len(m.added); n > 0 && m.added[n-1].compare(entry) == 0 {
		return m.added[n-1] != entry
	}
	m.added = append(m.added, entry)
	return false
}

// write writes the entries below a folder, if there are new ones.
func (m *mintedList) write(dir string) error {
	if len(m.added) == 0 {
		return nil
	}
	all := slices.Concat(m.old, m.added)
	slices.SortFunc(all, mintedID.compare)
	b := []byte(mintedMagic)
	for i := range all {
		b = append(b, all[i][:]...)
	}
	if err := file.WriteFile(filepath.Join(dir, MintedFile), b, 0o644); err != nil {
		return fmt.Errorf("write minted ids: %w", err)
	}
	return nil
}
