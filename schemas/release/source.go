package release

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/release/mmap"
)

// A Source opens the files of a release, wherever they lie. A Reader may call it at any time until its Close,
// from many goroutines.
type Source func(f File) (Blob, error)

// A Blob is an open file of a release: whole, or filled as it is read.
type Blob struct {
	Handle *os.File // of f.Size bytes; the Reader maps it
	// Fill brings n bytes from off on into the file; nil for a whole file. Many goroutines call it. Its
	// error comes out of Guard, is no damage, and the next use tries again.
	Fill func(off, n int64) error
	// Refill is Fill for bytes that are there but wrong. It leaves others alone.
	Refill func(off, n int64) error
	// Close ends a file that is filled when the Reader closes. The Reader closes the Handle of a whole
	// file once it is mapped.
	Close func() error
}

// Dirs returns the Source of folders: a file comes from the first one that has it. That no one has it
// is an error that matches ErrCorrupt.
func Dirs(dirs ...string) Source {
	return func(f File) (Blob, error) {
		for _, dir := range dirs {
			h, err := durable.Open(filepath.Join(dir, f.Name))
			if !missing(err) {
				return Blob{Handle: h}, err
			}
		}
		return Blob{}, corrupt(f.Name, -1, "file is missing, the manifest has %d bytes", f.Size)
	}
}

const (
	// filesAtOnce is how many files are opened at a time: a bucket responds after many milliseconds.
	filesAtOnce = 16

	// usualEnd is how much of the end of a file that is filled comes at once. It has the footer, the list of
	// a small file, and the checks of any list.
	usualEnd = 8 << 10

	// maxRefills is how often bytes that turn out wrong are fetched again before they are damage.
	maxRefills = 3
)

// mapFiles maps the files of s. If any of them is filled as it is read, packs are opened when they are used: a
// release has thousands.
func (r *Reader) mapFiles(s Source) error {
	m := r.manifest
	if err := r.mapAll(slices.Concat(m.Parts, m.Index, m.Tables), s); err != nil {
		return err
	}
	for _, f := range r.files {
		if f.blob.Fill != nil {
			r.deferPacks(s)
			return nil
		}
	}
	return r.mapAll(m.Packs, s)
}

// mapAll maps some files, many at a time.
func (r *Reader) mapAll(files []File, s Source) error {
	var g errgroup.Group
	g.SetLimit(filesAtOnce)
	for _, f := range files {
		if r.files[f.Name] != nil {
			continue // two parts or packs of the same content
		}
		m := newMapping(r, f.Name, nil)
		r.files[f.Name] = m
		g.Go(func() error {
			err := m.open(f, s)
			if err == nil {
				mappings.Store(m, nil)
			}
			return err
		})
	}
	return g.Wait()
}

// deferPacks has packs opened when they are used.
func (r *Reader) deferPacks(s Source) {
	for _, f := range r.manifest.Packs {
		m := newMapping(r, f.Name, nil)
		m.later = &deferred{file: f, source: s}
		r.files[f.Name] = m
	}
}

// A deferred is a file that is opened when it is used.
type deferred struct {
	file   File
	source Source
	mu     sync.Mutex // held while it is opened
	opened atomic.Bool
}

// use opens a pack that is not open yet. It panics if that fails, as the methods of Reader do; the next
// use tries again.
func (m *mapping) use() {
	d := m.later
	if d == nil || d.opened.Load() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened.Load() {
		return
	}
	err := m.open(d.file, d.source)
	if err == nil {
		err = Guard(func() error { return m.parse(packMagic) })
	}
	if err != nil {
		m.drop()
		panic(asPanic(err))
	}
	mappings.Store(m, nil)
	d.opened.Store(true)
}

// isOpen reports whether the file is mapped.
func (m *mapping) isOpen() bool { return m.later == nil || m.later.opened.Load() }

// open maps the file, provided it has the length that the manifest says, and starts to read what parse will.
func (m *mapping) open(want File, s Source) (err error) {
	if m.blob, err = s(want); err != nil {
		return err
	}
	if err := m.mapHandle(want); err != nil {
		m.drop()
		return err
	}
	if m.blob.Fill != nil {
		err := m.fillEnds()
		if err != nil {
			m.drop()
		}
		return err
	}
	// What parse reads: the header, and at the end the footer and, of a
	// table, the list of sections.
	mmap.Fetch(m.all[:headerLen])
	mmap.Fetch(m.all[max(0, len(m.all)-usualList):])
	handle := m.blob.Handle
	m.blob = Blob{}
	return handle.Close()
}

// mapHandle maps the file of m.blob.
func (m *mapping) mapHandle(want File) error {
	st, err := m.blob.Handle.Stat()
	if err != nil {
		return err
	}
	if st.Size() != want.Size {
		return corrupt(want.Name, min(st.Size(), want.Size), "file is %d bytes long, the manifest has %d", st.Size(), want.Size)
	}
	if want.Size > math.MaxInt {
		return fmt.Errorf("%s: %d bytes are more than this machine can address", want.Name, want.Size)
	}
	if m.blob.Fill != nil && !mmap.Shared {
		return fmt.Errorf("%s: this system has no mapped files, so a release has to lie in a folder", want.Name)
	}
	b, err := mmap.Map(m.blob.Handle, int(want.Size))
	if err != nil {
		return fmt.Errorf("map %s: %w", want.Name, err)
	}
	m.all, m.path = b, m.blob.Handle.Name()
	return nil
}

// close ends the mapping, and a file that is filled.
func (m *mapping) close() error {
	mappings.Delete(m)
	var errs []error
	if len(m.all) > 0 {
		errs = append(errs, mmap.Unmap(m.all))
	}
	switch {
	case m.blob.Close != nil:
		errs = append(errs, m.blob.Close())
	case m.blob.Handle != nil:
		errs = append(errs, m.blob.Handle.Close())
	}
	return errors.Join(errs...)
}

// drop is close for a file that could not be opened and is not used yet.
func (m *mapping) drop() {
	_ = m.close() // the error that it could not be opened comes first
	m.all, m.data, m.sums, m.blob = nil, nil, nil, Blob{}
}

// A span is bytes of a file.
type span struct{ off, n uint64 }

// fetch brings spans of a file that is filled, and again those that sound does not accept. It panics if the
// bytes do not come; whether they are sound in the end is for the caller to find out.
func (m *mapping) fetch(sound func() bool, spans ...span) {
	bring := m.blob.Fill
	for range 1 + maxRefills {
		for _, s := range spans {
			if err := bring(int64(s.off), int64(s.n)); err != nil {
				panic(asPanic(fmt.Errorf("read %s: %w", m.name, err)))
			}
		}
		if sound() {
			return
		}
		bring = m.blob.Refill
	}
}

// fillEnds brings what parse reads: the footer, and the list of a part or a table.
func (m *mapping) fillEnds() error {
	return Guard(func() error {
		size := uint64(len(m.all))
		end := min(size, usualEnd)
		m.fetch(func() bool { return true }, span{size - end, end})
		foot, err := m.footer()
		if err != nil {
			return err
		}
		if list := m.list(&foot); list < foot.content {
			m.fetch(func() bool { return true }, span{list, foot.content - list})
		}
		return nil
	})
}

// list returns where the list of a part or a table starts, the end of the content for other files.
func (m *mapping) list(f *footer) uint64 {
	switch {
	case isTable(m.name):
		return f.counts[tableList]
	case isHashName(partPrefix, m.name):
		return f.counts[partList]
	}
	return f.content
}

// footer reads the footer.
func (m *mapping) footer() (f footer, err error) {
	parse := func() bool {
		f, err = parseFooter(m.name, m.all, uint64(len(m.all)))
		return err == nil
	}
	if m.blob.Fill == nil || len(m.all) < footerLen {
		parse()
		return f, err
	}
	m.fetch(parse, span{uint64(len(m.all)) - footerLen, footerLen})
	return f, err
}

// fillBlock brings a block and its check, again while they do not fit together.
func (m *mapping) fillBlock(b uint64) {
	block := blockOf(m.data, b)
	m.fetch(func() bool { return crc32.Checksum(block, castagnoli) == le.Uint32(m.sums[checkLen*b:]) },
		span{b * checkBlock, uint64(len(block))}, span{uint64(len(m.data)) + checkLen*b, checkLen})
}

// An unreadError is a panic about a file whose bytes did not come. Guard returns what it wraps: no damage.
type unreadError struct{ err error }

// asPanic returns what to panic with so that Guard returns err.
func asPanic(err error) any {
	var bad *CorruptError
	if errors.As(err, &bad) {
		return bad
	}
	return &unreadError{err}
}
