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

	"reelsplice/ingest/journal"
	"reelsplice/schemas/fragment"
)

// Minted ids are hashes, so two resources can get the same. The catalogue keeps, beside each minted
// id, a hash of the fields that it was made of: the resource that had the id first keeps it, and
// rows of another go to quarantine.

// The file of minted ids holds mintedMagic, then entries in order of kind and id.
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

// A mintedList reads the entries of the catalogue and writes the new ones between them,
// both in order.
type mintedList struct {
	path string // of the new file
	old  *os.File
	r    *bufio.Reader
	next mintedID // of old; kind 0 at its end
	read int64    // entries before next

	last mintedID // the id of the row before, and its owner

	new *os.File // nil as long as there is nothing new
	w   *bufio.Writer
}

// openMinted opens the minted ids of a catalogue. The new file is written below out.
func openMinted(dir, out string) (*mintedList, error) {
	m := &mintedList{path: filepath.Join(out, journal.MintedFile)}
	var err error
	if m.old, err = os.Open(filepath.Join(dir, journal.MintedFile)); errors.Is(err, fs.ErrNotExist) {
		m.old = nil
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read minted ids: %w", err)
	}
	m.r = bufio.NewReader(m.old)
	var magic [len(mintedMagic)]byte
	if _, err := io.ReadFull(m.r, magic[:]); err != nil || string(magic[:]) != mintedMagic {
		return nil, errors.Join(m.damaged("begins with other bytes"), m.old.Close())
	}
	if err := m.advance(); err != nil {
		return nil, errors.Join(err, m.old.Close())
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
	if m.last.kind != kind || m.last.id != id {
		owner, err := m.hash(kind, id)
		if err == nil && owner == 0 {
			owner, err = hash, m.add(kind, id, hash)
		}
		if err != nil {
			return false, err
		}
		m.last = mintedID{kind, id, owner}
	}
	return m.last.hash != hash, nil
}

// hash returns the hash that an id has, 0 for a new one. Ids are asked for in order.
func (m *mintedList) hash(kind fragment.Kind, id uint64) (uint64, error) {
	for m.next.kind != 0 && m.next.before(kind, id) {
		if err := m.pass(); err != nil {
			return 0, err
		}
	}
	if m.next.kind == kind && m.next.id == id {
		return m.next.hash, nil
	}
	return 0, nil
}

// pass leaves the next entry of the catalogue behind.
func (m *mintedList) pass() error {
	if m.new != nil {
		m.write(m.next)
	}
	m.read++
	return m.advance()
}

// add adds an id for which hash returned 0 just now.
func (m *mintedList) add(kind fragment.Kind, id, hash uint64) error {
	if m.new == nil {
		if err := m.create(); err != nil {
			return fmt.Errorf("write minted ids: %w", err)
		}
	}
	m.write(mintedID{kind, id, hash})
	return nil
}

// create begins the new file with the entries that were passed.
func (m *mintedList) create() error {
	var err error
	if m.new, err = os.OpenFile(m.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
		return err
	}
	m.w = bufio.NewWriter(m.new)
	_, err = m.w.WriteString(mintedMagic)
	if err == nil && m.old != nil {
		_, err = io.Copy(m.w, io.NewSectionReader(m.old, int64(len(mintedMagic)), m.read*mintedBytes))
	}
	return err
}

// write writes an entry; the writer's error is that of finish.
func (m *mintedList) write(e mintedID) {
	b := append(make([]byte, 0, mintedBytes), byte(e.kind))
	b = binary.BigEndian.AppendUint64(b, e.id)
	_, _ = m.w.Write(binary.BigEndian.AppendUint64(b, e.hash))
}

// finish completes the new file; false where there is nothing new.
func (m *mintedList) finish() (bool, error) {
	if m.new == nil {
		return false, m.close()
	}
	for m.next.kind != 0 {
		if err := m.pass(); err != nil {
			return false, err
		}
	}
	err := m.w.Flush()
	if err == nil {
		err = m.new.Sync()
	}
	if err != nil {
		err = fmt.Errorf("write minted ids: %w", err)
	}
	return true, errors.Join(err, m.close())
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
