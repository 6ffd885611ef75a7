//go:build !race

package http

// checks is how many hundreds of streams TestTwins sends.
const checks = 10
