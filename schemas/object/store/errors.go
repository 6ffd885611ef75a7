package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// errCondition is a class of a driver's errors, beside fs.ErrNotExist, fs.ErrPermission and
// object.ErrUnsupported.
var errCondition = errors.New("the condition of the request does not hold")

var errPattern = errors.New("want a folder, not a pattern")

// A classified error is a driver's error that matches its class. Its text is the driver's.
type classified struct{ class, err error }

func (e *classified) Error() string        { return e.err.Error() }
func (e *classified) Unwrap() error        { return e.err }
func (e *classified) Is(target error) bool { return target == e.class }

// An Error is a failure with its URL. The text is one line without credentials.
// It matches fs.ErrNotExist, fs.ErrExist, fs.ErrPermission and the errors of package object.
type Error struct {
	URL string // without parameters
	Err error
}

func (e *Error) Error() string {
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return e.URL + ": no such object or bucket, or no right to see it"
	case errors.Is(e.Err, object.ErrChanged), errors.Is(e.Err, object.ErrShort):
		return e.URL + ": " + e.Err.Error()
	}
	return e.URL + ": " + object.Redact(e.Err.Error())
}

// Unwrap returns the cause, whose text may hold secrets.
func (e *Error) Unwrap() error { return e.Err }

// failed adds the location to err. Errors with a location and the ends of contexts stay
// as they are.
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
