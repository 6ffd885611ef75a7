// Package check verifies releases: Verify reads a whole release offline, Scrub the blocks of a release in service.
package check
