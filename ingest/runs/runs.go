// Package runs sorts more records than fit into memory. Records are opaque bytes with
// a key and a sequence number; they are collected in memory, written to temporary
// files as sorted runs when the memory is full, and merged when they are read back.
//
//	s := runs.New(dir, 256<<20)
//	defer s.Close()
//	err := s.Add(key, seq, payload) // many times
//	it, err := s.Sort(ctx)
//	key, seq, payload, err := it.Next() // until io.EOF
//
// Every record in a run carries a CRC-32C, so that a damaged file is an error and
// never wrong data.
package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

const (
	minMemory  = 256 << 10 // memory below which a Sorter does not go
	maxBlock   = 1 << 20   // payload bytes allocated at once
	minEntries = 1024      // entries allocated at once, at least

	entryBytes = int64(unsafe.Sizeof(entry{}))
)

// MaxPayload is the longest payload in bytes.
const MaxPayload = math.MaxUint32

var errClosed = errors.New("runs: sorter is closed")

// A Key is what records are ordered by, before their sequence numbers.
type Key struct {
	Hi, Lo uint64 // within the group
	Group  uint8  // counts first
}

// Compare returns -1, 0 or 1.
func (k Key) Compare(o Key) int {
	switch {
	case k.Group != o.Group:
		return cmp.Compare(k.Group, o.Group)
	case k.Hi != o.Hi:
		return cmp.Compare(k.Hi, o.Hi)
	}
	return cmp.Compare(k.Lo, o.Lo)
}

// An entry is a record in memory: its payload is blocks[block][off:off+size].
type entry struct {
	key   Key
	seq   uint64
	block uint32
	off   uint32
	size  uint32
	nth   uint32 // place among the records in memory
}

// order compares by key and seq, then by the order in which records were added.
func (a entry) order(b entry) int {
	switch {
	case a.key != b.key:
		return a.key.Compare(b.key)
	case a.seq != b.seq:
		return cmp.Compare(a.seq, b.seq)
	}
	return cmp.Compare(a.nth, b.nth)
}

// A Sorter collects records. It is for one goroutine.
type Sorter struct {
	spill  spill
	memory int64

	entries []entry
	blocks  [][]byte
	free    [][]byte // common blocks to use again
	block   int      // size of a common block; a large payload has one of its own
	current int      // index in blocks of the common block being filled, -1 for none
	used    int64    // bytes of blocks, without entries and free

	files  []runFile // in the order in which their records were added
	count  int64
	sorted bool
	err    error
}

// A Run is a file of sorted records as a journal keeps it.
type Run struct {
	Name  string `json:"name"`  // in the Sorter's folder
	Count int64  `json:"count"` // records
	Bytes int64  `json:"bytes"`
	Long  int64  `json:"long"` // bytes of the longest payload
}

// Resume returns a Sorter that keeps its runs in dir, an existing folder of its own,
// also when it is closed, and starts with those that State told of. Other files of dir
// are removed. A run that is missing, or not as long as it was, is an error.
func Resume(dir string, memory int64, state []Run) (*Sorter, error) {
	s := New(dir, memory)
	s.spill.path, s.spill.keep = dir, true
	known := map[string]bool{}
	for _, r := range state {
		f := runFile{path: filepath.Join(dir, r.Name), count: r.Count, bytes: r.Bytes, long: r.Long}
		info, err := os.Stat(f.path)
		if err == nil && info.Size() != r.Bytes {
			err = fmt.Errorf("has %d bytes, want %d", info.Size(), r.Bytes)
		}
		if err != nil {
			return nil, fmt.Errorf("read sort run %q: %w", f.path, err)
		}
		n, err := strconv.Atoi(strings.TrimSuffix(r.Name, runSuffix))
		if err != nil {
			return nil, fmt.Errorf("read sort run %q: is no name of a run", f.path)
		}
		s.spill.next = max(s.spill.next, n)
		s.files, s.count = append(s.files, f), s.count+r.Count
		known[r.Name] = true
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil && !known[e.Name()] {
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("clear folder of sort runs: %w", err)
	}
	return s, nil
}

// Flush writes what is in memory as a run, so that State tells of all records.
func (s *Sorter) Flush() error {
	if s.err == nil {
		s.fail(s.flush())
	}
	return s.err
}

// State returns the runs that there are. Records that are in memory are not in it.
func (s *Sorter) State() []Run {
	out := make([]Run, len(s.files))
	for i, f := range s.files {
		out[i] = Run{Name: filepath.Base(f.path), Count: f.count, Bytes: f.bytes, Long: f.long}
	}
	return out
}

// Held returns how many records are in memory, and in how many bytes.
func (s *Sorter) Held() (records int, bytes int64) {
	return len(s.entries), s.used + int64(cap(s.entries))*entryBytes
}

// New returns a Sorter that holds at most memory bytes, 256 KiB at least, and puts
// what does not fit into a folder of its own below dir. It touches nothing on disk
// before that. A payload longer than memory becomes a run of its own.
func New(dir string, memory int64) *Sorter {
	memory = max(memory, minMemory)
	return &Sorter{spill: spill{dir: dir, create: createFile}, memory: memory, block: int(min(memory/16, maxBlock)), current: -1}
}

// Len returns how many records were added.
func (s *Sorter) Len() int64 { return s.count }

// Runs returns how many files of sorted records wait to be merged.
func (s *Sorter) Runs() int { return len(s.files) }

// Spilled returns the bytes of those files.
func (s *Sorter) Spilled() int64 {
	var n int64
	for _, f := range s.files {
		n += f.bytes
	}
	return n
}

// Add adds a record and copies payload. After an error, such as a full disk, the
// temporary files are gone and every later call fails alike.
func (s *Sorter) Add(key Key, seq uint64, payload []byte) error {
	if s.err == nil && s.sorted {
		return errors.New("runs: add after sort")
	}
	if s.err == nil && uint64(len(payload)) > MaxPayload {
		return fmt.Errorf("runs: payload of %d bytes is longer than %d", len(payload), uint64(MaxPayload))
	}
	if s.err == nil && !s.fits(len(payload)) {
		s.fail(s.flush())
	}
	if s.err != nil {
		return s.err
	}
	if int64(len(payload)) > s.memory-minEntries*entryBytes {
		s.fail(s.alone(key, seq, payload))
		if s.err == nil {
			s.count++
		}
		return s.err
	}
	s.hold(key, seq, payload)
	s.count++
	return nil
}

// fail remembers the first error, and removes the temporary files on it.
func (s *Sorter) fail(err error) {
	if err != nil && s.err == nil {
		s.err = err
		s.drop()
	}
}

// fits reports whether a payload of n bytes can be held beside what is there.
func (s *Sorter) fits(n int) bool {
	if len(s.entries) == 0 {
		return true
	}
	entries := int64(cap(s.entries))
	if len(s.entries) == cap(s.entries) {
		entries *= 3 // while they are copied to a place of twice the size
	}
	return s.used+int64(s.needs(n))+entries*entryBytes <= s.memory
}

// needs returns how many bytes holding a payload of n bytes takes beyond the blocks
// that there are.
func (s *Sorter) needs(n int) int {
	if n > s.block/4 {
		return n
	}
	if s.current >= 0 {
		if b := s.blocks[s.current]; cap(b)-len(b) >= n {
			return 0
		}
	}
	return s.block
}

// hold copies a record into memory.
func (s *Sorter) hold(key Key, seq uint64, payload []byte) {
	i := s.blockFor(len(payload))
	off := len(s.blocks[i])
	s.blocks[i] = append(s.blocks[i], payload...)
	n := len(s.entries)
	if n == 0 && s.used+int64(cap(s.entries))*entryBytes > s.memory {
		s.entries = nil // grown for small records, and now there is a large one
	}
	if n == cap(s.entries) {
		s.entries = slices.Grow(s.entries, max(n, minEntries))
	}
	s.entries = append(s.entries, entry{key, seq, uint32(i), uint32(off), uint32(len(payload)), uint32(n)})
}

// blockFor returns the index of a block with room for n bytes.
func (s *Sorter) blockFor(n int) int {
	need := s.needs(n)
	if need == 0 {
		return s.current
	}
	s.used += int64(need)
	common := n <= s.block/4
	if last := len(s.free) - 1; common && last >= 0 {
		s.blocks = append(s.blocks, s.free[last])
		s.free = s.free[:last]
	} else {
		// Free blocks make way for one of another size.
		s.free = s.free[:max(0, len(s.free)-need/s.block-1)]
		clear(s.free[len(s.free):cap(s.free)])
		s.blocks = append(s.blocks, make([]byte, 0, need))
	}
	if common {
		s.current = len(s.blocks) - 1
	}
	return len(s.blocks) - 1
}

func (s *Sorter) payload(e entry) []byte {
	return s.blocks[e.block][e.off : uint64(e.off)+uint64(e.size)]
}

func (s *Sorter) order() { slices.SortFunc(s.entries, entry.order) }

// flush writes what is in memory as a run.
func (s *Sorter) flush() error {
	if len(s.entries) == 0 {
		return nil
	}
	s.order()
	w, err := s.spill.newRun(int64(s.block))
	if err != nil {
		return err
	}
	for _, e := range s.entries {
		if err := w.add(e.key, e.seq, s.payload(e)); err != nil {
			return w.abort(err)
		}
	}
	if err := s.finish(w); err != nil {
		return err
	}
	for _, b := range s.blocks {
		if cap(b) == s.block {
			s.free = append(s.free, b[:0])
		}
	}
	clear(s.blocks)
	s.entries, s.blocks, s.current, s.used = s.entries[:0], s.blocks[:0], -1, 0
	return nil
}

// alone writes one record as a run.
func (s *Sorter) alone(key Key, seq uint64, payload []byte) error {
	w, err := s.spill.newRun(minBuffer)
	if err != nil {
		return err
	}
	if err := w.add(key, seq, payload); err != nil {
		return w.abort(err)
	}
	return s.finish(w)
}

func (s *Sorter) finish(w *runWriter) error {
	f, err := w.finish()
	if err == nil {
		s.files = append(s.files, f)
	}
	return err
}

// drop gives up memory and files.
func (s *Sorter) drop() {
	s.entries, s.blocks, s.free, s.files = nil, nil, nil, nil
	_ = s.spill.remove() // the error that led here says more
}

// Close removes all temporary files; an Iterator of s must not be used afterwards. It
// returns an error when they could not be removed. A second Close does nothing.
func (s *Sorter) Close() error {
	if s.err == nil {
		s.err = errClosed
	}
	s.entries, s.blocks, s.free, s.files = nil, nil, nil, nil
	return s.spill.remove()
}

// createFile is how runs are made outside tests.
func createFile(name string) (io.WriteCloser, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}
