package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// Intervals of progress: lines of JSON, lines of text, one line of a terminal.
const (
	jsonEvery     = time.Second
	lineEvery     = 2 * time.Second
	terminalEvery = 100 * time.Millisecond
)

const (
	// rateWindow is the least time that a rate is about, twice that the most: long enough for a
	// large row not to matter, short enough to notice a disk that slows down.
	rateWindow = 5 * time.Second

	// rateLeast is the time since the start that a rate needs before the end.
	rateLeast = 500 * time.Millisecond

	// mostLeft is the longest time that is shown as left.
	mostLeft = 1000 * time.Hour
)

// A progress shows on stderr the progress of one piece of work: one line of a terminal,
// lines elsewhere, lines of JSON with --json, nothing with --quiet.
type progress struct {
	what    string
	bytes   bool // the numbers are bytes, or else records
	json    bool
	inPlace bool // one line of a terminal
	out     io.Writer
	quit    chan struct{}  // nil to show nothing
	ended   sync.WaitGroup // the goroutine that shows
	shown   bool           // a line, by that goroutine

	mu          sync.Mutex // guards what follows
	done, total int64
	start       mark
	marks       [2]mark // the rate is that since the first; the second comes next
}

// A mark is how much was done at some moment.
type mark struct {
	at   time.Time
	done int64
}

// progress starts to show the progress of work; stop ends it.
func (a *app) progress(what string, bytes bool) *progress {
	p := newProgress(what, bytes, time.Now())
	p.out, p.json, p.inPlace = a.Stderr, a.json, isTerminal(a.Stderr) && !a.json
	switch {
	case a.quiet:
	case p.json:
		p.run(jsonEvery)
	case p.inPlace:
		p.run(terminalEvery)
	default:
		p.run(lineEvery)
	}
	return p
}

func newProgress(what string, bytes bool, now time.Time) *progress {
	start := mark{at: now}
	return &progress{what: what, bytes: bytes, start: start, marks: [2]mark{start, start}}
}

// run shows progress from now on, every so often.
func (p *progress) run(every time.Duration) {
	p.quit = make(chan struct{})
	p.ended.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.show(time.Now(), false)
			case <-p.quit:
				return
			}
		}
	})
}

// update sets the progress to done of total; an unknown total is 0. Goroutines may call it
// side by side: a smaller done than before is ignored.
func (p *progress) update(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done < p.done {
		return
	}
	p.done, p.total = done, max(0, total)
}

// stop shows where it got to, once. Nothing is shown afterwards.
func (p *progress) stop() {
	if p.quit == nil {
		return
	}
	close(p.quit)
	p.ended.Wait()
	p.quit = nil
	if p.json || p.shown { // short work needs no line of text
		p.show(time.Now(), true)
	}
	if p.inPlace && p.shown {
		fmt.Fprintln(p.out)
	}
}

// show writes a line, unless nothing has begun.
func (p *progress) show(now time.Time, final bool) {
	l := p.line(now, final)
	if l.Done == 0 && l.Total == 0 {
		return
	}
	p.shown = true
	switch {
	case p.json:
		if data, err := encoding.Marshal(l); err == nil {
			fmt.Fprintf(p.out, "%s\n", data)
		}
	case p.inPlace:
		fmt.Fprint(p.out, "\r\x1b[K", l.text()) // from the left, over the line before
	default:
		fmt.Fprintln(p.out, l.text())
	}
}

// A progressLine is the progress at one moment, as lines of JSON have it. Unknown numbers are null.
type progressLine struct {
	Stage       string   `json:"stage"`
	Done        int64    `json:"done"`
	Total       int64    `json:"total"` // 0 when it is not known
	Unit        string   `json:"unit"`  // bytes or records
	Percent     *float64 `json:"percent"`
	Rate        *float64 `json:"rate"` // units a second, of late or, at the end, of all the work
	SecondsLeft *float64 `json:"seconds_left"`
	Seconds     float64  `json:"seconds"` // since the start
	Final       bool     `json:"final,omitempty"`
}

func (p *progress) line(now time.Time, final bool) progressLine {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.marks[1].at) >= rateWindow {
		p.marks = [2]mark{p.marks[1], {now, p.done}}
	}
	elapsed := now.Sub(p.start.at)
	l := progressLine{Stage: p.what, Done: p.done, Total: p.total, Unit: "records", Seconds: round(elapsed.Seconds()), Final: final}
	if p.bytes {
		l.Unit = "bytes"
	}
	from := p.marks[0]
	if final {
		from = p.start
	}
	rate := 0.0
	if elapsed >= rateLeast || final && elapsed > 0 {
		rate = round(float64(p.done-from.done) / now.Sub(from.at).Seconds())
		l.Rate = &rate
	}
	if p.total > 0 {
		percent := math.Floor(min(1, float64(p.done)/float64(p.total))*1000) / 10 // 100 only at the end
		l.Percent = &percent
	}
	if left := max(0, p.total-p.done); p.total > 0 && (left == 0 || rate > 0) {
		sec := 0.0
		if left > 0 {
			sec = min(math.Ceil(float64(left)/rate), mostLeft.Seconds())
		}
		l.SecondsLeft = &sec
	}
	return l
}

// text returns "ingest: 25% (1.0 MiB of 4.0 MiB), 512.0 KiB/s, 6s left", as far as it is known.
func (l *progressLine) text() string {
	number := func(n int64) string {
		if l.Unit == "bytes" {
			return formatBytes(n)
		}
		return fmt.Sprint(n)
	}
	text := l.Stage + ": " + number(l.Done)
	if l.Percent != nil {
		text = fmt.Sprintf("%s: %d%% (%s of %s)", l.Stage, int(*l.Percent), number(l.Done), number(l.Total))
	}
	if l.Rate != nil {
		text += ", " + number(int64(math.Round(*l.Rate))) + "/s"
	}
	if l.SecondsLeft != nil && *l.SecondsLeft > 0 {
		text += ", " + (time.Duration(*l.SecondsLeft) * time.Second).String() + " left"
	}
	return text
}

// round returns f with one digit behind the point.
func round(f float64) float64 { return math.Round(f*10) / 10 }
