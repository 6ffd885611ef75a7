//go:build unix

package build

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// PeakRSS returns the peak memory of this process in bytes, 0 if unknown.
func PeakRSS() int64 {
	// On Linux, rusage includes the memory of the parent at the start of this process.
	if n, ok := highWater(); ok {
		return n
	}
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss // bytes there, kilobytes elsewhere
	}
	return u.Maxrss << 10
}

// CPUSeconds returns the CPU time of this process, 0 if unknown.
func CPUSeconds() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// highWater returns Linux's VmHWM, which excludes the parent.
func highWater() (int64, bool) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(b), "\nVmHWM:")
	if !ok {
		return 0, false
	}
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kilobytes, 10, 64)
	return n << 10, err == nil
}
