// Package crosswalk finds the ids of resources for rows that lack them: by ids of other sources, and
// people by their names in the credits of titles. Both can be many millions, so they are sorted on
// disk and looked up in a file. A Resolver does that for the turns of an ingest.
//
//	t, err := newTable(ctx, dir, memory, entries) // that AppendEntry wrote
//	defer t.Close()
//	id, ok := t.Lookup(External(fragment.KindMovie, "imdb_id", "tt137523"))
//
// A table does not depend on the order in which entries are added.
package crosswalk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Key stands for an external id or a name: a hash of 127 bits, enough to tell billions
// apart, behind a bit that is set for names.
type Key [keyBytes]byte

// nameBit marks, in the first byte, keys that are names.
const nameBit = 1 << 7

// External returns the key of an external id in the form of layout.CanonicalID.
func External(kind fragment.Kind, source, id string) Key {
	k := keyOf(kind, source, id)
	k[0] &^= nameBit
	return k
}

// Person returns the key of a name, in the form of layout.Folded, in the credits of a
// title.
func Person(kind fragment.Kind, title int64, name string) Key {
	k := keyOf(kind, strconv.FormatInt(title, 10), name)
	k[0] |= nameBit
	return k
}

func keyOf(kind fragment.Kind, a, b string) Key {
	text := make([]byte, 0, 64)
	text = append(append(text, byte(kind)), a...)
	text = append(append(text, 0), b...)
	return xxh3.Hash128(text).Bytes()
}

// An entry is a key and an id.
const (
	entryBytes = keyBytes + 8
	keyBytes   = 16
)

// AppendEntry appends an entry in the form that newTable reads.
func AppendEntry(dst []byte, k Key, id int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, k[:]...), uint64(id))
}

// A Table is the entries in a file, sorted by key. In memory is the first key of each block.
// It is safe for concurrent use.
type Table struct {
	file   *os.File
	n      int64
	firsts []Key // of the blocks
	failed atomic.Pointer[error]
}

var _ layout.IDs = (*Table)(nil)

// blockEntries is how many entries are read at once: about a page.
const (
	blockEntries = 170
	blockBytes   = blockEntries * entryBytes
)

// newTable returns the table of entries. It holds about memory bytes and keeps the rest below dir.
func newTable(ctx context.Context, dir string, memory int64, entries ...io.Reader) (t *Table, err error) {
	sorter := extsort.New(extsort.Options{Dir: dir, Memory: memory})
	defer func() { err = errors.Join(err, sorter.Close()) }()
	if err := addEntries(sorter, io.MultiReader(entries...)); err != nil {
		return nil, fmt.Errorf("read ids: %w", err)
	}
	it, err := sorter.Sort(ctx, 0)
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, "ids.table"))
	if err != nil {
		return nil, fmt.Errorf("write table of ids: %w", err)
	}
	t = &Table{file: f}
	if err := t.fill(it); err != nil {
		return nil, errors.Join(fmt.Errorf("write table of ids: %w", err), t.Close())
	}
	return t, nil
}

// addEntries sorts ids of TMDB and of other sources before minted ones.
func addEntries(sorter *extsort.Sorter, r io.Reader) error {
	var e [entryBytes]byte
	for {
		_, err := io.ReadFull(r, e[:])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		id, minted := e[keyBytes:], byte(0)
		if layout.IsMinted(int64(binary.BigEndian.Uint64(id))) {
			minted = 1
		}
		if err := sorter.Add(0, e[:keyBytes], append([]byte{minted}, id...)); err != nil {
			return err
		}
	}
}

// fill writes of each key the id that counts. Of several records that claim an external id it is
// the lowest; a name that several people have is nobody's. Minted ids count if there are no others.
func (t *Table) fill(it *extsort.Iterator) error {
	w := bufio.NewWriterSize(t.file, 1<<16)
	var last Key
	var best []byte // payload of the first entry of last; nil where none counts
	flush := func() {
		if best != nil {
			t.add(w, last, best[1:])
		}
	}
	for n := 0; ; n++ {
		key, payload, err := it.Next()
		switch {
		case errors.Is(err, io.EOF):
			flush()
			return w.Flush()
		case err != nil:
			return err
		case n == 0 || Key(key) != last:
			flush()
			last, best = Key(key), bytes.Clone(payload)
		case last[0]&nameBit != 0 && best != nil && payload[0] == best[0] && !bytes.Equal(payload, best):
			best = nil
		}
	}
}

// add writes an entry, behind those with lower keys, to w, which writes to the file.
func (t *Table) add(w *bufio.Writer, k Key, id []byte) {
	if t.n%blockEntries == 0 {
		t.firsts = append(t.firsts, k)
	}
	t.n++
	_, _ = w.Write(append(append(w.AvailableBuffer(), k[:]...), id...)) // Flush returns the error
}

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
	at := sort.Search(len(t.firsts), func(i int) bool { return bytes.Compare(k[:], t.firsts[i][:]) < 0 }) - 1
	if at < 0 {
		return 0, false
	}
	var block [blockBytes]byte
	n, err := t.file.ReadAt(block[:], int64(at)*blockBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read table of ids: %w", err)
		t.failed.Store(&err)
		return 0, false
	}
	entry := func(i int) []byte { return block[i*entryBytes:][:entryBytes] }
	i, ok := sort.Find(n/entryBytes, func(i int) int { return bytes.Compare(k[:], entry(i)[:keyBytes]) })
	if !ok {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(entry(i)[keyBytes:])), true
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
