// Package e2e holds the tests that cross all stages: they ingest, build and serve a dump, and compare the response
// with the dump.
package e2e
