// Package s3 opens buckets of S3, of compatible stores, and of Google Cloud Storage.
//
// A reader reads a single version of an object: a broken stream resumes at its offset, a range is requested on
// demand, and both fail with object.ErrChanged once the object is replaced.
//
// Only the command imports this package: ingest uses object.Bucket, the edge object.Folder.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// absent is the condition for writing only a new object. Other conditions are an ETag, or "" for none.
const absent = "*"

// A Bucket is an open bucket, or its part below a prefix. Names are keys without the prefix.
type Bucket struct {
	loc    object.Location // its key is the prefix
	client *minio.Core
	google bool
	header map[string]string // for new objects
	stall  time.Duration     // see stallTime
}

var _ object.Folder = (*Bucket)(nil)

// Open opens the whole bucket of a location. It sends no request, unless finding credentials requires one. For files
// it returns errors.ErrUnsupported.
func Open(ctx context.Context, l object.Location) (*Bucket, error) {
	b := &Bucket{loc: l.At(""), header: map[string]string{}, stall: stallTime}
	var err error
	switch l.Scheme {
	case object.SchemeS3:
		err = b.openS3(ctx, l.Query)
	case object.SchemeGCS:
		err = b.openGoogle(l.Query)
	default:
		err = fmt.Errorf("scheme %q: %w", l.Scheme, errors.ErrUnsupported)
	}
	if err != nil {
		return nil, failed(l, err)
	}
	return b, nil
}

// OpenFolder opens the part of a bucket below a prefix by its URL. It sends no request, unless finding credentials
// requires one.
func OpenFolder(ctx context.Context, url string) (object.Folder, error) {
	l, err := object.Parse(url)
	if err != nil {
		return nil, err
	}
	if l.IsPattern() {
		return nil, fmt.Errorf("%s: want a folder, not a pattern", l)
	}
	b, err := Open(ctx, l)
	if err != nil {
		return nil, err
	}
	if l.Key != "" {
		b.loc = l.AsPrefix()
	}
	return b, nil
}

// String implements object.Folder.
func (b *Bucket) String() string { return b.loc.String() }

// URL implements object.Folder.
func (b *Bucket) URL(name string) string { return b.at(name).String() }

func (b *Bucket) at(name string) object.Location { return b.loc.At(b.key(name)) }
func (b *Bucket) key(name string) string         { return b.loc.Key + name }

// Stat implements object.Bucket.
func (b *Bucket) Stat(ctx context.Context, name string) (object.Info, error) {
	o, err := b.client.StatObject(ctx, b.loc.Bucket, b.key(name), minio.StatObjectOptions{})
	if err != nil {
		return object.Info{}, failed(b.at(name), err)
	}
	info, err := b.info(o)
	return info, failed(b.at(name), err)
}

// errNoSize is the error for a response without a valid size; minio reports a missing one as -1.
var errNoSize = errors.New("the store gives no size of the object: want a response with Content-Length")

// info converts a description.
func (b *Bucket) info(o minio.ObjectInfo) (object.Info, error) {
	if o.Size < 0 {
		return object.Info{}, errNoSize
	}
	return object.Info{Key: strings.TrimPrefix(o.Key, b.loc.Key), Size: o.Size, ModTime: o.LastModified, ETag: o.ETag}, nil
}

// List implements object.Bucket. It omits keys with a trailing slash: some tools create them as folders.
func (b *Bucket) List(ctx context.Context, prefix string, limit int) ([]object.Info, error) {
	for try := 1; ; try++ {
		all, err := b.list(ctx, prefix, limit)
		var garbled *xml.SyntaxError
		if try == maxTries || !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &garbled) {
			return all, failed(b.at(prefix), err)
		}
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
	}
}

func (b *Bucket) list(ctx context.Context, prefix string, limit int) (all []object.Info, err error) {
	n := 0
	for o := range b.client.ListObjectsIter(ctx, b.loc.Bucket, minio.ListObjectsOptions{Prefix: b.key(prefix), Recursive: true}) {
		if _, ok := errors.AsType[*http.MaxBytesError](o.Err); ok {
			return nil, fmt.Errorf("a page of the listing has more than %d bytes", maxListing)
		}
		if o.Err != nil {
			return nil, o.Err
		}
		if n++; n > limit {
			err = fmt.Errorf("%w: more than %d", object.ErrTooMany, limit)
			break
		}
		if strings.HasSuffix(o.Key, "/") {
			continue
		}
		info, err := b.info(o)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", o.Key, err)
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b object.Info) int { return strings.Compare(a.Key, b.Key) })
	return all, cmp.Or(err, ctx.Err())
}

// Create implements object.Folder. If the store has no conditional writes, the error matches object.ErrUnsupported.
func (b *Bucket) Create(ctx context.Context, name string, data []byte) error {
	err := b.put(ctx, name, bytes.NewReader(data), int64(len(data)), "application/json", absent)
	if classOf(err) == errCondition {
		err = fs.ErrExist
	}
	return failed(b.at(name), err)
}

// Replace implements object.Folder, with the errors of Create.
func (b *Bucket) Replace(ctx context.Context, old object.Info, data []byte) error {
	err := b.put(ctx, old.Key, bytes.NewReader(data), int64(len(data)), "application/json", old.ETag)
	if class := classOf(err); class == errCondition || class == fs.ErrNotExist {
		err = changed(err)
	}
	return failed(b.at(old.Key), err)
}

// Put implements object.Folder.
func (b *Bucket) Put(ctx context.Context, name string, data []byte) error {
	return failed(b.at(name), b.put(ctx, name, bytes.NewReader(data), int64(len(data)), "application/json", ""))
}

// Upload implements object.Folder.
func (b *Bucket) Upload(ctx context.Context, name string, r io.ReaderAt, size int64) error {
	return failed(b.at(name), b.put(ctx, name, r, size, "application/octet-stream", ""))
}

// put creates or replaces an object; if the condition fails, so does put, with errCondition.
func (b *Bucket) put(ctx context.Context, name string, r io.ReaderAt, size int64, contentType, condition string) error {
	// Of the ways to protect the bytes, all stores support Content-MD5.
	o := minio.PutObjectOptions{
		ContentType: contentType, UserMetadata: b.header, SendContentMd5: true, DisableContentSha256: true,
		DisableMultipart: b.google, // it accepts 5 TiB at once
	}
	switch {
	case condition == "":
	case !b.google && b.client.EndpointURL().Host == hostGoogle:
		return fmt.Errorf("%w in Amazon's dialect: want gs://%s", object.ErrUnsupported, b.loc.Bucket) // it ignores the headers
	case condition == absent:
		o.SetMatchETagExcept(absent)
	case b.google:
		generation, err := b.generation(ctx, name, condition)
		if err != nil {
			return err
		}
		o.SetMatchETag(generation)
	default:
		o.SetMatchETag(condition)
	}
	_, err := b.client.Client.PutObject(ctx, b.loc.Bucket, b.key(name), io.NewSectionReader(r, 0, size), size, o)
	return err
}

// Delete implements object.Folder.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	err := b.client.RemoveObject(ctx, b.loc.Bucket, b.key(name), minio.RemoveObjectOptions{})
	if classOf(err) == fs.ErrNotExist {
		return nil
	}
	return failed(b.at(name), err)
}

// errCondition is the class of errors for requests with a failed condition.
var errCondition = errors.New("the condition of the request does not hold")

// classOf returns the error for the status of a response, or nil.
func classOf(err error) error {
	var e minio.ErrorResponse
	if !errors.As(err, &e) {
		return nil
	}
	switch status := e.StatusCode; {
	case status == http.StatusNotFound:
		return fs.ErrNotExist
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return fs.ErrPermission
	case status == http.StatusPreconditionFailed, e.Code == "ConditionalRequestConflict":
		return errCondition
	case status == http.StatusNotImplemented:
		return object.ErrUnsupported
	}
	return nil
}

// changed returns object.ErrChanged with the text of err.
func changed(err error) error {
	return fmt.Errorf("%w: %s", object.ErrChanged, object.Redact(err.Error()))
}

// A failure is an error with its URL. The text is one line without credentials.
type failure struct {
	url string // without parameters
	err error
}

func (e *failure) Error() string {
	if errors.Is(e, fs.ErrNotExist) {
		return e.url + ": no such object or bucket, or no right to see it"
	}
	return e.url + ": " + object.Redact(e.err.Error())
}

// Unwrap returns the cause, whose text may contain secrets.
func (e *failure) Unwrap() error        { return e.err }
func (e *failure) Is(target error) bool { return target == classOf(e.err) }

// failed adds the location to err. It returns errors that have one, and errors of contexts, unchanged.
func failed(l object.Location, err error) error {
	var located *failure
	if err == nil || err == io.EOF || errors.As(err, &located) || err == context.Canceled || err == context.DeadlineExceeded {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", l, context.Canceled) // the libraries' texts add nothing
	}
	return &failure{l.String(), err}
}
