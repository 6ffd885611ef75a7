package edge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestRefused: the edge keeps the last 8 unknown credentials by their hashes, each once, with a bounded User-Agent.
func TestRefused(t *testing.T) {
	now := time.Date(2026, 11, 27, 5, 0, 0, 0, time.UTC)
	w := newWorld(t, func(o *Options) { o.Now = func() time.Time { return now } }, servetest.Movie551)
	ask := func(token, client string) {
		rq := w.request("/3/movie/551")
		rq.Authorization, rq.UserAgent = []byte("Bearer "+token), []byte(client)
		w.do(t, rq)
		now = now.Add(time.Second)
	}
	ask(w.token, "good")
	ask("", "none")
	if got := w.edge.Refused(); len(got) != 0 {
		t.Errorf("Refused() = %v, want none without an unknown credential", got)
	}
	for i := range 10 {
		ask(fmt.Sprint("key-", i), "app")
	}
	ask("key-5", "a\n"+strings.Repeat("x", 900))
	got := w.edge.Refused()
	hash := sha256.Sum256([]byte("key-5"))
	if want := (RefusedKey{hex.EncodeToString(hash[:]), "a\ufffd" + strings.Repeat("x", 126), now.Add(-time.Second)}); len(got) != 8 || got[0] != want {
		t.Errorf("Refused() = %v, want 8, first %v", got, want)
	}
	hash = sha256.Sum256([]byte("key-2"))
	if last := got[len(got)-1]; last.SHA256 != hex.EncodeToString(hash[:]) {
		t.Errorf("the oldest of Refused() = %v, want key-2", last)
	}
}
