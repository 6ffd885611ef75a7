//go:build !unix && !windows

package build

// PeakRSS returns 0: not supported on this system.
func PeakRSS() int64 { return 0 }

// CPUSeconds returns 0: not supported on this system.
func CPUSeconds() float64 { return 0 }
