package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// Intervals of the displays: lines of JSON, lines of text, one line of a terminal.
const (
	jsonEvery     = time.Second
	lineEvery     = 2 * time.Second
	terminalEvery = 100 * time.Millisecond
)

// A progress shows on stderr the progress of one piece of work: one line of a terminal,
// lines elsewhere, lines of JSON with --json, nothing with --quiet.
type progress struct {
	display display // nil to show nothing
	quit    chan struct{}
	stopped chan struct{} // closed after the last use of the display

	mu   sync.Mutex // guards work
	work work
}

// A display shows progress. Its methods are called one after another.
type display interface {
	show(s progressState)
	end(s progressState)
}

// progress starts to show what; stop ends it. The numbers are bytes, or else records.
func (a *app) progress(what string, bytes bool) *progress {
	p := &progress{work: newWork(what, bytes, time.Now())}
	switch {
	case a.quiet:
	case a.json:
		p.start(&jsonLines{out: a.Stderr}, jsonEvery)
	case isTerminal(a.Stderr):
		p.start(&textLines{out: a.Stderr, inPlace: true}, terminalEvery)
	default:
		p.start(&textLines{out: a.Stderr}, lineEvery)
	}
	return p
}

// start shows progress on d from now on, every so often.
func (p *progress) start(d display, every time.Duration) {
	p.display, p.quit, p.stopped = d, make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(every)
	go func() {
		defer close(p.stopped)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if s := p.state(time.Now()); s.begun {
					d.show(s)
				}
			case <-p.quit:
				return
			}
		}
	}()
}

// update sets the progress to done of total; an unknown total is 0. Goroutines may call it
// side by side: a smaller done than before is ignored.
func (p *progress) update(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.work.update(done, total, time.Now())
}

func (p *progress) state(now time.Time) progressState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.work.state(now)
}

// stop shows where it got to, once. Nothing is shown afterwards.
func (p *progress) stop() {
	if p.display == nil {
		return
	}
	close(p.quit)
	<-p.stopped
	p.display.end(p.state(time.Now()).final())
	p.display = nil
}

// A progressState is the progress at one moment.
type progressState struct {
	what        string
	bytes       bool // the numbers are bytes
	begun       bool // update was called
	done, total int64
	elapsed     time.Duration
	rate        float64 // a second, of late; negative when it is not known yet
}

// final returns s as that of the end: its rate is that of all the work.
func (s progressState) final() progressState {
	s.rate = -1
	if sec := s.elapsed.Seconds(); sec > 0 {
		s.rate = float64(s.done) / sec
	}
	return s
}

// percent returns how much is done, and whether that is known.
func (s progressState) percent() (float64, bool) {
	if s.total <= 0 {
		return 0, false
	}
	return min(100, 100*float64(s.done)/float64(s.total)), true
}

// left returns how long it takes to the end at the present rate, and whether that is
// known.
func (s progressState) left() (time.Duration, bool) {
	switch {
	case s.total <= 0:
		return 0, false
	case s.done >= s.total:
		return 0, true
	case s.rate <= 0:
		return 0, false
	}
	sec := math.Ceil(float64(s.total-s.done) / s.rate)
	const most = 1000 * time.Hour
	return time.Duration(min(sec, most.Seconds())) * time.Second, true
}

func (s progressState) number(n int64) string {
	if s.bytes {
		return formatBytes(n)
	}
	return fmt.Sprint(n)
}

// speed returns "11.4 MiB/s, 1m05s left", as far as it is known.
func (s progressState) speed() string {
	if s.rate < 0 {
		return ""
	}
	text := s.number(int64(math.Round(s.rate))) + "/s"
	if left, ok := s.left(); ok && left > 0 {
		text += ", " + left.String() + " left"
	}
	return text
}

// textLines shows progress as lines for people, or in place as one line of a terminal.
type textLines struct {
	out     io.Writer
	inPlace bool
	shown   bool
}

func (t *textLines) show(s progressState) {
	t.shown = true
	line := s.what + ": "
	if percent, ok := s.percent(); ok {
		line += fmt.Sprintf("%d%% (%s of %s)", int(percent), s.number(s.done), s.number(s.total))
	} else {
		line += s.number(s.done)
	}
	if speed := s.speed(); speed != "" {
		line += ", " + speed
	}
	if t.inPlace {
		fmt.Fprint(t.out, "\r\x1b[K", line) // from the left, over the line before
		return
	}
	fmt.Fprintln(t.out, line)
}

// end prints the last state of work that had a line before: short work needs none.
func (t *textLines) end(s progressState) {
	if !t.shown {
		return
	}
	if t.show(s); t.inPlace {
		fmt.Fprintln(t.out)
	}
}

// jsonLines shows progress as lines of JSON.
type jsonLines struct{ out io.Writer }

// progressLine is such a line.
type progressLine struct {
	Stage       string   `json:"stage"`
	Done        int64    `json:"done"`
	Total       int64    `json:"total"` // 0 when it is not known
	Unit        string   `json:"unit"`  // bytes or records
	Percent     *float64 `json:"percent"`
	Rate        *float64 `json:"rate"` // units a second
	SecondsLeft *float64 `json:"seconds_left"`
	Seconds     float64  `json:"seconds"` // since the start
	Final       bool     `json:"final,omitempty"`
}

func (j *jsonLines) show(s progressState) { j.line(s, false) }

func (j *jsonLines) end(s progressState) {
	if s.begun {
		j.line(s, true)
	}
}

func (j *jsonLines) line(s progressState, final bool) {
	l := progressLine{Stage: s.what, Done: s.done, Total: s.total, Unit: "records", Seconds: round(s.elapsed.Seconds()), Final: final}
	if s.bytes {
		l.Unit = "bytes"
	}
	if percent, ok := s.percent(); ok {
		percent = math.Floor(percent*10) / 10 // 100 only at the end
		l.Percent = &percent
	}
	if s.rate >= 0 {
		rate := round(s.rate)
		l.Rate = &rate
	}
	if left, ok := s.left(); ok {
		sec := left.Seconds()
		l.SecondsLeft = &sec
	}
	b, err := json.Marshal(l)
	if err != nil {
		return // numbers and plain names: it cannot fail
	}
	_, _ = j.out.Write(append(b, '\n')) // as with all progress, no one need be there to see it
}

// round returns f with one digit behind the point.
func round(f float64) float64 { return math.Round(f*10) / 10 }
