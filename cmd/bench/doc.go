// Package bench measures the edge side by side with what else could answer: nginx with
// the finished answers as files, Varnish that composes the same parts, a Go server that
// sends a constant, and one that decodes, merges, encodes and compresses.
//
// All servers run as children on one core, the load on another. Each round asks all of
// them in turn, and every ratio is taken within a round before the median over the
// rounds is, so that a machine that gets slower for a while slows both sides of it.
//
// The load generator saturates before a server does where answers are large. So the CPU
// time that a server takes for a request stands beside the requests per second.
package bench
