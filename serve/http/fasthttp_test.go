package http

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp/fasthttputil"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A wireServer is an Edge behind fasthttp, on an in-memory listener and, with the fast path, on
// one of TCP.
type wireServer struct {
	*world
	ln       *fasthttputil.InmemoryListener
	fast     *fastListener
	prepared *preparedSet // of the fast path
}

func newWireServer(tb testing.TB, change func(*config), rows ...string) *wireServer {
	tb.Helper()
	return wired(tb, newWorld(tb, change, rows...))
}

// wired puts servers around an Edge.
func wired(tb testing.TB, w *world) *wireServer {
	tb.Helper()
	s := &wireServer{world: w, ln: fasthttputil.NewInmemoryListener(), prepared: newPreparedSet()}
	cfg := s.fastConfig(newMeters(), s.prepared)
	s.fast = listenFast(listenTCP(tb), cfg)
	for _, ln := range []net.Listener{listenFast(s.ln, cfg), s.fast} {
		server := newFastHTTP(&s.cfg.Limits, s.edge, newMeters())
		done := make(chan error, 1)
		go func() { done <- server.Serve(ln) }()
		tb.Cleanup(func() {
			_ = ln.Close()
			if err := <-done; err != nil {
				tb.Errorf("Serve: %v", err)
			}
		})
	}
	return s
}

// dial connects to the listener with the fast path.
func (s *wireServer) dial(tb testing.TB) *net.TCPConn {
	tb.Helper()
	c, err := net.Dial("tcp", s.fast.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// dials connect to the listener without the fast path, and to the one with it.
func (s *wireServer) dials() []func(tb testing.TB) net.Conn {
	return []func(tb testing.TB) net.Conn{
		func(tb testing.TB) net.Conn {
			tb.Helper()
			c, err := s.ln.Dial()
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(func() { _ = c.Close() })
			return c
		},
		func(tb testing.TB) net.Conn { tb.Helper(); return s.dial(tb) },
	}
}

// raw sends bytes and returns all that comes back until the server has nothing more
// to say. The fast path must say the same, byte for byte, also to who does not ask for the end
// of the connection, which is not for the fast path, and asks several times.
func (s *wireServer) raw(tb testing.TB, request string) string {
	tb.Helper()
	c, err := s.ln.Dial()
	if err != nil {
		tb.Fatal(err)
	}
	want := exchange(tb, c, request)
	got := exchange(tb, s.dial(tb), request)
	if comparable(got) != comparable(want) {
		tb.Errorf("answer to %.200q on the fast path = %.600q\nwant as without it %.600q", request, got, want)
	}
	const last, times = "Connection: close\r\n", 4
	open, wants := strings.Replace(request, last, "", 1), strings.Replace(want, last, "", 1)
	if strings.Count(request, last) == 1 && strings.Count(want, last) == 1 && !strings.Contains(exchange(tb, s.dial(tb), open), last) {
		got := exchange(tb, s.dial(tb), strings.Repeat(open, times))
		if comparable(got) != comparable(strings.Repeat(wants, times)) {
			tb.Errorf("answer to %d times %.200q on the fast path = %.2000q\nwant as without it %.600q", times, open, got, wants)
		}
	}
	return want
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

// headers checks header fields; want "" is none.
func headers(tb testing.TB, what string, h http.Header, want map[string]string) {
	tb.Helper()
	for key, v := range want {
		if got := strings.Join(h.Values(key), " | "); got != v {
			tb.Errorf("%s: %s = %q, want %q", what, key, got, v)
		}
	}
}

func TestWireHeaders(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550, servetest.Movie551)
	ok := map[string]string{
		"Content-Type": "application/json;charset=utf-8", "Cache-Control": servetest.Kept, "Vary": "Accept-Encoding, Origin",
		"Content-Encoding": "", "X-Reelsplice-Release": s.releases.ID(), "Surrogate-Key": s.releases.ID() + " movie movie-551",
		"Access-Control-Allow-Origin": "", "Access-Control-Expose-Headers": "", "Allow": "", "Www-Authenticate": "",
		"Server": "reelsplice", "Authentication-Callback": "",
	}
	rs, body := s.send(t, "GET", "/3/movie/551")
	headers(t, "identity", rs.Header, ok)
	if rs.StatusCode != 200 || body != `{"adult":false,"genres":[],"id":551,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"Another"}` || rs.ContentLength != int64(len(body)) || rs.Header.Get("Date") == "" {
		t.Errorf("identity = %d %s, %v", rs.StatusCode, body, rs.Header)
	}
	tag := rs.Header.Get("ETag")
	ok["Content-Encoding"] = "gzip"
	rs, zipped := s.send(t, "GET", "/3/movie/551", "Accept-Encoding: br, gzip;q=0.5")
	headers(t, "gzip", rs.Header, ok)
	if rs.StatusCode != 200 || zipped != body || rs.Header.Get("ETag") != tag {
		t.Errorf("gzip = %d %s %s, want %s %s", rs.StatusCode, zipped, rs.Header.Get("ETag"), body, tag)
	}
	if out := s.raw(t, "GET /3/movie/551 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer "+s.token+"\r\n\r\n"); !strings.Contains(out, "\r\nETag: "+tag+"\r\n") ||
		!strings.Contains(out, "\r\nContent-Type: application/json;charset=utf-8\r\n") {
		t.Errorf("answer on the wire = %q, want ETag and Content-Type spelled as TMDB does", out)
	}
}

func TestWireHead(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	const uri = "/3/movie/550?append_to_response=credits,videos"
	for _, encoding := range []string{"gzip", "identity"} {
		want, _ := s.send(t, "GET", uri, "Accept-Encoding: "+encoding)
		rs, body := s.send(t, "HEAD", uri, "Accept-Encoding: "+encoding)
		if rs.StatusCode != 200 || body != "" {
			t.Errorf("HEAD = %d with %d bytes, want 200 without a body", rs.StatusCode, len(body))
		}
		want.Header.Del("Date")
		rs.Header.Del("Date")
		if fmt.Sprint(rs.Header) != fmt.Sprint(want.Header) || rs.ContentLength != want.ContentLength {
			t.Errorf("HEAD = %v, %d\nwant as GET %v, %d", rs.Header, rs.ContentLength, want.Header, want.ContentLength)
		}
	}
	rs, _ := s.send(t, "HEAD", "/3/movie/99")
	if rs.StatusCode != 404 || rs.ContentLength != int64(len(servetest.Body404)) {
		t.Errorf("HEAD of a missing movie = %d, %d bytes, want 404, %d", rs.StatusCode, rs.ContentLength, len(servetest.Body404))
	}
}

func TestWireNotModified(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	first, _ := s.send(t, "GET", "/3/movie/550")
	rs, body := s.send(t, "GET", "/3/movie/550", "If-None-Match: "+first.Header.Get("ETag"), "Accept-Encoding: gzip")
	if rs.StatusCode != 304 || body != "" {
		t.Errorf("If-None-Match = %d, %d bytes, want 304 without a body", rs.StatusCode, len(body))
	}
	headers(t, "304", rs.Header, map[string]string{
		"ETag": first.Header.Get("ETag"), "Cache-Control": servetest.Kept, "Vary": "Accept-Encoding, Origin",
		"Content-Encoding": "", "Content-Type": "", "Surrogate-Key": first.Header.Get("Surrogate-Key"),
	})
}

func TestWireRefusals(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	f := func(method, uri string, status int, want string, fields map[string]string, header ...string) {
		t.Helper()
		rs, body := s.send(t, method, uri, header...)
		if rs.StatusCode != status || body != want {
			t.Errorf("%s %s = %d %s, want %d %s", method, uri, rs.StatusCode, body, status, want)
		}
		headers(t, method+" "+uri, rs.Header, map[string]string{
			"Content-Type": "application/json;charset=utf-8", "Content-Encoding": "", "ETag": "", "Vary": "Accept-Encoding, Origin",
		})
		headers(t, method+" "+uri, rs.Header, fields)
	}
	gzip := "Accept-Encoding: gzip"
	f("GET", "/3/movie/99", 404, servetest.Body404, map[string]string{"Cache-Control": servetest.Kept}, gzip)
	f("DELETE", "/3/movie/550", 405, servetest.Body405, map[string]string{"Allow": "GET, HEAD, OPTIONS", "Cache-Control": servetest.NotKept}, gzip)
	f("GET", "/3/movie/550/similar?page=0", 400, servetest.Body22, nil, gzip)
	s.token = "wrong"
	f("GET", "/3/movie/550", 401, servetest.Body401, map[string]string{"Www-Authenticate": `Bearer realm="reelsplice"`, "Cache-Control": servetest.NotKept}, gzip)
	f("POST", "/3/nothing", 401, servetest.Body401, nil)
}

func TestWirePostWithBody(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	rs, body := s.send(t, "POST", "/3/movie/550/rating", "Content-Type: application/json", "Content-Length: 13\r\n\r\n{\"value\":8.5}")
	if rs.StatusCode != 405 || body != servetest.Body405 || rs.Header.Get("Allow") != "OPTIONS" {
		t.Errorf("POST with a body = %d %s, Allow %q, want 405", rs.StatusCode, body, rs.Header.Get("Allow"))
	}
	// Nothing behind the body is read as a request.
	out := s.raw(t, "POST /3/movie/550 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+s.token+"\r\nContent-Length: 5\r\n\r\nhello"+
		"GET /3/authentication HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+s.token+"\r\n\r\n")
	if !strings.HasPrefix(out, "HTTP/1.1 405 ") || !strings.HasSuffix(out, servetest.Body405) || !strings.Contains(out, "\r\nConnection: close\r\n") {
		t.Errorf("POST and GET on one connection = %q, want 405 and its end", out)
	}
	out = s.raw(t, "POST /3/movie/550 HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n")
	if !strings.HasPrefix(out, "HTTP/1.1 401 ") || !strings.HasSuffix(out, servetest.Body401) {
		t.Errorf("POST of more than there is = %q, want 401 with a body", out)
	}
}

func TestWireOptionsAndCORS(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	const origin = "Origin: https://example.org"
	cors := map[string]string{
		"Access-Control-Allow-Origin":   "*",
		"Access-Control-Expose-Headers": "ETag, Content-Length, X-Reelsplice-Release, Authentication-Callback",
	}
	rs, _ := s.send(t, "GET", "/3/movie/550", origin)
	headers(t, "GET with an origin", rs.Header, cors)
	headers(t, "GET with an origin", rs.Header, map[string]string{"Access-Control-Allow-Methods": ""})
	rs, _ = s.send(t, "GET", "/3/movie/99", origin)
	headers(t, "404 with an origin", rs.Header, cors)
	rs, body := s.send(t, "OPTIONS", "/3/movie/550", origin, "Access-Control-Request-Method: GET")
	if rs.StatusCode != 204 || body != "" {
		t.Errorf("OPTIONS = %d %s, want 204 without a body", rs.StatusCode, body)
	}
	headers(t, "OPTIONS with an origin", rs.Header, cors)
	headers(t, "OPTIONS with an origin", rs.Header, map[string]string{
		"Access-Control-Allow-Methods": preflightMethods, "Access-Control-Allow-Headers": preflightFields,
		"Access-Control-Max-Age": "86400", "Allow": "GET, HEAD, OPTIONS", "Content-Type": "",
	})
	rs, _ = s.send(t, "OPTIONS", "/3/movie/550")
	headers(t, "OPTIONS", rs.Header, map[string]string{"Access-Control-Allow-Origin": "", "Allow": "GET, HEAD, OPTIONS"})
	// Browsers ask without a credential.
	out := s.raw(t, "OPTIONS /3/movie/550 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(out, "HTTP/1.1 204 ") {
		t.Errorf("OPTIONS without a credential = %q, want 204", out)
	}
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

// TestWirePage: the fields by which browsers guard the page, from both paths to the wire.
func TestWirePage(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550)
	guarded := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://image.tmdb.org; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
		"Surrogate-Key": "", "Set-Cookie": "", "Vary": "Accept-Encoding, Origin",
	}
	unguarded := map[string]string{"Content-Security-Policy": "", "X-Content-Type-Options": "", "Referrer-Policy": "", "Cross-Origin-Opener-Policy": ""}
	for _, more := range [][]string{nil, {"Origin: http://other.example"}, {"Accept-Encoding: gzip"}} {
		for path, contentType := range map[string]string{"/": "text/html; charset=utf-8", "/page/reference.js": "text/javascript; charset=utf-8"} {
			rs, _ := s.send(t, "GET", path, more...)
			headers(t, path, rs.Header, guarded)
			headers(t, path, rs.Header, map[string]string{"Content-Type": contentType, "Cache-Control": "no-cache"})
		}
		rs, _ := s.send(t, "GET", "/page/release", more...)
		headers(t, "/page/release", rs.Header, guarded)
		headers(t, "/page/release", rs.Header, map[string]string{"Content-Type": "application/json;charset=utf-8", "Cache-Control": "private, no-store", "ETag": ""})
		rs, _ = s.send(t, "GET", "/3/movie/550", more...)
		headers(t, "/3/movie/550", rs.Header, unguarded)
	}
	rs, body := s.send(t, "OPTIONS", "/page/explain", "Origin: http://other.example", "Access-Control-Request-Method: GET")
	if rs.StatusCode != 204 || body != "" || rs.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("OPTIONS /page/explain = %d %q, %v", rs.StatusCode, body, rs.Header)
	}
}

// TestWireTargets asks for the same thing in several spellings.
func TestWireTargets(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550, servetest.Movie551)
	f := func(target string, status int) {
		t.Helper()
		if rs, body := s.send(t, "GET", target); rs.StatusCode != status {
			t.Errorf("GET %s = %d %s, want %d", target, rs.StatusCode, body, status)
		}
	}
	f("/3/movie/550", 200)
	f("/3/movie/550/", 200)
	f("//3//movie/550", 200)
	f("/3/movie/x%2F..%2F550", 200)
	f("http://example.org/3/movie/550?language=de", 200)
	f("/3/movie/550#fragment", 200)
	f("/3/movie/550?language=de#fragment", 200)
	f("http://example.org", 200) // the page
	f("*", 400)
	f("/3/movie/%zz", 400)
	f("/3/movie/"+strings.Repeat("5", 2000), 404)
}

func TestWireLimits(t *testing.T) {
	s := newWireServer(t, func(c *config) { c.MaxHeader = 2048 }, servetest.Movie550)
	out := s.raw(t, "GET /3/movie/550 HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("y", 4096)+"\r\n\r\n")
	if !strings.HasPrefix(out, "HTTP/1.1 431 ") || !strings.Contains(out, `"status_code":47`) || !strings.Contains(out, "application/json;charset=utf-8") {
		t.Errorf("long header = %q, want 431 with a body", out)
	}
	out = s.raw(t, "nonsense\r\n\r\n")
	if !strings.HasPrefix(out, "HTTP/1.1 400 ") || !strings.Contains(out, `"status_code":47`) {
		t.Errorf("nonsense = %q, want 400 with a body", out)
	}
}

// TestWireIdleTime: an idle connection ends after its time, on every way. Without one it stays.
func TestWireIdleTime(t *testing.T) {
	t.Parallel() // it sleeps
	const limit = 300 * time.Millisecond
	for _, idle := range []time.Duration{limit, 0} {
		s := newWireServer(t, func(c *config) { c.IdleTimeout, c.ReadTimeout = idle, limit }, servetest.Movie551)
		for _, dial := range s.dials() {
			// It is tried again: on a busy machine, the client may be late.
			sharedtest.Retry(t, fmt.Sprintf("a connection may be idle for %v", idle), func() error {
				c, start := dial(t), time.Now()
				defer c.Close()
				_ = c.SetDeadline(start.Add(4 * limit))
				go func() { _, _ = fmt.Fprintf(c, "GET /3/movie/551 HTTP/1.1\r\nHost: x\r\n\r\n") }()
				out, err := io.ReadAll(c)
				took, ok := time.Since(start), bytes.HasSuffix(out, []byte(servetest.Body401))
				if (err == nil) != (idle > 0) || took < limit || !ok {
					return fmt.Errorf("over %T, the connection ends after %v with %q, and %w", c, took, out, cmp.Or(err, io.EOF))
				}
				return nil
			})
		}
	}
}

// TestWireKeepsBodiesApart sends many different requests over several connections at
// once; buffers change hands between them.
func TestWireKeepsBodiesApart(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie550, servetest.Movie551)
	var requests bytes.Buffer
	var want []string
	for i := range 200 {
		uri := []string{
			"/3/movie/550?append_to_response=credits,videos", "/3/movie/551", "/3/movie/99", "/3/authentication", "/3/movie/550/images",
		}[i%5]
		last := "keep-alive"
		if i == 199 {
			last = "close"
		}
		fmt.Fprintf(&requests, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: %s\r\nAuthorization: Bearer %s\r\n\r\n", uri, last, s.token)
		rq := s.request(uri)
		rq.AcceptEncoding = nil
		want = append(want, s.do(t, rq).plain)
	}
	check := func() error {
		c, err := s.ln.Dial()
		if err != nil {
			return err
		}
		defer c.Close()
		go func(c net.Conn) { _, _ = c.Write(requests.Bytes()) }(c)
		r := bufio.NewReader(c)
		for i := range want {
			rs, err := http.ReadResponse(r, nil)
			if err != nil {
				return fmt.Errorf("answer %d: %w", i, err)
			}
			body, err := io.ReadAll(rs.Body)
			if err != nil {
				return fmt.Errorf("answer %d: %w", i, err)
			}
			if string(body) != want[i] {
				return fmt.Errorf("answer %d = %s, want %s", i, body, want[i])
			}
		}
		return nil
	}
	errs := make(chan error)
	for range 4 {
		go func() { errs <- check() }()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestPreflight sends what browsers send, and reads the answers as browsers do: the request
// itself follows only where the preflight allows its method and all of its fields.
func TestPreflight(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie551)
	// Chrome and Firefox send the names in lower case, sorted, without blanks; Safari with blanks.
	const chrome, safari = "authorization,baggage,content-type,sentry-trace,traceparent,x-requested-with", "authorization, if-none-match, x-requested-with"
	for _, c := range []struct {
		method, uri, fields string
		status              int // of the request itself
	}{
		{"GET", "/3/movie/551", chrome, 200},
		{"GET", "/3/movie/551", safari, 200},
		{"GET", "/3/movie/551", "", 200},
		{"GET", "/3/nothing", chrome, 404},
		{"GET", "/movie/551", chrome, 404},
		{"GET", "/3/movie/99999", safari, 404},
		{"POST", "/3/movie/551", chrome, 405},
		{"PUT", "/3/movie/551", safari, 405},
		{"DELETE", "/3/movie/551/rating", chrome, 405},
		{"PATCH", "/3/nothing", chrome, 404},
		{"GET", "/3/movie/551/rating", chrome, 405},
	} {
		header := []string{
			"Origin: http://localhost:5173", "Access-Control-Request-Method: " + c.method, "Accept: */*", "Sec-Fetch-Mode: cors", "Sec-Fetch-Site: same-site",
			"Referer: http://localhost:5173/", "User-Agent: Mozilla/5.0",
		}
		if c.fields != "" {
			header = append(header, "Access-Control-Request-Headers: "+c.fields)
		}
		rs, body := s.send(t, "OPTIONS", c.uri, header...)
		if rs.StatusCode != 204 || body != "" || rs.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("preflight of %s %s = %d %s, %v, want 204 for any origin", c.method, c.uri, rs.StatusCode, body, rs.Header)
		}
		methods := strings.Split(rs.Header.Get("Access-Control-Allow-Methods"), ", ")
		if !slices.Contains(methods, c.method) {
			t.Errorf("preflight of %s %s allows %s, want %s too", c.method, c.uri, methods, c.method)
		}
		allowed := strings.Split(strings.ToLower(rs.Header.Get("Access-Control-Allow-Headers")), ", ")
		for _, name := range strings.Split(c.fields, ",") {
			name = strings.TrimSpace(name)
			// The asterisk stands for all fields but Authorization.
			if name != "" && !slices.Contains(allowed, name) && (name == "authorization" || !slices.Contains(allowed, "*")) {
				t.Errorf("preflight of %s %s allows %s, want %s too", c.method, c.uri, allowed, name)
			}
		}
		for _, name := range []string{"x-requested-with", "baggage", "traceparent"} { // for browsers that do not know the asterisk
			if !slices.Contains(allowed, name) {
				t.Errorf("preflight allows %s, want %s too", allowed, name)
			}
		}
		rs, _ = s.send(t, c.method, c.uri, "Origin: http://localhost:5173")
		if rs.StatusCode != c.status || rs.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s = %d, %v, want %d for any origin", c.method, c.uri, rs.StatusCode, rs.Header, c.status)
		}
	}
	if rs, _ := s.send(t, "OPTIONS", "/3/nothing", "Origin: http://localhost:5173"); rs.StatusCode != 404 {
		t.Errorf("OPTIONS of an unknown path that is no preflight = %d, want 404", rs.StatusCode)
	}
}

// TestLogHoldsNoSecrets: what fasthttp cannot read is logged without its content, which
// may be a token.
func TestLogHoldsNoSecrets(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	s := newWireServer(t, func(c *config) {
		c.Log = slog.New(slog.NewTextHandler(lockedWriter{&log, &mu}, nil))
	}, servetest.Movie551)
	for _, broken := range []string{
		"GET /3/movie/551?api_key=" + s.token + " HTTP/1.1\r\nAuthorization: Bearer " + s.token + "\r\n\r\n",
		"GET /3/movie/551?api_key=" + s.token + " HTTP/1.1\r\nHost: a\r\nno colon " + s.token + "\r\n\r\n",
		"GET /3/movie/551?api_key=" + s.token + " HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\nAuthorization: Bearer " + s.token + "\r\n\r\n",
	} {
		s.raw(t, broken)
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(log.String(), s.token) {
		t.Errorf("the log holds the token:\n%s", log.String())
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

// TestListsInSeveralLines: a list header in two lines means the same as in one.
func TestListsInSeveralLines(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie551)
	rs, _ := s.send(t, "GET", "/3/movie/551")
	tag := rs.Header.Get("ETag")
	if rs, _ := s.send(t, "GET", "/3/movie/551", `If-None-Match: "other"`, "If-None-Match: "+tag); rs.StatusCode != 304 {
		t.Errorf("two lines of If-None-Match = %d, want 304", rs.StatusCode)
	}
	if rs, _ := s.send(t, "GET", "/3/movie/551", "Accept-Encoding: br", "Accept-Encoding: gzip"); rs.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("two lines of Accept-Encoding: Content-Encoding = %q, want gzip", rs.Header.Get("Content-Encoding"))
	}
}

// TestStaticOverHTTP checks that prepared answers, which all connections share, go out
// whole in every form.
func TestStaticOverHTTP(t *testing.T) {
	s := newWireServer(t, nil, servetest.Movie551)
	const uri = "/3/configuration/countries"
	plain, body := s.send(t, "GET", uri)
	if plain.StatusCode != 200 || !strings.HasPrefix(body, `[{"iso_3166_1":"AD"`) {
		t.Fatalf("GET %s = %d %.80s", uri, plain.StatusCode, body)
	}
	headers(t, uri, plain.Header, map[string]string{
		"Cache-Control": servetest.Kept, "Surrogate-Key": "static static-configurationCountries", "X-Reelsplice-Release": "", "Content-Encoding": "",
	})
	tag := plain.Header.Get("ETag")
	for range 2 {
		rs, again := s.send(t, "GET", uri, "Accept-Encoding: gzip")
		if again != body || rs.Header.Get("Content-Encoding") != "gzip" || rs.Header.Get("ETag") != tag {
			t.Errorf("gzip of %s = %.80s, %v", uri, again, rs.Header)
		}
		head, none := s.send(t, "HEAD", uri)
		if none != "" || head.ContentLength != int64(len(body)) || head.Header.Get("ETag") != tag {
			t.Errorf("HEAD %s = %q, %d bytes, want %d", uri, none, head.ContentLength, len(body))
		}
	}
	if rs, none := s.send(t, "GET", uri, "If-None-Match: "+tag); rs.StatusCode != 304 || none != "" {
		t.Errorf("If-None-Match of %s = %d %q, want 304", uri, rs.StatusCode, none)
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
		s := wired(t, sampleWorld(t, func(c *config) { c.Cache = mode }))
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
