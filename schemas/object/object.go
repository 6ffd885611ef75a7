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
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
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

// The schemes of URLs.
const (
	SchemeS3   = "s3"
	SchemeGCS  = "gs"
	schemeFile = "file"
)

// parameters are the query parameters of each scheme.
var parameters = map[string][]string{
	SchemeS3: {
		"region", "endpoint", "profile", "anonymous", "use_path_style", "disable_https", "ssetype", "kmskeyid",
	},
	SchemeGCS:  {"anonymous", "endpoint"},
	schemeFile: nil,
}

// A Location is a parsed URL: a bucket, its parameters, and a key, prefix or pattern in it.
type Location struct {
	Scheme string
	Bucket string     // "" for files
	Key    string     // decoded, without the leading slash: a key, a prefix or a pattern
	Query  url.Values // the parameters of the bucket
}

var startsAsURL = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// IsURL reports whether s is a URL rather than a path. Parse validates it.
func IsURL(s string) bool { return startsAsURL.MatchString(s) }

// Parse parses a URL. In keys, characters with a meaning in URLs are percent-encoded: %25, %23 for #, %3F for a
// pattern's ?.
func Parse(s string) (Location, error) {
	u, err := url.Parse(s)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // the text of e repeats the URL
		}
		return Location{}, fmt.Errorf("%s: bad URL: %s", WithoutSecrets(s), Redact(err.Error()))
	}
	l := Location{Scheme: strings.ToLower(u.Scheme), Bucket: u.Host, Key: strings.TrimPrefix(u.Path, "/")}
	allowed, ok := parameters[l.Scheme]
	switch {
	case !ok:
		return l, fmt.Errorf("%s: unknown scheme %q: want s3, gs or file", WithoutSecrets(s), l.Scheme)
	case u.User != nil:
		return l, fmt.Errorf("%s: credentials do not belong in a URL: set them in the environment", WithoutSecrets(s))
	case u.Fragment != "":
		return l, fmt.Errorf("%s: a # in a name is written %%23", l)
	case l.Scheme != schemeFile && l.Bucket == "":
		return l, fmt.Errorf("%s: no bucket: want %s://bucket/key", l, l.Scheme)
	case l.Scheme == schemeFile && l.Bucket != "":
		return l, fmt.Errorf("%s: want an absolute path, as in file:///folder; a relative one is named without file://", l)
	case l.Scheme == schemeFile && !strings.HasPrefix(u.Path, "/"):
		return l, fmt.Errorf("%s: want an absolute path, as in file:///folder", l)
	}
	if l.Query, err = url.ParseQuery(u.RawQuery); err != nil {
		return l, fmt.Errorf("%s: cannot read the parameters after the question mark", l)
	}
	for name, values := range l.Query {
		if !slices.Contains(allowed, name) {
			want := "none"
			if len(allowed) > 0 {
				want = "one of " + strings.Join(allowed, ", ")
			}
			return l, fmt.Errorf("%s: unknown parameter %q: want %s", l, name, want)
		}
		if len(values) > 1 {
			return l, fmt.Errorf("%s: parameter %q is given twice", l, name)
		}
	}
	return l, nil
}

// String returns the URL without its parameters, for messages.
func (l Location) String() string { return l.Scheme + "://" + l.Bucket + "/" + l.Key }

// At returns the location of another key in the same bucket.
func (l Location) At(key string) Location {
	l.Key = key
	return l
}

// Identity returns a unique text for the location. It includes the parameters, which may select another store.
func (l Location) Identity() string { return l.String() + "?" + l.Query.Encode() }

// IsPattern reports whether the key contains pattern characters.
func (l Location) IsPattern() bool { return strings.ContainsAny(l.Key, `*?[`) }

// IsPrefix reports whether the key addresses all keys below it.
func (l Location) IsPrefix() bool { return l.Key == "" || strings.HasSuffix(l.Key, "/") }

// AsPrefix returns the location of all keys below the key.
func (l Location) AsPrefix() Location {
	if !l.IsPrefix() {
		l.Key += "/"
	}
	return l
}

// Path returns the path of a file: URL; false for other schemes.
func (l Location) Path() (string, bool) {
	if l.Scheme != schemeFile {
		return "", false
	}
	if path := filepath.FromSlash(l.Key); filepath.VolumeName(path) != "" { // file:///C:/folder on Windows
		return path, true
	}
	return filepath.FromSlash("/" + l.Key), true
}

// Match reports whether a key matches a pattern: path.Match for each element between slashes, and ** for zero or
// more elements. Elements with a leading dot match only if the pattern has the dot.
func Match(pattern, key string) bool {
	return matchElems(strings.Split(pattern, "/"), strings.Split(key, "/"))
}

func matchElems(pattern, elems []string) bool {
	if len(pattern) == 0 {
		return len(elems) == 0
	}
	hidden := len(elems) > 0 && strings.HasPrefix(elems[0], ".") && !strings.HasPrefix(pattern[0], ".")
	if pattern[0] == "**" {
		return matchElems(pattern[1:], elems) || len(elems) > 0 && !hidden && matchElems(pattern, elems[1:])
	}
	if len(elems) == 0 || hidden {
		return false
	}
	ok, err := path.Match(pattern[0], elems[0])
	return err == nil && ok && matchElems(pattern[1:], elems[1:])
}

// CheckPattern returns an error for a malformed pattern.
func CheckPattern(pattern string) error {
	for elem := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(elem, ""); err != nil {
			return fmt.Errorf("bad pattern: %w", err)
		}
	}
	return nil
}

// FixedPrefix returns the folder that contains all matches of a pattern, with its slash.
func FixedPrefix(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		pattern = pattern[:i]
	}
	return pattern[:strings.LastIndex(pattern, "/")+1]
}
