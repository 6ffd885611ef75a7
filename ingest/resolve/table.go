package resolve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
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

// A key is a hash of an external ID or a name: a bit that is set for names, then 127 bits, enough to distinguish billions.
type key [keyBytes]byte

// nameBit, in the first byte, marks keys of names.
const nameBit = 1 << 7

// externalKey returns the key of an external ID in the form of layout.CanonicalID.
func externalKey(kind fragment.Kind, source, id string) key {
	k := keyOf(kind, source, id)
	k[0] &^= nameBit
	return k
}

// personKey returns the key of a name, in the form of layout.Folded, in the credits of a title.
func personKey(kind fragment.Kind, title int64, name string) key {
	k := keyOf(kind, strconv.FormatInt(title, 10), name)
	k[0] |= nameBit
	return k
}

func keyOf(kind fragment.Kind, a, b string) key {
	text := make([]byte, 0, 64)
	text = append(append(text, byte(kind)), a...)
	text = append(append(text, 0), b...)
	return xxh3.Hash128(text).Bytes()
}

// An entry is a key and an ID.
const (
	entryBytes = keyBytes + 8
	keyBytes   = 16
)

// addEntry adds an entry to a sorter. IDs from sources sort before minted ones.
func addEntry(s *extsort.Sorter, k key, id int64) error {
	payload := make([]byte, 1, 9)
	if layout.IsMinted(id) {
		payload[0] = 1
	}
	return s.Add(0, k[:], binary.BigEndian.AppendUint64(payload, uint64(id)))
}

// A table implements layout.IDs with a file of entries sorted by key, and the first key of each block in memory. It is safe for
// concurrent use, and does not depend on the order in which entries were added.
type table struct {
	file   *os.File
	firsts []key // first key of each block
	failed atomic.Pointer[error]
}

// blockEntries is the number of entries read at once, about a page.
const (
	blockEntries = 170
	blockBytes   = blockEntries * entryBytes
)

// newTable returns the table of the entries in sorted files. It uses about memory bytes, and disk space below dir. The table has
// one entry for each key. If several records have an external ID, the lowest wins. A name that several people share is dropped.
// Minted IDs count only if there are no others.
func newTable(ctx context.Context, dir string, memory int64, files []*extsort.File) (*table, error) {
	entries, err := extsort.Merge(ctx, files, 0, extsort.Options{Dir: dir, Memory: memory})
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, "ids.table"))
	if err != nil {
		return nil, errors.Join(err, entries.Close())
	}
	t := &table{file: f}
	w := bufio.NewWriterSize(f, 1<<16)
	var last key
	var best []byte // payload of the first entry of last; nil if ambiguous
	for n, written := 0, 0; err == nil; n++ {
		var k, payload []byte
		k, payload, err = entries.Next()
		if err != nil || n == 0 || key(k) != last {
			if best != nil {
				if written%blockEntries == 0 {
					t.firsts = append(t.firsts, last)
				}
				written++
				_, _ = w.Write(append(append(w.AvailableBuffer(), last[:]...), best[1:]...)) // Flush returns the error
			}
			if err == nil {
				last, best = key(k), bytes.Clone(payload)
			}
		} else if last[0]&nameBit != 0 && best != nil && payload[0] == best[0] && !bytes.Equal(payload, best) {
			best = nil
		}
	}
	if errors.Is(err, io.EOF) {
		err = w.Flush()
	}
	if err = errors.Join(err, entries.Close()); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// External implements layout.IDs.
func (t *table) External(kind fragment.Kind, source, id string) (int64, bool) {
	return t.lookup(externalKey(kind, source, id))
}

// Person implements layout.IDs.
func (t *table) Person(kind fragment.Kind, title int64, name string) (int64, bool) {
	return t.lookup(personKey(kind, title, name))
}

// lookup returns the ID of a key. After a read error, which err returns, it finds nothing.
func (t *table) lookup(k key) (int64, bool) {
	number := sort.Search(len(t.firsts), func(i int) bool { return bytes.Compare(k[:], t.firsts[i][:]) < 0 }) - 1
	if number < 0 {
		return 0, false
	}
	var block [blockBytes]byte
	n, err := t.file.ReadAt(block[:], int64(number)*blockBytes)
	if err != nil && !errors.Is(err, io.EOF) {
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

// err returns the first read error. A nil table has none.
func (t *table) err() error {
	if t == nil {
		return nil
	}
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// close closes and removes the file. A nil table has none.
func (t *table) close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.file.Close(), os.Remove(t.file.Name()))
}
