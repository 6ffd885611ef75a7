//go:build !linux

package file

import (
	"errors"
	"os"
)

// Fetch does nothing: pages are read on access.
func Fetch([]byte) {}

// Await does nothing: pages are read on access.
func Await(int, func(int) []byte) {}

// Resident returns true: nothing can be dropped.
func Resident([]byte) bool { return true }

// Free returns an error that matches errors.ErrUnsupported.
func Free(string) (int64, error) { return 0, errors.ErrUnsupported }

// DropCache does nothing: the system has no call for it.
func DropCache(*os.File, int64, int64) {}
