//go:build !unix && !windows

package build

// PeakRSS returns 0: this system has no figure.
func PeakRSS() int64 { return 0 }

// CPUSeconds returns 0: this system has no figure.
func CPUSeconds() float64 { return 0 }
