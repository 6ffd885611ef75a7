package crosswalk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"sort"
	"sync"
	"sync/atomic"

	"reelsplice/ingest/layout"
	"reelsplice/schemas/fragment"
)

// A Table is the entries in a file, sorted by key. In memory are one or two bytes of a
// filter for each and the first key of each block. It is safe for concurrent use.
type Table struct {
	file   *os.File
	n      int64
	firsts []Key // of the blocks
	filter filter
	blocks sync.Pool // of *[blockBytes]byte
	failed atomic.Pointer[error]
}

var _ layout.IDs = (*Table)(nil)

// blockEntries is how many entries are read at once: about a page.
const (
	blockEntries = 170
	blockBytes   = blockEntries * EntryBytes
)

// Len returns how many entries there are.
func (t *Table) Len() int64 { return t.n }

// External is that of layout.IDs.
func (t *Table) External(kind fragment.Kind, source, id string) (int64, bool) {
	return t.Lookup(External(kind, source, id))
}

// Person is that of layout.IDs.
func (t *Table) Person(kind fragment.Kind, title int64, name string) (int64, bool) {
	return t.Lookup(Person(kind, title, name))
}

// Lookup returns the id of a key. After a fault of the file, which Err returns, it finds
// nothing.
func (t *Table) Lookup(k Key) (int64, bool) {
	if !t.filter.may(k) {
		return 0, false
	}
	at := sort.Search(len(t.firsts), func(i int) bool { return less(k, t.firsts[i]) }) - 1
	if at < 0 {
		return 0, false
	}
	block, _ := t.blocks.Get().(*[blockBytes]byte)
	if block == nil {
		block = new([blockBytes]byte)
	}
	defer t.blocks.Put(block)
	n, err := t.file.ReadAt(block[:], int64(at)*blockBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read table of ids: %w", err)
		t.failed.Store(&err)
		return 0, false
	}
	entries := n / EntryBytes
	i := sort.Search(entries, func(i int) bool { return !less(keyAt(block[i*EntryBytes:]), k) })
	if i == entries || keyAt(block[i*EntryBytes:]) != k {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(block[i*EntryBytes+16:])), true
}

// Err returns the error that kept a Lookup from reading the file. A nil Table has none.
func (t *Table) Err() error {
	if t == nil {
		return nil
	}
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Close closes the file and removes it.
func (t *Table) Close() error { return errors.Join(t.file.Close(), os.Remove(t.file.Name())) }

func keyAt(b []byte) Key { return Key{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])} }

func less(a, b Key) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo }

// A filter rules out nearly all absent keys without a look at the file: two bits are set for each
// key, of eight or more (a Bloom filter).
type filter struct {
	words []uint64
	mask  uint64
}

func newFilter(n int64) filter {
	const bitsEach = 8
	words := uint64(1) << bits.Len64(uint64(max(n*bitsEach/64, 1))-1)
	return filter{make([]uint64, words), words*64 - 1}
}

// bit returns the places of the bits of a key, whose halves are hashes.
func (f *filter) bits(k Key) (a, b uint64) { return k.Lo & f.mask, k.Hi & f.mask }

func (f *filter) add(k Key) {
	a, b := f.bits(k)
	f.words[a/64] |= 1 << (a % 64)
	f.words[b/64] |= 1 << (b % 64)
}

func (f *filter) may(k Key) bool {
	a, b := f.bits(k)
	return f.words[a/64]&(1<<(a%64)) != 0 && f.words[b/64]&(1<<(b%64)) != 0
}

// add writes an entry, behind those with lower keys, to w, which writes to the file.
func (t *Table) add(w *bufio.Writer, k Key, id int64) {
	if t.n%blockEntries == 0 {
		t.firsts = append(t.firsts, k)
	}
	t.n++
	t.filter.add(k)
	_, _ = w.Write(AppendEntry(w.AvailableBuffer(), k, id)) // Flush returns the error
}
