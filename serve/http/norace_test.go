//go:build !race

package http

// checks is how many hundreds of streams TestFastPathIsFastHTTP sends.
const checks = 30
