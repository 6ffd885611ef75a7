package connlimit

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// accepted returns both ends of a connection.
func accepted(tb testing.TB) (client *net.TCPConn, c *Conn) {
	tb.Helper()
	l := Listen(listen(tb), Config{Max: 1})
	tb.Cleanup(func() { _ = l.Close() })
	under, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = under.Close() })
	got, err := l.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = got.Close() })
	_ = under.SetDeadline(time.Now().Add(sharedtest.Patience))
	return under.(*net.TCPConn), got.(*Conn)
}

// TestWriteVector fills the socket to the last byte, and all bytes arrive that it has taken.
func TestWriteVector(t *testing.T) {
	client, c := accepted(t)
	var pieces [][]byte
	for range maxPieces + 1 {
		pieces = append(pieces, make([]byte, 100))
	}
	taken := 0
	c.ReadLoop(func(int, error) ([]byte, bool) {
		for n, err := c.WriteVector(pieces); n > 0 || err != nil; n, err = c.WriteVector(pieces) {
			if err != nil || n > 100*maxPieces {
				t.Errorf("WriteVector = %d, %v, want %d at most", n, err, 100*maxPieces)
				break
			}
			taken += n
		}
		return nil, false
	})
	if n, err := c.WriteVector(pieces); n != 0 || err != nil {
		t.Errorf("WriteVector outside of ReadLoop = %d, %v, want nothing", n, err)
	}
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, client); err != nil || n != int64(taken) || n == 0 {
		t.Errorf("the client reads %d bytes, %v, want %d", n, err, taken)
	}
	c.ReadLoop(func(int, error) ([]byte, bool) {
		if _, err := c.WriteVector(pieces); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("WriteVector after CloseWrite: %v, want EPIPE", err)
		}
		return nil, false
	})
}

// TestReadLoop: bytes come as they are sent, and an end that came with bytes is found when the deadline is over, if not at once.
func TestReadLoop(t *testing.T) {
	client, c := accepted(t)
	buf, got, deadlines := make([]byte, 8), "", 0
	var end error
	sends := []func(){
		func() { _, _ = io.WriteString(client, "second of more than a buffer") },
		func() { _, _ = io.WriteString(client, "third"); _ = client.CloseWrite() },
	}
	_, _ = io.WriteString(client, "first")
	c.ReadLoop(func(n int, err error) ([]byte, bool) {
		got += string(buf[:n])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			deadlines++
			_ = c.SetReadDeadline(time.Time{})
		case err != nil:
			end = err
			return nil, false
		case n > 0 && n < len(buf) && len(sends) > 0:
			sends[0]()
			sends = sends[1:]
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
		}
		return buf, false
	})
	if want := "firstsecond of more than a bufferthird"; got != want || end != io.EOF || deadlines > 1 {
		t.Errorf("ReadLoop reads %q, %v after %d deadlines, want %q, EOF", got, end, deadlines, want)
	}
	if c.state.Load() != busy {
		t.Errorf("state after ReadLoop = %d, want busy", c.state.Load())
	}
	_ = c.TCPConn.Close()
	c.ReadLoop(func(_ int, err error) ([]byte, bool) { end = err; return nil, false })
	if !errors.Is(end, net.ErrClosed) {
		t.Errorf("ReadLoop of a closed connection gives %v, want net.ErrClosed", end)
	}
}

// TestReadLoopMore: where bytes are missing, an end that came with the others is found at once.
func TestReadLoopMore(t *testing.T) {
	client, c := accepted(t)
	buf := make([]byte, 8)
	_, _ = io.WriteString(client, "first")
	sharedtest.Within(t, "ReadLoop", func() {
		c.ReadLoop(func(n int, err error) ([]byte, bool) {
			switch {
			case err != nil:
				return nil, false
			case string(buf[:n]) == "first":
				go func() { _, _ = io.WriteString(client, "part"); _ = client.CloseWrite() }()
				return buf, false
			case n > 0: // the end comes too
				sharedtest.Eventually(t, "the end has come", func() bool { return ended(c) })
			}
			return buf, n > 0
		})
	})
}

// ended reports whether the end of the stream lies in the socket.
func ended(c *Conn) bool {
	p := []unix.PollFd{{Fd: int32(c.socket.fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	return n == 1 && err == nil && p[0].Revents&unix.POLLRDHUP != 0
}

// TestGone: a client that has closed the connection is gone, whatever it sent before.
func TestGone(t *testing.T) {
	for _, sent := range []string{"", "bytes that are not read"} {
		client, c := accepted(t)
		if _, err := io.WriteString(client, sent); err != nil {
			t.Fatal(err)
		}
		if c.Gone() {
			t.Errorf("after %q, an open connection is gone", sent)
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		sharedtest.Eventually(t, "the client is gone", c.Gone)
	}
}
