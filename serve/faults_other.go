//go:build !linux

package serve

// pagesRead is not known here.
func pagesRead() (n int64, ok bool) { return 0, false }
