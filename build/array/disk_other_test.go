//go:build !unix

package array

import "io/fs"

// allocated returns the bytes that a file has, holes among them.
func allocated(info fs.FileInfo) int64 { return info.Size() }
