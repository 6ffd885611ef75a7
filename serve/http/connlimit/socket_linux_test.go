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
	s := socketOf(t, c)
	var pieces [][]byte
	for range maxPieces + 1 {
		pieces = append(pieces, make([]byte, 100))
	}
	if n, err := s.WriteVector(pieces); n != 0 || err != nil {
		t.Errorf("WriteVector before a Read = %d, %v, want nothing", n, err)
	}
	read := func() {
		t.Helper()
		_, _ = io.WriteString(client, "x")
		if n, err := s.Read(make([]byte, 8)); n != 1 || err != nil {
			t.Fatalf("Read = %d, %v, want 1 byte", n, err)
		}
	}
	read()
	taken := 0
	for n, err := s.WriteVector(pieces); n > 0 || err != nil; n, err = s.WriteVector(pieces) {
		if err != nil || n > 100*maxPieces {
			t.Errorf("WriteVector = %d, %v, want %d at most", n, err, 100*maxPieces)
			break
		}
		taken += n
	}
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, client); err != nil || n != int64(taken) || n == 0 {
		t.Errorf("the client reads %d bytes, %v, want %d", n, err, taken)
	}
	if _, err := s.WriteVector(pieces); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("WriteVector after CloseWrite: %v, want EPIPE", err)
	}
}

// socketOf returns the Socket of c, which serves it until the test ends.
func socketOf(tb testing.TB, c *Conn) *Socket {
	tb.Helper()
	s := c.Socket()
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// TestSocketReads: bytes come as they are sent, and an end that came with bytes is found when the deadline is over, if not at once.
func TestSocketReads(t *testing.T) {
	client, c := accepted(t)
	s := socketOf(t, c)
	buf, got := make([]byte, 8), ""
	deadlines := 0
	read := func() (err error) {
		n, err := s.Read(buf)
		for got += string(buf[:n]); n == len(buf); got += string(buf[:n]) {
			if n, err = s.Read(buf); err != nil {
				return err
			}
		}
		_, writeErr := s.WriteVector([][]byte{[]byte("served")})
		return errors.Join(err, writeErr)
	}
	for _, text := range []string{"first", "second of more than a buffer", "third"} {
		_, _ = io.WriteString(client, text)
		if text == "third" {
			_ = client.CloseWrite()
		}
		if err := read(); err != nil {
			t.Fatalf("Read: %v after %q", err, got)
		}
	}
	if c.state.Load() != busy {
		t.Errorf("state after Read = %d, want busy", c.state.Load())
	}
	_ = s.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	_, end := s.Read(buf)
	for ; errors.Is(end, os.ErrDeadlineExceeded); _, end = s.Read(buf) {
		deadlines++
		_ = s.SetReadDeadline(time.Time{})
	}
	if want := "firstsecond of more than a bufferthird"; got != want || end != io.EOF || deadlines > 1 {
		t.Errorf("Socket reads %q, %v after %d deadlines, want %q, EOF", got, end, deadlines, want)
	}
	_ = s.Close()
	if _, err := s.Read(buf); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read of a closed connection: %v, want net.ErrClosed", err)
	}
}

// TestSocketEnds: the end of the stream is found at once after bytes without a response, and after the first response.
func TestSocketEnds(t *testing.T) {
	for name, served := range map[string]bool{"after a part of a request": false, "after the first response": true} {
		client, c := accepted(t)
		s := socketOf(t, c)
		buf := make([]byte, 8)
		read := func() {
			if n, err := s.Read(buf); n != 4 || err != nil {
				t.Errorf("%s: Read = %d, %v, want 4 bytes", name, n, err)
			}
		}
		if !served {
			_, _ = io.WriteString(client, "what")
			read()
			_, _ = s.WriteVector([][]byte{[]byte("served")})
		}
		_, _ = io.WriteString(client, "part")
		_ = client.CloseWrite()
		sharedtest.Eventually(t, "the end has come", func() bool { return ended(t, c) })
		read()
		if served {
			_, _ = s.WriteVector([][]byte{[]byte("served")})
		}
		sharedtest.Within(t, "Read "+name, func() {
			if n, err := s.Read(buf); err != io.EOF {
				t.Errorf("%s: Read = %d, %v, want the end", name, n, err)
			}
		})
	}
}

// ended reports whether the end of the stream lies in the socket.
func ended(tb testing.TB, c *Conn) bool {
	tb.Helper()
	p := []unix.PollFd{{Fd: int32(file(tb, c)), Events: unix.POLLRDHUP}}
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

// file returns the descriptor of a connection that stays open.
func file(tb testing.TB, c *Conn) (fd int) {
	tb.Helper()
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(s uintptr) { fd = int(s) })
	}
	if err != nil {
		tb.Fatal(err)
	}
	return fd
}
