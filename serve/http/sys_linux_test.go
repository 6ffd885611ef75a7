package http

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A mapped responder answers with a mapped file.
type mapped struct{ data []byte }

func (m mapped) respond(_ *plainRequest, w *reply, _ time.Time) {
	w.add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n"), false)
	w.add(m.data, true /* lasts */)
	w.send()
}

// TestTruncated: a file that is cut under its mapping ends the connection and no more.
func TestTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pack")
	const size = 64 << 10
	if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(data) })
	s := serve(t, func(c *fastConfig) { c.open = func() responder { return mapped{data} } })
	c := s.dial(t)
	write(t, c, get("/"))
	want(t, bufio.NewReader(c), strings.Repeat("x", size))
	for _, left := range []int64{size / 2, 0} {
		if err := os.Truncate(path, left); err != nil {
			t.Fatal(err)
		}
		c := s.dial(t)
		write(t, c, get("/"))
		got := rest(t, c)
		if n := strings.Count(got, "x"); n > int(left) || !strings.HasSuffix(got, "end true") {
			t.Errorf("answer from a file cut to %d bytes = %d bytes that end with %q, want no more, and the end",
				left, n, got[max(0, len(got)-20):])
		}
	}
}

// A stuffer fills the socket to the last byte before it answers.
type stuffer struct{ stuffed chan int }

func (s stuffer) respond(_ *plainRequest, w *reply, _ time.Time) {
	n := 0
	for size := 64 << 10; size > 0; {
		took, err := unix.Write(int(w.fd), bytes.Repeat([]byte{'x'}, size))
		if err != nil {
			size /= 2
		}
		n += max(took, 0)
	}
	s.stuffed <- n
	w.add([]byte("answer"), false)
	w.send()
}

// TestFullSocket: an answer of which the kernel does not take a single byte at first.
func TestFullSocket(t *testing.T) {
	stuffed := make(chan int, 1)
	s := serve(t, func(c *fastConfig) { c.open = func() responder { return stuffer{stuffed} } })
	c := s.dial(t)
	write(t, c, get("/"))
	want := strings.Repeat("x", <-stuffed) + "answer"
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, _ := strings.CutSuffix(rest(t, c), "end true"); got != want {
		t.Errorf("%d bytes that end with %q, want %d that end with the answer", len(got), got[max(0, len(got)-20):], len(want))
	}
}
