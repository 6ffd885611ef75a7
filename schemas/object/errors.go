package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"gocloud.dev/gcerrors"
)

var (
	// ErrChanged matches errors of reading an object that was replaced meanwhile.
	ErrChanged = errors.New("the object was changed while it was read")

	// ErrShort matches errors of reading an object that ended before its size.
	ErrShort = errors.New("the object ended early")

	// ErrUnsupported matches errors of conditional writes that the store does not have.
	ErrUnsupported = errors.New("the store has no conditional writes")
)

// An Error is what went wrong with a URL. Its text is one line without credentials.
// It matches fs.ErrNotExist, fs.ErrExist and fs.ErrPermission where it is one of these.
type Error struct {
	URL string // without parameters
	Err error
}

func (e *Error) Error() string {
	switch {
	case errors.Is(e.Err, fs.ErrNotExist) || gcerrors.Code(e.Err) == gcerrors.NotFound:
		return e.URL + ": no such object or bucket, or no right to see it"
	case errors.Is(e.Err, ErrChanged), errors.Is(e.Err, ErrShort):
		return e.URL + ": " + e.Err.Error()
	}
	return e.URL + ": " + redact(e.Err.Error())
}

// Unwrap returns the cause, whose text may hold anything.
func (e *Error) Unwrap() error { return e.Err }

// Is makes e match the errors of package fs.
func (e *Error) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return gcerrors.Code(e.Err) == gcerrors.NotFound
	case fs.ErrPermission:
		return gcerrors.Code(e.Err) == gcerrors.PermissionDenied
	}
	return false
}

// failed names the location that err is about. Errors that are named already and the
// ends of contexts stay as they are.
func failed(l Location, err error) error {
	var named *Error
	if err == nil || err == io.EOF || errors.As(err, &named) || err == context.Canceled || err == context.DeadlineExceeded {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", l, context.Canceled) // the libraries' texts add nothing
	}
	return &Error{URL: l.String(), Err: err}
}

// transient reports whether the same request may succeed a little later.
func transient(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrChanged) {
		return false
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound, gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.FailedPrecondition,
		gcerrors.AlreadyExists, gcerrors.Unimplemented, gcerrors.Canceled:
		return false
	}
	return true
}

var (
	// inURL matches what of a URL may hold a secret: the user and the parameters.
	userOfURL  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/@\s"']*@`)
	queryOfURL = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^?\s"']*)\?[^\s"']*`)
	blanks     = regexp.MustCompile(`\s+`)
)

func withoutSecrets(s string) string {
	return queryOfURL.ReplaceAllString(userOfURL.ReplaceAllString(s, "$1"), "$1")
}

// secretVariables name what of the environment must not be seen.
var secretVariables = [...]string{
	"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
	"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGEBLOB_CONNECTIONSTRING", "AZURE_CLIENT_SECRET",
}

// redact returns a library's message as one line, without parameters of URLs and
// without the secrets that the environment holds, should the library repeat them.
func redact(s string) string {
	s = withoutSecrets(s)
	for _, name := range secretVariables {
		if v := os.Getenv(name); len(v) >= 4 {
			s = strings.ReplaceAll(s, v, "<"+name+">")
		}
	}
	return strings.TrimSpace(blanks.ReplaceAllString(s, " "))
}
