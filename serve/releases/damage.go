package releases

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// A request checks each segment when it is the first to use it. Beside requests, the lengths of its
// files are looked at now and then, and all of it is read at a bounded rate. New damage
// makes prepared responses void, so that they are composed, and thereby checked, again.

const (
	// sizesEvery is how often the lengths of files are looked at, at most: there is
	// sizesPerFile between two looks for each file too, which takes microseconds.
	sizesEvery   = time.Second
	sizesPerFile = 5 * time.Millisecond
	// scrubEvery is the time between two full checks.
	scrubEvery = 24 * time.Hour
)

// damaged logs new damage in the release h, and voids the responses prepared from it.
func (r *Releases) damaged(h *Held, err *release.CorruptError) {
	h.serial.Store(r.opened.Add(1))
	r.damages.Error("release is damaged", "release", h.Reader.Manifest().ID, "file", err.File, "offset", err.Off, "error", err.What)
}

// Damage returns the number of damaged blocks found in the served release, and the first damage, nil for none.
func (r *Releases) Damage() (blocks int, first error) {
	h := r.Acquire()
	defer h.Release()
	if h == nil {
		return 0, nil
	}
	corrupt, blocks := h.Reader.Damage()
	if corrupt == nil { // an error that holds it would not be nil
		return 0, nil
	}
	return blocks, fmt.Errorf("damaged blocks: %d, the first: %w", blocks, corrupt)
}

// checkSizes looks now and then for files that have become shorter.
func (r *Releases) checkSizes() {
	h := r.Acquire()
	defer h.Release()
	if h == nil {
		return
	}
	wait := max(sizesEvery, sizesPerFile*time.Duration(len(h.Reader.Manifest().Files())))
	if now := time.Now(); now.Sub(r.sized) >= wait {
		r.sized = now
		check.Sizes(h.Reader)
	}
}

// Scrub checks all of the release that is served, wait after that was opened and once a day again,
// until ctx ends. It reads rate bytes a second; 0 is for none.
func (r *Releases) Scrub(ctx context.Context, wait time.Duration, rate int64) {
	for rate > 0 && ctx.Err() == nil {
		h := r.Acquire()
		if h == nil { // it may come later
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			continue
		}
		r.scrubServed(ctx, h, wait, rate)
		h.Release()
	}
}

// scrubServed checks h until another release is served.
func (r *Releases) scrubServed(ctx context.Context, h *Held, wait time.Duration, rate int64) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.served, cancel)()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		r.scrub(ctx, h, rate)
		wait = scrubEvery
	}
}

// scrub checks h once.
func (r *Releases) scrub(ctx context.Context, h *Held, rate int64) {
	start, id := time.Now(), h.Reader.Manifest().ID
	r.scrubs.begin(h.Reader)
	err := check.Scrub(ctx, h.Reader, rate, r.scrubs.add)
	r.scrubs.end(err)
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil:
		r.log.Warn("release could not be checked to its end", "release", id, "error", err)
	default:
		_, blocks := h.Reader.Damage()
		r.log.Info("release checked", "release", id, "seconds", int(time.Since(start).Seconds()), "damaged blocks", blocks)
	}
}

// scrubs are the background checks so far, for metrics.
type scrubs struct {
	mu        sync.Mutex
	of        *release.Reader // release of the last check; nil before the first
	read      int64           // bytes that the last check read
	ended     bool            // the last check read the whole release
	bytes     int64           // bytes that all checks read
	whole     int64           // checks that read the whole release
	completed time.Time       // end of the last whole check
}

// begin notes the begin of a check.
func (s *scrubs) begin(of *release.Reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of, s.read, s.ended = of, 0, false
}

// add notes that a check has read n bytes more.
func (s *scrubs) add(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read += n
	s.bytes += n
}

// end notes the end of a check, with the error that ended it early.
func (s *scrubs) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.ended = true
		s.whole++
		s.completed = time.Now()
	}
}

// progress returns the share of a release that its last check has read.
func (s *scrubs) progress(of *release.Reader) float64 {
	var size int64
	for _, f := range of.Manifest().Files() {
		size += f.Size
	}
	switch {
	case s.of != of || size == 0:
		return 0
	case s.ended:
		return 1 // files of a bucket that were not needed yet are left out
	}
	return min(1, float64(s.read)/float64(size))
}

// WriteMetrics adds the metrics of the served release to w.
func (r *Releases) WriteMetrics(w *observe.Writer) {
	h := r.Acquire()
	defer h.Release()
	w.Bool(observe.ReleaseStale, r.Err() != nil)
	blocks, _ := r.Damage()
	w.Int(observe.ReleaseDamagedBlocks, int64(blocks))
	r.scrubs.mu.Lock()
	defer r.scrubs.mu.Unlock()
	w.Int(observe.ScrubBytes, r.scrubs.bytes)
	w.Int(observe.Scrubs, r.scrubs.whole)
	w.Time(observe.ScrubCompleted, r.scrubs.completed)
	if h == nil {
		w.Int(observe.ReleaseInfo, 1, "")
		w.Int(observe.ScrubProgress, 0)
		return
	}
	w.Int(observe.ReleaseInfo, 1, h.Reader.Manifest().ID)
	w.Time(observe.ReleaseLoaded, h.loaded)
	w.Float(observe.ScrubProgress, r.scrubs.progress(h.Reader))
	hits, misses := h.Engine.Lookups()
	w.Uint(observe.ResponseCacheHits, hits, "result")
	w.Uint(observe.ResponseCacheMisses, misses, "result")
}
