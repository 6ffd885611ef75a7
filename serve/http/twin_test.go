package http

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A twin is servers of one Edge, over TLS or TCP.
type twin struct {
	token   string
	streams *Server // gets streams of any bytes
	// One gets requests that are plain, the other one the same in a form that is handed over to fasthttp.
	plain, handed *Server
}

func newTwin(tb testing.TB, secure bool) *twin {
	tb.Helper()
	w := writtenWorld(tb, func(c *config) { c.MaxHeader = 2048 }, servetest.Catalogue()...)
	start := w.start
	if secure {
		start = w.startTLS
	}
	return &twin{w.token, start(tb), start(tb), start(tb)}
}

func listenTCP(tb testing.TB) *connlimit.Listener {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return connlimit.Listen(ln.(*net.TCPListener), connlimit.Config{Max: 1000, Log: slog.New(slog.DiscardHandler)})
}

// check sends a stream of requests whole, and cut where rnd says, and compares all that comes back. If the
// first request is plain, it compares the responses of both ways. In the stream, $T stands for a good token.
func (w *twin) check(tb testing.TB, stream string, rnd *rand.Rand) {
	tb.Helper()
	stream = strings.ReplaceAll(stream, "$T", w.token)
	cuts := make([]int, rnd.IntN(4))
	for i := range cuts {
		cuts[i] = rnd.IntN(len(stream) + 1)
	}
	slices.Sort(cuts)
	w.same(tb, w.streams, stream, cuts, w.streams, stream)
	var p parser
	n, _ := p.parse([]byte(stream))
	if n == 0 || !p.rq.plain {
		return
	}
	line, rest, _ := strings.Cut(stream[emptyLines([]byte(stream)):n], "\r\n")
	request := line + "\r\nConnection: close\r\n" + rest
	w.same(tb, w.handed, asHanded(request), nil, w.plain, request)
}

// same compares the answers of two servers.
func (w *twin) same(tb testing.TB, s *Server, stream string, cuts []int, other *Server, otherStream string) {
	tb.Helper()
	got, gotWhole := converse(tb, s, stream, cuts)
	want, whole := converse(tb, other, otherStream, nil)
	if !whole || !gotWhole { // as TCP drops what is under way when the end is a reset
		n := min(len(want), len(got))
		want, got = want[:n], got[:n]
	}
	if got != want {
		tb.Fatalf("answer to %q, cut at %v = %.3000q\nwant that to %q, %.3000q", stream, cuts, got, otherStream, want)
	}
}

// converse sends a stream and its end, and returns what comes back but for what changes, and
// whether that is all that the server has sent.
func converse(tb testing.TB, s *Server, stream string, cuts []int) (answer string, whole bool) {
	tb.Helper()
	c := s.dial(tb)
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	go func() { // the server may stop reading
		from := 0
		for _, to := range append(cuts, len(stream)) {
			_, _ = io.WriteString(c, stream[from:to])
			from = to
			if len(cuts) > 0 {
				time.Sleep(100 * time.Microsecond) // so that it is read by itself
			}
		}
		_ = c.(interface{ CloseWrite() error }).CloseWrite()
	}()
	out, err := io.ReadAll(c)
	reset := errors.Is(err, syscall.ECONNRESET)
	if err != nil && !reset {
		tb.Fatalf("read answer to %q, cut at %v: %v after %.300q", stream, cuts, err, out)
	}
	return comparable(string(out)), !reset
}

// Pieces of requests, more of them good than not.
var (
	someMethods = []string{"GET", "GET", "GET", "GET", "GET", "HEAD", "HEAD", "POST", "OPTIONS", "get", "DELETE", "GETT", ""}
	someTargets = []string{
		"/3/movie/550", "/3/movie/550?append_to_response=credits,images,videos", "/3/movie/550?language=de", "/3/movie/550", "/3/movie/1",
		"/3/movie/550?api_key=$T", "/3/movie/550?language=de&api_key=$T", "/3/movie/1?api_key=x#api_key=$T", "/3/movie/550?append_to_response=account_states&session_id=x", "/3/movie/550/images?include_image_language=en,null",
		"/3/movie/550/changes", "/3/movie/popular?page=1", "/3/movie/popular?page=501", "/3/configuration", "/3/authentication", "/3/authentication/token/new",
		"/3/movie/550?language=de#x?y", "//3//movie/550", "//x/3/movie/550", "/3/movie/%35%35%30", "/3/movie/%zz", "/3/x/..%2Fmovie/550", "/", "//", "/?", "/#",
		"/3/movie/550?a=http://b", "http://x/3/movie/550", "http://", "*", "/3/movie/\\\"<>^`{|}550", "3/movie/550", "/3/search/movie?query=a+b",
		"/3/movie/550?x=" + strings.Repeat("y", 1500), "/" + strings.Repeat("z", 2100), "/3/movie/550\x00", "/3/movie/\xc3\xa4", "/3/ movie", "",
	}
	someVersions = []string{" HTTP/1.1\r\n", " HTTP/1.1\r\n", " HTTP/1.1\r\n", " HTTP/1.1\r\n", " HTTP/1.1\r\n", " HTTP/1.0\r\n", " HTTP/1.1\n", " HTTP/2.0\r\n", "\r\n", "  HTTP/1.1\r\n"}
	someHosts    = []string{
		"Host: x\r\n", "Host: x\r\n", "Host: x\r\n", "Host: x\r\n", "host:localhost:8080\r\n", "Host: 1.2.3.4.5:99999\r\n", "Host: a..b-\r\n", "HOST: .\r\n",
		"Host: x:0\r\n", "Host: -:1\r\n", "Host: [::1]\r\n", "Host: x\r\nHost: x\r\n", "Host:\r\n", "Host: a b\r\n", "Host: a@b\r\n", "",
	}
	someFields = []string{
		"Authorization: Bearer $T\r\n", "Authorization: Bearer $T\r\n", "Authorization: Bearer $T\r\n", "authorization:bearer  $T  \r\n", "Authorization: Bearer wrong\r\n", "Authorization:\r\n",
		"Accept-Encoding: gzip\r\n", "Accept-Encoding: gzip\r\n", "ACCEPT-ENCODING: br, gzip;q=0.5\r\n", "Accept-Encoding: *;q=0\r\n", "If-None-Match: *\r\n", "If-None-Match: \"a\", W/\"b\"\r\n",
		"Origin: https://x\r\n", "Origin:\r\n", "Connection: keep-alive\r\n", "Connection: Keep-Alive\r\n", "Connection: close\r\n", "Connection: Close\r\n", "Connection: upgrade\r\n", "Connection:\r\n",
		"Connection: keep-alive\r\nConnection: close\r\n", "Proxy-Connection: close\r\n", "Keep-Alive: timeout=1\r\n", "Range: bytes=0-1\r\n", "If-Match: \"a\"\r\n", "User-Agent: x (y; z)\r\n",
		"Accept: */*\r\n", "Cookie: a=b; c\r\n", "Cookie: a=b\r\nCookie: c\r\n", "Content-Type: multipart/form-data; boundary=x\r\n", "Content-Encoding: gzip\r\n", "X-HTTP-Method-Override: POST\r\n",
		"Content-Length: 0\r\n", "Content-Length: 5\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: -1\r\n", "content-length:+5\r\n", "Content-Length : 5\r\n", "Content-Length\r\n",
		"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n", "transfer-encoding:\tchunked\r\n", "Transfer-Encoding: x\r\n", "Expect: 100-continue\r\n", "Expect: x\r\n",
		"Upgrade: h2c\r\n", "TE: trailers\r\n", "Trailer: X\r\n", "HTTP2-Settings: AA\r\n", "X: a\r\n folded\r\n", "X: a\r\n\tfolded\r\n", " X: a\r\n", "X: \x00\r\n", "X: \xff\r\n", "X: a\tb\r\n",
		"X\x00: a\r\n", "X\xff: a\r\n", ": a\r\n", "X: a\n", "X: a\rb\r\n", "X: a\r\r\n", "x!#$%&'*+-.^_`|~: a\r\n", "X(: a\r\n", "X Y: a\r\n", "X: " + strings.Repeat("y", 2100) + "\r\n",
	}
	someEnds = []string{"\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\nhello", "\r\n5\r\nhello\r\n0\r\n\r\n", "\n", "\r\n\r\n", "", "\r"}
)

func one(rnd *rand.Rand, of []string) string { return of[rnd.IntN(len(of))] }

// someStream makes a stream of requests, some of which are good.
func someStream(rnd *rand.Rand) string {
	good := one(rnd, someTargets[:10]) + someVersions[0] + "Host: x\r\nAuthorization: Bearer $T\r\nAccept-Encoding: gzip\r\n\r\n"
	var b strings.Builder
	for range 1 + rnd.IntN(5) {
		if rnd.IntN(2) == 0 {
			b.WriteString(one(rnd, someMethods[:7]) + " " + good)
			continue
		}
		b.WriteString(one(rnd, someMethods) + " " + one(rnd, someTargets) + one(rnd, someVersions) + one(rnd, someHosts))
		for range rnd.IntN(4) {
			b.WriteString(one(rnd, someFields))
		}
		b.WriteString(one(rnd, someEnds))
	}
	s := []byte(b.String())
	for range max(0, rnd.IntN(8)-4) {
		s = mutated(rnd, s)
	}
	return string(s)
}

// mutated changes, drops, adds or repeats bytes of s.
func mutated(rnd *rand.Rand, s []byte) []byte {
	at := rnd.IntN(len(s))
	switch odd := "\x00\t\n\r :/,;#?%@\x7f\x80\xffaZ0"; rnd.IntN(4) {
	case 0:
		s[at] = odd[rnd.IntN(len(odd))]
	case 1:
		s = slices.Delete(s, at, min(len(s), at+1+rnd.IntN(4)))
	case 2:
		s = slices.Insert(s, at, odd[rnd.IntN(len(odd))])
	default:
		s = slices.Insert(s, at, bytes.Clone(s[at:min(len(s), at+rnd.IntN(80))])...)
	}
	return append(s, ' ')[:max(1, len(s))]
}

// TestTwins: a stream of any bytes gets the same answers however it is cut, and a request the same one, and the same counts,
// from our server and from fasthttp.
func TestTwins(t *testing.T) {
	for name, secure := range map[string]bool{"TCP": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			w := newTwin(t, secure)
			rnd := rand.New(rand.NewPCG(6, 1))
			for range 50 * checks {
				w.check(t, someStream(rnd), rnd)
			}
			counts, want := counted(t, w.plain.meters), counted(t, w.handed.meters)
			if counts != want {
				t.Errorf("without fasthttp\n%s\nis counted, want as with it\n%s", counts, want)
			}
		})
	}
}

// counted returns what m has counted, but for times and what only plain requests have.
func counted(t *testing.T, m *meters) string {
	t.Helper()
	var w observe.Writer
	m.write(&w)
	var b strings.Builder
	if _, err := w.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		if !strings.Contains(line, "_cache_") && !strings.Contains(line, "_duration_") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// FuzzTwins is TestTwins for any bytes.
func FuzzTwins(f *testing.F) {
	rnd := rand.New(rand.NewPCG(6, 2))
	for range 50 {
		f.Add(someStream(rnd), rnd.Uint64())
	}
	w := newTwin(f, false)
	f.Fuzz(func(t *testing.T, stream string, seed uint64) {
		w.check(t, stream, rand.New(rand.NewPCG(seed, 0)))
	})
}
