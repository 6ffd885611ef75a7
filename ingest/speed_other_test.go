//go:build !unix

package ingest

import "time"

var began = time.Now()

// cpuSeconds returns the time since the start, where there is nothing better.
func cpuSeconds() float64 { return time.Since(began).Seconds() }
