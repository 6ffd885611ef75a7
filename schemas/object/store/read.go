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
	// maxTries is how often a request is made in all, as long as nothing comes of it.
	maxTries = 5

	// firstPause is how long the second try waits; each further one waits twice as long.
	firstPause = 100 * time.Millisecond

	// progress is how many bytes must have come for failures to be forgotten.
	progress = 1 << 20
)

// retry counts failures.
type retry struct{ failures int }

// after waits for a moment, so that what failed with err may be tried again. It
// returns an error when it must not.
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

// A Reader reads one version of an object from its start to its end. A stream that
// breaks goes on at the byte where it broke.
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

// NewReader reads the version of an object that Stat or List described. A version that
// is gone makes the first Read fail with ErrChanged. ctx is for all reading.
func (b *Bucket) NewReader(ctx context.Context, o object.Info) io.ReadCloser {
	return &Reader{ctx: ctx, bucket: b, info: o}
}

// Info describes what is read.
func (r *Reader) Info() object.Info { return r.info }

// Read reads on. The error names the object.
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

// read reads once, from a new stream if there is none. After an error there is none.
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
