//go:build unix

package build

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// peakRSS returns the most memory that this process has held, in bytes; 0 when the
// system does not tell.
func peakRSS() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss // bytes there, kilobytes elsewhere
	}
	return u.Maxrss << 10
}
