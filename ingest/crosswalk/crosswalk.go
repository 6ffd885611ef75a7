// Package crosswalk finds the ids of resources for rows that lack them: by ids of other sources, and
// people by their names in the credits of titles. Both can be many millions, so they are sorted on
// disk and looked up in a file. A Resolver does that for the turns of an ingest.
//
//	b := crosswalk.NewBuilder(dir, memory)
//	err := b.Add(entries) // that AppendEntry wrote; many times
//	t, err := b.Table(ctx)
//	defer t.Close()
//	id, ok := t.Lookup(crosswalk.External(fragment.KindMovie, "imdb_id", "tt137523"))
//
// A table does not depend on the order in which entries are added.
package crosswalk

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/zeebo/xxh3"

	"reelsplice/ingest/layout"
	"reelsplice/schemas/extsort"
	"reelsplice/schemas/fragment"
)

// A Key stands for an external id or a name: a hash of 127 bits, enough to tell billions
// apart, behind a bit that is set for names.
type Key struct{ Hi, Lo uint64 }

// nameBit marks keys that are names.
const nameBit = 1 << 63

// External returns the key of an external id in the form of layout.CanonicalID.
func External(kind fragment.Kind, source, id string) Key {
	k := keyOf(kind, source, id)
	k.Hi &^= nameBit
	return k
}

// Person returns the key of a name, in the form of layout.Folded, in the credits of a
// title.
func Person(kind fragment.Kind, title int64, name string) Key {
	k := keyOf(kind, strconv.FormatInt(title, 10), name)
	k.Hi |= nameBit
	return k
}

func keyOf(kind fragment.Kind, a, b string) Key {
	text := make([]byte, 0, 64)
	text = append(append(text, byte(kind)), a...)
	text = append(append(text, 0), b...)
	h := xxh3.Hash128(text)
	return Key{h.Hi, h.Lo}
}

// EntryBytes is the length of an entry: its key and an id.
const (
	EntryBytes = keyBytes + 8
	keyBytes   = 16
)

// AppendEntry appends an entry in the form that Builder.Add reads.
func AppendEntry(dst []byte, k Key, id int64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, k.Hi)
	dst = binary.BigEndian.AppendUint64(dst, k.Lo)
	return binary.BigEndian.AppendUint64(dst, uint64(id))
}

// A Builder collects entries. It is for one goroutine.
type Builder struct {
	dir    string
	sorter *extsort.Sorter
}

// NewBuilder returns an empty Builder, which holds about memory bytes and keeps the rest
// below dir.
func NewBuilder(dir string, memory int64) *Builder {
	return &Builder{dir: dir, sorter: extsort.New(extsort.Options{Dir: dir, Memory: memory})}
}

// Add adds entries that AppendEntry wrote.
func (b *Builder) Add(r io.Reader) error {
	var e [EntryBytes]byte
	for {
		_, err := io.ReadFull(r, e[:])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = b.sorter.Add(0, e[:keyBytes], e[keyBytes:])
		}
		if err != nil {
			return err
		}
	}
}

// Close gives up the entries.
func (b *Builder) Close() error { return b.sorter.Close() }

// Table returns the table of the entries, and closes the Builder.
func (b *Builder) Table(ctx context.Context) (t *Table, err error) {
	defer func() { err = errors.Join(err, b.Close()) }()
	it, err := b.sorter.Sort(ctx, 0)
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(b.dir, "ids.table"))
	if err != nil {
		return nil, fmt.Errorf("write table of ids: %w", err)
	}
	t = &Table{file: f, filter: newFilter(b.sorter.Len())}
	if err := t.fill(it); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// fill writes the sorted entries of a Builder, of each key the id that counts.
func (t *Table) fill(it *extsort.Iterator) error {
	w := bufio.NewWriterSize(t.file, 1<<16)
	var g group
	for {
		key, payload, err := it.Next()
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		var k Key
		if !end {
			k = keyAt(key)
		}
		if end || k != g.key {
			if id := g.id(); id != 0 {
				t.add(w, g.key, id)
			}
			g = group{key: k}
		}
		if end {
			break
		}
		g.add(int64(binary.BigEndian.Uint64(payload)))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table of ids: %w", err)
	}
	return nil
}

// A group is the ids that have a key.
type group struct {
	key    Key
	real   candidate // ids of TMDB and of other sources
	minted candidate // ids that were minted
}

// A candidate is the lowest of some ids.
type candidate struct {
	id   int64 // 0 for none
	more bool  // there are others
}

func (c *candidate) add(id int64) {
	c.more = c.more || c.id != 0 && c.id != id
	if c.id == 0 || id < c.id {
		c.id = id
	}
}

func (g *group) add(id int64) {
	if layout.IsMinted(id) {
		g.minted.add(id)
	} else {
		g.real.add(id)
	}
}

// id returns the id that counts, 0 for none. Of several records that claim an external
// id it is the lowest; a name that several people have is nobody's.
func (g *group) id() int64 {
	c := g.real
	if c.id == 0 {
		c = g.minted
	}
	if c.more && g.key.Hi&nameBit != 0 {
		return 0
	}
	return c.id
}
