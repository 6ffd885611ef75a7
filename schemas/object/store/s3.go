package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/reelsplice/reelsplice/schemas/object"
)

const (
	endpointAWS    = "s3.amazonaws.com"
	endpointGoogle = "storage.googleapis.com"

	// maxCopy is the size in bytes from which an object is copied in pieces.
	maxCopy = 5 << 30

	// s3Tries is how often one request is sent before its error counts.
	s3Tries = 5
)

// s3 is the driver of S3 and of stores that speak its protocol.
type s3 struct {
	client *minio.Core
	bucket string
	header map[string]string // of new objects
	kms    bool              // ETags of new objects are no MD5
}

func openS3(ctx context.Context, l object.Location) (driver, error) {
	q := l.Query
	for _, name := range []string{"accelerate", "anonymous", "disable_https", "dualstack", "fips", "use_path_style"} {
		if v := q.Get(name); v != "" && v != "true" && v != "false" {
			return nil, fmt.Errorf("%s: want true or false", name)
		}
	}
	d := &s3{bucket: l.Bucket, header: map[string]string{}}
	if err := d.encrypt(q); err != nil {
		return nil, err
	}
	endpoint, secure, err := endpointOf(q)
	if err != nil {
		return nil, err
	}
	creds, err := credentialsOf(ctx, q)
	if err != nil {
		return nil, err
	}
	d.client, err = minio.NewCore(endpoint, &minio.Options{
		Creds: creds, Secure: secure, Region: regionOf(q), BucketLookup: lookupOf(q), MaxRetries: s3Tries,
	})
	if err != nil {
		return nil, err
	}
	d.client.SetS3EnableDualstack(q.Get("dualstack") == "true")
	if q.Get("accelerate") == "true" {
		d.client.SetS3TransferAccelerate("s3-accelerate.amazonaws.com")
	}
	return d, nil
}

// encrypt sets the headers that make the store encrypt new objects.
func (d *s3) encrypt(q url.Values) error {
	switch kind := q.Get("ssetype"); kind {
	case "":
	case "AES256", "aws:kms", "aws:kms:dsse":
		d.header["X-Amz-Server-Side-Encryption"] = kind
		d.kms = kind != "AES256"
	default:
		return errors.New("ssetype: want AES256, aws:kms or aws:kms:dsse")
	}
	if id := q.Get("kmskeyid"); id != "" {
		d.header["X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"] = id
	}
	return nil
}

// endpointOf returns the host to connect to, and whether with TLS.
func endpointOf(q url.Values) (host string, secure bool, err error) {
	secure = q.Get("disable_https") != "true"
	s := cmp.Or(q.Get("endpoint"), os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	switch {
	case s == "" && q.Get("fips") == "true":
		return "s3-fips." + cmp.Or(regionOf(q), "us-east-1") + ".amazonaws.com", secure, nil
	case s == "":
		return endpointAWS, secure, nil
	case !strings.Contains(s, "://"):
		return s, secure, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return "", false, errors.New("endpoint: want a host, as in https://storage.example.com")
	}
	return u.Host, secure && u.Scheme == "https", nil
}

// regionOf returns the region of the bucket, or "" to ask the store.
func regionOf(q url.Values) string {
	return cmp.Or(q.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
}

// lookupOf says where a request has the bucket's name: in the host or in the path.
func lookupOf(q url.Values) minio.BucketLookupType {
	switch q.Get("use_path_style") {
	case "true":
		return minio.BucketLookupPath
	case "false":
		return minio.BucketLookupDNS
	}
	return minio.BucketLookupAuto // by the endpoint
}

func (d *s3) stat(ctx context.Context, key string) (object.Info, error) {
	o, err := d.client.StatObject(ctx, d.bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return object.Info{}, classS3(err)
	}
	info := d.info(o)
	if strings.HasPrefix(o.Metadata.Get("X-Amz-Server-Side-Encryption"), "aws:kms") {
		info.MD5 = nil
	}
	return info, nil
}

func (d *s3) list(ctx context.Context, prefix string) (all []object.Info, err error) {
	for o := range d.client.ListObjectsIter(ctx, d.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, classS3(o.Err)
		}
		all = append(all, d.info(o))
	}
	return all, ctx.Err()
}

// info translates a description. An ETag of 16 bytes is the content's MD5, unless the
// object is encrypted with a key of the customer or was uploaded in parts.
func (d *s3) info(o minio.ObjectInfo) object.Info {
	sum, err := hex.DecodeString(o.ETag)
	if err != nil || len(sum) != 16 || d.kms {
		sum = nil
	}
	return object.Info{Key: o.Key, Size: o.Size, ModTime: o.LastModified, ETag: o.ETag, MD5: sum}
}

func (d *s3) get(ctx context.Context, key, etag string, off, n int64) (io.ReadCloser, int64, string, error) {
	var o minio.GetObjectOptions
	if etag != "" {
		o.Set("If-Match", `"`+etag+`"`)
	}
	switch {
	case n >= 0:
		o.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	case off > 0:
		o.Set("Range", fmt.Sprintf("bytes=%d-", off))
	}
	body, info, header, err := d.client.GetObject(ctx, d.bucket, key, o)
	if err != nil {
		return nil, 0, "", classS3(err)
	}
	size := info.Size
	if _, total, ok := strings.Cut(header.Get("Content-Range"), "/"); ok {
		if size, err = strconv.ParseInt(total, 10, 64); err != nil {
			_ = body.Close() // it is not read
			return nil, 0, "", fmt.Errorf("Content-Range %q: %w", header.Get("Content-Range"), err)
		}
	}
	return body, size, info.ETag, nil
}

func (d *s3) put(ctx context.Context, key string, r *io.SectionReader, contentType string, c condition) error {
	// Of the ways to guard the bytes, each store has Content-MD5.
	o := minio.PutObjectOptions{ContentType: contentType, UserMetadata: d.header, SendContentMd5: true, DisableContentSha256: true}
	if c != (condition{}) && d.client.EndpointURL().Host == endpointGoogle {
		return object.ErrUnsupported // Google ignores the headers, which would look like success
	}
	if c.none {
		o.SetMatchETagExcept("*")
	}
	if c.etag != "" {
		o.SetMatchETag(c.etag)
	}
	_, err := d.client.Client.PutObject(ctx, d.bucket, key, r, r.Size(), o)
	return classS3(err)
}

func (d *s3) copy(ctx context.Context, from object.Info, key string) error {
	to := minio.CopyDestOptions{Bucket: d.bucket, Object: key, UserMetadata: d.header, ReplaceMetadata: len(d.header) > 0}
	src := minio.CopySrcOptions{Bucket: d.bucket, Object: from.Key, MatchETag: from.ETag}
	if from.Size > maxCopy {
		_, err := d.client.ComposeObject(ctx, to, src) // in pieces
		return classS3(err)
	}
	_, err := d.client.Client.CopyObject(ctx, to, src)
	return classS3(err)
}

func (d *s3) remove(ctx context.Context, key string) error {
	return classS3(d.client.RemoveObject(ctx, d.bucket, key, minio.RemoveObjectOptions{}))
}

func (d *s3) close() error { return nil }

// classS3 adds the class that the status of the response stands for.
func classS3(err error) error {
	var e minio.ErrorResponse
	if !errors.As(err, &e) {
		return err
	}
	var class error
	switch status := e.StatusCode; {
	case status == http.StatusNotFound:
		class = fs.ErrNotExist
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		class = fs.ErrPermission
	case status == http.StatusPreconditionFailed, e.Code == "ConditionalRequestConflict":
		class = errCondition
	case status == http.StatusNotImplemented:
		class = object.ErrUnsupported
	default:
		return err
	}
	return &classified{class, err}
}
