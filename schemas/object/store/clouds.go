//go:build allclouds

package store

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azureblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob: URLs
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcerrors"
	"gocloud.dev/gcp"

	"github.com/reelsplice/reelsplice/schemas/object"
)

const (
	// listPage is how many objects one request lists.
	listPage = 1000

	// emulatorGCS is the variable that sends requests for Google Cloud Storage elsewhere.
	emulatorGCS = "STORAGE_EMULATOR_HOST"
)

// cloud is the driver of Google Cloud Storage and Azure Blob Storage.
type cloud struct{ bucket *blob.Bucket }

func openCloud(ctx context.Context, l object.Location) (driver, error) {
	u := &url.URL{Scheme: l.Scheme, Host: l.Bucket, RawQuery: l.Query.Encode()}
	open := blob.OpenBucket
	if l.Scheme == object.SchemeGCS {
		open = openGCS
	}
	b, err := open(ctx, u.String())
	if err != nil {
		return nil, err
	}
	return cloud{b}, nil
}

// openGCS opens a bucket as gcsblob does, but for missing credentials: gcsblob prints to
// stdout and goes on; this is an error.
func openGCS(ctx context.Context, s string) (*blob.Bucket, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, err
	}
	if u.Query().Get("anonymous") == "true" || os.Getenv(emulatorGCS) != "" {
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

func (c cloud) stat(ctx context.Context, key string) (object.Info, error) {
	a, err := c.bucket.Attributes(ctx, key)
	if err != nil {
		return object.Info{}, classCloud(err)
	}
	etag := versionOf(a.As)
	if etag == "" {
		etag = bareETag(a.ETag)
	}
	return object.Info{Key: key, Size: a.Size, ModTime: a.ModTime, ETag: etag, MD5: a.MD5}, nil
}

func (c cloud) list(ctx context.Context, prefix string) (all []object.Info, err error) {
	for token := blob.FirstPageToken; len(token) > 0; {
		page, next, err := c.bucket.ListPage(ctx, token, listPage, &blob.ListOptions{Prefix: prefix})
		if err != nil {
			return nil, classCloud(err)
		}
		for _, o := range page {
			all = append(all, object.Info{Key: o.Key, Size: o.Size, ModTime: o.ModTime, ETag: versionOf(o.As), MD5: o.MD5})
		}
		token = next
	}
	return all, nil
}

func (c cloud) get(ctx context.Context, key, etag string, off, n int64) (io.ReadCloser, int64, string, error) {
	r, err := c.bucket.NewRangeReader(ctx, key, off, n, &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error { return require(etag, as) }})
	if err != nil {
		return nil, 0, "", classCloud(err)
	}
	return r, r.Size(), versionOf(r.As), nil
}

func (c cloud) put(ctx context.Context, key string, r *io.SectionReader, contentType string, w condition) error {
	return classCloud(c.bucket.Upload(ctx, key, r, &blob.WriterOptions{
		ContentType: contentType, IfNotExist: w.none, BeforeWrite: func(as func(any) bool) error { return requireToWrite(w.etag, as) },
	}))
}

func (c cloud) copy(ctx context.Context, from object.Info, key string) error {
	return classCloud(c.bucket.Copy(ctx, key, from.Key, nil))
}

func (c cloud) remove(ctx context.Context, key string) error {
	return classCloud(c.bucket.Delete(ctx, key))
}

func (c cloud) close() error { return c.bucket.Close() }

// classCloud adds the class that a code of gocloud.dev stands for.
func classCloud(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.OK:
		return nil
	case gcerrors.NotFound:
		return &classified{fs.ErrNotExist, err}
	case gcerrors.PermissionDenied:
		return &classified{fs.ErrPermission, err}
	case gcerrors.FailedPrecondition, gcerrors.AlreadyExists:
		return &classified{errCondition, err}
	case gcerrors.Unimplemented:
		return &classified{object.ErrUnsupported, err}
	}
	return err
}

// versionOf returns the ETag, on Google Cloud Storage the generation, of what gocloud.dev
// returned. The library itself has it for attributes only.
func versionOf(as func(any) bool) string {
	var (
		gcsObject storage.ObjectAttrs
		gcsReader *storage.Reader
		azObject  container.BlobItem
		azReader  azblob.DownloadStreamResponse
		etag      *azcore.ETag
	)
	switch {
	case as(&gcsObject):
		return generation(gcsObject.Generation)
	case as(&gcsReader):
		return generation(gcsReader.Attrs.Generation)
	case as(&azObject) && azObject.Properties != nil:
		etag = azObject.Properties.ETag
	case as(&azReader):
		etag = azReader.ETag
	}
	if etag == nil {
		return ""
	}
	return bareETag(string(*etag))
}

func generation(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// bareETag returns an ETag without its quotes, which Azure's listings lack.
func bareETag(s string) string { return strings.Trim(s, `"`) }

// require makes a read fail unless the object is the version of etag; "" is any. as comes
// from gocloud.dev's BeforeRead.
func require(etag string, as func(any) bool) error {
	var (
		gcsRead **storage.ObjectHandle
		azRead  *azblob.DownloadStreamOptions
	)
	switch {
	case etag == "":
	case as(&gcsRead):
		return requireGeneration(etag, gcsRead)
	case as(&azRead):
		azRead.AccessConditions = ifMatch(etag)
	}
	return nil
}

// requireToWrite is require for a write. as comes from gocloud.dev's BeforeWrite.
func requireToWrite(etag string, as func(any) bool) error {
	var (
		gcsWrite **storage.ObjectHandle
		azWrite  *azureblob.UploadStreamOptions
	)
	switch {
	case etag == "":
	case as(&gcsWrite):
		return requireGeneration(etag, gcsWrite)
	case as(&azWrite):
		azWrite.AccessConditions = ifMatch(etag)
	}
	return nil
}

func requireGeneration(etag string, o **storage.ObjectHandle) error {
	n, err := strconv.ParseInt(etag, 10, 64)
	if err != nil {
		return fmt.Errorf("generation %q: %w", etag, err)
	}
	*o = (*o).If(storage.Conditions{GenerationMatch: n})
	return nil
}

func ifMatch(etag string) *azblob.AccessConditions {
	match := azcore.ETag(`"` + etag + `"`)
	return &azblob.AccessConditions{ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfMatch: &match}}
}
