package pull

import (
	"sync/atomic"
	"time"

	"github.com/reelsplice/reelsplice/serve/metrics"
)

// counts are what metrics report.
type counts struct {
	pulls, failures, patchFailures atomic.Int64
	moved, reused                  atomic.Int64 // bytes
	cache                          atomic.Int64 // bytes of the cache
	looked                         atomic.Int64 // nanoseconds of Unix time when the pointer was last read, or when the Puller was made
}

// WriteMetrics adds the metrics of p to w.
func (p *Puller) WriteMetrics(w *metrics.Writer) {
	c := &p.counts
	w.Bool(metrics.Pulling, p.now.Load() != nil)
	w.Int(metrics.Pulls, c.pulls.Load())
	w.Int(metrics.PullFailures, c.failures.Load())
	w.Int(metrics.PullDeltaFailures, c.patchFailures.Load())
	w.Int(metrics.PullBytes, c.moved.Load())
	w.Int(metrics.PullReusedBytes, c.reused.Load())
	w.Float(metrics.PullPointerAge, time.Since(time.Unix(0, c.looked.Load())).Seconds())
	w.Int(metrics.CacheBytes, c.cache.Load())
	w.Int(metrics.CacheBytesMax, p.cfg.Size)
}
