package serve

import (
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/http"
	"github.com/reelsplice/reelsplice/serve/servetest"
	"github.com/reelsplice/reelsplice/serve/status"
)

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

// served asks some times. A connection may be refused while those before it have not begun to wait.
func served(t *testing.T, client *nethttp.Client, url, token string, times int) {
	t.Helper()
	for range times {
		sharedtest.Eventually(t, "a response of "+url, func() bool { return askOnce(client, url, token) == nil })
	}
}

func askOnce(client *nethttp.Client, url, token string) error {
	rq, err := nethttp.NewRequest(nethttp.MethodGet, url, nil)
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
	if rs.StatusCode != nethttp.StatusOK {
		err = errors.Join(err, fmt.Errorf("status %d: %.200s", rs.StatusCode, body))
	}
	return err
}

// TestIdleConnections: many times more idle connections than there may be keep out neither a
// client that keeps its connection nor one that opens a new one each time, nor the admin
// listener, and the other way round.
func TestIdleConnections(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AdminAddr, c.MaxConns = "127.0.0.1:0", 60 }, servetest.Movie551)
	s, token := running(t, w.cfg), w.token
	keeps := &nethttp.Client{Transport: &nethttp.Transport{}, Timeout: sharedtest.Patience}
	fresh := &nethttp.Client{Transport: &nethttp.Transport{DisableKeepAlives: true}, Timeout: sharedtest.Patience}
	defer keeps.CloseIdleConnections()
	url, ready := s.URL()+"/3/movie/551", s.AdminURL()+"/readyz"
	served(t, keeps, url, token, 1)
	idles(t, strings.TrimPrefix(s.URL(), "http://"), 300)
	idles(t, strings.TrimPrefix(s.AdminURL(), "http://"), 3*http.AdminConns)
	served(t, keeps, url, token, 100)
	served(t, fresh, url, token, 100)
	served(t, fresh, ready, "", 20)
	_, body := statusOf(s.AdminURL()+"/metrics", "")
	closed := metric(t, body, "connections_closed_idle_total") + metric(t, body, "connections_refused_total")
	if open := metric(t, body, "connections"); closed < 200 || open > 60 {
		t.Errorf("%d connections of the API closed, %d open, want 200 at least, 60 at most", closed, open)
	}
	if !strings.Contains(body, "\nreelsplice_connections_max 60\n") {
		t.Errorf("metrics = %.500s, want those of connections", body)
	}
}

// TestFullOfBusyConnections: where all connections are busy, a new one gets 503 at once, in
// the way of the API, and the admin listener answers.
func TestFullOfBusyConnections(t *testing.T) {
	busy, release := make(chan struct{}), make(chan struct{})
	w := newWorld(t, func(c *Config) { c.AdminAddr, c.MaxConns = "127.0.0.1:0", 1 }, servetest.Movie551)
	w.cfg.Now = sync.OnceValue(func() time.Time {
		close(busy)
		<-release
		return time.Now()
	})
	s := running(t, w.cfg)
	client := &nethttp.Client{Transport: &nethttp.Transport{DisableKeepAlives: true}}
	first := make(chan error, 1)
	go func() { first <- askOnce(client, s.URL()+"/3/movie/551", w.token) }()
	<-busy
	rq, err := nethttp.NewRequest(nethttp.MethodGet, s.URL()+"/3/movie/551", nil)
	if err != nil {
		t.Fatal(err)
	}
	var rs *nethttp.Response
	tries := 0
	sharedtest.Eventually(t, "a client is in time for its refusal", func() bool {
		tries++
		rs, err = client.Do(rq)
		return err == nil
	})
	defer rs.Body.Close()
	body, err := io.ReadAll(rs.Body)
	if want := string(status.Offline.Body()); err != nil || rs.StatusCode != nethttp.StatusServiceUnavailable || string(body) != want || !rs.Close {
		t.Errorf("response above the limit = %d %s, %v, want 503 %s and the end", rs.StatusCode, body, err, want)
	}
	for key, want := range map[string]string{"Retry-After": "1", "Cache-Control": servetest.NotKept, "Content-Type": "application/json;charset=utf-8"} {
		if got := rs.Header.Get(key); got != want {
			t.Errorf("response above the limit: %s = %q, want %q", key, got, want)
		}
	}
	if code, metrics := statusOf(s.AdminURL()+"/metrics", ""); code != 200 || !strings.Contains(metrics, fmt.Sprintf("status=\"503\"} %d\n", tries)) ||
		!strings.Contains(metrics, fmt.Sprintf("\nreelsplice_connections_refused_total %d\n", tries)) {
		t.Errorf("metrics = %d %.2000s, want %d refused connections counted", code, metrics, tries)
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("the busy connection: %v, want its response", err)
	}
}

// metric returns a metric of the edge.
func metric(t *testing.T, metrics, name string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(servetest.Cut(metrics, "\nreelsplice_"+name+" ", "\n"), &n); err != nil {
		t.Fatalf("metric %s: %v", name, err)
	}
	return n
}
