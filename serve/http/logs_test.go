package http

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
)

// TestConnectionWarnings: bad connections are logged a few times a second, however many there are.
func TestConnectionWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where time stands still
		var log bytes.Buffer
		l := ConnectionLog(slog.New(slog.NewTextHandler(&log, nil)))
		for range 1000 {
			l.Printf("error when serving connection %q<->%q: %v", "a", "b", "EOF")
		}
		if n := strings.Count(log.String(), "\n"); n != connWarnings {
			t.Errorf("1000 bad connections at once make %d lines, want %d", n, connWarnings)
		}
	})
}
