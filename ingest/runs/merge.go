package runs

import (
	"context"
	"errors"
	"io"
)

const (
	// maxFanIn is how many runs are merged at once at most, and so how many files
	// are open.
	maxFanIn = 128

	// ctxEvery is how many records are merged between two looks at the context.
	ctxEvery = 1 << 14
)

// Sort ends the adding and returns the records in ascending order of key, then seq,
// then the order in which they were added. When there are more than 128 runs they are
// merged in passes first, which is what ctx can stop. The Iterator is valid until the
// Sorter is closed.
func (s *Sorter) Sort(ctx context.Context) (*Iterator, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.sorted {
		return nil, errors.New("runs: sort called twice")
	}
	s.sorted = true
	if s.fail(s.prepare(ctx)); s.err != nil {
		return nil, s.err
	}
	if len(s.files) == 0 {
		return &Iterator{sorter: s}, nil
	}
	m, err := s.spill.merger(s.files, s.memory)
	if err != nil {
		s.fail(err)
		return nil, err
	}
	s.files = nil // each is removed when it has been read
	return &Iterator{sorter: s, merger: m}, nil
}

// prepare orders what is in memory, or writes it out beside the runs that there are
// and merges until one pass is left.
func (s *Sorter) prepare(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(s.files) == 0 {
		s.order()
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.entries, s.blocks, s.free = nil, nil, nil // their memory is for the buffers now
	for len(s.files) > s.fanIn() {
		if err := s.pass(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fanIn returns how many runs can be merged at once so that their current records fit
// into half of the memory. Payloads above the memory, which cannot, do not count.
func (s *Sorter) fanIn() int {
	long := int64(1)
	for _, f := range s.files {
		if f.long <= s.memory {
			long = max(long, f.long)
		}
	}
	return int(min(max(s.memory/2/long, 2), maxFanIn))
}

// pass merges neighbouring runs, as many as needed so that one pass fewer is left.
// Neighbours stay in order, so equal records do too.
func (s *Sorter) pass(ctx context.Context) error {
	var merged []runFile
	rest, fan := s.files, s.fanIn()
	for len(rest) > 0 && len(merged)+len(rest) > fan {
		// Merging n runs into one takes n-1 away: no more than is needed.
		n := min(fan, len(rest), max(2, len(merged)+len(rest)-fan+1))
		f, err := s.mergeFiles(ctx, rest[:n])
		if err != nil {
			return err
		}
		merged, rest = append(merged, f), rest[n:]
	}
	s.files = append(merged, rest...)
	return nil
}

// mergeFiles makes one run of several.
func (s *Sorter) mergeFiles(ctx context.Context, files []runFile) (runFile, error) {
	m, err := s.spill.merger(files, s.memory)
	if err != nil {
		return runFile{}, err
	}
	w, err := s.spill.newRun(bufferFor(s.memory, len(files)))
	if err != nil {
		return runFile{}, err
	}
	for n := 0; ; n++ {
		if n%ctxEvery == 0 && ctx.Err() != nil {
			return runFile{}, w.abort(ctx.Err())
		}
		r, err := m.next()
		if err == io.EOF {
			return w.finish()
		}
		if err == nil {
			err = w.add(r.key, r.seq, r.payload)
		}
		if err != nil {
			return runFile{}, w.abort(err)
		}
	}
}

// bufferFor returns the buffer of each file when n are merged: half of the memory,
// because the current records take some too.
func bufferFor(memory int64, n int) int64 {
	return min(max(memory/int64(2*(n+1)), minBuffer), maxBuffer)
}

// A merger merges runs. heap[0] has the smallest current record.
type merger struct {
	spill *spill
	heap  []head
	moved bool // heap[0] was returned and must move on
}

type head struct {
	*runReader
	rank int // place of the run among those merged
}

func (a head) less(b head) bool {
	if c := a.key.Compare(b.key); c != 0 {
		return c < 0
	}
	if a.seq != b.seq {
		return a.seq < b.seq
	}
	return a.rank < b.rank
}

// merger opens files for merging with buffers of memory bytes together.
func (s *spill) merger(files []runFile, memory int64) (*merger, error) {
	m := &merger{spill: s}
	for i, f := range files {
		r, err := s.read(f, int(bufferFor(memory, len(files))))
		if err != nil {
			return nil, err
		}
		if err := r.next(); err != nil {
			return nil, err // a run is never empty
		}
		m.heap = append(m.heap, head{r, i})
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m, nil
}

// next returns the run whose current record is the next one; it stays current until
// the next call.
func (m *merger) next() (*runReader, error) {
	if m.moved {
		if err := m.move(); err != nil {
			return nil, err
		}
	}
	if len(m.heap) == 0 {
		return nil, io.EOF
	}
	m.moved = true
	return m.heap[0].runReader, nil
}

// move reads the next record of the first run.
func (m *merger) move() error {
	m.moved = false
	switch err := m.heap[0].next(); err {
	case nil:
	case io.EOF:
		m.spill.done(m.heap[0].runReader)
		last := len(m.heap) - 1
		m.heap[0], m.heap[last] = m.heap[last], head{}
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

// An Iterator gives the records of a Sorter in order. It is for one goroutine.
type Iterator struct {
	sorter *Sorter
	merger *merger // nil when all records are in memory
	at     int
	err    error
}

// Next returns the next record, or io.EOF behind the last one. payload is valid until
// the next call. A damaged or unreadable run is an error, which later calls repeat.
func (it *Iterator) Next() (key Key, seq uint64, payload []byte, err error) {
	if it.err == nil && it.sorter.err != nil {
		it.err = it.sorter.err
	}
	if it.err != nil {
		return Key{}, 0, nil, it.err
	}
	if it.merger == nil {
		if it.at == len(it.sorter.entries) {
			return Key{}, 0, nil, io.EOF
		}
		e := it.sorter.entries[it.at]
		it.at++
		return e.key, e.seq, it.sorter.payload(e), nil
	}
	r, err := it.merger.next()
	if err != nil {
		it.err = err
		return Key{}, 0, nil, err
	}
	return r.key, r.seq, r.payload, nil
}

// Close removes all temporary files, as Sorter.Close does.
func (it *Iterator) Close() error { return it.sorter.Close() }
