//go:build race

package serve

// checks is lower where everything takes ten times as long.
const checks = "8"
