package connlimit

import (
	"net"
	"sync/atomic"
	"time"
)

// drainTime is how long a DrainListener goes on accepting: enough to empty the kernel's queue.
const drainTime = 20 * time.Millisecond

// A DrainListener accepts the connections in the kernel's queue before it closes. Closing alone resets
// them, and their clients may have sent a request already.
type DrainListener struct {
	*net.TCPListener
	draining atomic.Bool
}

// Accept waits for the next connection. Behind Drain it closes the listener when its time is over: the
// error is then net.ErrClosed.
func (l *DrainListener) Accept() (net.Conn, error) {
	c, err := l.TCPListener.Accept()
	if err != nil && l.draining.Load() {
		_ = l.Close() // or it is closed already
		err = net.ErrClosed
	}
	return c, err
}

// Drain ends the wait in Accept soon.
func (l *DrainListener) Drain() {
	l.draining.Store(true)
	_ = l.SetDeadline(time.Now().Add(drainTime)) // a closed listener does not wait
}
