package connlimit

import (
	"net"
	"sync/atomic"
	"time"
)

// A DrainListener accepts the connections in the kernel's queue before it closes. Closing alone resets
// them, and their clients may have sent a request already.
type DrainListener struct {
	*net.TCPListener
	draining atomic.Bool
}

// Accept waits for the next connection. Once the listener drains it waits no more, and closes the listener
// when the queue is empty: the error is then net.ErrClosed.
func (l *DrainListener) Accept() (net.Conn, error) {
	if !l.draining.Load() {
		c, err := l.TCPListener.Accept()
		if err == nil || !l.draining.Load() {
			return c, err
		}
	}
	if c := acceptQueued(l.TCPListener); c != nil {
		return c, nil
	}
	_ = l.Close() // or it is closed already
	return nil, net.ErrClosed
}

// Drain ends the wait in Accept.
func (l *DrainListener) Drain() {
	l.draining.Store(true)
	_ = l.SetDeadline(time.Unix(1, 0)) // a closed listener does not wait
}
