package releases

import (
	"sync"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/observe"
)

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
