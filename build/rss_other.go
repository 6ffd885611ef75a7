//go:build !unix

package build

// peakRSS returns 0: the system does not report it.
func peakRSS() int64 { return 0 }
