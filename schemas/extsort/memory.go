package extsort

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"unsafe"
)

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
		entries *= 3 // during the copy to an allocation of twice the size
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
		slices.SortFunc(m.entries[from:ends[section]], m.compare)
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

// compare compares entries of one section.
func (m *memory) compare(a, b entry) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	aKey, aPayload := m.split(a)
	bKey, bPayload := m.split(b)
	return order(aKey, aPayload, bKey, bPayload)
}

func order(aKey, aPayload, bKey, bPayload []byte) int {
	if c := bytes.Compare(aKey, bKey); c != 0 {
		return c
	}
	return bytes.Compare(aPayload, bPayload)
}
