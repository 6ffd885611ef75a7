package http

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

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
