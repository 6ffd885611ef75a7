//go:build !race

package edge

// checks is how many releases the property test builds by default, three each.
const checks = "30"
