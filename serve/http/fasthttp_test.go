package http

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A wireServer is an Edge with servers on TCP and TLS, which share prepared responses.
type wireServer struct {
	*world
	fast   *Server
	secure *Server
}

func newWireServer(tb testing.TB, change func(*config), rows ...string) *wireServer {
	tb.Helper()
	return wired(tb, newWorld(tb, change, rows...))
}

// wired puts servers around an Edge.
func wired(tb testing.TB, w *world) *wireServer {
	tb.Helper()
	s := &wireServer{world: w, fast: w.start(tb), secure: w.startTLS(tb)}
	s.secure.prepared = s.fast.prepared
	return s
}

// with returns s for a client with another token.
func (s *wireServer) with(token string) *wireServer {
	w := *s.world
	w.token = token
	return &wireServer{&w, s.fast, s.secure}
}

// dial connects to the server on TCP.
func (s *wireServer) dial(tb testing.TB) *net.TCPConn {
	tb.Helper()
	return s.fast.dial(tb).(*net.TCPConn)
}

// raw sends bytes and returns all that comes back until the server has nothing more to send. A request that is handed
// over to fasthttp must get the same, byte for byte, and a client that does not end the connection, and asks several times.
func (s *wireServer) raw(tb testing.TB, request string) string {
	tb.Helper()
	got := exchange(tb, s.dial(tb), request)
	if handed := exchange(tb, s.dial(tb), asHanded(request)); comparable(handed) != comparable(got) {
		tb.Errorf("answer to %.200q from fasthttp = %.600q\nwant as without it %.600q", request, handed, got)
	}
	const last, times = "Connection: close\r\n", 4
	open, one := strings.Replace(request, last, "", 1), strings.Replace(got, last, "", 1)
	if strings.Count(request, last) == 1 && strings.Count(got, last) == 1 && !strings.Contains(exchange(tb, s.dial(tb), open), last) {
		all := exchange(tb, s.dial(tb), strings.Repeat(open, times))
		if comparable(all) != comparable(strings.Repeat(one, times)) {
			tb.Errorf("answer to %d times %.200q = %.2000q\nwant that many of %.600q", times, open, all, one)
		}
	}
	return got
}

// asHanded returns a request of HTTP/1.1 in a form that is handed over to fasthttp.
func asHanded(request string) string {
	line, rest, _ := strings.Cut(request, "\r\n")
	return line[:len(line)-1] + "0\r\n" + rest
}

// changing matches what differs between equal answers: the time, and signed values.
var changing = regexp.MustCompile(`(?m)^Date: .*$|^Authentication-Callback: .*$|"(request_token|guest_session_id|expires_at)":"[^"]*"`)

func comparable(answer string) string { return changing.ReplaceAllString(answer, "") }

// exchange sends bytes over c and returns what comes back until the end, and closes c.
func exchange(tb testing.TB, c net.Conn, request string) string {
	tb.Helper()
	defer c.Close()
	go func() { // the server may stop reading
		_, _ = io.WriteString(c, request)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	}()
	_ = c.SetReadDeadline(time.Now().Add(sharedtest.Patience))
	out, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) { // as TCP ends where a request was not read to its end
		tb.Fatalf("read answer to %.100q: %v after %.300q", request, err, out)
	}
	return string(out)
}

// send sends one request with some header lines and parses the answer.
func (s *wireServer) send(tb testing.TB, method, uri string, header ...string) (*http.Response, string) {
	tb.Helper()
	lines := append([]string{
		method + " " + uri + " HTTP/1.1", "Host: localhost", "Connection: close", "Authorization: Bearer " + s.token,
	}, header...)
	out := s.raw(tb, strings.Join(lines, "\r\n")+"\r\n\r\n")
	rs, err := http.ReadResponse(bufio.NewReader(strings.NewReader(out)), &http.Request{Method: method})
	if err != nil {
		tb.Fatalf("%s %s: %v in %.300q", method, uri, err, out)
	}
	body, err := io.ReadAll(rs.Body)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, uri, err)
	}
	if rs.Header.Get("Content-Encoding") == "gzip" && len(body) > 0 {
		body = []byte(servetest.OneMember(tb, body))
	}
	return rs, string(body)
}

// headers checks header fields; want "" means absent.
func headers(tb testing.TB, what string, h http.Header, want map[string]string) {
	tb.Helper()
	for key, v := range want {
		if got := strings.Join(h.Values(key), " | "); got != v {
			tb.Errorf("%s: %s = %q, want %q", what, key, got, v)
		}
	}
}

// TestWire: responses and their fields on both ways to the wire, HEAD as GET, and what browsers read of pages of other origins.
func TestWire(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550, servetest.Movie551)
	const (
		uri, missing = "/3/movie/551", "/3/movie/99"
		body         = `{"adult":false,"genres":[],"id":551,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"Another"}`
		any          = "any"
		gzip         = "Accept-Encoding: gzip"
		origin       = "Origin: https://example.org"
		asks         = "\r\nAccess-Control-Request-Method: PATCH" // after origin: a preflight
	)
	type fields = map[string]string
	first, _ := s.send(t, "GET", uri)
	id, tag := s.releases.ID(), first.Header.Get("ETag")
	usual := fields{"Server": "reelsplice", "Vary": "Accept-Encoding, Origin", "Content-Type": "application/json;charset=utf-8"}
	for _, name := range []string{
		"Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age", "Allow",
		"Authentication-Callback", "Content-Encoding", "Content-Security-Policy", "Cross-Origin-Opener-Policy", "ETag", "Referrer-Policy", "Retry-After", "Set-Cookie",
		"Surrogate-Key", "Www-Authenticate", "X-Content-Type-Options", "X-Reelsplice-Release",
	} {
		usual[name] = ""
	}
	with := func(all ...fields) fields {
		sum := maps.Clone(usual)
		for _, more := range all {
			maps.Copy(sum, more)
		}
		return sum
	}
	kept, notKept, encoded, empty := fields{"Cache-Control": servetest.Kept}, fields{"Cache-Control": servetest.NotKept}, fields{"Content-Encoding": "gzip"}, fields{"Content-Type": ""}
	release := fields{"X-Reelsplice-Release": id}
	found := with(kept, release, fields{"ETag": tag, "Surrogate-Key": id + " movie movie-551"})
	unknown := with(kept, release, fields{"Surrogate-Key": id + " movie movie-99"})
	reads := fields{"Allow": "GET, HEAD, OPTIONS"}
	cors := fields{"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag, Content-Length, X-Reelsplice-Release, Authentication-Callback"}
	// Old browsers do not know the asterisk, and it stands for all fields but Authorization.
	preflight := with(empty, cors, fields{
		"Access-Control-Allow-Methods": "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE", "Access-Control-Max-Age": "86400",
		"Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match, X-Requested-With, baggage, traceparent, tracestate, *",
	})
	page := with(fields{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://image.tmdb.org; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-cache",
	})
	f := func(method, uri, lines string, status int, body string, want fields) {
		t.Helper()
		var header []string
		if lines != "" {
			header = []string{lines}
		}
		rs, got := s.send(t, method, uri, header...)
		if rs.StatusCode != status || body != any && got != body {
			t.Errorf("%s %s with %q = %d %s, want %d %s", method, uri, lines, rs.StatusCode, got, status, body)
		}
		if body == any { // the tag of a page
			want["ETag"] = rs.Header.Get("ETag")
		}
		headers(t, method+" "+uri+" with "+lines, rs.Header, want)
		if method != "GET" {
			return
		}
		head, got := s.send(t, "HEAD", uri, header...)
		rs.Header.Del("Date")
		head.Header.Del("Date")
		if got != "" || head.StatusCode != status || fmt.Sprint(head.Header) != fmt.Sprint(rs.Header) || status != 304 && head.ContentLength != rs.ContentLength {
			t.Errorf("HEAD %s with %q = %d, %v, %q\nwant as GET %v", uri, lines, head.StatusCode, head.Header, got, rs.Header)
		}
	}
	f("GET", uri, "", 200, body, found)
	f("GET", uri, "Accept-Encoding: br, gzip;q=0.5", 200, body, with(found, encoded))
	f("GET", uri, "Accept-Encoding: br\r\n"+gzip, 200, body, with(found, encoded)) // lists in several lines
	f("GET", uri, "If-None-Match: \"other\"\r\nIf-None-Match: "+tag+"\r\n"+gzip, 304, "", with(found, empty))
	f("GET", uri, origin, 200, body, with(found, cors))
	for _, target := range []string{uri + "/", "//3//movie/551", "/3/movie/x%2F..%2F551", uri + "#fragment", "http://example.org" + uri + "?language=de#fragment"} {
		f("GET", target, "", 200, body, found)
	}
	f("GET", missing, gzip, 404, servetest.Body404, unknown)
	f("GET", missing, origin, 404, servetest.Body404, with(unknown, cors))
	f("GET", uri+"/similar?page=0", gzip, 400, servetest.Body22, with(notKept))
	f("DELETE", uri, origin, 405, servetest.Body405, with(notKept, reads, cors))
	f("POST", uri+"/rating", "Content-Length: 13\r\n\r\n{\"value\":8.5}", 405, servetest.Body405, with(notKept, fields{"Allow": "OPTIONS"}))
	f("OPTIONS", uri, origin+asks, 204, "", with(preflight, reads))
	f("OPTIONS", "/3/nothing", origin+asks, 204, "", preflight) // so that the page gets the 404
	f("OPTIONS", "/3/nothing", origin, 404, servetest.Body404, with(kept, preflight, fields{"Content-Type": usual["Content-Type"]}))
	f("OPTIONS", uri, "", 204, "", with(empty, reads))
	f("GET", "/3/configuration/jobs", gzip, 200, any, with(kept, encoded, fields{"Surrogate-Key": "static static-configurationJobs"}))
	f("GET", "/", origin, 200, any, with(page, cors, fields{"Content-Type": "text/html; charset=utf-8"}))
	f("GET", "/page/reference.js", gzip, 200, any, with(page, encoded, fields{"Content-Type": "text/javascript; charset=utf-8"}))
	f("GET", "/page/release", "", 200, any, with(page, release, fields{"Cache-Control": "private, no-store"}))
	s.token = "wrong"
	f("GET", uri, gzip, 401, servetest.Body401, with(notKept, fields{"Www-Authenticate": `Bearer realm="reelsplice"`}))
	f("OPTIONS", uri, origin+asks, 204, "", with(preflight, reads)) // browsers ask without a credential
}

func TestWireRequestToken(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	rs, body := s.send(t, "GET", "/3/authentication/token/new")
	token := servetest.Cut(body, `"request_token":"`, `"`)
	headers(t, "token/new", rs.Header, map[string]string{
		"Authentication-Callback": "https://www.themoviedb.org/authenticate/" + token, "Cache-Control": "no-store", "ETag": "",
	})
	if rs.StatusCode != 200 || len(token) != 40 {
		t.Errorf("token/new = %d %s, want a token of 40 digits", rs.StatusCode, body)
	}
}

// TestRefusedAgent: the log of a refused credential has the User-Agent, on the fast path and by fasthttp.
func TestRefusedAgent(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		var log bytes.Buffer
		var mu sync.Mutex
		s := newWireServer(t, func(c *config) {
			c.Log = slog.New(slog.NewTextHandler(lockedWriter{&log, &mu}, nil))
		}, servetest.Movie551)
		s.raw(t, method+" /3/movie/551?api_key=wrong HTTP/1.1\r\nHost: a\r\nUser-Agent: by-"+method+"\r\nConnection: close\r\n\r\n")
		mu.Lock()
		if text := log.String(); !strings.Contains(text, "user_agent=by-"+method+" sha256=8810ad581e59f2bc") {
			t.Errorf("log of %s = %q, want its User-Agent and the hash of its key", method, text)
		}
		mu.Unlock()
	}
}

type lockedWriter struct {
	b  *bytes.Buffer
	mu *sync.Mutex
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// TestDataSince: the configuration has the oldest day of the data, in every form, if it is known.
func TestDataSince(t *testing.T) {
	for want, row := range map[string]string{
		"": servetest.Movie551, "2026-05-01": `{"id":9,"title":"Nine","_fetched":"2026-05-01"}`,
	} {
		s := newWireServer(t, nil, row, `{"id":8,"title":"Eight"`+map[bool]string{true: `,"_fetched":"2026-06-01"`}[want != ""]+`}`)
		for _, fields := range [][]string{nil, {"Accept-Encoding: gzip"}, {"Accept-Encoding: gzip"}} {
			rs, _ := s.send(t, "GET", "/3/configuration", fields...)
			headers(t, want, rs.Header, map[string]string{"X-Reelsplice-Data-Since": want})
		}
		rs, _ := s.send(t, "GET", "/3/configuration?append_to_response=countries")
		headers(t, want, rs.Header, map[string]string{"X-Reelsplice-Data-Since": want})
		rs, _ = s.send(t, "GET", "/3/movie/8")
		headers(t, want, rs.Header, map[string]string{"X-Reelsplice-Data-Since": ""})
	}
}

// TestCacheModes: Cache decides on the Cache-Control of all that may be kept, and of nothing else.
func TestCacheModes(t *testing.T) {
	for mode, want := range map[string][2]string{ // what is kept for an hour, and what is asked for again
		edge.CachePublic:     {"public, max-age=3600", "public, max-age=0"},
		edge.CachePrivate:    {"private, max-age=3600", "private, max-age=0"},
		edge.CacheRevalidate: {"public, max-age=0, must-revalidate", "public, max-age=0, must-revalidate"},
	} {
		s := newWireServer(t, func(c *config) { c.Cache = mode }, servetest.Movie550)
		a := s.asker(t)
		for uri, want := range map[string]string{
			"/3/movie/550": want[0], "/3/movie/550?append_to_response=credits": want[0], "/3/movie/999999999": want[0], "/3/configuration": want[0],
			"/3/movie/popular": want[0], "/3/search/movie?query=club": want[0], "/3/movie/latest": want[1],
			"/3/authentication": "no-store", "/3/authentication/token/new": "no-store", "/3/movie?ids=1,x": "no-store",
		} {
			for range 3 { // the last one from its prepared response, where it has one
				if rs, _ := a.ask(t, "GET", uri); rs.Header.Get("Cache-Control") != want {
					t.Errorf("%s with cache %s: Cache-Control %q, want %q", uri, mode, rs.Header.Get("Cache-Control"), want)
				}
			}
		}
	}
}
