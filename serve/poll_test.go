package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestPollStalls: a look at files that does not end is reported, and holds up neither requests nor the end.
func TestPollStalls(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminAddr, c.Poll = "127.0.0.1:0", time.Millisecond }, servetest.Version(1))
	s, err := Listen(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	enter, leave := make(chan struct{}, 1000), make(chan struct{})
	p := newPoll("tests", func() { enter <- struct{}{}; <-leave })
	s.polls = append(s.polls, p)
	ended := make(chan error, 1)
	stop := run(s, ended)
	sharedtest.Within(t, "the begin of a look", func() { <-enter })
	ready := func(want bool) {
		t.Helper()
		sharedtest.Eventually(t, "/readyz reports the state of the look", func() bool {
			code, text := statusOf(s.AdminURL()+"/readyz", "")
			return code == 200 && strings.Contains(text, ", but: tests: the last check of the files ended ") == want
		})
	}
	ready(false)
	long := time.Now().Add(-time.Hour)
	p.ended.Store(long.UnixNano())
	ready(true)
	families := scrape(t, s)
	if got := value(families, observe.PollEnded, "tests"); got != float64(long.UnixMilli())/1000 {
		t.Errorf("the last look of the stalled poll ended at %v, want %d", got, long.Unix())
	}
	for _, files := range []string{"tokens", "releases"} {
		if got := value(families, observe.PollEnded, files); got <= 0 {
			t.Errorf("the last look at %s ended at %v, want a time", files, got)
		}
	}
	if code, body := statusOf(s.URL()+"/3/movie/1", w.token); code != 200 {
		t.Errorf("status = %d %s, want 200", code, body)
	}
	leave <- struct{}{}
	sharedtest.Within(t, "the next look", func() { <-enter })
	ready(false)
	stop()
	wantEnd(t, ended)
	close(leave)
}
