package http

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// TestConnectionWarnings: bad connections are logged a few times a second, however many there are.
func TestConnectionWarnings(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	l := ConnectionLog(slog.New(slog.NewTextHandler(lockedWriter{&log, &mu}, nil)))
	for range 1000 {
		l.Printf("error when serving connection %q<->%q: %v", "a", "b", "EOF")
	}
	if n := strings.Count(log.String(), "\n"); n < 1 || n > 3*connWarnings {
		t.Errorf("1000 bad connections at once make %d lines, want at most %d a second", n, connWarnings)
	}
}
