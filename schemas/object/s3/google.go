package s3

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

const (
	hostGoogle       = "storage.googleapis.com"
	headerGeneration = "X-Goog-Generation" // in responses; differs between versions of an object
)

// openGoogle opens a bucket through the S3 interface of Google Cloud Storage, with an HMAC key of a service account.
func (b *Bucket) openGoogle(q url.Values) (err error) {
	host, secure := hostGoogle, true
	if q.Get("endpoint") != "" {
		if host, secure, err = endpointOf(q); err != nil {
			return err
		}
	}
	dialect := &googleDialect{id: os.Getenv("GS_ACCESS_KEY_ID"), secret: os.Getenv("GS_SECRET_ACCESS_KEY")}
	switch anonymous := q.Get("anonymous"); {
	case anonymous == "true":
		dialect.id, dialect.secret = "", ""
	case anonymous != "" && anonymous != "false":
		return errors.New("anonymous: want true or false")
	case dialect.id == "" || dialect.secret == "":
		return errors.New("no HMAC key found: set GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, or add anonymous=true for a public bucket")
	}
	if dialect.next, err = b.transport(secure); err != nil {
		return err
	}
	b.google = true
	b.client, err = minio.NewCore(host, &minio.Options{
		Creds:  credentials.NewStatic("", "", "", credentials.SignatureAnonymous), // the dialect signs
		Secure: secure, Region: "auto", BucketLookup: minio.BucketLookupPath, MaxRetries: s3Tries, Transport: dialect,
	})
	return err
}

// generation returns the generation of the object with an ETag. If the object has another ETag, it returns
// errCondition.
func (b *Bucket) generation(ctx context.Context, name, etag string) (string, error) {
	o, err := b.client.StatObject(ctx, b.loc.Bucket, b.key(name), minio.StatObjectOptions{})
	if err != nil {
		return "", err
	}
	if o.ETag != etag {
		return "", minio.ErrorResponse{StatusCode: http.StatusPreconditionFailed, Message: "the ETag is " + o.ETag}
	}
	if o.VersionID == "" {
		return "", errors.New("the response lacks " + headerGeneration)
	}
	return o.VersionID, nil
}

// A googleDialect converts requests from Amazon's dialect to Google's, and signs them. For writes, Google ignores
// If-Match and If-None-Match but supports X-Goog-If-Generation-Match, and it rejects a request with headers of both
// dialects. So headers and signature are Google's: X-Goog-* for X-Amz-*, GOOG4-HMAC-SHA256 for AWS4-HMAC-SHA256.
// If-Match of a write contains a generation.
type googleDialect struct {
	id, secret string // "" for unsigned requests
	next       http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (d *googleDialect) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range r.Header {
		if rest, ok := strings.CutPrefix(name, "X-Amz-"); ok {
			r.Header["X-Goog-"+rest] = values
			delete(r.Header, name)
		}
	}
	if r.Method == http.MethodPut {
		const match = "X-Goog-If-Generation-Match"
		if r.Header.Get("If-None-Match") != "" {
			r.Header.Set(match, "0")
		} else if generation := r.Header.Get("If-Match"); generation != "" {
			r.Header.Set(match, strings.Trim(generation, `"`))
		}
		r.Header.Del("If-Match")
		r.Header.Del("If-None-Match")
	}
	if d.id != "" {
		d.sign(r, time.Now().UTC())
	}
	r.Header.Set("Accept-Encoding", "gzip") // otherwise Google inflates objects and ignores the range
	w, err := d.next.RoundTrip(r)
	if err == nil {
		w.Header.Set("X-Amz-Version-Id", w.Header.Get(headerGeneration)) // which the library returns
	}
	return w, err
}

// sign signs the host and Google's headers, but not the body, which has an MD5.
func (d *googleDialect) sign(r *http.Request, now time.Time) {
	const payload = "UNSIGNED-PAYLOAD"
	r.Header.Set("X-Goog-Date", now.Format("20060102T150405Z"))
	r.Header.Set("X-Goog-Content-Sha256", payload)
	lines := []string{"host:" + r.URL.Host}
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Goog-") {
			lines = append(lines, strings.ToLower(name)+":"+strings.Join(values, ","))
		}
	}
	slices.Sort(lines)
	var names []string
	for _, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	signed := strings.Join(names, ";")
	request := strings.Join([]string{
		r.Method, s3utils.EncodePath(r.URL.Path), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"),
		strings.Join(lines, "\n") + "\n", signed, payload,
	}, "\n")
	sum := sha256.Sum256([]byte(request))
	scope := now.Format("20060102") + "/auto/storage/goog4_request"
	key := []byte("GOOG4" + d.secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = hmacSHA256(key, part)
	}
	text := strings.Join([]string{"GOOG4-HMAC-SHA256", r.Header.Get("X-Goog-Date"), scope, hex.EncodeToString(sum[:])}, "\n")
	r.Header.Set("Authorization", fmt.Sprintf("GOOG4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x", d.id, scope, signed, hmacSHA256(key, text)))
}

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // a hash has no errors
	return h.Sum(nil)
}
