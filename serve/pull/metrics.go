package pull

import (
	"sync/atomic"
	"time"

	"github.com/reelsplice/reelsplice/serve/observe"
)

// counts are what metrics report.
type counts struct {
	pulls, failures, patchFailures atomic.Int64
	moved, reused                  atomic.Int64 // bytes
	looked                         atomic.Int64 // nanoseconds of Unix time when the pointer was last read, or when the Puller was made
}

// WriteMetrics adds the metrics of p to w.
func (p *Puller) WriteMetrics(w *observe.Writer) {
	c := &p.counts
	w.Bool(observe.Pulling, p.now.Load() != nil)
	w.Int(observe.Pulls, c.pulls.Load())
	w.Int(observe.PullFailures, c.failures.Load())
	w.Int(observe.PullDeltaFailures, c.patchFailures.Load())
	w.Int(observe.PullBytes, c.moved.Load())
	w.Int(observe.PullReusedBytes, c.reused.Load())
	w.Float(observe.PullPointerAge, time.Since(time.Unix(0, c.looked.Load())).Seconds())
	w.Int(observe.CacheBytes, p.cache.bytes.Load())
	w.Int(observe.CacheBytesMax, p.cfg.Size)
}
