package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

// started is when the work of these tests begins.
var started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(d time.Duration) time.Time { return started.Add(d) }

func TestRateIsOfLate(t *testing.T) {
	w := newWork("ingest", true, started)
	// 100 a second for a minute, 10 a second for another.
	done := int64(0)
	for sec := range 120 {
		done += map[bool]int64{true: 100, false: 10}[sec < 60]
		w.update(done, 10_000, after(time.Duration(sec+1)*time.Second))
		if sec == 59 {
			if r := w.state(after(time.Minute)).rate; r != 100 {
				t.Errorf("rate after a minute %v, want 100", r)
			}
		}
	}
	s := w.state(after(2 * time.Minute))
	if s.rate != 10 {
		t.Errorf("rate after two minutes %v, want 10", s.rate)
	}
	if left, ok := s.left(); !ok || left != 340*time.Second {
		t.Errorf("%v left, %v, want 340 s for 3400 at 10 a second", left, ok)
	}
	if r := s.final().rate; r != 55 {
		t.Errorf("rate at the end %v, want 55, that of all", r)
	}
	// Nothing more comes: the rate falls to 0 and no time is told.
	s = w.state(after(2*time.Minute + 5*time.Second))
	if math.Abs(s.rate-50.0/10) > 2 {
		t.Errorf("rate after 5 s of nothing %v, want about 5", s.rate)
	}
	s = w.state(after(2*time.Minute + 30*time.Second))
	if _, ok := s.left(); s.rate != 0 || ok {
		t.Errorf("rate after 30 s of nothing %v, time left known: %v, want 0 and not", s.rate, ok)
	}
	if n := len(w.marks); n > int(speedWindow/speedStep)+2 {
		t.Errorf("%d moments are remembered", n)
	}
}

func TestRateNeedsTime(t *testing.T) {
	w := newWork("build", false, started)
	w.update(5, 10, after(100*time.Millisecond))
	if s := w.state(after(400 * time.Millisecond)); s.rate >= 0 || s.speed() != "" {
		t.Errorf("rate after 0.4 s %v, %q, want none", s.rate, s.speed())
	}
	if s := w.state(after(500 * time.Millisecond)); s.rate != 10 {
		t.Errorf("rate after 0.5 s %v, want 10", s.rate)
	}
}

func TestUpdatesNeverGoBack(t *testing.T) {
	w := newWork("build", false, started)
	w.update(5, 10, after(time.Second))
	w.update(3, 10, after(2*time.Second))
	w.update(6, 20, after(3*time.Second))
	if s := w.state(after(4 * time.Second)); s.done != 6 || s.total != 20 {
		t.Errorf("%d of %d, want 6 of 20", s.done, s.total)
	}
}

// stateOf returns a state of bytes.
func stateOf(done, total int64, rate float64) progressState {
	return progressState{what: "ingest", bytes: true, begun: true, done: done, total: total, rate: rate, elapsed: 12340 * time.Millisecond}
}

func TestTextLines(t *testing.T) {
	f := func(s progressState, want string) {
		t.Helper()
		var out bytes.Buffer
		(&textLines{out: &out}).show(s)
		if out.String() != want+"\n" {
			t.Errorf("line %q, want %q", out.String(), want)
		}
	}
	f(stateOf(0, 4<<20, -1), "ingest: 0% (0 bytes of 4.0 MiB)")
	f(stateOf(1<<20, 4<<20, 512<<10), "ingest: 25% (1.0 MiB of 4.0 MiB), 512.0 KiB/s, 6s left")
	f(stateOf(4<<20-1, 4<<20, 1), "ingest: 99% (4.0 MiB of 4.0 MiB), 1 byte/s, 1s left")
	f(stateOf(0, 1<<40, 1<<20), "ingest: 0% (0 bytes of 1.0 TiB), 1.0 MiB/s, 291h16m16s left")
	f(stateOf(4<<20, 4<<20, 2<<20), "ingest: 100% (4.0 MiB of 4.0 MiB), 2.0 MiB/s")
	f(stateOf(4<<20, 0, 2<<20), "ingest: 4.0 MiB, 2.0 MiB/s") // the total is not known
	s := stateOf(10, 100, 3)
	s.what, s.bytes = "build", false
	f(s, "build: 10% (10 of 100), 3/s, 30s left")
}

// TestTextLinesEnd: what is over before the first line has none.
func TestTextLinesEnd(t *testing.T) {
	var out bytes.Buffer
	l := &textLines{out: &out}
	l.end(stateOf(4, 4, 1))
	if out.Len() > 0 {
		t.Errorf("short work shows %q, want nothing", out.String())
	}
	l.show(stateOf(2, 4, 1))
	l.end(stateOf(4, 4, 1))
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("long work shows %q, want two lines", out.String())
	}
}

func TestJSONLines(t *testing.T) {
	f := func(show func(*jsonLines), want string) {
		t.Helper()
		var out bytes.Buffer
		show(&jsonLines{out: &out})
		if out.String() != want {
			t.Errorf("line %q, want %q", out.String(), want)
		}
	}
	f(func(j *jsonLines) { j.show(stateOf(123, 456, 27.75)) },
		`{"stage":"ingest","done":123,"total":456,"unit":"bytes","percent":26.9,"rate":27.8,"seconds_left":12,"seconds":12.3}`+"\n")
	f(func(j *jsonLines) { j.show(stateOf(0, 0, -1)) },
		`{"stage":"ingest","done":0,"total":0,"unit":"bytes","percent":null,"rate":null,"seconds_left":null,"seconds":12.3}`+"\n")
	f(func(j *jsonLines) { j.end(stateOf(456, 456, 37)) },
		`{"stage":"ingest","done":456,"total":456,"unit":"bytes","percent":100,"rate":37,"seconds_left":0,"seconds":12.3,"final":true}`+"\n")
	f(func(j *jsonLines) { j.show(stateOf(99_999, 100_000, 0)) },
		`{"stage":"ingest","done":99999,"total":100000,"unit":"bytes","percent":99.9,"rate":0,"seconds_left":null,"seconds":12.3}`+"\n")
	f(func(j *jsonLines) { j.end(progressState{what: "build", rate: -1}) }, "") // it never began
}

// lockedBuffer is a buffer that several goroutines use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestTerminalLine: on a terminal, each state replaces the one before and the last one stays.
func TestTerminalLine(t *testing.T) {
	var out bytes.Buffer
	l := &textLines{out: &out, inPlace: true}
	l.show(stateOf(1<<20, 4<<20, 512<<10))
	l.end(stateOf(8<<20, 8<<20, 3<<20).final())
	want := "\r\x1b[Kingest: 25% (1.0 MiB of 4.0 MiB), 512.0 KiB/s, 6s left\r\x1b[Kingest: 100% (8.0 MiB of 8.0 MiB), 663.9 KiB/s\n"
	if out.String() != want {
		t.Errorf("line %q, want %q", out.String(), want)
	}
}

// TestProgress runs the real thing, with an interval of its own, from many goroutines.
func TestProgress(t *testing.T) {
	var out lockedBuffer
	p := &progress{work: newWork("verify", false, time.Now())}
	p.start(&jsonLines{out: &out}, 10*time.Millisecond)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for n := range int64(50) {
				p.update(4*n+int64(worker), 200)
				time.Sleep(time.Millisecond)
			}
		})
	}
	wg.Wait()
	p.update(200, 200)
	p.stop()
	p.stop() // once more does nothing
	p.update(201, 201)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) < 3 {
		t.Fatalf("%d lines, want several:\n%s", len(lines), out.String())
	}
	last := int64(-1)
	for i, line := range lines {
		var l progressLine
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Stage != "verify" || l.Unit != "records" || l.Done < last {
			t.Errorf("line %q after %d done, %v", line, last, err)
		}
		if l.Final != (i == len(lines)-1) {
			t.Errorf("line %d of %d: %s", i+1, len(lines), line)
		}
		last = l.Done
	}
	if last != 200 {
		t.Errorf("%d done at the end, want 200", last)
	}
}

// TestProgressModes: --quiet shows nothing, --json lines of JSON, and what is no
// terminal gets lines of text.
func TestProgressModes(t *testing.T) {
	f := func(a *app, want string) {
		t.Helper()
		p := a.progress("ingest", true)
		defer p.stop()
		if got := fmt.Sprintf("%T", p.display); got != want {
			t.Errorf("quiet %v, json %v: %s, want %s", a.quiet, a.json, got, want)
		}
	}
	var out bytes.Buffer
	f(&app{process: process{Stderr: &out}}, "*main.textLines")
	f(&app{process: process{Stderr: &out}, json: true}, "*main.jsonLines")
	f(&app{process: process{Stderr: &out}, quiet: true}, "<nil>")
	f(&app{process: process{Stderr: &out}, quiet: true, json: true}, "<nil>")
}
