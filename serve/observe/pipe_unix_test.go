//go:build unix

package observe

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A fifo is a named pipe with a reader that reads only when a test has it read.
type fifo struct {
	path   string
	reader *os.File
	filled int // bytes that were there before any line
}

// newFIFO returns a full pipe.
func newFIFO(t *testing.T) *fifo {
	t.Helper()
	p := &fifo{path: filepath.Join(t.TempDir(), "access.log")}
	if err := syscall.Mkfifo(p.path, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.reader, err = os.OpenFile(p.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.reader.Close() })
	w, err := syscall.Open(p.path, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(w)
	for size := 4096; size > 0; {
		n, err := syscall.Write(w, make([]byte, size))
		if err == syscall.EAGAIN {
			size /= 2 // the last bytes too
			continue
		} else if err != nil && err != syscall.EINTR {
			t.Fatal(err)
		}
		p.filled += max(n, 0)
	}
	return p
}

// open opens a log that has the pipe, and waits for a write that the pipe holds up.
func (p *fifo) open(t *testing.T) *AccessLog {
	t.Helper()
	l, err := OpenAccessLog(AccessLogConfig{Path: p.path})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		l.Write(entry())
	}
	time.Sleep(50 * time.Millisecond) // or the test shows less
	return l
}

// TestFullPipe: a reader that stalls holds up neither Look nor Close, and no line is lost by Look.
func TestFullPipe(t *testing.T) {
	p := newFIFO(t)
	l := p.open(t)
	l.Reopen()
	var err error
	var got []byte
	sharedtest.Within(t, "the log", func() {
		_, err = io.CopyN(io.Discard, p.reader, int64(p.filled))
		for buf := make([]byte, 4096); err == nil && bytes.Count(got, []byte("\n")) < 10; {
			var n int
			n, err = p.reader.Read(buf)
			got = append(got, buf[:n]...)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat(logged(t, entry()), 10); string(got) != want || l.Lost() != 0 {
		t.Errorf("%d lines are lost, and the reader got %s", l.Lost(), got)
	}
	sharedtest.Within(t, "Close", l.Close)
}

// TestCloseFullPipe: the process ends although lines are waiting.
func TestCloseFullPipe(t *testing.T) {
	l := newFIFO(t).open(t)
	sharedtest.Within(t, "Close", l.Close)
	sharedtest.Eventually(t, "10 lines are counted as lost", func() bool { return l.Lost() == 10 })
}
