package http

import (
	"bytes"
	"log/slog"
	"testing"
)

func TestFitConns(t *testing.T) {
	for _, c := range []struct {
		limit      uint64
		conns, fit int
	}{
		{^uint64(0), 1 << 16, 1 << 16},
		{1 << 20, 1 << 16, 1 << 16},
		{4096, 1 << 16, 4096 - OtherFiles},
		{4096, 100, 100},
		{OtherFiles + 1, 100, 1},
		{OtherFiles, 100, 0},
	} {
		var log bytes.Buffer
		cfg := Limits{MaxConns: c.conns, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		err := fitConns(&cfg, c.limit)
		if c.fit == 0 {
			if err == nil {
				t.Errorf("fitConns with %d files = nil, want an error", c.limit)
			}
			continue
		}
		if err != nil || cfg.MaxConns != c.fit || (log.Len() > 0) != (c.fit < c.conns) {
			t.Errorf("fitConns(%d) with %d files = %d, %v, log %q, want %d", c.conns, c.limit, cfg.MaxConns, err, log.String(), c.fit)
		}
	}
}
