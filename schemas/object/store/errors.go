package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"gocloud.dev/gcerrors"

	"reelsplice/schemas/object"
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
	case errors.Is(e.Err, object.ErrChanged), errors.Is(e.Err, object.ErrShort):
		return e.URL + ": " + e.Err.Error()
	}
	return e.URL + ": " + object.Redact(e.Err.Error())
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
func failed(l object.Location, err error) error {
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
	if errors.Is(err, context.Canceled) || errors.Is(err, object.ErrChanged) {
		return false
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound, gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.FailedPrecondition,
		gcerrors.AlreadyExists, gcerrors.Unimplemented, gcerrors.Canceled:
		return false
	}
	return true
}
