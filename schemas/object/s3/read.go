package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// maxBlocks limits the cached blocks of a ReaderAt to 64 MiB: the columns of a wide Parquet file are read in parallel
// and must not evict each other.
var maxBlocks = 64 // tests lower it

const (
	// maxTries bounds the consecutive broken streams without progress.
	maxTries = 5

	// firstPause is the wait before the second try; it doubles with each further one.
	firstPause = 100 * time.Millisecond

	// progress is the number of bytes after which earlier failures no longer count.
	progress = 1 << 20

	// blockSize is the number of bytes of one request of a ReaderAt: 1 MiB.
	blockSize = 1 << 20
)

// A reader reads a range of one version of an object. A broken stream resumes at its offset.
type reader struct {
	ctx      context.Context
	bucket   *Bucket
	info     object.Info
	off, end int64         // offsets of the next byte and after the last one
	body     io.ReadCloser // nil between two streams
	mark     int64         // value of off when failures was last reset
	failures int
	err      error
}

// NewReader implements object.Bucket. If the object was replaced, Read fails with object.ErrChanged.
func (b *Bucket) NewReader(ctx context.Context, o object.Info) io.ReadCloser {
	return &reader{ctx: ctx, bucket: b, info: o, end: o.Size}
}

// ReadRange implements object.Bucket.
func (b *Bucket) ReadRange(ctx context.Context, o object.Info, off, n int64) ([]byte, error) {
	r := &reader{ctx: ctx, bucket: b, info: o, off: off, end: off + n}
	defer func() { _ = r.Close() }() // opened for reading
	buf := make([]byte, n)
	_, err := io.ReadFull(r, buf)
	return buf, err
}

// Read implements io.Reader. The error names the object.
func (r *reader) Read(p []byte) (n int, err error) {
	for n == 0 && len(p) > 0 && r.err == nil {
		switch {
		case r.off == r.end:
			r.err = io.EOF
		case r.body == nil:
			r.err = failed(r.bucket.at(r.info.Key), r.open())
		default:
			n, err = r.body.Read(p[:min(int64(len(p)), r.end-r.off)])
			if r.off += int64(n); r.off-r.mark >= progress {
				r.mark, r.failures = r.off, 0
			}
			if err == nil {
				continue
			}
			_ = r.body.Close() // the stream failed or ended; its error is in err
			r.body = nil
			if r.off == r.end {
				continue
			}
			if err == io.EOF {
				err = fmt.Errorf("%w: at offset %d of %d bytes", object.ErrShort, r.off, r.info.Size)
			}
			if r.failures++; r.failures >= maxTries {
				err = fmt.Errorf("given up after %d tries: %w", r.failures, err)
			} else {
				err = pause(r.ctx, r.failures)
			}
			r.err = failed(r.bucket.at(r.info.Key), err)
		}
	}
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, r.err
}

// pause waits before the next try, depending on the number of failures.
func pause(ctx context.Context, failures int) error {
	t := time.NewTimer(firstPause << (failures - 1))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// open opens a stream of the remaining bytes. It compares size and ETag, for stores that ignore the condition.
func (r *reader) open() error {
	var o minio.GetObjectOptions
	if r.info.ETag != "" {
		o.Set("If-Match", `"`+r.info.ETag+`"`)
	}
	switch {
	case r.end < r.info.Size:
		o.Set("Range", fmt.Sprintf("bytes=%d-%d", r.off, r.end-1))
	case r.off > 0:
		o.Set("Range", fmt.Sprintf("bytes=%d-", r.off))
	}
	b := r.bucket
	body, info, header, err := b.client.GetObject(r.ctx, b.loc.Bucket, b.key(r.info.Key), o)
	if class := classOf(err); class == errCondition || r.off > 0 && class == fs.ErrNotExist {
		return changed(err)
	}
	if err != nil {
		return err
	}
	size := info.Size // of the whole object
	if _, total, ok := strings.Cut(header.Get("Content-Range"), "/"); ok {
		if size, err = strconv.ParseInt(total, 10, 64); err != nil {
			err = fmt.Errorf("Content-Range %q: %w", header.Get("Content-Range"), err)
		}
	}
	switch {
	case err != nil:
	case size < 0:
		err = errNoSize
	case size != r.info.Size || r.info.ETag != "" && info.ETag != "" && info.ETag != r.info.ETag:
		err = fmt.Errorf("%w: it had %d bytes and ETag %s, now %d bytes and ETag %s", object.ErrChanged, r.info.Size, r.info.ETag, size, info.ETag)
	}
	if err != nil {
		_ = body.Close() // discarded
		return err
	}
	r.body = body
	return nil
}

// Close ends the stream.
func (r *reader) Close() error {
	r.err = io.ErrClosedPipe
	if r.body == nil {
		return nil
	}
	body := r.body
	r.body = nil
	return failed(r.bucket.at(r.info.Key), body.Close())
}

// A readerAt reads one version of an object at any offset, and caches the most recently used blocks. It is safe for
// concurrent use.
type readerAt struct {
	ctx    context.Context
	bucket *Bucket
	info   object.Info

	mu     sync.Mutex
	blocks []block // most recently used first
}

type block struct {
	number int64
	data   []byte
}

// NewReaderAt implements object.Bucket.
func (b *Bucket) NewReaderAt(ctx context.Context, o object.Info) io.ReaderAt {
	return &readerAt{ctx: ctx, bucket: b, info: o}
}

// ReadAt implements io.ReaderAt. The error names the object.
func (r *readerAt) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, failed(r.bucket.at(r.info.Key), errors.New("negative offset"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < len(p) && off < r.info.Size {
		data, err := r.block(off / blockSize)
		if err != nil {
			return n, err
		}
		c := copy(p[n:], data[off%blockSize:])
		n, off = n+c, off+int64(c)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// block returns a block and marks it as most recently used.
func (r *readerAt) block(number int64) ([]byte, error) {
	i := slices.IndexFunc(r.blocks, func(b block) bool { return b.number == number })
	var b block
	if i >= 0 {
		b = r.blocks[i]
		r.blocks = slices.Delete(r.blocks, i, i+1)
	} else {
		off := number * blockSize
		data, err := r.bucket.ReadRange(r.ctx, r.info, off, min(blockSize, r.info.Size-off))
		if err != nil {
			return nil, err
		}
		b = block{number, data}
	}
	r.blocks = slices.Insert(r.blocks[:min(len(r.blocks), maxBlocks-1)], 0, b)
	return b.data, nil
}
