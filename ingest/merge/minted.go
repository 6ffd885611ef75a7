package merge

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// Minted ids are hashes, so two resources can get the same. The catalogue keeps, beside each minted
// id, a hash of the fields that it was made of: the resource that had the id first keeps it, and
// rows of another go to quarantine.

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
)

// A mintedID is an entry: kind, id and hash, big-endian. The zero value is none.
type mintedID [mintedKey + 8]byte

func newMintedID(kind fragment.Kind, id, hash uint64) (m mintedID) {
	m[0] = byte(kind)
	binary.BigEndian.PutUint64(m[1:], id)
	binary.BigEndian.PutUint64(m[mintedKey:], hash)
	return m
}

// compare orders entries by kind and id.
func (m mintedID) compare(o mintedID) int { return bytes.Compare(m[:mintedKey], o[:mintedKey]) }

// A mintedList reads the entries of the catalogue and writes them to a new file, with the new ones
// between them. Both are in order.
type mintedList struct {
	old   *os.File // nil for none
	r     *bufio.Reader
	next  mintedID // of old; zero at its end
	last  mintedID // the id of the row before, and its owner
	new   *os.File
	w     *bufio.Writer
	added bool // the new file has more entries than the old one
}

// openMinted opens the minted ids of a catalogue. The new file is written below out.
func openMinted(dir, out string) (m *mintedList, err error) {
	m = &mintedList{}
	if m.new, err = os.Create(filepath.Join(out, MintedFile)); err != nil {
		return nil, fmt.Errorf("write minted ids: %w", err)
	}
	m.w = bufio.NewWriter(m.new)
	_, _ = m.w.WriteString(mintedMagic) // finish returns the error
	if m.old, err = os.Open(filepath.Join(dir, MintedFile)); errors.Is(err, fs.ErrNotExist) {
		m.old = nil
		return m, nil
	}
	if err == nil {
		m.r = bufio.NewReader(m.old)
		var magic [len(mintedMagic)]byte
		if _, err = io.ReadFull(m.r, magic[:]); err != nil || string(magic[:]) != mintedMagic {
			err = m.damaged("begins with other bytes")
		} else {
			err = m.advance()
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read minted ids: %w", err), m.close())
	}
	return m, nil
}

func (m *mintedList) damaged(what string) error {
	return fmt.Errorf("%s %s: remove it, the ids stay the same without", m.old.Name(), what)
}

// advance reads the next entry of the catalogue.
func (m *mintedList) advance() error {
	was := m.next
	_, err := io.ReadFull(m.r, m.next[:])
	switch {
	case errors.Is(err, io.EOF):
		m.next = mintedID{}
	case err != nil:
		return m.damaged("ends in the middle of an entry")
	case was.compare(m.next) >= 0:
		return m.damaged("is not in order")
	}
	return nil
}

// isTaken reports whether an id that was minted with a hash is another resource's. The first
// resource that has an id keeps it. Rows without a minted id have hash 0.
func (m *mintedList) isTaken(kind fragment.Kind, id, hash uint64) (bool, error) {
	if hash == 0 {
		return false, nil
	}
	one := newMintedID(kind, id, hash)
	if m.last.compare(one) != 0 { // ids are asked for in order
		if err := m.pass(&one); err != nil {
			return false, err
		}
		if m.last = m.next; m.last.compare(one) != 0 {
			m.last, m.added = one, true
			_, _ = m.w.Write(one[:]) // finish returns the error
		}
	}
	return m.last != one, nil
}

// pass leaves the entries of the catalogue before one behind, all for nil.
func (m *mintedList) pass(end *mintedID) error {
	for m.next != (mintedID{}) && (end == nil || m.next.compare(*end) < 0) {
		_, _ = m.w.Write(m.next[:]) // finish returns the error
		if err := m.advance(); err != nil {
			return fmt.Errorf("read minted ids: %w", err)
		}
	}
	return nil
}

// finish completes the new file, and removes it where there is nothing new in it.
func (m *mintedList) finish() error {
	name := m.new.Name()
	if !m.added {
		return errors.Join(m.close(), os.Remove(name))
	}
	if err := m.pass(nil); err != nil {
		return err
	}
	if err := errors.Join(m.w.Flush(), file.Sync(m.new), m.close()); err != nil {
		return fmt.Errorf("write minted ids: %w", err)
	}
	return nil
}

func (m *mintedList) close() error {
	var errs []error
	for _, f := range []*os.File{m.old, m.new} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	m.old, m.new = nil, nil
	return errors.Join(errs...)
}
