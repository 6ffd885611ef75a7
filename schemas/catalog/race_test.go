//go:build race

package catalog

// raceDetector is set where tests run under the race detector, which also ends the
// process where the library makes a slice of nothing out of damaged bytes: without it
// that is a panic, which becomes an error.
const raceDetector = true
