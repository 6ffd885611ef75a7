package neighbours

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"reelsplice/build/shuffle"
)

// A Table says which titles have a feature and how many do. It lies in files, of which
// memory holds one number for every 4 KiB; it is safe for concurrent use.
//
// A file is blocks of lists in ascending order of their features, CRC-32C behind each
// block. A list is the feature (8 bytes, big-endian), then varints: df, bytes of the titles,
// number of them that are not adult, then the titles. A title is id, votes, number of its genres,
// genres, all varints. Features of a single title are left out: they join nothing.
type Table struct {
	dir    string
	titles int64
	parts  []part
}

// A part is the file of one partition.
type part struct {
	path   string
	f      *os.File
	blocks []block // and one behind the last, of which only the offset counts
}

type block struct {
	first feature
	off   int64
}

const (
	blockBytes = 4 << 10 // from which on a block ends
	sumBytes   = 4
)

var errDamaged = errors.New("a block is damaged")

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once inside crc32

// Titles returns how many titles were added.
func (t *Table) Titles() int64 { return t.titles }

// Close removes the files. Finders must not be used afterwards.
func (t *Table) Close() error {
	for i := range t.parts {
		if f := t.parts[i].f; f != nil {
			f.Close()
			t.parts[i].f = nil
		}
	}
	if err := os.RemoveAll(t.dir); err != nil {
		return fmt.Errorf("remove files of neighbours: %w", err)
	}
	return nil
}

// part returns the number of the part that has the list of f.
func (t *Table) part(f feature) int { return int(f.hash() % uint64(len(t.parts))) }

// reduce makes part i of the records of partition i.
func (t *Table) reduce(ctx context.Context, s *shuffle.Shuffle, i int, memory int64) error {
	it, err := s.Partition(ctx, i, memory)
	if err != nil {
		return err
	}
	defer it.Close()
	w, err := newTableWriter(filepath.Join(t.dir, strconv.Itoa(i)+".table"))
	if err != nil {
		return err
	}
	for {
		key, genres, err := it.Next()
		if err == io.EOF {
			break
		}
		if err == nil && len(key) != keyBytes {
			err = fmt.Errorf("neighbours: key of %d bytes in partition %d, want %d", len(key), i, keyBytes)
		}
		if err == nil {
			err = w.add(key, genres)
		}
		if err != nil {
			w.discard()
			return err
		}
	}
	t.parts[i], err = w.finish()
	return err
}

// A tableWriter makes a part of records in order of their keys.
type tableWriter struct {
	part part
	buf  *bufio.Writer
	f    *os.File
	off  int64

	block []byte // being filled
	first feature

	current feature // of the list being filled
	df      uint64
	safe    uint64 // titles in list that are not adult
	adult   uint64
	list    []byte
}

func newTableWriter(path string) (*tableWriter, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create table of neighbours: %w", err)
	}
	return &tableWriter{part: part{path: path}, f: f, buf: bufio.NewWriterSize(f, 64<<10)}, nil
}

func (w *tableWriter) add(key, genres []byte) error {
	if f := feature(binary.BigEndian.Uint64(key)); f != w.current {
		if err := w.endList(); err != nil {
			return err
		}
		w.current = f
	}
	w.df++
	n := &w.safe
	if key[8] != 0 {
		n = &w.adult
	}
	if *n == ListSize {
		return nil
	}
	*n++
	w.list = binary.AppendUvarint(w.list, binary.BigEndian.Uint64(key[21:])^1<<63)
	w.list = binary.AppendUvarint(w.list, uint64(^binary.BigEndian.Uint32(key[9:])))
	w.list = append(w.list, genres...)
	return nil
}

// endList puts the current list into the block.
func (w *tableWriter) endList() error {
	if w.df > 1 {
		if len(w.block) == 0 {
			w.first = w.current
		}
		w.block = binary.BigEndian.AppendUint64(w.block, uint64(w.current))
		w.block = binary.AppendUvarint(w.block, w.df)
		w.block = binary.AppendUvarint(w.block, uint64(len(w.list)))
		w.block = binary.AppendUvarint(w.block, w.safe)
		w.block = append(w.block, w.list...)
	}
	w.df, w.safe, w.adult, w.list = 0, 0, 0, w.list[:0]
	if len(w.block) < blockBytes {
		return nil
	}
	return w.endBlock()
}

func (w *tableWriter) endBlock() error {
	if len(w.block) == 0 {
		return nil
	}
	w.part.blocks = append(w.part.blocks, block{w.first, w.off})
	w.block = binary.LittleEndian.AppendUint32(w.block, crc32.Checksum(w.block, castagnoli()))
	w.off += int64(len(w.block))
	_, err := w.buf.Write(w.block)
	w.block = w.block[:0]
	return w.failed(err)
}

func (w *tableWriter) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write table of neighbours %q: %w", w.part.path, err)
}

// finish returns the part, open for reading.
func (w *tableWriter) finish() (part, error) {
	err := w.endList()
	if err == nil {
		err = w.endBlock()
	}
	if err == nil {
		err = w.failed(w.buf.Flush())
	}
	if err != nil {
		w.discard()
		return part{}, err
	}
	w.part.f = w.f
	w.part.blocks = append(slices.Clip(w.part.blocks), block{off: w.off})
	return w.part, nil
}

// discard lets go of the files of a part that is given up.
func (w *tableWriter) discard() {
	w.f.Close()
}

// find returns the number of the block that has the list of f if there is one, or -1.
func (p *part) find(f feature) int {
	blocks := p.blocks[:len(p.blocks)-1]
	i, found := slices.BinarySearchFunc(blocks, f, func(b block, f feature) int {
		switch {
		case b.first < f:
			return -1
		case b.first > f:
			return 1
		}
		return 0
	})
	if found {
		return i
	}
	return i - 1
}

// read reads block i into c.
func (p *part) read(i int, c *cached) error {
	off, n := p.blocks[i].off, int(p.blocks[i+1].off-p.blocks[i].off)
	c.data = slices.Grow(c.data[:0], n)[:n]
	if _, err := p.f.ReadAt(c.data, off); err != nil {
		return p.failed(off, err)
	}
	c.lists = c.data[:n-sumBytes]
	if crc32.Checksum(c.lists, castagnoli()) != binary.LittleEndian.Uint32(c.data[n-sumBytes:]) {
		return p.failed(off, errDamaged)
	}
	return nil
}

func (p *part) failed(off int64, err error) error {
	return fmt.Errorf("read table of neighbours %q: offset %d: %w", p.path, off, err)
}

// A list is the titles that have a feature.
type list struct {
	df     uint64
	safe   uint64 // how many of the titles, the first ones, are not adult
	titles []byte
}

// listIn returns the list of f among lists, or none.
func listIn(lists []byte, f feature) (list, error) {
	for len(lists) > 0 {
		if len(lists) < 8 {
			return list{}, errDamaged
		}
		at := feature(binary.BigEndian.Uint64(lists))
		r := varints{rest: lists[8:]}
		df := r.next()
		n := r.next()
		safe := r.next()
		if r.bad || n > uint64(len(r.rest)) {
			return list{}, errDamaged
		}
		if at > f {
			break
		}
		if at == f {
			return list{df, safe, r.rest[:n]}, nil
		}
		lists = r.rest[n:]
	}
	return list{}, nil
}

// varints reads varints one after another.
type varints struct {
	rest []byte
	bad  bool // one was cut or too long
}

func (r *varints) next() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // Fast path: one byte.
		v := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return v
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}
