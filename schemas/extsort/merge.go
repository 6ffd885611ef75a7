package extsort

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
)

// maxFanIn is the largest number of files merged at once. Tests lower it.
var maxFanIn int64 = 512

// ctxEvery is the number of records between checks of the context.
const ctxEvery = 1 << 14

// Merge returns the records of a section of all files in order. All files have that section. If the memory cannot
// hold a 16 KiB block per file, Merge first merges files below o.Dir. ctx cancels that, and Next. The caller keeps
// the files open until the Iterator is closed.
func Merge(ctx context.Context, files []*File, section int, o Options) (*Iterator, error) {
	files = slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return f.sections[section].records == 0 })
	temporary := &folder{parent: o.Dir}
	m := merge{temporary, o.memory(), section, section + 1}
	reduced, err := m.reduce(ctx, files, false)
	if err != nil {
		return nil, errors.Join(err, temporary.remove())
	}
	it, err := mergeSection(ctx, reduced, section)
	if err != nil {
		return nil, errors.Join(err, temporary.remove())
	}
	it.temporary = temporary
	for _, f := range reduced {
		if !slices.Contains(files, f) {
			it.files = append(it.files, f)
		}
	}
	return it, nil
}

// A merge reduces the number of files.
type merge struct {
	folder   *folder
	memory   int64
	from, to int // sections
}

// fanIn returns the number of files that can be merged at once so that a block of each fits into half of the memory.
// Records larger than the memory are ignored.
func (m merge) fanIn(files []*File) int {
	block := int64(blockBytes)
	for _, f := range files {
		if f.longest <= m.memory {
			block = max(block, f.longest)
		}
	}
	return int(min(max(m.memory/2/block, 2), maxFanIn))
}

// reduce merges the smallest files, in passes, until one pass is left. It removes merged files that it made itself,
// or all if owned is true.
func (m merge) reduce(ctx context.Context, files []*File, owned bool) ([]*File, error) {
	created := map[*File]bool{}
	files = slices.Clone(files)
	for fan := m.fanIn(files); len(files) > fan; fan = m.fanIn(files) {
		slices.SortStableFunc(files, func(a, b *File) int { return cmp.Compare(m.bytes(a), m.bytes(b)) })
		n := min(fan, max(2, len(files)-fan+1)) // merging n files removes n-1: no more than needed
		path, err := m.folder.name()
		if err != nil {
			return files, err
		}
		f, err := m.write(ctx, files[:n], path)
		if err != nil {
			return files, err
		}
		for _, old := range files[:n] {
			if owned || created[old] {
				old.Close()
				os.Remove(old.name)
			}
		}
		created[f] = true
		files = append(slices.Delete(files, 0, n), f)
	}
	return files, nil
}

// bytes returns the size of a file's merged sections.
func (m merge) bytes(f *File) int64 { return f.sections[m.to-1].to - f.sections[m.from].from }

// write merges files into one at path with the same number of sections. Sections outside the range stay empty.
func (m merge) write(ctx context.Context, files []*File, path string) (*File, error) {
	w, err := Create(path, len(files[0].sections))
	if err != nil {
		return nil, err
	}
	for section := m.from; section < m.to; section++ {
		it, err := mergeSection(ctx, files, section)
		for err == nil {
			var record []byte
			if _, _, record, err = it.next(); err == nil {
				err = w.addEncoded(section, record)
			}
		}
		if err != io.EOF {
			return nil, w.abort(err)
		}
	}
	return w.finish()
}

// mergeSection merges one section of files in a single pass.
func mergeSection(ctx context.Context, files []*File, section int) (*Iterator, error) {
	it := &Iterator{ctx: ctx}
	for _, f := range files {
		s := f.sections[section]
		if s.records == 0 {
			continue
		}
		r := &sectionReader{file: f, offset: s.from, end: s.to}
		if err := r.next(); err != nil {
			return nil, err
		}
		it.heap = append(it.heap, r)
	}
	for i := len(it.heap)/2 - 1; i >= 0; i-- {
		it.heap.down(i)
	}
	return it, nil
}

// A heap of readers: the first has the smallest current record.
type heap []*sectionReader

// down moves h[i] down until both children are larger.
func (h heap) down(i int) {
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

// An Iterator returns records in order. It is for one goroutine.
type Iterator struct {
	ctx      context.Context
	memory   *memory // for entries
	entries  []entry
	heap     heap
	consumed bool // heap[0] was returned and must advance
	returned int  // number of records
	err      error

	temporary *folder // folder of files; nil for none
	files     []*File // owned by the Iterator
}

// Next returns the next record, or io.EOF after the last one. key and payload are valid until the next call. A
// damaged or unreadable file causes an error, which later calls repeat.
func (it *Iterator) Next() (key, payload []byte, err error) {
	if it.err == nil {
		key, payload, _, it.err = it.next()
	}
	if it.err != nil {
		return nil, nil, it.err
	}
	return key, payload, nil
}

func (it *Iterator) next() (key, payload, record []byte, err error) {
	if it.returned%ctxEvery == 0 && it.ctx.Err() != nil {
		return nil, nil, nil, it.ctx.Err()
	}
	it.returned++
	switch {
	case it.memory == nil:
	case len(it.entries) == 0:
		return nil, nil, nil, io.EOF
	case len(it.memory.blocks) == 0:
		return nil, nil, nil, errClosed
	default:
		key, payload = it.memory.split(it.entries[0])
		it.entries = it.entries[1:]
		return key, payload, nil, nil
	}
	if it.consumed {
		it.consumed = false
		switch err := it.heap[0].next(); err {
		case nil:
		case io.EOF:
			last := len(it.heap) - 1
			it.heap[0], it.heap[last] = it.heap[last], nil
			it.heap = it.heap[:last]
		default:
			return nil, nil, nil, err
		}
		it.heap.down(0)
	}
	if len(it.heap) == 0 {
		return nil, nil, nil, io.EOF
	}
	it.consumed = true
	r := it.heap[0]
	return r.key, r.payload, r.record, nil
}

// Each calls fn with the remaining records in order. It stops at and returns the first error of fn.
func (it *Iterator) Each(fn func(key, payload []byte) error) error {
	for {
		key, payload, err := it.Next()
		if err == io.EOF {
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

// Close releases the memory and the temporary files of the Iterator. A second Close does nothing.
func (it *Iterator) Close() error {
	if it.err == nil {
		it.err = errors.New("extsort: iterator is closed")
	}
	it.memory, it.entries, it.heap = nil, nil, nil
	for _, f := range it.files {
		f.Close()
	}
	it.files = nil
	if it.temporary != nil {
		return it.temporary.remove()
	}
	return nil
}
