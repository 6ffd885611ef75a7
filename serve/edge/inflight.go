package edge

import (
	"sync/atomic"

	"github.com/reelsplice/reelsplice/serve/status"
)

// Sizes of responses and of their buffers.
const (
	// MaxWhole is the longest body, in bytes, that is made whole before it is sent. A longer one is
	// made piece by piece while the client takes it.
	MaxWhole = 128 << 10
	// streamBytes is the memory of a body that is made while it is sent: an inflater, its buffer
	// and that of the connection.
	streamBytes = 128 << 10
	// exchangeBytes is about the memory of an exchange beside its buffers.
	exchangeBytes = 4 << 10
	// maxScratch is the most memory that an exchange holds for its next requests while a
	// response is sent.
	maxScratch = 256 << 10
	// maxKept is the size up to which an exchange is kept for another request.
	maxKept = 512 << 10
)

// An inflight bounds the memory that responses hold from their composition until the client has
// taken them. Bytes that go out from the mapping of a release are not counted. It is safe for concurrent use.
type inflight struct {
	most    int64
	held    atomic.Int64
	refused atomic.Int64 // responses
}

func newInflight(most int) *inflight { return &inflight{most: int64(most)} }

// add counts n bytes more; false, and nothing is counted, where there is no room for them.
func (f *inflight) add(n int) bool {
	if f.held.Add(int64(n)) > f.most && n > 0 {
		f.held.Add(-int64(n))
		return false
	}
	return true
}

// A lease is the part of an inflight that one response holds. It is not safe for concurrent
// use.
type lease struct {
	of *inflight
	n  int
}

// set makes l hold n bytes. The error is a refusal, and l stays as it was.
func (l *lease) set(n int) error {
	if n == l.n {
		return nil
	}
	if !l.of.add(n - l.n) {
		l.of.refused.Add(1)
		return status.Offline
	}
	l.n = n
	return nil
}

// leaseStep is by how much a lease grows at least while a response is composed.
const leaseStep = 64 << 10

// atLeast makes l hold n bytes, unless it holds about as many.
func (l *lease) atLeast(n int) error {
	if n < l.n+leaseStep {
		return nil
	}
	return l.set(n)
}
