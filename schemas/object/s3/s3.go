package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	endpointAWS = "s3.amazonaws.com"

	// s3Tries is how often one request is sent before its error counts.
	s3Tries = 5

	// metadataTimeout bounds a request for credentials to the machine or cluster.
	metadataTimeout = 10 * time.Second
)

func (b *Bucket) openS3(ctx context.Context, q url.Values) error {
	for _, name := range []string{"anonymous", "disable_https", "use_path_style"} {
		if v := q.Get(name); v != "" && v != "true" && v != "false" {
			return fmt.Errorf("%s: want true or false", name)
		}
	}
	switch kind := q.Get("ssetype"); kind {
	case "":
	case "AES256", "aws:kms", "aws:kms:dsse":
		b.header["X-Amz-Server-Side-Encryption"] = kind
	default:
		return errors.New("ssetype: want AES256, aws:kms or aws:kms:dsse")
	}
	if id := q.Get("kmskeyid"); id != "" {
		b.header["X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"] = id
	}
	endpoint, secure, err := endpointOf(q)
	if err != nil {
		return err
	}
	creds, err := credentialsOf(ctx, q)
	if err != nil {
		return err
	}
	// Where a request has the bucket's name: in the host or in the path.
	lookup, ok := map[string]minio.BucketLookupType{"true": minio.BucketLookupPath, "false": minio.BucketLookupDNS}[q.Get("use_path_style")]
	if !ok {
		lookup = minio.BucketLookupAuto // by the endpoint
	}
	transport, err := b.transport(secure)
	if err != nil {
		return err
	}
	b.client, err = minio.NewCore(endpoint, &minio.Options{
		Creds: creds, Secure: secure, Region: regionOf(q), BucketLookup: lookup, MaxRetries: s3Tries, Transport: transport,
	})
	if err != nil {
		return err
	}
	b.client.SetS3EnableDualstack(false) // endpoints inside private networks have the plain names
	return nil
}

// stallTime is how long a connection may pass nothing in either direction before it ends.
const stallTime = time.Minute

// maxListing bounds the response to a request for a page of a listing, in bytes. The library decodes all of it. A page
// has 1,000 keys of 3 KiB at most: 1 KiB, percent-encoded.
const maxListing = 4 << 20

// boundedListings is a transport that ends listings which are too long.
type boundedListings struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t boundedListings) RoundTrip(r *http.Request) (*http.Response, error) {
	w, err := t.next.RoundTrip(r)
	if err == nil && r.URL.Query().Has("list-type") {
		w.Body = http.MaxBytesReader(nil, w.Body, maxListing)
	}
	return w, err
}

// transport returns the library's transport, whose connections end when they stall: a reader then opens another one, and
// the library repeats a request. Listings are bounded.
func (b *Bucket) transport(secure bool) (http.RoundTripper, error) {
	t, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return stallingConn{c, b.stall}, nil
	}
	return boundedListings{t}, nil
}

// A stallingConn fails after a time without progress.
type stallingConn struct {
	net.Conn
	wait time.Duration
}

func (c stallingConn) Read(p []byte) (int, error) {
	_ = c.SetDeadline(time.Now().Add(c.wait)) // reading shows the error
	return c.Conn.Read(p)
}

// Write also moves the deadline of a Read that waits for the response.
func (c stallingConn) Write(p []byte) (int, error) {
	_ = c.SetDeadline(time.Now().Add(c.wait)) // writing shows the error
	return c.Conn.Write(p)
}

// endpointOf returns the host to connect to, and whether with TLS.
func endpointOf(q url.Values) (host string, secure bool, err error) {
	secure = q.Get("disable_https") != "true"
	s := cmp.Or(q.Get("endpoint"), os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	switch {
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

// credentialsOf finds credentials where the tools of AWS look for them: the environment,
// the files of the profile (keys, SSO, credential_process), then the machine or cluster.
func credentialsOf(ctx context.Context, q url.Values) (*credentials.Credentials, error) {
	if q.Get("anonymous") == "true" {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous), nil
	}
	var chain []credentials.Provider
	if q.Get("profile") == "" {
		chain = append(chain, &credentials.EnvAWS{})
	}
	chain = append(chain, &credentials.FileAWSCredentials{Profile: q.Get("profile")})
	if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		chain = append(chain, &credentials.IAM{Client: &http.Client{Timeout: metadataTimeout}})
	}
	found := credentials.NewChainCredentials(chain)
	v, err := found.GetWithContext(&credentials.CredContext{Client: http.DefaultClient, Context: ctx})
	if err == nil && v.SignerType == credentials.SignatureAnonymous {
		err = errors.New("no AWS credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile, or add anonymous=true for a public bucket")
	}
	return found, err
}
