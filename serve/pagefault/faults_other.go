//go:build !linux

package pagefault

// pagesRead is not known here.
func pagesRead() (n int64, ok bool) { return 0, false }
