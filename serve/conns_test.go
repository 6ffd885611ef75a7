package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestFitConns(t *testing.T) {
	for _, c := range []struct {
		limit      uint64
		conns, fit int
	}{
		{^uint64(0), 1 << 16, 1 << 16},
		{1 << 20, 1 << 16, 1 << 16},
		{4096, 1 << 16, 4096 - otherFiles},
		{4096, 100, 100},
		{otherFiles + 1, 100, 1},
		{otherFiles, 100, 0},
	} {
		var log bytes.Buffer
		cfg := Config{MaxConns: c.conns, Log: slog.New(slog.NewTextHandler(&log, nil))}
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

// idles opens connections that send nothing, or half a head.
func idles(tb testing.TB, addr string, n int) {
	tb.Helper()
	for i := range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = c.Close() })
		if i%2 == 1 {
			_, _ = io.WriteString(c, "GET /3/movie/551 HTTP/1.1\r\nHo") // it may be closed by now
		}
	}
}

// p99 asks times times with a client and returns the 99th percentile of how long it took.
func p99(tb testing.TB, client *http.Client, url, token string, times int) time.Duration {
	tb.Helper()
	took := make([]time.Duration, times)
	for i := range took {
		start := time.Now()
		if err := askOnce(client, url, token); err != nil {
			tb.Fatalf("request %d: %v", i, err)
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[times*99/100]
}

func askOnce(client *http.Client, url, token string) error {
	rq, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	rq.Header.Set("Authorization", "Bearer "+token)
	rs, err := client.Do(rq)
	if err != nil {
		return err
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if rs.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("status %d: %.200s", rs.StatusCode, body))
	}
	return err
}

// runServer runs a Server over w, after change.
func runServer(t *testing.T, w *world, change func(*Server)) *Server {
	t.Helper()
	s, err := Listen(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	ended := make(chan error, 1)
	stop := run(s, ended)
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
	return s
}

// TestIdleConnections: many times more idle connections than there may be keep out neither a
// client that keeps its connection nor one that opens a new one each time, nor the admin
// listener, and the other way round.
func TestIdleConnections(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminAddr, c.MaxConns = "127.0.0.1:0", 60 }, movie551)
	s, token := runServer(t, w, func(*Server) {}), w.token
	keeps := &http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second}
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	defer keeps.CloseIdleConnections()
	url, ready := s.URL()+"/3/movie/551", s.AdminURL()+"/readyz"
	before := p99(t, keeps, url, token, 100)
	idles(t, strings.TrimPrefix(s.URL(), "http://"), 300)
	idles(t, strings.TrimPrefix(s.AdminURL(), "http://"), 3*adminConns)
	kept, opened, admin := p99(t, keeps, url, token, 100), p99(t, fresh, url, token, 100), p99(t, fresh, ready, "", 20)
	t.Logf("p99 of a kept connection: %v before, %v during; of a new one %v, of /readyz %v", before, kept, opened, admin)
	if st := s.conns.Stats(); st.Evicted < 200 || st.Open > 60 {
		t.Errorf("Stats of the API = %+v, want 200 evicted at least, 60 open at most", st)
	}
	if _, body := statusOf(s.AdminURL()+"/metrics", ""); !strings.Contains(body, "\nreelsplice_connections_max 60\n") ||
		!strings.Contains(body, "\nreelsplice_admin_connections_closed_idle_total ") {
		t.Errorf("metrics = %.500s, want those of connections", body)
	}
}

// TestFullOfBusyConnections: where all connections are busy, a new one gets 503 at once, in
// the way of the API, and the admin listener answers.
func TestFullOfBusyConnections(t *testing.T) {
	busy, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(c *Config) { c.AdminAddr, c.MaxConns = "127.0.0.1:0", 1 }, movie551)
	s := runServer(t, w, func(s *Server) {
		s.edge.now = sync.OnceValue(func() time.Time {
			close(busy)
			<-release
			return time.Now()
		})
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	first := make(chan error, 1)
	go func() { first <- askOnce(client, s.URL()+"/3/movie/551", w.token) }()
	<-busy
	rq, err := http.NewRequest(http.MethodGet, s.URL()+"/3/movie/551", nil)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := client.Do(rq)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if want := string(errNoRelease.Code.Body()); err != nil || rs.StatusCode != http.StatusServiceUnavailable || string(body) != want || !rs.Close {
		t.Errorf("response above the limit = %d %s, %v, want 503 %s and the end", rs.StatusCode, body, err, want)
	}
	headers(t, "response above the limit", rs.Header, map[string]string{"Retry-After": "1", "Cache-Control": notKept, "Content-Type": contentType})
	if code, metrics := statusOf(s.AdminURL()+"/metrics", ""); code != 200 || !strings.Contains(metrics, `status="503"} 1`) ||
		!strings.Contains(metrics, "\nreelsplice_connections_refused_total 1\n") {
		t.Errorf("metrics = %d %.2000s, want the refused connection counted", code, metrics)
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("the busy connection: %v, want its response", err)
	}
}
