package shuffle

import (
	"io"
	"os"
	"slices"
)

// maxFanIn is how many runs are merged at once at most, and so how many files are open.
const maxFanIn = 128

func removeAll(files []file) {
	for _, f := range files {
		os.Remove(f.path)
	}
}

// runBlock returns the bytes of the blocks of runs: half of the memory holds those of
// sixteen runs at least.
func (it *Iterator) runBlock() int { return int(min(max(it.memory/32, minBlock), maxBlock)) }

// fanIn returns how many runs can be merged at once so that a block of each fits into
// half of the memory. Records above the memory, which cannot, do not count.
func (it *Iterator) fanIn() int {
	block := int64(it.runBlock())
	for _, f := range it.runs {
		if f.long <= it.memory {
			block = max(block, f.long)
		}
	}
	return int(min(max(it.memory/2/block, 2), maxFanIn))
}

// merge merges runs in passes until one pass is left, which Next makes.
func (it *Iterator) merge() error {
	for len(it.runs) > it.fanIn() {
		if err := it.pass(); err != nil {
			return err
		}
	}
	m, err := it.newMerger(it.runs)
	it.merger = m
	return err
}

// pass merges the smallest runs into one, as many as can be and no more than leave one
// pass.
func (it *Iterator) pass() error {
	slices.SortFunc(it.runs, func(a, b file) int { return int(min(max(a.bytes-b.bytes, -1), 1)) })
	fan := it.fanIn()
	n := min(fan, max(2, len(it.runs)-fan+1))
	from := slices.Clone(it.runs[:n])
	w := it.newRun()
	if err := it.mergeInto(w, from); err != nil {
		w.abort()
		return err
	}
	it.runs = slices.Delete(it.runs, 0, n)
	removeAll(from)
	return it.finish(w)
}

func (it *Iterator) mergeInto(w *blockWriter, from []file) error {
	m, err := it.newMerger(from)
	if err != nil {
		return err
	}
	defer m.close()
	for n := 0; ; n++ {
		if n%ctxEvery == 0 && it.ctx.Err() != nil {
			return it.ctx.Err()
		}
		key, payload, err := m.next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = w.add(it.s.create, key, payload)
		}
		if err != nil {
			return err
		}
	}
}

// A runReader reads the records of a run.
type runReader struct {
	*blockReader
	block []byte
	rest  []byte // records of block behind the current one

	key, payload []byte // of the current record
	prefix       uint64
}

// advance moves to the next record. It returns io.EOF behind the last one.
func (r *runReader) advance() error {
	if len(r.rest) == 0 {
		size, _, err := r.next()
		if err != nil {
			return err
		}
		r.block = slices.Grow(r.block[:0], size)[:size]
		if err := r.body(r.block); err != nil {
			return err
		}
		r.rest = r.block
	}
	key, payload, n, err := record(r.rest)
	if err != nil {
		return r.failed(err)
	}
	r.key, r.payload, r.prefix, r.rest = key, payload, prefix(key), r.rest[n:]
	return nil
}

func (r *runReader) less(o *runReader) bool {
	if r.prefix != o.prefix {
		return r.prefix < o.prefix
	}
	return order(r.key, r.payload, o.key, o.payload) < 0
}

// A merger merges runs. heap[0] has the smallest current record.
type merger struct {
	heap  []*runReader
	moved bool // heap[0] was returned and must move on
}

// newMerger opens files for merging. Their blocks lie in the memory of the chunk as long
// as there is any.
func (it *Iterator) newMerger(files []file) (*merger, error) {
	m, scratch, size := &merger{}, it.chunk.data[:0:cap(it.chunk.data)], it.runBlock()
	for _, f := range files {
		b, err := f.open()
		if err != nil {
			m.close()
			return nil, err
		}
		r := &runReader{blockReader: b}
		m.heap = append(m.heap, r)
		if cap(scratch) >= size {
			r.block, scratch = scratch[:0:size], scratch[size:size:cap(scratch)]
		}
		if err := r.advance(); err != nil { // a run is never empty
			m.close()
			return nil, err
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m, nil
}

// next returns the next record, which is valid until the next call.
func (m *merger) next() (key, payload []byte, err error) {
	if m.moved {
		if err := m.move(); err != nil {
			return nil, nil, err
		}
	}
	if len(m.heap) == 0 {
		return nil, nil, io.EOF
	}
	m.moved = true
	return m.heap[0].key, m.heap[0].payload, nil
}

// move reads the next record of the first run.
func (m *merger) move() error {
	m.moved = false
	switch err := m.heap[0].advance(); err {
	case nil:
	case io.EOF:
		m.heap[0].close()
		last := len(m.heap) - 1
		m.heap[0], m.heap[last] = m.heap[last], nil
		m.heap = m.heap[:last]
	default:
		return err
	}
	m.down(0)
	return nil
}

// down moves heap[i] to where both below it are larger.
func (m *merger) down(i int) {
	h := m.heap
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1].less(h[c]) {
			c++
		}
		if !h[c].less(h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

func (m *merger) close() {
	for _, r := range m.heap {
		r.close()
	}
	m.heap = nil
}
