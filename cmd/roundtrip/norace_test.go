//go:build !race

package roundtrip

const raceDetector = false
