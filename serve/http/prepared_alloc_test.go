//go:build !race

package http

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// hotRequests are the requests that must not allocate.
func hotRequests(tb testing.TB, w *world) map[string]*edge.Request {
	tb.Helper()
	all := map[string]*edge.Request{}
	for name, h := range servetest.HotRequests {
		uri := h.URI
		if h.Auth == servetest.QueryKey {
			uri += "&api_key=" + w.token
		}
		rq := w.request(uri)
		switch h.Auth {
		case servetest.QueryKey, servetest.NoToken:
			rq.Authorization = nil
		case servetest.WrongToken:
			rq.Authorization = []byte("Bearer rsp_unknown")
		}
		if h.Identity {
			rq.Gzip = false
		}
		if h.Seen {
			rq.IfNoneMatch = w.do(tb, rq).ETag
		}
		all[name] = rq
	}
	return all
}

// wireOf returns a request as it goes over the wire.
func wireOf(rq *edge.Request) []byte {
	coding := ""
	if rq.Gzip {
		coding = "gzip"
	}
	return fmt.Appendf(nil, "GET %s?%s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nAccept-Encoding: %s\r\nIf-None-Match: %s\r\n\r\n",
		rq.Path, rq.Query, rq.Authorization, coding, rq.IfNoneMatch)
}

// TestPreparedAllocs asks over a connection. What anything allocates meanwhile counts, and the
// client does not.
func TestPreparedAllocs(t *testing.T) {
	s := wired(t, sampleWorld(t, nil))
	for name, rq := range hotRequests(t, s.world) {
		for over, c := range map[string]net.Conn{"TCP": s.dial(t), "TLS": s.secure.dial(t)} {
			want := 0.0
			if over == "TLS" {
				want = 2 // crypto/tls makes a reader for each read, here on both sides
			}
			raw := wireOf(rq)
			var answer []byte
			for range 5 { // until there is a prepared response
				_, _ = c.Write(raw)
				answer = make([]byte, answerLen(t, bufio.NewReader(c)))
			}
			ask := func() {
				_, _ = c.Write(raw)
				_, _ = io.ReadFull(c, answer)
			}
			if n := testing.AllocsPerRun(500, ask); n > want {
				t.Errorf("%s: an answer over %s allocates %v times, want %v: %.30q", name, over, n, want, answer)
			}
			_ = c.Close()
		}
	}
}

// TestUnpreparedAllocs asks for more targets than there are places, each once.
func TestUnpreparedAllocs(t *testing.T) {
	s := wired(t, sampleWorld(t, nil))
	c := s.dial(t)
	uri := func(i int) []byte {
		return fmt.Appendf(nil, "GET /3/movie/550?i=%06d HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nAccept-Encoding: gzip\r\n\r\n", i, s.token)
	}
	_, _ = c.Write(uri(0))
	answer, i := make([]byte, answerLen(t, bufio.NewReader(c))), 0
	const runs = 3 * preparedSlots
	raws := make([][]byte, runs+2)
	for i := range raws {
		raws[i] = uri(i + 1)
	}
	if n := testing.AllocsPerRun(runs, func() {
		_, _ = c.Write(raws[i])
		_, _ = io.ReadFull(c, answer)
		i++
	}); n != 0 {
		t.Errorf("an answer that nobody asks for again allocates %v times, want 0", n)
	}
	if string(answer[:12]) != "HTTP/1.1 "+fmt.Sprint(http.StatusOK) {
		t.Errorf("last answer = %.40q, want 200", answer)
	}
}
