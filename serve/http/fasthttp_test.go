package http

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
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
	first, _ := s.send(t, "GET", "/3/movie/551")
	id, tag := s.releases.ID(), first.Header.Get("ETag")
	shorter := strings.NewReplacer(id, "<release>", tag, "<tag>")
	form := func(rs *http.Response, body string) string {
		rs.Header.Del("Date")
		rs.Header.Del("Content-Length") // known where the body is
		text := fmt.Sprint(rs.StatusCode)
		for _, name := range slices.Sorted(maps.Keys(rs.Header)) {
			text += " | " + name + ": " + strings.Join(rs.Header[name], " & ")
		}
		if body != "" && len(body) < 300 {
			text += " | " + body
		}
		return pageTag.ReplaceAllString(shorter.Replace(text), "<tag of a file>")
	}
	sharedtest.Cases(t, "testdata/wire.txt", func(input string) string {
		to := s
		input, wrong := strings.CutPrefix(input, "wrong token: ")
		if wrong {
			to = s.with("wrong")
		}
		lines := strings.SplitN(strings.ReplaceAll(input, "<tag>", tag), "\r\n", 2)
		method, uri, _ := strings.Cut(lines[0], " ")
		rs, body := to.send(t, method, uri, lines[1:]...)
		got, length := form(rs, body), rs.ContentLength
		if method != "GET" {
			return got
		}
		head, none := to.send(t, "HEAD", uri, lines[1:]...)
		if text := form(head, ""); none != "" || !strings.HasPrefix(got, text) || rs.StatusCode != 304 && head.ContentLength != length {
			return fmt.Sprintf("%s, but HEAD: %s, %d bytes of %d, %s", got, text, head.ContentLength, length, none)
		}
		return got
	})
}

// pageTag matches the entity tag of a file of the page, or of facts.
var pageTag = regexp.MustCompile(`W/"[0-9a-f]{32}"`)

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
		log := new(servetest.LockedBuffer)
		s := newWireServer(t, func(c *config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) }, servetest.Movie551)
		s.raw(t, method+" /3/movie/551?api_key=wrong HTTP/1.1\r\nHost: a\r\nUser-Agent: by-"+method+"\r\nConnection: close\r\n\r\n")
		if text := log.String(); !strings.Contains(text, "user_agent=by-"+method+" sha256=8810ad581e59f2bc") {
			t.Errorf("log of %s = %q, want its User-Agent and the hash of its key", method, text)
		}
	}
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
