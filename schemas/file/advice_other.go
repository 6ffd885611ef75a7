//go:build !linux

package file

import "os"

// Fetch does nothing: the system reads what is touched.
func Fetch([]byte) {}

// Await does nothing: the system reads what is touched.
func Await([]byte) {}

// AwaitAll does nothing: the system reads what is touched.
func AwaitAll(int, func(int) []byte) {}

// Resident is true: nothing can be dropped.
func Resident([]byte) bool { return true }

// DropCache does nothing: the system has no call for it.
func DropCache(*os.File, int64, int64) {}
