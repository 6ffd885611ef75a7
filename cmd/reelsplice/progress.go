package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progressEvery is how often progress is told where no bar can be drawn.
const progressEvery = 2 * time.Second

// A progress shows on stderr how far a piece of work is: a bar on a terminal, a line
// now and then elsewhere, nothing with --quiet.
type progress struct {
	what  string
	bytes bool // the numbers are bytes
	quiet bool
	bars  *mpb.Progress // nil where no bar can be drawn
	out   io.Writer

	mu   sync.Mutex // guards what follows
	bar  *mpb.Bar
	done int64
	told time.Time
}

// progress starts to show what; stop ends it.
func (a *app) progress(what string, bytes bool) *progress {
	p := &progress{what: what, bytes: bytes, quiet: a.quiet, out: a.Stderr, told: time.Now()}
	if !a.quiet && isTerminal(a.Stderr) {
		p.bars = mpb.New(mpb.WithOutput(a.Stderr), mpb.WithWidth(40))
	}
	return p
}

// update tells that done of total are done. Several goroutines may call it; done
// never goes back.
func (p *progress) update(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet || done < p.done || total <= 0 {
		return
	}
	p.done = done
	switch {
	case p.bars != nil:
		p.draw(done, total)
	case time.Since(p.told) >= progressEvery:
		p.told = time.Now()
		fmt.Fprintf(p.out, "%s: %d%% (%s of %s)\n", p.what, 100*done/total, p.number(done), p.number(total))
	}
}

func (p *progress) number(n int64) string {
	if p.bytes {
		return formatBytes(n)
	}
	return fmt.Sprint(n)
}

func (p *progress) draw(done, total int64) {
	if p.bar == nil {
		counters := decor.CountersNoUnit(" %d / %d")
		if p.bytes {
			counters = decor.CountersKibiByte(" % .1f / % .1f")
		}
		p.bar = p.bars.AddBar(total,
			mpb.PrependDecorators(decor.Name(p.what+" "), decor.Percentage(decor.WCSyncSpace)),
			mpb.AppendDecorators(counters, decor.Name(" "), decor.AverageETA(decor.ET_STYLE_GO)))
	}
	p.bar.SetCurrent(done)
}

// stop ends the bar, where it got to.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet = true
	if p.bar != nil {
		p.bar.Abort(false)
	}
	if p.bars != nil {
		p.bars.Wait()
	}
}
