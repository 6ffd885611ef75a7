package shuffle

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
	// minMemory is the memory below which an Iterator does not go.
	minMemory = 512 << 10

	// ctxEvery is how many records are merged between two looks at the context.
	ctxEvery = 1 << 14

	// minDivided is how many entries are worth dividing before they are compared.
	minDivided = 128

	entryBytes = int64(unsafe.Sizeof(entry{}))
)

// An entry is a record in a chunk.
type entry struct {
	prefix uint64 // the first eight bytes of its key; once sorted, those behind what all keys begin with
	off    uint64 // of the record in chunk.data
}

// A chunk is records in memory.
type chunk struct {
	data    []byte
	entries []entry
}

// fits reports whether another block can be held without growing.
func (c *chunk) fits(size, count int) bool {
	return cap(c.data)-len(c.data) >= size && cap(c.entries)-len(c.entries) >= count
}

// read takes in the block whose header r has read.
func (c *chunk) read(r *blockReader, size, count int) error {
	start := len(c.data)
	c.data = slices.Grow(c.data, size)[:start+size]
	c.entries = slices.Grow(c.entries, count)
	if err := r.body(c.data[start:]); err != nil {
		return err
	}
	at := start
	for range count {
		key, _, n, err := record(c.data[at:])
		if err != nil {
			return r.failed(err)
		}
		c.entries = append(c.entries, entry{prefix(key), uint64(at)})
		at += n
	}
	if at != len(c.data) {
		return r.failed(errDamaged)
	}
	return nil
}

// prefix returns the first eight bytes of a key, big-endian, zeroes behind a shorter one.
func prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// at returns the record of an entry, which read has checked.
func (c *chunk) at(e entry) (key, payload []byte) {
	key, payload, _, _ = record(c.data[e.off:])
	return key, payload
}

// common returns how many bytes all keys begin with.
func (c *chunk) common() int {
	if len(c.entries) == 0 {
		return 0
	}
	all, _ := c.at(c.entries[0])
	for i := 1; i < len(c.entries) && len(all) > 0; i++ {
		key, _ := c.at(c.entries[i])
		n := 0
		for n < min(len(all), len(key)) && all[n] == key[n] {
			n++
		}
		all = all[:n]
	}
	return len(all)
}

// sort sorts the entries by their records.
func (c *chunk) sort() {
	if n := c.common(); n > 0 {
		for i := range c.entries {
			key, _ := c.at(c.entries[i])
			c.entries[i].prefix = prefix(key[n:])
		}
	}
	c.sortFrom(c.entries, 64-8)
}

// sortFrom sorts entries whose prefixes are the same above the byte at shift. Many of them are
// first divided by that byte, in place: most prefixes are numbers, which that tells apart with
// fewer looks than comparing takes.
func (c *chunk) sortFrom(entries []entry, shift int) {
	if len(entries) < minDivided || shift < 0 {
		slices.SortFunc(entries, c.compare)
		return
	}
	var next, ends [256]int
	for _, e := range entries {
		ends[byte(e.prefix>>shift)]++
	}
	at := 0
	for b, n := range ends {
		next[b] = at
		at += n
		ends[b] = at
	}
	for b := range ends {
		for next[b] < ends[b] {
			e := entries[next[b]]
			for to := byte(e.prefix >> shift); int(to) != b; to = byte(e.prefix >> shift) {
				entries[next[to]], e = e, entries[next[to]]
				next[to]++
			}
			entries[next[b]] = e
			next[b]++
		}
	}
	start := 0
	for _, end := range ends {
		if end-start > 1 {
			c.sortFrom(entries[start:end], shift-8)
		}
		start = end
	}
}

func (c *chunk) compare(a, b entry) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	aKey, aPayload := c.at(a)
	bKey, bPayload := c.at(b)
	return order(aKey, aPayload, bKey, bPayload)
}

func order(aKey, aPayload, bKey, bPayload []byte) int {
	if d := bytes.Compare(aKey, bKey); d != 0 {
		return d
	}
	return bytes.Compare(aPayload, bPayload)
}

func (c *chunk) reset() { c.data, c.entries = c.data[:0], c.entries[:0] }

// An Iterator gives the records of a partition in order. It is for one goroutine.
type Iterator struct {
	s      *Shuffle
	ctx    context.Context
	part   int
	memory int64
	runs   []file

	chunk  *chunk  // the whole partition, or memory for its runs
	merger *merger // of its runs, nil when the partition fits
	at     int     // records given
	err    error
}

// Partition returns the records of partition i, from 0, in ascending order of key, then
// payload, as bytes; equal ones are all there. All Writers must be closed. When the
// partition does not fit into memory bytes, 512 KiB at least, parts of it are sorted,
// written to files beside it and merged. ctx stops that, and Next too. A record longer
// than memory is held all the same.
func (s *Shuffle) Partition(ctx context.Context, i int, memory int64) (*Iterator, error) {
	if i < 0 || i >= len(s.parts) {
		return nil, fmt.Errorf("shuffle: partition %d, want 0 to %d", i, len(s.parts)-1)
	}
	if n := s.writers.Load(); n > 0 {
		return nil, fmt.Errorf("shuffle: partition %d read while %d writers are open", i, n)
	}
	if err := s.seal(); err != nil {
		return nil, err
	}
	it := &Iterator{s: s, ctx: ctx, part: i, memory: max(memory, minMemory)}
	if err := it.load(s.parts[i].w.file); err != nil {
		it.Close()
		return nil, err
	}
	return it, nil
}

// load sorts the partition, into memory or into runs.
func (it *Iterator) load(f file) error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.close()
	it.chunk = it.s.take(it.memory-int64(it.runBlock()), f) // a run's block is beside it
	for {
		if err := it.ctx.Err(); err != nil {
			return err
		}
		size, count, err := r.next()
		if err == io.EOF {
			break
		}
		if err == nil && len(it.chunk.entries) > 0 && !it.chunk.fits(size, count) {
			err = it.spill()
		}
		if err == nil {
			err = it.chunk.read(r, size, count)
		}
		if err != nil {
			return err
		}
	}
	if len(it.runs) == 0 {
		it.chunk.sort()
		return nil
	}
	if err := it.spill(); err != nil {
		return err
	}
	return it.merge()
}

// spill writes the chunk as a sorted run and empties it.
func (it *Iterator) spill() error {
	it.chunk.sort()
	w := it.newRun()
	for n, e := range it.chunk.entries {
		if n%ctxEvery == 0 && it.ctx.Err() != nil {
			w.abort()
			return it.ctx.Err()
		}
		key, payload := it.chunk.at(e)
		if err := w.add(it.s.create, key, payload); err != nil {
			w.abort()
			return err
		}
	}
	it.chunk.reset()
	return it.finish(w)
}

func (it *Iterator) newRun() *blockWriter {
	name := strconv.Itoa(it.part) + "-" + strconv.FormatInt(it.s.runs.Add(1), 10) + ".run"
	return &blockWriter{path: filepath.Join(it.s.dir, name), block: it.runBlock()}
}

func (it *Iterator) finish(w *blockWriter) error {
	if err := w.close(it.s.create); err != nil {
		w.abort()
		return err
	}
	it.runs = append(it.runs, w.file)
	return nil
}

// Next returns the next record, or io.EOF behind the last one. key and payload are valid
// until the next call. A damaged or unreadable run is an error, which later calls repeat.
func (it *Iterator) Next() (key, payload []byte, err error) {
	if it.err == nil {
		key, payload, it.err = it.next()
		if it.err == nil {
			return key, payload, nil
		}
		it.release()
	}
	return nil, nil, it.err
}

func (it *Iterator) next() (key, payload []byte, err error) {
	if it.at%ctxEvery == 0 && it.ctx.Err() != nil {
		return nil, nil, it.ctx.Err()
	}
	it.at++
	if it.merger != nil {
		return it.merger.next()
	}
	if it.at > len(it.chunk.entries) {
		return nil, nil, io.EOF
	}
	key, payload = it.chunk.at(it.chunk.entries[it.at-1])
	return key, payload, nil
}

// Each calls fn with the records that are left, in order, until fn returns an error, which
// it passes on.
func (it *Iterator) Each(fn func(key, payload []byte) error) error {
	for {
		key, payload, err := it.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(key, payload)
		}
		if err != nil {
			return err
		}
	}
}

// Close gives up the memory and the files of the Iterator. Next does so too when it
// returns an error, such as io.EOF. A second Close does nothing. The partition can be read
// again.
func (it *Iterator) Close() {
	if it.err == nil {
		it.err = fmt.Errorf("shuffle: next on a closed iterator of partition %d", it.part)
	}
	it.release()
}

// Drop is Close, and removes the partition, which is not needed any more: what is made of
// it may take its place on the disk.
func (it *Iterator) Drop() {
	it.Close()
	os.Remove(it.s.parts[it.part].w.path) // else Shuffle.Close does
}

func (it *Iterator) release() {
	if it.chunk != nil {
		it.s.give(it.chunk)
		it.chunk = nil
	}
	if it.merger != nil {
		it.merger.close()
		it.merger = nil
	}
	removeAll(it.runs)
	it.runs = nil
}

// take returns an empty chunk of memory bytes, which f fits in if it can. Chunks are used
// again, so that the garbage of the partitions before does not add to the memory of the
// next one; therefore nearly all are of one size.
func (s *Shuffle) take(memory int64, f file) *chunk {
	data, entries := s.usual(memory)
	if f.raw > data || f.records > entries {
		if f.raw+f.records*entryBytes <= memory {
			data, entries = f.raw, f.records
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.spare) > 0 {
		c := s.spare[len(s.spare)-1]
		s.spare = s.spare[:len(s.spare)-1]
		size := int64(cap(c.data)) + int64(cap(c.entries))*entryBytes
		if int64(cap(c.data)) >= data && int64(cap(c.entries)) >= entries && size <= memory {
			c.reset()
			return c
		}
	}
	return &chunk{data: make([]byte, 0, data), entries: make([]entry, 0, entries)}
}

// usual returns the bytes and the entries of a chunk that has room for any partition, or
// of one of memory bytes that is shared out as the average record needs it.
func (s *Shuffle) usual(memory int64) (data, entries int64) {
	raw, records := int64(0), int64(0)
	for i := range s.parts {
		f := &s.parts[i].w.file
		data, entries = max(data, f.raw), max(entries, f.records)
		raw, records = raw+f.raw, records+f.records
	}
	if data+entries*entryBytes > memory {
		entries = memory / (raw/records + entryBytes)
		data = memory - entries*entryBytes
	}
	return data, entries
}

func (s *Shuffle) give(c *chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare = append(s.spare, c)
}
