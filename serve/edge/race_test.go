//go:build race

package edge

// checks is lower where everything takes ten times as long.
const checks = "8"
