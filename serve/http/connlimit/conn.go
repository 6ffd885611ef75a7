package connlimit

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
)

// States of a connection.
const (
	busy    int32 = iota // its server works on it
	waiting              // its server waits for bytes
	gone                 // closed to make room
)

// A Conn is a TCP connection of a Listener. While its server waits in Read, the Listener may
// close it.
type Conn struct {
	*net.TCPConn
	listener *Listener
	origin   netip.Addr
	state    atomic.Int32
	used     atomic.Bool // bytes came since the hand went by
	once     sync.Once   // Close
	slot     int         // -1 for none; guarded by Listener.mu
}

// resume ends a wait. It is false if the connection was closed meanwhile.
func (c *Conn) resume() bool {
	return c.state.CompareAndSwap(waiting, busy) || c.state.Load() == busy
}

// forget reports whether bytes came since the last call.
func (c *Conn) forget() bool { return c.used.Load() && c.used.Swap(false) }

// Read reads the bytes that have come.
func (c *Conn) Read(p []byte) (int, error) {
	c.state.CompareAndSwap(busy, waiting)
	n, err := c.TCPConn.Read(p)
	if !c.resume() {
		return 0, net.ErrClosed
	}
	if n > 0 && !c.used.Load() {
		c.used.Store(true)
	}
	return n, err
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.once.Do(func() { c.listener.remove(c) })
	return c.TCPConn.Close()
}

// SyscallConn returns a RawConn whose Read waits as Conn.Read does.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	raw, err := c.TCPConn.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &rawConn{raw, c}, nil
}

type rawConn struct {
	syscall.RawConn
	conn *Conn
}

// Read calls step each time that bytes may have come, until it returns true.
func (r *rawConn) Read(step func(fd uintptr) bool) error {
	c, woken := r.conn, false
	err := r.RawConn.Read(func(fd uintptr) bool {
		if !c.resume() {
			return true
		}
		if woken && !c.used.Load() {
			c.used.Store(true)
		}
		woken = true
		if step(fd) {
			return true
		}
		c.state.CompareAndSwap(busy, waiting)
		return false
	})
	if !c.resume() {
		return net.ErrClosed
	}
	return err
}
