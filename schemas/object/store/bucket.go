package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob: URLs
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"
	"gocloud.dev/gcp"

	"reelsplice/schemas/object"
)

// listPage is how many objects are listed with one request.
const listPage = 1000

// A Bucket is an open bucket. Its methods may be called from several goroutines. They
// keep to the context that they are given, also for what they return.
type Bucket struct {
	loc    object.Location
	bucket *blob.Bucket
}

var _ object.Bucket = (*Bucket)(nil)

// Open opens the bucket of a location. Nothing is asked of the store yet, except where
// finding credentials takes a request.
func Open(ctx context.Context, l object.Location) (*Bucket, error) {
	b, err := open(ctx, l)
	if err != nil {
		return nil, failed(l, err)
	}
	return &Bucket{loc: l, bucket: b}, nil
}

func open(ctx context.Context, l object.Location) (*blob.Bucket, error) {
	u := &url.URL{Scheme: l.Scheme, Host: l.Bucket, RawQuery: l.Query()}
	switch l.Scheme {
	case object.SchemeS3:
		return new(s3blob.URLOpener).OpenBucketURL(ctx, u)
	case object.SchemeGCS:
		return openGCS(ctx, u)
	case object.SchemeAzure:
		return blob.DefaultURLMux().OpenBucketURL(ctx, u)
	case object.SchemeFile:
		return fileblob.OpenBucket("/", &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	}
	return nil, fmt.Errorf("unknown scheme %q", l.Scheme)
}

// emulatorGCS is the variable that sends requests for Google Cloud Storage elsewhere.
const emulatorGCS = "STORAGE_EMULATOR_HOST"

// openGCS is gcsblob's own way but for credentials that are not found: that prints to
// stdout and goes on, this is an error.
func openGCS(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	anonymous := u.Query().Get("anonymous") == "true"
	if anonymous || os.Getenv(emulatorGCS) != "" {
		o := gcsblob.URLOpener{Client: gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())}
		return o.OpenBucketURL(ctx, u)
	}
	creds, err := gcp.DefaultCredentials(ctx)
	if err != nil {
		return nil, fmt.Errorf("find Google credentials: %w", err)
	}
	client, err := gcp.NewHTTPClient(gcp.DefaultTransport(), creds.TokenSource)
	if err != nil {
		return nil, err
	}
	return (&gcsblob.URLOpener{Client: client, TokenSource: creds.TokenSource}).OpenBucketURL(ctx, u)
}

// Close gives up the bucket's connections.
func (b *Bucket) Close() error { return failed(b.loc, b.bucket.Close()) }

// Stat describes the object of a key; the error matches fs.ErrNotExist if there is none.
func (b *Bucket) Stat(ctx context.Context, key string) (object.Info, error) {
	a, err := b.bucket.Attributes(ctx, key)
	if err != nil {
		return object.Info{}, failed(b.loc.At(key), err)
	}
	v := version{etag: bareETag(a.ETag)}
	v.from(a.As)
	return object.Info{Key: key, Size: a.Size, ModTime: a.ModTime, ETag: v.etag, MD5: a.MD5}, nil
}

// List describes all objects whose keys start with prefix, sorted by key.
func (b *Bucket) List(ctx context.Context, prefix string) ([]object.Info, error) {
	size := listPage
	if b.loc.Scheme == object.SchemeFile {
		size = math.MaxInt32 // fileblob's pages miss files of which a folder's name is a part
	}
	var all []object.Info
	for token := blob.FirstPageToken; len(token) > 0; {
		page, next, err := b.bucket.ListPage(ctx, token, size, &blob.ListOptions{Prefix: prefix})
		if err != nil {
			return nil, failed(b.loc.At(prefix), err)
		}
		for _, o := range page {
			if strings.HasSuffix(o.Key, "/") {
				continue // what some tools make in place of a folder
			}
			var v version
			v.from(o.As)
			all = append(all, object.Info{Key: o.Key, Size: o.Size, ModTime: o.ModTime, ETag: v.etag, MD5: o.MD5})
		}
		token = next
	}
	slices.SortFunc(all, func(a, b object.Info) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// Glob describes the objects whose keys match a pattern as Match has it, sorted by key.
func (b *Bucket) Glob(ctx context.Context, pattern string) ([]object.Info, error) {
	if err := object.CheckPattern(pattern); err != nil {
		return nil, fmt.Errorf("%s: %w", b.loc.At(pattern), err)
	}
	all, err := b.List(ctx, object.FixedPrefix(pattern))
	return slices.DeleteFunc(all, func(o object.Info) bool { return !object.Match(pattern, o.Key) }), err
}

// ReadAll returns the content of a small object.
func (b *Bucket) ReadAll(ctx context.Context, key string) ([]byte, error) {
	r, err := b.bucket.NewReader(ctx, key, readerOptions(""))
	if err != nil {
		return nil, failed(b.loc.At(key), err)
	}
	defer func() { _ = r.Close() }() // read side
	data, err := io.ReadAll(r)
	return data, failed(b.loc.At(key), err)
}

// Create makes an object of data unless there is one of that key; then the error
// matches fs.ErrExist. It matches ErrUnsupported where the store cannot tell.
func (b *Bucket) Create(ctx context.Context, key string, data []byte) error {
	err := b.bucket.WriteAll(ctx, key, data, &blob.WriterOptions{IfNotExist: true, ContentType: "application/json"})
	switch {
	case err == nil:
		return nil
	case gcerrors.Code(err) == gcerrors.FailedPrecondition || gcerrors.Code(err) == gcerrors.AlreadyExists || conflicts(err):
		err = fs.ErrExist
	case gcerrors.Code(err) == gcerrors.Unimplemented || hasStatus(err, http.StatusNotImplemented):
		err = errors.Join(object.ErrUnsupported, err)
	}
	return failed(b.loc.At(key), err)
}

// conflicts reports whether S3 refused one of two writes at the same moment.
func conflicts(err error) bool {
	var e smithy.APIError
	return errors.As(err, &e) && e.ErrorCode() == "ConditionalRequestConflict"
}

func hasStatus(err error, status int) bool {
	var e *smithyhttp.ResponseError
	return errors.As(err, &e) && e.HTTPStatusCode() == status
}

// Put makes an object of data, in place of one that there is.
func (b *Bucket) Put(ctx context.Context, key string, data []byte) error {
	err := b.bucket.WriteAll(ctx, key, data, &blob.WriterOptions{ContentType: "application/json"})
	return failed(b.loc.At(key), err)
}

// Upload makes an object of what r holds from its start, in place of one that there
// is. The object appears whole or not at all. Uploads that fail are tried again.
func (b *Bucket) Upload(ctx context.Context, key string, r io.ReadSeeker) (object.Info, error) {
	var try retry
	for {
		_, err := r.Seek(0, io.SeekStart)
		if err == nil {
			err = b.bucket.Upload(ctx, key, r, &blob.WriterOptions{ContentType: "application/octet-stream"})
		}
		if err == nil {
			return b.Stat(ctx, key)
		}
		if err := try.after(ctx, err); err != nil {
			return object.Info{}, failed(b.loc.At(key), err)
		}
	}
}

// Delete removes an object. That there is none is no error.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	err := b.bucket.Delete(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return failed(b.loc.At(key), err)
}
