package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// started is the start time of the work in these tests.
var started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(d time.Duration) time.Time { return started.Add(d) }

func TestUpdatesNeverGoBack(t *testing.T) {
	p := newProgress("build", false, started)
	p.update(5, 10)
	p.update(3, 10)
	p.update(6, 20)
	if l := p.line(after(time.Second), false); l.Done != 6 || l.Total != 20 {
		t.Errorf("%d of %d, want 6 of 20", l.Done, l.Total)
	}
}

func TestText(t *testing.T) {
	f := func(unit string, done, total int64, seconds float64, want string) {
		t.Helper()
		l := progressLine{Stage: "ingest", Unit: unit, Done: done, Total: total, Seconds: seconds}
		if got := l.text(); got != want {
			t.Errorf("line %q, want %q", got, want)
		}
	}
	f("bytes", 0, 4<<20, 0, "ingest: 0% (0 B of 4.0 MiB)")
	f("bytes", 1<<20, 4<<20, 2, "ingest: 25% (1.0 MiB of 4.0 MiB), 512 KiB/s, 6s left")
	f("bytes", 4<<20-1, 4<<20, 4<<20-1, "ingest: 99% (4.0 MiB of 4.0 MiB), 1 B/s, 1s left")
	f("bytes", 1, 1<<50, 20, "ingest: 0% (1 B of 1.0 PiB), 0 B/s, 1000h0m0s left")
	f("bytes", 4<<20, 4<<20, 2, "ingest: 100% (4.0 MiB of 4.0 MiB), 2.0 MiB/s")
	f("bytes", 4<<20, 0, 2, "ingest: 4.0 MiB, 2.0 MiB/s") // unknown total
	f("records", 10, 100, 2.5, "ingest: 10% (10 of 100), 4/s, 23s left")
	f("records", 5, 10, 0.4, "ingest: 50% (5 of 10)") // no time for a rate
	f("records", 99_999, 100_000, 0.4, "ingest: 99% (99999 of 100000)")
}

// shownBy returns a progress that writes to a buffer, without a goroutine.
func shownBy(out *bytes.Buffer, change func(p *progress)) *progress {
	p := newProgress("ingest", true, started)
	p.out, p.quit = out, make(chan struct{})
	change(p)
	return p
}

// TestShortWork: work that ends before the first line has none.
func TestShortWork(t *testing.T) {
	var out bytes.Buffer
	p := shownBy(&out, func(p *progress) { p.update(4, 4) })
	p.stop()
	if out.Len() > 0 {
		t.Errorf("short work shows %q, want nothing", out.String())
	}
	p = shownBy(&out, func(p *progress) { p.json = true })
	p.stop()
	if out.Len() > 0 {
		t.Errorf("work that never began shows %q, want nothing", out.String())
	}
	p = shownBy(&out, func(p *progress) { p.update(2, 4) })
	p.show(after(time.Second), false)
	p.update(4, 4)
	p.stop()
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("long work shows %q, want two lines", out.String())
	}
}

func TestJSONLines(t *testing.T) {
	var out bytes.Buffer
	p := shownBy(&out, func(p *progress) { p.json = true })
	p.update(123, 456)
	p.show(after(12340*time.Millisecond), false)
	p.update(456, 456)
	p.show(after(20*time.Second), true)
	const want = `{"stage":"ingest","done":123,"total":456,"unit":"bytes","seconds":12.3}
{"stage":"ingest","done":456,"total":456,"unit":"bytes","seconds":20,"final":true}
`
	if out.String() != want {
		t.Errorf("lines %swant %s", out.String(), want)
	}
}

// TestTerminalLine: on a terminal, each state replaces the previous one and the last one stays.
func TestTerminalLine(t *testing.T) {
	var out bytes.Buffer
	p := shownBy(&out, func(p *progress) { p.screen = &screen{out: &out} })
	p.update(1<<20, 4<<20)
	p.show(after(2*time.Second), false)
	p.update(8<<20, 8<<20)
	p.stop()
	before, last, ok := strings.Cut(strings.TrimPrefix(out.String(), "\r\x1b[K"), "\r\x1b[K")
	if !ok || before != "ingest: 25% (1.0 MiB of 4.0 MiB), 512 KiB/s, 6s left" || !strings.HasPrefix(last, "ingest: 100% (8.0 MiB of 8.0 MiB), ") ||
		!strings.HasSuffix(last, "/s\n") {
		t.Errorf("lines %q", out.String())
	}
}

// TestClearedLine: work whose end clears the line of a terminal leaves none.
func TestClearedLine(t *testing.T) {
	var out bytes.Buffer
	p := shownBy(&out, func(p *progress) { p.screen, p.clear = &screen{out: &out}, true })
	p.update(1, 4)
	p.show(after(time.Second), false)
	p.stop()
	if text := out.String(); strings.Contains(text, "\n") || !strings.HasSuffix(text, clearLine) {
		t.Errorf("lines %q, want a cleared one", text)
	}
}

// TestScreen: log lines appear above the progress, on lines of their own.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out}
	write := func(text string) {
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("Write(%q) = %d, %v", text, n, err)
		}
	}
	write("one\n")
	s.show("10%", false)
	write("two\n")
	s.show("20%", false)
	write("three")
	s.show("30%", true)
	write("four\n")
	const clear = "\r\x1b[K"
	want := "one\n" + clear + "10%" + clear + "two\n10%" + clear + "20%" + clear + "three\n20%" + clear + "30%\n" + "four\n"
	if out.String() != want {
		t.Errorf("the terminal gets\n%q, want\n%q", out.String(), want)
	}
}

// TestProgress runs a real progress, with a short interval, from many goroutines.
func TestProgress(t *testing.T) { synctest.Test(t, testProgress) }

func testProgress(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	p := newProgress("verify", false, time.Now())
	p.out, p.json = &out, true
	p.run(10 * time.Millisecond)
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
	p.stop() // repeating it does nothing
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

// TestProgressModes: --quiet shows nothing, --json shows lines of JSON, and without a terminal there are lines of
// text.
func TestProgressModes(t *testing.T) {
	f := func(a *console, shows, json bool) {
		t.Helper()
		p := a.progress("ingest", true)
		defer p.stop()
		if (p.quit != nil) != shows || p.json != json || p.screen != nil {
			t.Errorf("quiet %v, json %v: shows %v, json %v, screen %v", a.quiet, a.json, p.quit != nil, p.json, p.screen)
		}
	}
	var out bytes.Buffer
	f(&console{process: process{Stderr: &out}}, true, false)
	f(&console{process: process{Stderr: &out}, json: true}, true, true)
	f(&console{process: process{Stderr: &out}, quiet: true}, false, false)
	f(&console{process: process{Stderr: &out}, quiet: true, json: true}, false, true)
}
