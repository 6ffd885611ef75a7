package http

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
)

// TestConnectionWarnings: bad connections are logged a few times a second, however many there are, without the
// credentials that they have sent.
func TestConnectionWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where time stands still
		var log bytes.Buffer
		l := ConnectionLog(slog.New(slog.NewTextHandler(&log, nil)))
		for range 1000 {
			l.Printf("error when serving connection %q<->%q: %v", "a", "b", "error when reading request headers: GET /?api_key=hunter2")
		}
		if n := strings.Count(log.String(), "\n"); n != connWarnings || strings.Contains(log.String(), "hunter2") {
			t.Errorf("1000 bad connections at once make %d lines, want %d without what they sent: %s", n, connWarnings, log.String())
		}
	})
}
