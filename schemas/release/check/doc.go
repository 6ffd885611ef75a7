// Package check finds what is wrong with a release: Verify reads all of one that is at rest, Scrub the blocks of one
// that is served.
package check
