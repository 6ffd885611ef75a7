package observe

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A pipe takes what is written while it is open, and has it wait or fails it else.
type pipe struct {
	mu     sync.Mutex
	flows  sync.Cond
	stalls bool
	broken error
	got    bytes.Buffer
}

func newPipe() *pipe {
	p := &pipe{}
	p.flows.L = &p.mu
	return p
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.stalls {
		p.flows.Wait()
	}
	if p.broken != nil {
		return 0, p.broken
	}
	return p.got.Write(b)
}

func (p *pipe) set(stalls bool, broken error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalls, p.broken = stalls, broken
	p.flows.Broadcast()
}

func (p *pipe) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got.String()
}

func notice(lost int64) []byte { return fmt.Appendf(nil, "lost %d\n", lost) }

// TestStalledReader: a reader that stalls has nobody wait. What does not fit is counted, and
// told of after the last line before it.
func TestStalledReader(t *testing.T) { synctest.Test(t, testStalledReader) }

func testStalledReader(t *testing.T) {
	t.Helper()
	p := newPipe()
	p.set(true, nil)
	q := NewQueue(p, notice)
	line := strings.Repeat("x", 999) + "\n"
	const all = 3 * maxQueued
	for range all {
		if n, err := q.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("Write = %d, %v, want %d", n, err, len(line))
		}
	}
	lost := q.Lost()
	if lost == 0 || lost == all {
		t.Fatalf("%d of %d lines are lost, want some", lost, all)
	}
	p.set(false, nil)
	told := fmt.Sprintf("lost %d\n", lost)
	synctest.Wait()
	if want := strings.Repeat(line, int(all-lost)) + told; p.text() != want {
		t.Errorf("reader got %d bytes that end with %.100q, want %d", len(p.text()), p.text()[max(0, len(p.text())-100):], len(want))
	}
	_, _ = q.Write([]byte("next\n"))
	q.Close(sharedtest.Patience)
	if !strings.HasSuffix(p.text(), told+"next\n") || q.Lost() != lost {
		t.Errorf("after the notice the reader got %.100q, %d lost, want next, %d", p.text()[len(p.text())-50:], q.Lost(), lost)
	}
}

// TestLongLines: the memory of a Queue is bounded, however long lines are.
func TestLongLines(t *testing.T) {
	p := newPipe()
	p.set(true, nil)
	q := NewQueue(p, notice)
	const size, all = 1 << 20, 100
	line := []byte(strings.Repeat("x", size-1) + "\n")
	for range all {
		_, _ = q.Write(line)
	}
	if held := (all - q.Lost()) * size; held > maxBytes {
		t.Errorf("a Queue holds %d bytes, want at most %d", held, maxBytes)
	}
	p.set(false, nil)
	q.Close(sharedtest.Patience)
}

// TestCloseWrites: what was written before Close reaches the destination, however soon Close comes.
func TestCloseWrites(t *testing.T) {
	for i := range 5_000 {
		p := newPipe()
		q := NewQueue(p, notice)
		for start := time.Now(); time.Since(start) < time.Duration(i%1000)*20*time.Nanosecond; {
			continue // to meet the goroutine at each of its steps
		}
		_, _ = q.Write([]byte("last\n"))
		q.Close(sharedtest.Patience)
		if got := p.text(); got != "last\n" {
			t.Fatalf("round %d: the reader got %q, want the last line", i, got)
		}
	}
}

// TestDeadReader: lines for a reader that is gone are counted, and told of when there is one
// again.
func TestDeadReader(t *testing.T) { synctest.Test(t, testDeadReader) }

func testDeadReader(t *testing.T) {
	t.Helper()
	p := newPipe()
	p.set(false, errors.New("broken pipe"))
	q := NewQueue(p, notice)
	for range 3 {
		_, _ = q.Write([]byte("a\nb\n"))
	}
	if synctest.Wait(); q.Lost() != 6 {
		t.Errorf("%d lines are lost, want 6", q.Lost())
	}
	p.set(false, nil)
	_, _ = q.Write([]byte("c\n"))
	q.Close(sharedtest.Patience)
	if want := "c\nlost 6\n"; p.text() != want {
		t.Errorf("reader got %q, want %q", p.text(), want)
	}
}

// TestClose: what is queued is written before the end, unless that takes too long.
func TestClose(t *testing.T) { synctest.Test(t, testClose) }

func testClose(t *testing.T) {
	t.Helper()
	p := newPipe()
	q := NewQueue(p, notice)
	_, _ = q.Write([]byte("last\n"))
	q.Close(sharedtest.Patience)
	if p.text() != "last\n" {
		t.Errorf("reader got %q, want the last line", p.text())
	}
	_, _ = q.Write([]byte("late\n"))
	if q.Lost() != 1 {
		t.Errorf("%d lines are lost after the end, want 1", q.Lost())
	}
	p = newPipe()
	p.set(true, nil)
	q = NewQueue(p, notice)
	_, _ = q.Write([]byte("stuck\n"))
	start := time.Now()
	q.Close(time.Hour)
	if took := time.Since(start); took != time.Hour {
		t.Errorf("Close gives up after %v, want an hour", took)
	}
	p.set(false, nil)
	<-q.ended
}

// TestConcurrentWrites: lines of several goroutines stay whole, and none is forgotten.
func TestConcurrentWrites(t *testing.T) {
	p := newPipe()
	q := NewQueue(p, notice)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 500 {
				_, _ = fmt.Fprintf(q, "line of %d\n", i)
			}
		})
	}
	wg.Wait()
	q.Close(sharedtest.Patience)
	for i := range 8 {
		if n := strings.Count(p.text(), fmt.Sprintf("line of %d\n", i)); n != 500 {
			t.Errorf("reader got %d lines of %d, want 500", n, i)
		}
	}
	if q.Lost() != 0 {
		t.Errorf("%d lines are lost, want 0", q.Lost())
	}
}

func TestLimit(t *testing.T) { synctest.Test(t, testLimit) }

func testLimit(t *testing.T) {
	t.Helper()
	var b bytes.Buffer
	log := Limit(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}})), 2, time.Second)
	other := log.With("a", 1).WithGroup("g") // shares the limit
	for range 3 {
		log.Info("x")
		other.Info("y", "b", 2)
	}
	time.Sleep(time.Second)
	log.Info("x")
	log.Info("x")
	if want := "msg=x\nmsg=y a=1 g.b=2\nmsg=x suppressed=4\nmsg=x\n"; b.String() != want {
		t.Errorf("log = %q, want %q", b.String(), want)
	}
}
