//go:build !race

package serve

// checks is how many releases the property test builds by default, three each.
const checks = "30"
