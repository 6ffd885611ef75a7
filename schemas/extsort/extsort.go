// Package extsort sorts more records than fit into memory: an external merge sort. A record is a key and a payload,
// both opaque bytes. Records are ordered by key, then by payload, so the result depends only on the records added.
// Duplicates are kept.
//
// In one process, a Sorter collects records and returns them in order:
//
//	s := extsort.New(extsort.Options{Dir: dir, Memory: 256 << 20})
//	defer s.Close()
//	err := s.Add(0, key, payload) // many times
//	it, err := s.Sort(ctx, 0)
//	key, payload, err := it.Next() // until io.EOF
//
// Between tasks, each task writes its records to one file with sections. A later task merges one section of all these
// files:
//
//	f, err := s.WriteFile(ctx, "contributions-0007")      // in each task of one stage
//	it, err := extsort.Merge(ctx, files, section, options) // in each task of the next one
//
// Every block of a file has a CRC-32C, and so does the footer. A damaged file causes an error that matches
// ErrDamaged, never wrong data.
package extsort

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"unsafe"
)

const (
	// maxRecord is the maximum size of a record in bytes: key, payload, and up to ten bytes for their lengths.
	maxRecord = 1 << 30

	// MaxSections is the maximum number of sections of a file.
	MaxSections = 1 << 16
)

var minMemory int64 = 256 << 10 // lower bound on memory; tests lower it

var errClosed = errors.New("extsort: sorter is closed")

// Options bounds a Sorter or a merge.
type Options struct {
	Dir      string // temporary files are in a new folder below it, made with the first file
	Memory   int64  // bytes of records in memory, at least 256 KiB; a longer record is held alone
	Sections int    // number of sections, 1 if 0; Merge ignores it
}

func (o Options) memory() int64 { return max(o.Memory, minMemory) }

func (o Options) sections() int { return max(o.Sections, 1) }

// createFile creates a file. Tests replace it to simulate a full disk.
var createFile = func(path string) (io.WriteCloser, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// A Sorter collects records in memory and writes them as sorted runs whenever memory is full. It is for one
// goroutine.
type Sorter struct {
	o      Options
	memory *memory
	folder folder
	runs   []*File
	count  int64
	sorted bool  // no more records may be added
	err    error // the first error, which later calls repeat
}

// New returns an empty Sorter. It uses no disk until memory is full.
func New(o Options) *Sorter {
	bound := o.memory()
	memory := &memory{bound: bound, block: int(min(bound/16, int64(maxBlock)))}
	return &Sorter{o: o, memory: memory, folder: folder{parent: o.Dir}}
}

// Len returns the number of records added.
func (s *Sorter) Len() int64 { return s.count }

// Add adds a record to a section and copies key and payload. After an error, such as a full disk, the temporary files
// are removed and every later call returns that error.
func (s *Sorter) Add(section int, key, payload []byte) error {
	switch {
	case s.err != nil:
		return s.err
	case s.sorted:
		return errors.New("extsort: add after sort")
	}
	n := recordBytes(key, payload)
	if n > maxRecord {
		return fmt.Errorf("extsort: record of %d bytes, want at most %d", n, maxRecord)
	}
	if !s.memory.fits(int(n)) {
		if s.fail(s.flush()); s.err != nil {
			return s.err
		}
	}
	s.memory.add(section, key, payload)
	s.count++
	return nil
}

// flush writes the records in memory as a run.
func (s *Sorter) flush() error {
	path, err := s.folder.name()
	if err != nil {
		return err
	}
	f, err := s.writeMemory(path)
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	entries := s.memory.entries[:0]
	if int64(cap(entries))*entryBytes > s.memory.bound/2 {
		entries = nil // grown for small records; long ones may follow
	}
	s.memory.drop()
	s.memory.entries = entries
	return nil
}

// writeMemory writes the records in memory to a file.
func (s *Sorter) writeMemory(path string) (*File, error) {
	s.memory.sort()
	w, err := Create(path, s.o.sections())
	if err != nil {
		return nil, err
	}
	for _, e := range s.memory.entries {
		b := s.memory.bytes(e)
		_, _, n := splitRecord(b)
		if err := w.addEncoded(e.section(), b[:n]); err != nil {
			return nil, w.abort(err)
		}
	}
	return w.finish()
}

// fail stores the first error and removes the temporary files.
func (s *Sorter) fail(err error) {
	if err != nil && s.err == nil {
		s.err = err
		s.err = errors.Join(err, s.release())
	}
}

// Sort ends adding and returns the records of a section in order. It may be called repeatedly, for sections in any
// order. ctx cancels the passes that reduce the number of runs, and the Iterator, which is valid until the Sorter is
// closed.
func (s *Sorter) Sort(ctx context.Context, section int) (*Iterator, error) {
	if s.err != nil {
		return nil, s.err
	}
	if !s.sorted {
		s.sorted = true
		if s.fail(s.prepare(ctx)); s.err != nil {
			return nil, s.err
		}
	}
	if len(s.runs) == 0 {
		bySection := func(e entry, section int) int { return cmp.Compare(e.section(), section) }
		from, _ := slices.BinarySearchFunc(s.memory.entries, section, bySection)
		to, _ := slices.BinarySearchFunc(s.memory.entries, section+1, bySection)
		return &Iterator{ctx: ctx, memory: s.memory, entries: s.memory.entries[from:to]}, nil
	}
	it, err := mergeSection(ctx, s.runs, section)
	s.fail(err)
	return it, err
}

// prepare sorts the records in memory if there are no runs; else it merges the runs until one pass is left.
func (s *Sorter) prepare(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(s.runs) == 0 {
		s.memory.sort()
		return nil
	}
	err := s.flush()
	if err != nil {
		return err
	}
	s.memory.drop() // the merge needs the memory
	s.runs, err = s.merge().reduce(ctx, s.runs, true)
	return err
}

// WriteFile ends adding and writes all records to a new file at path, each section sorted. The file is not synced.
// The caller owns it and its handle. Afterwards the Sorter can only be closed.
func (s *Sorter) WriteFile(ctx context.Context, path string) (*File, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.sorted = true
	var f *File
	var err error
	if len(s.runs) == 0 {
		f, err = s.writeMemory(path)
	} else if err = s.prepare(ctx); err == nil {
		f, err = s.merge().write(ctx, s.runs, path)
	}
	s.fail(err)
	return f, err
}

// merge returns the merge of all sections.
func (s *Sorter) merge() merge { return merge{&s.folder, s.o.memory(), 0, s.o.sections()} }

// Close removes all temporary files. Iterators are invalid afterwards. A second Close does nothing.
func (s *Sorter) Close() error {
	if s.err == nil {
		s.err = errClosed
	}
	return s.release()
}

func (s *Sorter) release() error {
	s.memory.drop()
	for _, f := range s.runs {
		f.Close()
	}
	s.runs = nil
	return s.folder.remove()
}

// runSuffix is the suffix of temporary files.
const runSuffix = ".run"

// A folder holds the temporary files of a Sorter or a merge. It is created with the first file.
type folder struct {
	parent string
	path   string // "" before the first file
	last   int    // number of the last file
}

// name returns a new path in the folder.
func (d *folder) name() (string, error) {
	if d.path == "" {
		path, err := os.MkdirTemp(d.parent, "sort-*")
		if err != nil {
			return "", fmt.Errorf("create folder for sort runs: %w", err)
		}
		d.path = path
	}
	d.last++
	return filepath.Join(d.path, strconv.Itoa(d.last)+runSuffix), nil
}

func (d *folder) remove() error {
	if d.path == "" {
		return nil
	}
	path := d.path
	d.path = ""
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove sort runs: %w", err)
	}
	return nil
}

// recordBytes returns an upper bound of a record's size, in memory and in a file.
func recordBytes(key, payload []byte) int64 {
	return 2*binary.MaxVarintLen32 + int64(len(key)) + int64(len(payload))
}

// appendRecord appends a record: the lengths of key and payload as varints, key, payload.
func appendRecord(dst, key, payload []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = binary.AppendUvarint(dst, uint64(len(payload)))
	return append(append(dst, key...), payload...)
}

// splitRecord splits the record at the start of b and returns its length, 0 if b is damaged.
func splitRecord(b []byte) (key, payload []byte, n int) {
	k, a := binary.Uvarint(b)
	p, c := binary.Uvarint(b[max(a, 0):])
	if a <= 0 || c <= 0 || k > maxRecord || p > maxRecord || uint64(len(b)-a-c) < k+p {
		return nil, nil, 0
	}
	head := a + c
	n = head + int(k+p)
	return b[head : head+int(k) : head+int(k)], b[head+int(k) : n : n], n
}

// Tests lower these.
var (
	maxBlock   = 256 << 10 // bytes of a memory block shared by many records
	minEntries = 1024      // minimum number of entries allocated at once
)

const entryBytes = int64(unsafe.Sizeof(entry{}))

// An entry is a record in memory.
type entry struct {
	prefix uint64 // first bytes of the key
	place  uint64 // section (16 bits), block (28), offset in the block (20)
}

func (e entry) section() int { return int(e.place >> 48) }

// A memory stores records up to a bound. Records are stored in blocks, so growing copies only entries.
type memory struct {
	bound   int64
	block   int // size of a block; a longer record gets a block of its size
	entries []entry
	blocks  [][]byte // the last one is open
	used    int64    // total size of blocks
}

// fits reports whether there is room for another record of up to n bytes. An empty memory accepts any record.
func (m *memory) fits(n int) bool {
	if len(m.entries) == 0 {
		return true
	}
	entries := int64(cap(m.entries))
	if len(m.entries) == cap(m.entries) {
		entries *= 3 // while they are copied to an allocation of twice the size
	}
	return m.used+int64(m.needs(n))+entries*entryBytes <= m.bound
}

// needs returns the bytes to allocate for a record of up to n bytes.
func (m *memory) needs(n int) int {
	if last := len(m.blocks) - 1; last >= 0 {
		if b := m.blocks[last]; cap(b)-len(b) >= n && len(b) < maxBlock { // an offset has 20 bits
			return 0
		}
	}
	return max(n, m.block)
}

func (m *memory) add(section int, key, payload []byte) {
	if need := m.needs(int(recordBytes(key, payload))); need > 0 {
		m.used += int64(need)
		m.blocks = append(m.blocks, make([]byte, 0, need))
	}
	i := len(m.blocks) - 1
	place := uint64(section)<<48 | uint64(i)<<20 | uint64(len(m.blocks[i]))
	m.blocks[i] = appendRecord(m.blocks[i], key, payload)
	if n := len(m.entries); n == cap(m.entries) {
		m.entries = slices.Grow(m.entries, max(n, minEntries))
	}
	m.entries = append(m.entries, entry{prefix(key), place})
}

func (m *memory) split(e entry) (key, payload []byte) {
	key, payload, _ = splitRecord(m.bytes(e))
	return key, payload
}

// bytes returns the bytes of a record's block from the record on.
func (m *memory) bytes(e entry) []byte { return m.blocks[e.place>>20&(1<<28-1)][e.place&(1<<20-1):] }

// drop releases all memory.
func (m *memory) drop() { *m = memory{bound: m.bound, block: m.block} }

// sort orders the entries by section, key and payload. It moves them to their sections first, in linear time: a task of
// a build adds a hundred thousand records to hundreds of sections.
func (m *memory) sort() {
	var ends []int // end of each section
	for _, e := range m.entries {
		for e.section() >= len(ends) {
			ends = append(ends, 0)
		}
		ends[e.section()]++
	}
	next := make([]int, len(ends)) // the first place in each section that may hold another section's entry
	for i := 1; i < len(ends); i++ {
		next[i] = ends[i-1]
		ends[i] += ends[i-1]
	}
	for section, from := range slices.Clone(next) {
		for ; next[section] < ends[section]; next[section]++ {
			e := &m.entries[next[section]]
			for to := e.section(); to != section; to = e.section() {
				*e, m.entries[next[to]] = m.entries[next[to]], *e
				next[to]++
			}
		}
		slices.SortFunc(m.entries[from:ends[section]], func(a, b entry) int {
			if a.prefix != b.prefix {
				return cmp.Compare(a.prefix, b.prefix)
			}
			aKey, aPayload := m.split(a)
			bKey, bPayload := m.split(b)
			return order(aKey, aPayload, bKey, bPayload)
		})
	}
}

// prefix returns the first eight bytes of a key as a big-endian number, padded with zeros.
func prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

func order(aKey, aPayload, bKey, bPayload []byte) int {
	if c := bytes.Compare(aKey, bKey); c != 0 {
		return c
	}
	return bytes.Compare(aPayload, bPayload)
}
