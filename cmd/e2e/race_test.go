//go:build race

package e2e

// raceDetector makes tests of many records skip: they would take ten times as long and
// run the same code as the small ones.
const raceDetector = true
