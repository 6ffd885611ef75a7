// Package object addresses objects of S3 and Google Cloud Storage, and files of plain folders, by URL:
//
//	s3://bucket/key?region=us-east-1      also endpoint=, profile=, use_path_style=true ...
//	gs://bucket/key
//	file:///folder/file
//
// The path after the bucket is a key, a prefix (empty, or with a trailing slash) or a pattern; query parameters
// configure the bucket. Credentials come from the places that each vendor's tools use. They are rejected in a URL,
// and never occur in errors.
//
// Package s3 opens buckets.
package object

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
)

var (
	// ErrChanged matches errors of reading an object that was replaced meanwhile.
	ErrChanged = errors.New("the object was changed while it was read")

	// ErrShort matches errors of reading an object that ended before its size.
	ErrShort = errors.New("the object ended early")

	// ErrUnsupported matches errors of conditional writes that the store does not support.
	ErrUnsupported = errors.New("the store has no conditional writes")

	// ErrTooMany matches errors of listings with more objects than the caller's limit.
	ErrTooMany = errors.New("too many objects")
)

// MaxListed is the maximum number of objects that a command lists: their descriptions take some hundred MiB.
const MaxListed = 1_000_000

// Info describes one version of an object.
type Info struct {
	Key     string
	Size    int64 // at least 0: a store that reports no size is an error
	ModTime time.Time
	ETag    string // without quotes; differs between versions
}

// A Bucket is a bucket open for reading. It is safe for concurrent use. Readers end with the context of the call.
// Package s3 opens buckets.
type Bucket interface {
	// Stat describes the object with a key; the error matches fs.ErrNotExist if it is absent.
	Stat(ctx context.Context, key string) (Info, error)
	// List describes the objects whose keys start with prefix, sorted by key. If there are more than limit, it returns
	// the first of them and an error that matches ErrTooMany.
	List(ctx context.Context, prefix string, limit int) ([]Info, error)
	// ReadRange returns n bytes of a version from off; all of them must exist.
	ReadRange(ctx context.Context, o Info, off, n int64) ([]byte, error)
	// NewReader reads a version from its start to its end, NewReaderAt at any offset.
	NewReader(ctx context.Context, o Info) io.ReadCloser
	NewReaderAt(ctx context.Context, o Info) io.ReaderAt
}

// A Folder is the content of a bucket below a prefix: named files that appear whole or not at all. Names have
// slashes; Info contains names too. It is safe for concurrent use. Errors match fs.ErrNotExist, fs.ErrExist and the
// errors of this package. Package s3 opens folders.
type Folder interface {
	Bucket
	// String returns the folder's name for messages, without URL parameters.
	String() string
	// URL returns the URL of a file for messages.
	URL(name string) string
	// Create creates a file from data. If it exists, the error matches fs.ErrExist.
	Create(ctx context.Context, name string, data []byte) error
	// Replace replaces a version of a file with data. If the file has changed or is gone, the error matches
	// ErrChanged.
	Replace(ctx context.Context, old Info, data []byte) error
	// Put creates or replaces a file from data.
	Put(ctx context.Context, name string, data []byte) error
	// Upload creates or replaces a file from the first size bytes of r.
	Upload(ctx context.Context, name string, r io.ReaderAt, size int64) error
	// Delete removes a file. A missing file is not an error.
	Delete(ctx context.Context, name string) error
}

var (
	// The parts of a URL that may contain a secret: the user and the parameters.
	userOfURL  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/@\s"']*@`)
	queryOfURL = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^?\s"']*)\?[^\s"']*`)
	blanks     = regexp.MustCompile(`\s+`)
)

// WithoutSecrets removes users and parameters from the URLs in a message.
func WithoutSecrets(s string) string {
	return queryOfURL.ReplaceAllString(userOfURL.ReplaceAllString(s, "$1"), "$1")
}

// secretVariables are the environment variables whose values must not appear in messages.
var secretVariables = [...]string{
	"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY", "GS_ACCESS_KEY_ID",
}

// Redact returns a library's message as one line, without URL parameters and secrets of the environment, which a
// library may quote.
func Redact(s string) string {
	s = WithoutSecrets(s)
	for _, name := range secretVariables {
		if v := os.Getenv(name); len(v) >= 4 {
			s = strings.ReplaceAll(s, v, "<"+name+">")
		}
	}
	return strings.TrimSpace(blanks.ReplaceAllString(s, " "))
}
