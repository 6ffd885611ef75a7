//go:build !race

package catalog

// raceDetector is not set: see race_test.go.
const raceDetector = false
