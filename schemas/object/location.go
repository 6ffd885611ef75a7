package object

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

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

// Parse parses a URL. In keys, characters with a meaning in URLs are percent-encoded: %25, %23 for #, %3F for the ?
// of a pattern.
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

// Match reports whether a key matches a pattern: path.Match for each element between slashes, and ** for any number
// of elements, including none. Elements with a leading dot match only if the pattern has the dot.
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
