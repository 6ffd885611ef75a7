package neighbours

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"

	"reelsplice/schemas/encoding"
	"reelsplice/schemas/extsort"
)

// A Table maps a feature to the titles that have it and to their number. It lies in files, of which
// memory holds one number for every 4 KiB; it is safe for concurrent use.
//
// A file has blocks of lists in ascending order of their features, CRC-32C behind each block.
// A list is the feature (8 bytes, big-endian), then varints: df, bytes of the titles,
// number of them that are not adult, then the titles. A title is id, votes, number of its genres,
// genres, all varints. Features of a single title are left out: they join nothing. Behind the
// blocks come the first feature and the offset of each, the offset of that list, the number of
// blocks (8 bytes each), and the CRC-32C of all that.
type Table struct {
	titles int64
	parts  []part
}

// A part is one of the files of a Table.
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

// Open opens a Table by the paths of its parts, in their order. titles is the number of titles
// that were added.
func Open(paths []string, titles int64) (*Table, error) {
	t := &Table{titles: titles}
	for _, path := range paths {
		p, err := openPart(path)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		t.parts = append(t.parts, p)
	}
	return t, nil
}

// openPart opens a part and reads where its blocks lie.
func openPart(path string) (part, error) {
	p := part{path: path}
	f, err := os.Open(path)
	if err != nil {
		return p, fmt.Errorf("open table of neighbours: %w", err)
	}
	p.f = f
	if err := p.readBlocks(); err != nil {
		return p, errors.Join(err, f.Close())
	}
	return p, nil
}

// footerBytes is the length of what lies behind the list of blocks: its offset, its length and
// the checksum.
const footerBytes = 8 + 8 + sumBytes

// readBlocks reads where the blocks of the file lie.
func (p *part) readBlocks() error {
	info, err := p.f.Stat()
	if err != nil {
		return p.failed(0, err)
	}
	var foot [footerBytes]byte
	if _, err := p.f.ReadAt(foot[:], max(0, info.Size()-footerBytes)); err != nil {
		return p.failed(info.Size(), err)
	}
	at, n := int64(binary.BigEndian.Uint64(foot[:])), int64(binary.BigEndian.Uint64(foot[8:]))
	if at < 0 || n < 0 || n > info.Size()/blockEntry || at+n*blockEntry+footerBytes != info.Size() {
		return p.failed(info.Size(), errDamaged)
	}
	list := make([]byte, info.Size()-at)
	if _, err := p.f.ReadAt(list, at); err != nil {
		return p.failed(at, err)
	}
	sum := len(list) - sumBytes
	if crc32.Checksum(list[:sum], castagnoli()) != binary.LittleEndian.Uint32(list[sum:]) {
		return p.failed(at, errDamaged)
	}
	p.blocks = make([]block, 0, n+1)
	for range n {
		p.blocks = append(p.blocks, block{feature(binary.BigEndian.Uint64(list)), int64(binary.BigEndian.Uint64(list[8:]))})
		list = list[blockEntry:]
	}
	p.blocks = append(p.blocks, block{off: at})
	return nil
}

// blockEntry is the length of a block's entry in the list of blocks.
const blockEntry = 8 + 8

// Titles returns how many titles were added.
func (t *Table) Titles() int64 { return t.titles }

// Close closes the files. Finders must not be used afterwards.
func (t *Table) Close() (err error) {
	for i := range t.parts {
		err = errors.Join(err, t.parts[i].f.Close())
	}
	t.parts = nil
	return err
}

// WritePart writes a part of a Table at path from its records in order.
func WritePart(path string, it *extsort.Iterator) error {
	w, err := newTableWriter(path)
	if err != nil {
		return err
	}
	err = it.Each(func(key, genres []byte) error {
		if len(key) != keyBytes {
			return fmt.Errorf("neighbours: key of %d bytes, want %d", len(key), keyBytes)
		}
		return w.add(key, genres)
	})
	if err == nil {
		err = w.finish()
	}
	return errors.Join(err, w.f.Close())
}

// A tableWriter makes a part of records in order of their keys.
type tableWriter struct {
	blocks []block
	buf    *bufio.Writer
	f      *os.File
	off    int64

	block []byte // being filled
	first feature

	current feature // of the list being filled
	df      uint64
	safe    uint64 // titles in list that are not adult
	adult   uint64
	list    []byte
}

func newTableWriter(path string) (*tableWriter, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create table of neighbours: %w", err)
	}
	return &tableWriter{f: f, buf: bufio.NewWriterSize(f, 64<<10)}, nil
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
	w.blocks = append(w.blocks, block{w.first, w.off})
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
	return fmt.Errorf("write table of neighbours %q: %w", w.f.Name(), err)
}

// finish writes the rest, and the list of blocks.
func (w *tableWriter) finish() error {
	if err := errors.Join(w.endList(), w.endBlock()); err != nil {
		return err
	}
	var list []byte
	for _, b := range w.blocks {
		list = binary.BigEndian.AppendUint64(list, uint64(b.first))
		list = binary.BigEndian.AppendUint64(list, uint64(b.off))
	}
	list = binary.BigEndian.AppendUint64(list, uint64(w.off))
	list = binary.BigEndian.AppendUint64(list, uint64(len(w.blocks)))
	list = binary.LittleEndian.AppendUint32(list, crc32.Checksum(list, castagnoli()))
	_, err := w.buf.Write(list)
	return w.failed(errors.Join(err, w.buf.Flush()))
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
		r := encoding.NewReader(lists[8:])
		df, n, safe := r.Uvarint(), r.Uvarint(), r.Uvarint()
		titles := r.Take(n)
		if r.Err() != nil {
			return list{}, errDamaged
		}
		if at > f {
			break
		}
		if at == f {
			return list{df, safe, titles}, nil
		}
		lists = r.Rest()
	}
	return list{}, nil
}
