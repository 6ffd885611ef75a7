//go:build race

package e2e

// raceDetector skips tests of many records: they would take ten times as long and run the same code as small ones.
const raceDetector = true
