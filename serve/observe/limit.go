package observe

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Limit returns a logger that passes on at most n records in each span of time. The first
// record after others were held back has their number, as "suppressed".
func Limit(log *slog.Logger, n int, span time.Duration) *slog.Logger {
	return slog.New(&limited{log.Handler(), &limit{most: n, span: span}})
}

// A limit is what a limited handler and those derived from it share.
type limit struct {
	most int
	span time.Duration

	mu         sync.Mutex
	start      time.Time // of the current span
	passed     int       // in the current span
	suppressed int       // since the last record that passed
}

// pass reports whether a record passes, and how many did not before it.
func (l *limit) pass() (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.start) >= l.span {
		l.start, l.passed = now, 0
	}
	if l.passed >= l.most {
		l.suppressed++
		return 0, false
	}
	l.passed++
	suppressed, l.suppressed = l.suppressed, 0
	return suppressed, true
}

// limited is a Handler with a limit.
type limited struct {
	slog.Handler
	limit *limit
}

// Handle passes on r if the limit allows it.
func (h *limited) Handle(ctx context.Context, r slog.Record) error {
	suppressed, ok := h.limit.pass()
	if !ok {
		return nil
	}
	if suppressed > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("suppressed", suppressed))
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
