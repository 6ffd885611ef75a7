// Package partial has files of a bucket on this machine as far as they were read. A File fetches what is read
// into a sparse file, a granule at a time, so that it can be mapped.
package partial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/reelsplice/reelsplice/schemas/object"
)

const (
	// DefaultGranule is the number of bytes that are fetched at least: 256 KiB.
	DefaultGranule = 256 << 10

	// maxRequest is how many bytes one request fetches at most.
	maxRequest = 8 << 20

	// maxAhead is how many bytes are fetched beyond what was asked for, when a file is read from one end to the
	// other. It starts with a granule and doubles.
	maxAhead = 4 << 20
)

// Options name a file.
type Options struct {
	Folder object.Folder
	Info   object.Info // the version to read; without an ETag, any of that size
	// Path is where the sparse file lies, which no other may have. Folders above it are made.
	Path    string
	Granule int64 // bytes; DefaultGranule if 0
}

// A File is an object as far as it was read. Goroutines may share it. Errors name the object.
type File struct {
	o       Options
	ctx     context.Context
	cancel  context.CancelFunc
	local   *os.File
	fetched atomic.Int64

	mu      sync.Mutex // guards what follows
	have    []uint64   // a bit for each granule that is there
	pending map[int64]*fetch
	next    int64 // granule behind the last fetch
	ahead   int64 // granules that the next fetch takes, if it starts there
}

// A fetch is a request at work, for granules from one number up to another.
type fetch struct {
	from, to int64
	done     chan struct{}
	err      error // once done is closed
}

// Open makes the sparse file, and fetches nothing. The end of ctx ends all fetches.
func Open(ctx context.Context, o Options) (*File, error) {
	if o.Granule == 0 {
		o.Granule = DefaultGranule
	}
	if o.Granule < 0 || o.Info.Size < 0 {
		return nil, fmt.Errorf("open %s: granules of %d bytes, size of %d bytes: want positive ones", o.Folder.URL(o.Info.Key), o.Granule, o.Info.Size)
	}
	local, err := create(o.Path, o.Info.Size)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", o.Folder.URL(o.Info.Key), err)
	}
	f := &File{o: o, local: local, pending: map[int64]*fetch{}, ahead: 1}
	f.have = make([]uint64, (f.granules(o.Info.Size)+63)/64)
	f.ctx, f.cancel = context.WithCancel(ctx)
	return f, nil
}

// create makes a file of holes.
func create(path string, size int64) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	makeSparse(f)
	if err := f.Truncate(size); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return f, nil
}

// granules returns how many granules the first n bytes lie in.
func (f *File) granules(n int64) int64 { return (n + f.o.Granule - 1) / f.o.Granule }

// Handle returns the sparse file, for mapping. Bytes that were not filled are zeros.
func (f *File) Handle() *os.File { return f.local }

// Size returns the size of the object.
func (f *File) Size() int64 { return f.o.Info.Size }

// Name returns the name of the object for messages.
func (f *File) Name() string { return f.o.Folder.URL(f.o.Info.Key) }

// Fetched returns the number of bytes that were fetched.
func (f *File) Fetched() int64 { return f.fetched.Load() }

// Close ends fetches, and removes the sparse file.
func (f *File) Close() error {
	f.cancel()
	return errors.Join(f.local.Close(), os.Remove(f.o.Path))
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read %s: negative offset %d", f.Name(), off)
	}
	n := min(int64(len(p)), f.o.Info.Size-off)
	if n <= 0 && len(p) > 0 {
		return 0, io.EOF
	}
	if err := f.Fill(off, n); err != nil {
		return 0, err
	}
	read, err := f.local.ReadAt(p[:n], off)
	if err == nil && n < int64(len(p)) {
		err = io.EOF
	}
	return read, err
}

// Fill brings n bytes from off on, all of which must exist, into the sparse file. What is there already is not
// fetched again, and what another goroutine fetches is waited for.
func (f *File) Fill(off, n int64) error {
	if err := f.within(off, n); err != nil || n == 0 {
		return err
	}
	end := f.granules(off + n)
	for at := off / f.o.Granule; at < end; {
		w, own := f.claim(at, end)
		if w == nil {
			return nil
		}
		if own {
			f.run(w)
		}
		<-w.done
		if w.err != nil {
			return w.err
		}
		at = w.to
	}
	return nil
}

// within checks a range.
func (f *File) within(off, n int64) error {
	if off < 0 || n < 0 || off > f.o.Info.Size-n {
		return fmt.Errorf("read %s: %d bytes at offset %d of %d", f.Name(), n, off, f.o.Info.Size)
	}
	return nil
}

// claim returns the fetch of the first granule from at up to end that is missing, and whether the caller has
// to run it; nil if none is missing.
func (f *File) claim(at, end int64) (w *fetch, own bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for at < end && f.has(at) {
		at++
	}
	if at >= end {
		return nil, false
	}
	if w := f.pending[at]; w != nil {
		return w, false
	}
	if at != f.next {
		f.ahead = 1
	}
	end = min(max(end, at+f.ahead), f.granules(f.o.Info.Size), at+max(1, maxRequest/f.o.Granule))
	f.ahead = min(2*f.ahead, max(1, maxAhead/f.o.Granule))
	w = &fetch{from: at, to: at, done: make(chan struct{})}
	for w.to < end && !f.has(w.to) && f.pending[w.to] == nil {
		f.pending[w.to] = w
		w.to++
	}
	f.next = w.to
	return w, true
}

func (f *File) has(granule int64) bool { return f.have[granule/64]>>(granule%64)&1 != 0 }

// run fetches what w has claimed.
func (f *File) run(w *fetch) {
	off := w.from * f.o.Granule
	w.err = f.fetch(off, min(w.to*f.o.Granule, f.o.Info.Size)-off)
	f.mu.Lock()
	for i := w.from; i < w.to; i++ {
		delete(f.pending, i)
		if w.err == nil {
			f.have[i/64] |= 1 << (i % 64)
		}
	}
	f.mu.Unlock()
	close(w.done)
}

// fetch writes bytes of the object into the sparse file.
func (f *File) fetch(off, n int64) error {
	data, err := f.o.Folder.ReadRange(f.ctx, f.o.Info, off, n)
	if err == nil && int64(len(data)) != n {
		err = fmt.Errorf("%s: %w: %d bytes at offset %d, want %d", f.Name(), object.ErrShort, len(data), off, n)
	}
	if err != nil {
		return fmt.Errorf("fetch %d bytes at offset %d: %w", n, off, err)
	}
	f.fetched.Add(n)
	if _, err := f.local.WriteAt(data, off); err != nil {
		return fmt.Errorf("keep bytes of %s: %w", f.Name(), err)
	}
	return nil
}

// Refetch fetches n bytes from off on that are there but wrong, and no others: what lies beside them stays.
func (f *File) Refetch(off, n int64) error {
	if err := f.Fill(off, n); err != nil || n == 0 { // no other fetch of them is at work from here on
		return err
	}
	return f.fetch(off, n)
}
