package crawl

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A pace limits the requests of all goroutines together.
type pace struct {
	limiter *rate.Limiter

	mu   sync.Mutex
	from time.Time // earliest time of the next request
}

// newPace allows a number of requests per second, without bursts.
func newPace(perSecond float64) *pace {
	return &pace{limiter: rate.NewLimiter(rate.Limit(perSecond), 1)}
}

// hold delays all requests.
func (p *pace) hold(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.from) {
		p.from = until
	}
}

// wait blocks until a request may be sent. A later hold delays waiting requests too.
func (p *pace) wait(ctx context.Context) error {
	for {
		if err := p.limiter.Wait(ctx); err != nil {
			return err
		}
		p.mu.Lock()
		left := time.Until(p.from)
		p.mu.Unlock()
		if left <= 0 {
			return nil
		}
		if err := sleep(ctx, left); err != nil {
			return err
		}
	}
}

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
