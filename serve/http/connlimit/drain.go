package connlimit

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// A DrainListener accepts the connections in the kernel's queue before it closes. Closing alone resets
// them, and their clients may have sent a request already.
type DrainListener struct {
	*net.TCPListener
	draining atomic.Bool
}

// Accept waits for the next connection. Behind Drain it waits no more, and closes the listener once the
// queue is empty: the error is then net.ErrClosed.
func (l *DrainListener) Accept() (net.Conn, error) {
	for {
		if l.draining.Load() && !l.queued() {
			_ = l.Close() // or it is closed already
			return nil, net.ErrClosed
		}
		c, err := l.TCPListener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return c, err
		}
		_ = l.SetDeadline(time.Time{}) // it has ended the wait
	}
}

// Drain ends the wait in Accept.
func (l *DrainListener) Drain() {
	l.draining.Store(true)
	_ = l.SetDeadline(time.Now()) // a closed listener does not wait
}
