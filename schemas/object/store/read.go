package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"reelsplice/schemas/object"
)

const (
	// maxTries bounds the requests in a row without progress.
	maxTries = 5

	// firstPause is the wait before the second try; it doubles with each further one.
	firstPause = 100 * time.Millisecond

	// progress is the number of bytes after which earlier failures no longer count.
	progress = 1 << 20
)

// retry counts failures.
type retry struct{ failures int }

// after waits before the next try of a request that failed with err. It returns an error
// when the request must not be tried again.
func (r *retry) after(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !transient(err) {
		return err
	}
	if r.failures++; r.failures >= maxTries {
		return fmt.Errorf("given up after %d tries: %w", r.failures, err)
	}
	t := time.NewTimer(firstPause << (r.failures - 1))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// A Reader reads one version of an object from start to end. A broken stream resumes at
// its offset.
type Reader struct {
	ctx    context.Context
	bucket *Bucket
	info   object.Info
	body   io.ReadCloser // nil between two streams
	off    int64         // of the next byte
	mark   int64         // off when the last failure was forgotten
	try    retry
	err    error
}

var _ io.ReadCloser = (*Reader)(nil)

// NewReader reads the version of an object that Stat or List described. If the object was
// replaced, Read fails with ErrChanged. ctx covers all reads.
func (b *Bucket) NewReader(ctx context.Context, o object.Info) io.ReadCloser {
	return &Reader{ctx: ctx, bucket: b, info: o}
}

// Info describes the object.
func (r *Reader) Info() object.Info { return r.info }

// Read implements io.Reader. The error names the object.
func (r *Reader) Read(p []byte) (int, error) {
	for r.err == nil {
		if r.off == r.info.Size {
			r.err = io.EOF
			break
		}
		if len(p) == 0 {
			return 0, nil
		}
		n, err := r.read(p)
		if n > 0 {
			return n, nil
		}
		if err != nil {
			r.err = failed(r.bucket.loc.At(r.info.Key), r.try.after(r.ctx, err))
		}
	}
	return 0, r.err
}

// read reads once and opens a stream if none is open. An error closes the stream.
func (r *Reader) read(p []byte) (int, error) {
	if r.body == nil {
		body, err := r.bucket.rangeReader(r.ctx, r.info, r.off, -1)
		if err != nil {
			return 0, err
		}
		r.body = body
	}
	n, err := r.body.Read(p[:min(int64(len(p)), r.info.Size-r.off)])
	if r.off += int64(n); r.off-r.mark >= progress {
		r.mark, r.try = r.off, retry{}
	}
	if err == nil {
		return n, nil
	}
	_ = r.body.Close() // the stream failed or ended; its error is in err
	r.body = nil
	if err == io.EOF {
		err = fmt.Errorf("%w: after %d of %d bytes", object.ErrShort, r.off, r.info.Size)
	}
	return n, err
}

// Close ends the stream.
func (r *Reader) Close() error {
	r.err = io.ErrClosedPipe
	if r.body == nil {
		return nil
	}
	body := r.body
	r.body = nil
	return failed(r.bucket.loc.At(r.info.Key), body.Close())
}

// rangeReader opens a stream of n bytes from off, or to the end if n is below 0, of the
// version of o. Stores that ignore the condition are compared by size and ETag.
func (b *Bucket) rangeReader(ctx context.Context, o object.Info, off, n int64) (io.ReadCloser, error) {
	r, size, etag, err := b.driver.get(ctx, o.Key, o.ETag, off, n)
	if errors.Is(err, errCondition) || off > 0 && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", object.ErrChanged, textError{err})
	}
	if err != nil {
		return nil, err
	}
	if size != o.Size || o.ETag != "" && etag != "" && etag != o.ETag {
		_ = r.Close() // it is not read
		return nil, fmt.Errorf("%w: it had %d bytes and ETag %s, now %d bytes and ETag %s", object.ErrChanged, o.Size, o.ETag, size, etag)
	}
	return r, nil
}
