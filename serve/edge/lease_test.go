package edge

import (
	"testing"

	"github.com/reelsplice/reelsplice/serve/status"
)

// TestLease: a lease is rounded up, a refused charge changes nothing, and all is given back.
func TestLease(t *testing.T) {
	e := &Edge{opts: Options{MaxInflight: 3 * leaseStep}}
	l, other, f := exchange{edge: e}, exchange{edge: e}, &e.inflight
	check := func(n int, err error, held int) {
		t.Helper()
		if got := l.lease(n); got != err || f.held.Load() != int64(held) {
			t.Errorf("charge(%d) = %v with %d bytes held, want %v, %d", n, got, f.held.Load(), err, held)
		}
	}
	check(1, nil, leaseStep)
	check(leaseStep, nil, leaseStep)
	check(2*leaseStep+1, nil, 3*leaseStep)
	if err := other.lease(1); err != status.Offline || other.leased != 0 || f.refused.Load() != 1 {
		t.Errorf("charge without room = %v, %d held by it, %d refused, want %v, 0, 1", err, other.leased, f.refused.Load(), status.Offline)
	}
	check(2*leaseStep, nil, 2*leaseStep)
	check(3*leaseStep+1, status.Offline, 2*leaseStep)
	check(0, nil, 0)
}
