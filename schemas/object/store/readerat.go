package store

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"sync"

	"reelsplice/schemas/object"
)

const (
	// BlockSize is the number of bytes of one request of a ReaderAt: 1 MiB.
	BlockSize = 1 << 20

	// maxBlocks bounds the cached blocks of a ReaderAt at 64 MiB: the columns of a wide
	// Parquet file are read side by side and must not evict each other.
	maxBlocks = 64
)

// A ReaderAt reads one version of an object at any offset, and caches the last used blocks.
// Goroutines may share it.
type ReaderAt struct {
	ctx    context.Context
	bucket *Bucket
	info   object.Info

	mu     sync.Mutex
	blocks map[int64]*list.Element // by number
	used   *list.List              // of *block, the last used in front
}

type block struct {
	number int64
	data   []byte
}

var _ io.ReaderAt = (*ReaderAt)(nil)

// NewReaderAt reads the version of an object that Stat or List described. ctx covers all
// reads.
func (b *Bucket) NewReaderAt(ctx context.Context, o object.Info) io.ReaderAt {
	return &ReaderAt{ctx: ctx, bucket: b, info: o, blocks: map[int64]*list.Element{}, used: list.New()}
}

// Size returns the object's size in bytes.
func (r *ReaderAt) Size() int64 { return r.info.Size }

// ReadAt implements io.ReaderAt. The error names the object.
func (r *ReaderAt) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, failed(r.bucket.loc.At(r.info.Key), errOffset)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < len(p) && off < r.info.Size {
		data, err := r.block(off / BlockSize)
		if err != nil {
			return n, failed(r.bucket.loc.At(r.info.Key), err)
		}
		c := copy(p[n:], data[off%BlockSize:])
		n, off = n+c, off+int64(c)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// block returns a block and marks it as the last used.
func (r *ReaderAt) block(number int64) ([]byte, error) {
	if e, ok := r.blocks[number]; ok {
		r.used.MoveToFront(e)
		return e.Value.(*block).data, nil
	}
	b := &block{number: number}
	if r.used.Len() >= maxBlocks {
		last := r.used.Back()
		b.data = r.used.Remove(last).(*block).data[:0]
		delete(r.blocks, last.Value.(*block).number)
	}
	data, err := r.fetch(number, b.data)
	if err != nil {
		return nil, err
	}
	b.data = data
	r.blocks[number] = r.used.PushFront(b)
	return data, nil
}

// fetch reads a block into buf, or into a new buffer if buf is too small.
func (r *ReaderAt) fetch(number int64, buf []byte) ([]byte, error) {
	off := number * BlockSize
	size := min(BlockSize, r.info.Size-off)
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	return buf[:size], r.bucket.readRange(r.ctx, r.info, off, buf[:size])
}

// ReadRange returns n bytes from off of the version that Stat or List described; all of
// them must exist.
func (b *Bucket) ReadRange(ctx context.Context, o object.Info, off, n int64) ([]byte, error) {
	buf := make([]byte, n)
	if n == 0 {
		return buf, nil
	}
	return buf, failed(b.loc.At(o.Key), b.readRange(ctx, o, off, buf))
}

// readRange reads a range into buf, again after transient errors.
func (b *Bucket) readRange(ctx context.Context, o object.Info, off int64, buf []byte) error {
	var try retry
	for {
		err := b.readRangeOnce(ctx, o, off, buf)
		if err == nil {
			return nil
		}
		if err := try.after(ctx, err); err != nil {
			return err
		}
	}
}

func (b *Bucket) readRangeOnce(ctx context.Context, o object.Info, off int64, buf []byte) error {
	body, err := b.rangeReader(ctx, o, off, int64(len(buf)))
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // read side
	n, err := io.ReadFull(body, buf)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = fmt.Errorf("%w: %d of %d bytes from offset %d on", object.ErrShort, n, len(buf), off)
	}
	return err
}
