// Package e2e holds the tests that cross all stages: what a dump gives is
// ingested, built and served, and the answer is compared with what went in.
package e2e
