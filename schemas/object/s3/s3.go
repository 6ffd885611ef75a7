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

	// s3Tries is the number of times a request is sent before it fails.
	s3Tries = 5

	// metadataTimeout limits a request for credentials to the machine or cluster.
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
	// Place of the bucket's name in a request: the host or the path.
	lookup, ok := map[string]minio.BucketLookupType{"true": minio.BucketLookupPath, "false": minio.BucketLookupDNS}[q.Get("use_path_style")]
	if !ok {
		lookup = minio.BucketLookupAuto // depends on the endpoint
	}
	transport, err := b.transport(secure)
	if err != nil {
		return err
	}
	b.client, err = minio.NewCore(endpoint, &minio.Options{
		Creds: creds, Secure: secure, BucketLookup: lookup, MaxRetries: s3Tries, Transport: transport,
		Region: cmp.Or(q.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")), // "" to ask the store for it
	})
	if err != nil {
		return err
	}
	b.client.SetS3EnableDualstack(false) // endpoints in private networks have the plain names
	return nil
}

// stallTime is how long a connection may be idle in both directions before it is closed.
const stallTime = time.Minute

// maxListing limits the response for one page of a listing, in bytes, because the library decodes all of it. A page
// has up to 1,000 keys of at most 3 KiB: 1 KiB, percent-encoded.
const maxListing = 4 << 20

// boundedListings is a transport that aborts listings above the limit.
type boundedListings struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t boundedListings) RoundTrip(r *http.Request) (*http.Response, error) {
	w, err := t.next.RoundTrip(r)
	if err == nil && r.URL.Query().Has("list-type") {
		w.Body = http.MaxBytesReader(nil, w.Body, maxListing)
	}
	return w, err
}

// transport returns the library's transport with bounded listings. Stalled connections are closed: a reader then
// opens another stream, and the library repeats a request.
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

// A stallingConn fails after a period without progress.
type stallingConn struct {
	net.Conn
	wait time.Duration
}

func (c stallingConn) Read(p []byte) (int, error) {
	_ = c.SetDeadline(time.Now().Add(c.wait)) // reading reports the error
	return c.Conn.Read(p)
}

// Write also extends the deadline of a Read that waits for the response.
func (c stallingConn) Write(p []byte) (int, error) {
	_ = c.SetDeadline(time.Now().Add(c.wait)) // writing reports the error
	return c.Conn.Write(p)
}

// endpointOf returns the host to connect to, and whether to use TLS.
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

// credentialsOf searches for credentials like the tools of AWS: the environment, the files of the profile (keys, SSO,
// credential_process), then the machine or cluster.
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
