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

	// ErrUnsupported matches errors of conditional writes that the store does not have.
	ErrUnsupported = errors.New("the store has no conditional writes")

	// ErrTooMany matches errors of listings with more objects than the caller takes.
	ErrTooMany = errors.New("too many objects")
)

// MaxListed is how many objects a command lists at most: their descriptions take some hundred MiB.
const MaxListed = 1_000_000

// Info describes one version of an object.
type Info struct {
	Key     string
	Size    int64 // 0 or more: a store that gives no size is an error
	ModTime time.Time
	ETag    string // without quotes, differs between versions
}

// A Bucket is a bucket open for reading. Goroutines may share it. Returned readers end with
// the context of the call. Package s3 opens buckets.
type Bucket interface {
	// Stat describes the object of a key; the error matches fs.ErrNotExist if there is
	// none.
	Stat(ctx context.Context, key string) (Info, error)
	// List describes the objects whose keys start with prefix, sorted by key. If there are more than most, it
	// stops there: the error matches ErrTooMany and comes with the first of them.
	List(ctx context.Context, prefix string, most int) ([]Info, error)
	// ReadRange returns n bytes of a version from off; all of them must exist.
	ReadRange(ctx context.Context, o Info, off, n int64) ([]byte, error)
	// NewReader reads a version from its start to its end, NewReaderAt at any offset.
	NewReader(ctx context.Context, o Info) io.ReadCloser
	NewReaderAt(ctx context.Context, o Info) io.ReaderAt
}

// A Folder is all below a prefix of a bucket: named files that appear whole or not at all. Names have slashes; those of Info
// are names too. Goroutines may share a Folder. Errors match fs.ErrNotExist, fs.ErrExist and the errors of this package.
// Package s3 opens folders.
type Folder interface {
	Bucket
	// String names the folder in messages, without parameters of URLs.
	String() string
	// URL returns the name of a file for messages.
	URL(name string) string
	// Create makes a file of data. If there is one, the error matches fs.ErrExist.
	Create(ctx context.Context, name string, data []byte) error
	// Replace makes a file of data in the place of a version. If there is another one by now, or
	// none, the error matches ErrChanged.
	Replace(ctx context.Context, old Info, data []byte) error
	// Put makes a file of data, or replaces the one of that name.
	Put(ctx context.Context, name string, data []byte) error
	// Upload makes a file of the first size bytes of r, or replaces the one of that name.
	Upload(ctx context.Context, name string, r io.ReaderAt, size int64) error
	// Delete removes a file. It is no error if there is none.
	Delete(ctx context.Context, name string) error
}

var (
	// The parts of a URL that may hold a secret: the user and the parameters.
	userOfURL  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/@\s"']*@`)
	queryOfURL = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^?\s"']*)\?[^\s"']*`)
	blanks     = regexp.MustCompile(`\s+`)
)

// WithoutSecrets removes users and parameters from the URLs in a message.
func WithoutSecrets(s string) string {
	return queryOfURL.ReplaceAllString(userOfURL.ReplaceAllString(s, "$1"), "$1")
}

// secretVariables are the variables whose values no message may show.
var secretVariables = [...]string{
	"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY", "GS_ACCESS_KEY_ID",
}

// Redact returns a library's message as one line, without parameters of URLs and without
// the secrets of the environment, which a library may quote.
func Redact(s string) string {
	s = WithoutSecrets(s)
	for _, name := range secretVariables {
		if v := os.Getenv(name); len(v) >= 4 {
			s = strings.ReplaceAll(s, v, "<"+name+">")
		}
	}
	return strings.TrimSpace(blanks.ReplaceAllString(s, " "))
}
