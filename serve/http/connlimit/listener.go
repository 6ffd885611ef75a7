// Package connlimit accepts TCP connections within limits that no client can exceed.
//
// A full Listener closes an idle connection to make room for a new one, or refuses the new
// one if all are busy. A failed accept is repeated.
package connlimit

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Config bounds the number of connections.
type Config struct {
	Max        int // limit in all
	PerAddress int // limit of an IPv4 address or a /64 of IPv6; 0 for none
	// Refuse returns the response to a connection above the limits, by its HTTP status: 429
	// or 503. Without it such a connection is closed silently.
	Refuse func(status int) []byte
	Log    *slog.Logger // gets one warning per incident: limit its rate
}

// Bounds of connections open in addition to Config.Max.
const (
	maxLeaving  = 16 // evicted, but their reader has not ended
	maxRefusing = 16 // refused, with a response in progress
)

// Extra is how many files a Listener may have open in addition to Config.Max connections.
const Extra = maxLeaving + maxRefusing + 2 // itself, and the connection just accepted

// Stats counts connections by state and outcome.
type Stats struct {
	Open         int   // now
	Busy         int   // open ones with a request in progress
	Evicted      int64 // closed while idle, to make room
	Refused      int64
	AcceptErrors int64
}

// A Listener accepts TCP connections.
type Listener struct {
	*net.TCPListener
	cfg      Config
	accept   func() (*net.TCPConn, error) // accepts from TCPListener
	draining atomic.Bool
	closed   context.Context // ends with Close
	shut     context.CancelFunc
	refusing chan struct{} // holds an element for each refusal in progress
	leaving  atomic.Int64  // evicted connections not yet closed by their server
	evicted  atomic.Int64
	refused  atomic.Int64
	failed   atomic.Int64
	// Time limits of a refused client: for the start of its request, and in total.
	requestTime, refusalTime time.Duration

	mu    sync.Mutex
	slots []*Conn
	// hand is the slot to check next for an idle connection. It goes round, and skips
	// connections used since the last round: the CLOCK algorithm.
	hand    int
	origins map[netip.Addr]int // connections by address
}

// Listen returns a Listener over ln.
func Listen(ln *net.TCPListener, cfg Config) *Listener {
	l := &Listener{
		TCPListener: ln, cfg: cfg, accept: ln.AcceptTCP, refusing: make(chan struct{}, maxRefusing), origins: map[netip.Addr]int{},
		requestTime: 250 * time.Millisecond, refusalTime: time.Second,
	}
	l.closed, l.shut = context.WithCancel(context.Background())
	return l
}

// Stats returns the counts so far.
func (l *Listener) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	busyConns := 0
	for _, c := range l.slots {
		if c.state.Load() == busy {
			busyConns++
		}
	}
	return Stats{len(l.slots), busyConns, l.evicted.Load(), l.refused.Load(), l.failed.Load()}
}

// Close ends Accept.
func (l *Listener) Close() error {
	l.shut()
	return l.TCPListener.Close()
}

// Drain ends Accept once it has accepted the connections in the kernel's queue. Close would reset them, though their
// clients may have sent a request already.
func (l *Listener) Drain() {
	l.draining.Store(true)
	_ = l.SetDeadline(time.Now()) // a closed listener does not wait
}

// SetReadDeadlines sets the read deadline of all connections.
func (l *Listener) SetReadDeadlines(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.slots {
		_ = c.SetReadDeadline(t) // a closed connection does not wait
	}
}

// Accept waits for the next connection within the limits. It fails only once l is closed, by Close or after Drain.
func (l *Listener) Accept() (net.Conn, error) {
	for failures := 0; ; {
		if l.draining.Load() && !l.queued() {
			_ = l.Close() // may be closed already
			return nil, net.ErrClosed
		}
		tcp, err := l.accept()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			_ = l.SetDeadline(time.Time{}) // Drain has ended the wait
			continue
		case err != nil && (l.closed.Err() != nil || errors.Is(err, net.ErrClosed)):
			return nil, err
		case err != nil:
			failures++
			l.failedAccept(err, failures)
			continue
		}
		failures = 0
		// The readers of evicted connections end as soon as they are scheduled. While many of them remain, no
		// connection is added, so that the number of open files stays bounded.
		for tries := 0; l.leaving.Load() >= maxLeaving && tries < 1000; tries++ {
			time.Sleep(time.Millisecond)
		}
		c := &Conn{TCPConn: tcp, listener: l, origin: originOf(tcp.RemoteAddr())}
		status := l.add(c)
		if status == 0 {
			return c, nil
		}
		l.refuse(tcp, status)
	}
}

// Pauses after an accept that failed.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// failedAccept waits before the next attempt. If the process is out of files, it evicts an idle
// connection.
func (l *Listener) failedAccept(err error, failures int) {
	l.failed.Add(1)
	l.cfg.Log.Warn("accept failed, trying again", "error", err)
	if outOfFiles(err) {
		l.mu.Lock()
		if i := l.idle(); i >= 0 {
			l.evict(l.slots[i])
			l.vacate(i)
		}
		l.mu.Unlock()
	}
	select {
	case <-l.closed.Done():
	case <-time.After(min(firstPause<<min(failures-1, 10), lastPause)):
	}
}

// add puts a connection into a slot. It returns the HTTP status of a refusal, or 0.
func (l *Listener) add(c *Conn) (status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cfg.PerAddress > 0 && l.origins[c.origin] >= l.cfg.PerAddress {
		return http.StatusTooManyRequests
	}
	if len(l.slots) < l.cfg.Max {
		c.slot = len(l.slots)
		l.slots = append(l.slots, c)
	} else {
		i := l.idle()
		if i < 0 {
			return http.StatusServiceUnavailable
		}
		l.evict(l.slots[i])
		c.slot, l.slots[i] = i, c
		l.hand = i + 1 // the new one comes last
	}
	l.origins[c.origin]++
	return 0
}

// idle returns the slot of the connection that has been idle for about the longest time, and
// marks it as closed, or returns -1. It takes two rounds: the first may only clear use bits.
func (l *Listener) idle() int {
	for range 2 * len(l.slots) {
		if l.hand >= len(l.slots) {
			l.hand = 0
		}
		c := l.slots[l.hand]
		used := c.used.Load() && c.used.Swap(false)
		if !used && c.state.CompareAndSwap(waiting, gone) {
			return l.hand
		}
		l.hand++
	}
	return -1
}

// evict closes a connection that idle has found. The caller owns its slot.
func (l *Listener) evict(c *Conn) {
	l.evicted.Add(1)
	l.leaving.Add(1)
	l.forgetOrigin(c)
	c.slot = -1
	_ = c.TCPConn.Close() // ends its reader; its server closes it again
}

// vacate removes a slot; the last one takes its place.
func (l *Listener) vacate(i int) {
	last := len(l.slots) - 1
	if i != last {
		l.slots[i] = l.slots[last]
		l.slots[i].slot = i
	}
	l.slots[last] = nil
	l.slots = l.slots[:last]
}

func (l *Listener) forgetOrigin(c *Conn) {
	if l.origins[c.origin]--; l.origins[c.origin] <= 0 {
		delete(l.origins, c.origin)
	}
}

// refuse sends the reason to a refused client, and closes the connection. Accept does not wait
// for it. With too many refusals in progress, the connection is closed silently.
func (l *Listener) refuse(tcp *net.TCPConn, status int) {
	l.refused.Add(1)
	l.cfg.Log.Warn("connection refused", "status", status, "max-conns", l.cfg.Max)
	if l.cfg.Refuse == nil {
		_ = tcp.Close() // nothing was sent
		return
	}
	select {
	case l.refusing <- struct{}{}:
		go l.respondAndClose(tcp, status)
	default:
		_ = tcp.Close() // nothing was sent
	}
}

// respondAndClose responds once a request has begun: clients treat earlier responses as errors. Before the close, it
// reads everything that the client sends: closing a socket with unread bytes resets it, and the client may lose the
// response.
func (l *Listener) respondAndClose(tcp *net.TCPConn, status int) {
	defer func() { <-l.refusing }()
	response := l.cfg.Refuse(status)
	defer func() { _ = tcp.Close() }() // the response was sent before
	now, buf := time.Now(), make([]byte, 4<<10)
	_ = tcp.SetDeadline(now.Add(l.requestTime)) // a closed connection is found when it is read
	if _, err := tcp.Read(buf); err != nil {
		return
	}
	_ = tcp.SetDeadline(now.Add(l.refusalTime))
	if _, err := tcp.Write(response); err != nil {
		return
	}
	if err := tcp.CloseWrite(); err != nil {
		return
	}
	for {
		if _, err := tcp.Read(buf); err != nil {
			return
		}
	}
}

// originOf returns the address whose limit applies to a connection.
func originOf(addr net.Addr) netip.Addr {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	if !ip.Is6() {
		return ip
	}
	p, err := ip.Prefix(64)
	if err != nil {
		return ip
	}
	return p.Addr()
}

// States of a connection.
const (
	busy    int32 = iota // its server works on a request
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
	used     atomic.Bool // bytes arrived since the hand passed
	once     sync.Once   // Close
	slot     int         // -1 for none; guarded by Listener.mu
}

// resume ends a wait. It returns false if the connection was closed meanwhile.
func (c *Conn) resume() bool {
	return c.state.CompareAndSwap(waiting, busy) || c.state.Load() == busy
}

// Read waits for bytes and reads them.
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
	c.once.Do(func() {
		l := c.listener
		l.mu.Lock()
		defer l.mu.Unlock()
		if c.slot < 0 {
			l.leaving.Add(-1)
			return
		}
		l.forgetOrigin(c)
		l.vacate(c.slot)
		c.slot = -1
	})
	return c.TCPConn.Close()
}
