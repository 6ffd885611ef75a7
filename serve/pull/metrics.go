package pull

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// counts are what metrics report.
type counts struct {
	pulls, failures, patchFailures atomic.Int64
	moved, reused                  atomic.Int64 // bytes
	cache                          atomic.Int64 // bytes of the cache
	looked                         atomic.Int64 // nanoseconds of Unix time when the pointer was last read, or when the Puller was made
}

// WriteMetrics writes the metrics in the text form of Prometheus.
func (p *Puller) WriteMetrics(w io.Writer) {
	c, pulling := &p.counts, 0
	if p.now.Load() != nil {
		pulling = 1
	}
	fmt.Fprintf(w, "reelsplice_pulling %d\n", pulling)
	fmt.Fprintf(w, "reelsplice_pulls_total %d\n", c.pulls.Load())
	fmt.Fprintf(w, "reelsplice_pull_failures_total %d\n", c.failures.Load())
	fmt.Fprintf(w, "reelsplice_pull_delta_failures_total %d\n", c.patchFailures.Load())
	fmt.Fprintf(w, "reelsplice_pull_bytes_total %d\n", c.moved.Load())
	fmt.Fprintf(w, "reelsplice_pull_reused_bytes_total %d\n", c.reused.Load())
	fmt.Fprintf(w, "reelsplice_pull_pointer_age_seconds %.3f\n", time.Since(time.Unix(0, c.looked.Load())).Seconds())
	fmt.Fprintf(w, "reelsplice_cache_bytes %d\n", c.cache.Load())
	fmt.Fprintf(w, "reelsplice_cache_bytes_max %d\n", p.cfg.Size)
}
