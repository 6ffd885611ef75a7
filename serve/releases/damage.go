package releases

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// The first request that uses a segment checks it. Independently of requests, Poll checks the lengths of files, and
// Scrub reads all of the release at a bounded rate. New damage invalidates prepared responses, so that they are
// composed, and thereby checked, again.

const (
	// sizesEvery and sizesPerFile, for each file, are the shortest time between two checks of the lengths of files. A check
	// takes microseconds for each file.
	sizesEvery   = time.Second
	sizesPerFile = 5 * time.Millisecond
	// scrubEvery is the time between two full checks.
	scrubEvery = 24 * time.Hour
)

// Damage returns the number of damaged blocks found in the served release, and the first damage, nil for none.
func (r *Releases) Damage() (blocks int, first error) {
	h := r.Acquire()
	defer h.Release()
	if h == nil {
		return 0, nil
	}
	corrupt, blocks := h.Reader.Damage()
	if corrupt == nil { // a nil *CorruptError in an error would not be nil
		return 0, nil
	}
	return blocks, fmt.Errorf("damaged blocks: %d, the first: %w", blocks, corrupt)
}

// Scrub checks all of the served release until ctx ends: first wait after it was opened, then once a day. It reads rate
// bytes a second, or nothing if rate is 0.
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
		start, id := time.Now(), h.Reader.Manifest().ID
		h.scrubbed.Store(0)
		err := check.Scrub(ctx, h.Reader, rate, func(n int64) { h.scrubbed.Add(n) })
		switch {
		case errors.Is(err, context.Canceled):
		case err != nil:
			r.cfg.Log.Warn("release could not be checked to its end", "release", id, "error", err)
		default:
			h.scrubbed.Store(h.size()) // files of a bucket that were not needed yet are not read
			r.scrubbed.Store(time.Now().UnixNano())
			_, blocks := h.Reader.Damage()
			r.cfg.Log.Info("release checked", "release", id, "seconds", int(time.Since(start).Seconds()), "damaged blocks", blocks)
		}
		wait = scrubEvery
	}
}

// size returns the bytes of the release, 1 at least.
func (h *Held) size() int64 { return max(1, store.Describe(h.Reader.Manifest(), time.Time{}).Bytes) }

// WriteMetrics adds the metrics of the served release to w.
func (r *Releases) WriteMetrics(w *observe.Writer) {
	h := r.Acquire()
	defer h.Release()
	w.Bool(observe.ReleaseStale, r.Err() != nil)
	blocks, _ := r.Damage()
	w.Int(observe.ReleaseDamagedBlocks, int64(blocks))
	if at := r.scrubbed.Load(); at != 0 {
		w.Time(observe.ScrubCompleted, time.Unix(0, at))
	}
	if h == nil {
		w.Int(observe.ReleaseInfo, 1, "")
		w.Int(observe.ScrubProgress, 0)
		return
	}
	w.Int(observe.ReleaseInfo, 1, h.Reader.Manifest().ID)
	w.Time(observe.ReleaseLoaded, h.loaded)
	w.Float(observe.ScrubProgress, min(1, float64(h.scrubbed.Load())/float64(h.size())))
	hits, misses := h.Engine.Lookups()
	w.Uint(observe.ResponseCacheHits, hits, "result")
	w.Uint(observe.ResponseCacheMisses, misses, "result")
}
