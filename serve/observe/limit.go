package observe

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limit returns a logger that passes on n records at once, and as many in each span of time. The first
// record after others were held back has their number, as "suppressed".
func Limit(log *slog.Logger, n int, span time.Duration) *slog.Logger {
	return slog.New(&limited{log.Handler(), &limit{passes: rate.NewLimiter(rate.Every(span/time.Duration(n)), n)}})
}

// A limit is what a limited handler and those derived from it share.
type limit struct {
	passes     *rate.Limiter
	suppressed atomic.Int64 // since the last record that passed
}

// limited is a Handler with a limit.
type limited struct {
	slog.Handler
	limit *limit
}

// Handle passes on r if the limit allows it.
func (h *limited) Handle(ctx context.Context, r slog.Record) error {
	if !h.limit.passes.Allow() {
		h.limit.suppressed.Add(1)
		return nil
	}
	if n := h.limit.suppressed.Swap(0); n > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int64("suppressed", n))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns a Handler with the same limit.
func (h *limited) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &limited{h.Handler.WithAttrs(attrs), h.limit}
}

// WithGroup returns a Handler with the same limit.
func (h *limited) WithGroup(name string) slog.Handler {
	return &limited{h.Handler.WithGroup(name), h.limit}
}
