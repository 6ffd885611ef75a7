//go:build !unix && !windows

package build

// PeakRSS is 0: the system does not tell.
func PeakRSS() int64 { return 0 }

// CPUSeconds is 0: the system does not tell.
func CPUSeconds() float64 { return 0 }
