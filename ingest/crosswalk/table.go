package crosswalk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
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
func (t *Table) Close() error { return remove(t.file) }

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

// A tableWriter writes the entries of a Table in order.
type tableWriter struct {
	t   *Table
	buf *bufio.Writer
	e   []byte
}

// newTableWriter returns the writer of a table with at most n entries.
func newTableWriter(dir string, n int64) (*tableWriter, error) {
	f, err := os.OpenFile(filepath.Join(dir, "ids.table"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &tableWriter{t: &Table{file: f, filter: newFilter(n)}, buf: bufio.NewWriterSize(f, 1<<16)}, nil
}

// add writes an entry; the writer's error is that of finish.
func (w *tableWriter) add(k Key, id int64) {
	if w.t.n%blockEntries == 0 {
		w.t.firsts = append(w.t.firsts, k)
	}
	w.t.n++
	w.t.filter.add(k)
	w.e = AppendEntry(w.e[:0], k, id)
	_, _ = w.buf.Write(w.e)
}

func (w *tableWriter) finish() (*Table, error) {
	if err := w.buf.Flush(); err != nil {
		return nil, errors.Join(fmt.Errorf("write table of ids: %w", err), w.abort())
	}
	return w.t, nil
}

func (w *tableWriter) abort() error { return remove(w.t.file) }
