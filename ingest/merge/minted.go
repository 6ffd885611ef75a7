package merge

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

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

// The file holds mintedMagic, then entries in order of kind and id.
const (
	mintedMagic = "rsmint01"
	mintedBytes = 1 + 8 + 8 // kind, id, hash
)

// A mintedID is an entry.
type mintedID struct {
	kind fragment.Kind
	id   uint64
	hash uint64
}

func (m mintedID) before(kind fragment.Kind, id uint64) bool {
	return m.kind < kind || m.kind == kind && m.id < id
}

// A mintedList reads the entries of the catalogue and writes them to a new file, with the new ones
// between them. Both are in order.
type mintedList struct {
	old  *os.File // nil for none
	r    *bufio.Reader
	next mintedID // of old; kind 0 at its end

	last mintedID // the id of the row before, and its owner

	new   *os.File
	w     *bufio.Writer
	added bool // the new file has more entries than the old one
}

// openMinted opens the minted ids of a catalogue. The new file is written below out.
func openMinted(dir, out string) (*mintedList, error) {
	m := &mintedList{}
	var err error
	if m.new, err = os.Create(filepath.Join(out, MintedFile)); err != nil {
		return nil, fmt.Errorf("write minted ids: %w", err)
	}
	m.w = bufio.NewWriter(m.new)
	_, _ = m.w.WriteString(mintedMagic) // finish returns the error
	if m.old, err = os.Open(filepath.Join(dir, MintedFile)); errors.Is(err, fs.ErrNotExist) {
		m.old = nil
		return m, nil
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read minted ids: %w", err), m.close())
	}
	m.r = bufio.NewReader(m.old)
	var magic [len(mintedMagic)]byte
	if _, err := io.ReadFull(m.r, magic[:]); err != nil || string(magic[:]) != mintedMagic {
		return nil, errors.Join(m.damaged("begins with other bytes"), m.close())
	}
	if err := m.advance(); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *mintedList) damaged(what string) error {
	return fmt.Errorf("read minted ids: %s %s: remove it, the ids stay the same without", m.old.Name(), what)
}

// advance reads the next entry of the catalogue.
func (m *mintedList) advance() error {
	var b [mintedBytes]byte
	_, err := io.ReadFull(m.r, b[:])
	if errors.Is(err, io.EOF) {
		m.next = mintedID{}
		return nil
	}
	if err != nil {
		return m.damaged("ends in the middle of an entry")
	}
	was := m.next
	m.next = mintedID{fragment.Kind(b[0]), binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])}
	if !was.before(m.next.kind, m.next.id) {
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
	if m.last.kind != kind || m.last.id != id { // ids are asked for in order
		for m.next.kind != 0 && m.next.before(kind, id) {
			if err := m.pass(); err != nil {
				return false, err
			}
		}
		if m.last = m.next; m.last.kind != kind || m.last.id != id {
			m.last, m.added = mintedID{kind, id, hash}, true
			m.write(m.last)
		}
	}
	return m.last.hash != hash, nil
}

// pass leaves the next entry of the catalogue behind.
func (m *mintedList) pass() error {
	m.write(m.next)
	return m.advance()
}

// write writes an entry; the writer's error is that of finish.
func (m *mintedList) write(e mintedID) {
	b := append(make([]byte, 0, mintedBytes), byte(e.kind))
	b = binary.BigEndian.AppendUint64(b, e.id)
	_, _ = m.w.Write(binary.BigEndian.AppendUint64(b, e.hash))
}

// finish completes the new file, and removes it where there is nothing new in it.
func (m *mintedList) finish() error {
	for m.added && m.next.kind != 0 {
		if err := m.pass(); err != nil {
			return err
		}
	}
	err := m.w.Flush()
	if err == nil && m.added {
		err = m.new.Sync()
	}
	name := m.new.Name()
	if err = errors.Join(err, m.close()); err == nil && !m.added {
		err = os.Remove(name)
	}
	if err != nil {
		err = fmt.Errorf("write minted ids: %w", err)
	}
	return err
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
