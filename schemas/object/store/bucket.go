package store

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// A driver sends the requests of one protocol. Its errors carry a class; see errors.go.
type driver interface {
	stat(ctx context.Context, key string) (object.Info, error)
	list(ctx context.Context, prefix string) ([]object.Info, error)
	// get opens a stream of n bytes from off, or to the end if n is below 0. It returns the
	// size and ETag of the whole object. Unless etag is "", another version is errCondition.
	get(ctx context.Context, key, etag string, off, n int64) (body io.ReadCloser, size int64, version string, err error)
	// put makes or replaces an object; if the condition does not hold, it fails with errCondition.
	put(ctx context.Context, key string, r *io.SectionReader, contentType string, c condition) error
	// copy makes or replaces an object from a version of another one of the bucket.
	copy(ctx context.Context, from object.Info, key string) error
	remove(ctx context.Context, key string) error
	close() error
}

// A condition of a write says what the key must have before; the zero one holds always.
type condition struct {
	none bool   // no object
	etag string // the object of this ETag
}

// A Bucket is an open bucket. Its methods may be called from several goroutines. Readers
// that they return end with the context of the call.
type Bucket struct {
	loc    object.Location
	driver driver
	stall  time.Duration // see stallTime
}

var _ object.Bucket = (*Bucket)(nil)

// Open opens the bucket of a location. It sends no request, except where finding
// credentials takes one. Files have no bucket: errors.ErrUnsupported.
func Open(ctx context.Context, l object.Location) (*Bucket, error) {
	d, err := openDriver(ctx, l)
	if err != nil {
		return nil, failed(l, err)
	}
	return &Bucket{loc: l, driver: d, stall: stallTime}, nil
}

func openDriver(ctx context.Context, l object.Location) (driver, error) {
	switch l.Scheme {
	case object.SchemeS3:
		return openS3(ctx, l)
	case object.SchemeGCS, object.SchemeAzure:
		return openCloud(ctx, l)
	}
	return nil, fmt.Errorf("scheme %q: %w", l.Scheme, errors.ErrUnsupported)
}

// Close closes the bucket's connections.
func (b *Bucket) Close() error { return failed(b.loc, b.driver.close()) }

// Stat describes the object of a key; the error matches fs.ErrNotExist if there is none.
func (b *Bucket) Stat(ctx context.Context, key string) (object.Info, error) {
	o, err := b.driver.stat(ctx, key)
	return o, failed(b.loc.At(key), err)
}

// broken reports whether a listing came in part or garbled. The drivers repeat requests that failed.
func broken(err error) bool {
	var garbled *xml.SyntaxError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &garbled)
}

// List describes all objects whose keys start with prefix, sorted by key. Keys that end
// in a slash are left out: some tools make them in place of folders.
func (b *Bucket) List(ctx context.Context, prefix string) ([]object.Info, error) {
	all, err := b.driver.list(ctx, prefix)
	for try := 1; try < maxTries && broken(err); try++ {
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
		all, err = b.driver.list(ctx, prefix)
	}
	if err != nil {
		return nil, failed(b.loc.At(prefix), err)
	}
	all = slices.DeleteFunc(all, func(o object.Info) bool { return strings.HasSuffix(o.Key, "/") })
	slices.SortFunc(all, func(a, b object.Info) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// ReadAll returns the content of a small object.
func (b *Bucket) ReadAll(ctx context.Context, key string) ([]byte, error) {
	data, _, err := b.readAll(ctx, key)
	return data, err
}

// readAll is ReadAll with the version. A broken stream is read again from its start.
func (b *Bucket) readAll(ctx context.Context, key string) (data []byte, o object.Info, err error) {
	for try := range maxTries {
		if try > 0 {
			if err := pause(ctx, try); err != nil {
				return nil, o, err
			}
		}
		r, size, etag, openErr := b.stream(ctx, key, "", 0, -1)
		if openErr != nil {
			return nil, o, failed(b.loc.At(key), openErr)
		}
		data, err = io.ReadAll(r)
		_ = r.Close() // read side
		if err == nil && int64(len(data)) != size {
			err = object.ErrShort
		}
		if err == nil {
			return data, object.Info{Key: key, Size: size, ETag: etag}, nil
		}
	}
	return nil, o, failed(b.loc.At(key), err)
}

// Create makes an object of data. If the key is taken, the error matches fs.ErrExist. It
// matches object.ErrUnsupported if the store has no conditional writes.
func (b *Bucket) Create(ctx context.Context, key string, data []byte) error {
	err := b.put(ctx, key, data, condition{none: true})
	if errors.Is(err, errCondition) {
		err = fs.ErrExist
	}
	return failed(b.loc.At(key), err)
}

// Replace makes an object of data in the place of a version. If the key has another one by now,
// or none, the error matches object.ErrChanged. It matches object.ErrUnsupported if the store has
// no conditional writes.
func (b *Bucket) Replace(ctx context.Context, old object.Info, data []byte) error {
	err := b.put(ctx, old.Key, data, condition{etag: old.ETag})
	if errors.Is(err, errCondition) || errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s", object.ErrChanged, object.Redact(err.Error())) // whose class is another
	}
	return failed(b.loc.At(old.Key), err)
}

// Put makes an object of data, or replaces the one of that key.
func (b *Bucket) Put(ctx context.Context, key string, data []byte) error {
	return failed(b.loc.At(key), b.put(ctx, key, data, condition{}))
}

func (b *Bucket) put(ctx context.Context, key string, data []byte, c condition) error {
	return b.driver.put(ctx, key, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), "application/json", c)
}

// Upload makes an object of the first size bytes of r, or replaces the one of that key. The
// object appears whole or not at all. The drivers repeat failed requests.
func (b *Bucket) Upload(ctx context.Context, key string, r io.ReaderAt, size int64) (object.Info, error) {
	if err := b.upload(ctx, key, r, size); err != nil {
		return object.Info{}, err
	}
	return b.Stat(ctx, key)
}

func (b *Bucket) upload(ctx context.Context, key string, r io.ReaderAt, size int64) error {
	return failed(b.loc.At(key), b.driver.put(ctx, key, io.NewSectionReader(r, 0, size), "application/octet-stream", condition{}))
}

// copy makes an object of a version of another one. A response may break off that the library has waited for:
// the same again does no harm.
func (b *Bucket) copy(ctx context.Context, from object.Info, key string) (err error) {
	var class *classified
	for try := range maxTries {
		if try > 0 {
			if err := pause(ctx, try); err != nil {
				return err
			}
		}
		if err = b.driver.copy(ctx, from, key); err == nil || errors.As(err, &class) || ctx.Err() != nil {
			break
		}
	}
	return failed(b.loc.At(key), err)
}

// Delete removes an object. It is no error if there is none.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	err := b.driver.remove(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failed(b.loc.At(key), err)
}
