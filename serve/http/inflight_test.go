package http

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/servetest"
	"github.com/reelsplice/reelsplice/serve/status"
)

// longText returns JSON that is long and does not compress much.
func longText(n int) string {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `,"m%d":%d`, b.Len(), rnd.Uint64())
	}
	return b.String()
}

// longMovie is a movie with about that many bytes of JSON, in one segment and many short ones.
func longMovie(id uint64, bytes, short int) servetest.Resource {
	pieces := []any{fmt.Sprintf(`{"id":%d`, id) + longText(bytes)}
	for i := range short {
		pieces = append(pieces, fmt.Sprintf(`,"s%d":"%s"`, i, strings.Repeat("x", 80)))
	}
	return servetest.Numbered(fragment.KindMovie, id, servetest.Of(fragment.SubDetails, pieces...))
}

// slowWorld has movies with long bodies: 1 mostly in one segment, 2 mostly in short ones.
func slowWorld(tb testing.TB, bytes, most int) *world {
	tb.Helper()
	return writtenWorld(tb, func(c *config) { c.MaxInflight = most }, longMovie(1, bytes, 10), longMovie(2, 1000, 3000), longMovie(3, 1000, 0))
}

// bothWays are lines of header fields with which a request is served by us, and by fasthttp.
var bothWays = map[string]string{"plain": "X-Plain: 1", "fasthttp": "Content-Length: 1"}

// connected connects to a server.
func connected(tb testing.TB, s *Server) (net.Conn, *bufio.Reader) {
	tb.Helper()
	c := s.dial(tb)
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	return c, bufio.NewReaderSize(c, 512)
}

// TestLongBodies: a body that is made while it is sent is the one that is made whole, several
// times on a connection, and HEAD tells its length.
func TestLongBodies(t *testing.T) {
	w := slowWorld(t, 1<<20, 64<<20)
	s := w.start(t)
	for name, line := range bothWays {
		for _, target := range []string{"/3/movie/1", "/3/movie/2", "/3/movie?ids=1,2,3"} {
			for _, coding := range []string{"gzip", "identity"} {
				rq := w.request(target)
				rq.Gzip = coding == "gzip"
				want := w.do(t, rq)
				if len(want.plain) <= edge.MaxWhole {
					t.Fatalf("%s has %d bytes, want more than %d", target, len(want.plain), edge.MaxWhole)
				}
				c, r := connected(t, s)
				for i := range 3 {
					rs, body, err := roundTrip(c, r, w.token, "GET", target, "Accept-Encoding: "+coding, line)
					if err != nil || rs.StatusCode != 200 || !bytes.Equal(body, want.body) {
						t.Fatalf("%s, %s, %s: answer %d = %v, %d bytes, %v, want 200, %d bytes", name, target, coding, i, rs, len(body), err, len(want.body))
					}
					if rs.Close {
						c, r = connected(t, s)
					}
				}
				rs, _, err := roundTrip(c, r, w.token, "HEAD", target, "Accept-Encoding: "+coding, line)
				if err != nil || rs.ContentLength != int64(len(want.body)) {
					t.Errorf("%s: HEAD %s, %s = %v, %v, want %d bytes", name, target, coding, rs, err, len(want.body))
				}
			}
		}
	}
	sharedtest.Eventually(t, "nothing is held when all is sent", func() bool { return heldBy(w) == 0 })
}

// TestSlowReaders: clients that do not read what they asked for cost no more memory than
// responses may hold in all, and the others get 503. REELSPLICE_SLOW_READERS=100 makes as many
// of them ask for 22 MB, and prints the memory of the process.
func TestSlowReaders(t *testing.T) {
	readers, size, most := 10, 4<<20, 1<<20
	if n, err := strconv.Atoi(os.Getenv("REELSPLICE_SLOW_READERS")); err == nil {
		readers, size, most = n, 22<<20, edge.DefaultOptions().MaxInflight
	}
	const slack = 12 << 20 // buffers of connections, stacks and the rest
	w := slowWorld(t, size, most)
	s := w.start(t)
	for _, target := range []string{"/3/movie/1", "/3/movie/2", "/3/movie?ids=1,2,3"} {
		for _, coding := range []string{"gzip", "identity"} {
			for name, line := range bothWays {
				t.Run(fmt.Sprint(name, target, coding), func(t *testing.T) {
					before := heap()
					served, busy := 0, 0
					for range readers {
						c, r := connected(t, s)
						fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nAccept-Encoding: %s\r\n%s\r\n\r\n", target, w.token, coding, line)
						_ = c.(*net.TCPConn).SetReadBuffer(4 << 10) // so that little of it leaves the server
						line, err := r.ReadString('\n')
						switch {
						case err == nil && strings.HasPrefix(line, "HTTP/1.1 200 "):
							served++
						case err == nil && strings.HasPrefix(line, "HTTP/1.1 503 "):
							busy++
						default:
							t.Fatalf("answer = %q, %v, want 200 or 503", line, err)
						}
					}
					grown, held := heap()-before, heldBy(w)
					t.Logf("%d slow readers: heap grown by %d KiB, %d KiB counted, %d served, %d refused; process %s",
						readers, grown>>10, held>>10, served, busy, residentSet())
					if grown > int64(most+slack) || held > int64(most) {
						t.Errorf("heap grew by %d bytes, %d counted, want at most %d", grown, held, most)
					}
					if served == 0 {
						t.Error("no client was served")
					}
				})
				sharedtest.Eventually(t, "nothing is held when the clients are gone", func() bool { return heldBy(w) == 0 })
			}
		}
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// residentSet returns what the system says of the memory of the process, "" if it does not.
func residentSet() string {
	data, _ := os.ReadFile("/proc/self/status")
	return strings.TrimSpace(servetest.Cut(string(data), "VmRSS:", "\n"))
}

// TestNoMemoryLeft: what does not fit gets 503, from the first byte on, and is counted.
func TestNoMemoryLeft(t *testing.T) {
	w := slowWorld(t, 1<<20, 1<<20)
	body := string(status.Offline.Body())
	s := w.start(t)
	for name, line := range bothWays {
		taken := w.cfg.MaxInflight - 1000
		// A response of the other way may still be held: its handler ends after the client has read it.
		sharedtest.Eventually(t, "there is room", func() bool { return w.edge.Charge(taken) })
		_, before := w.edge.Inflight()
		for _, coding := range []string{"gzip", "identity"} {
			c, r := connected(t, s)
			rs, got, err := roundTrip(c, r, w.token, "GET", "/3/movie/1", "Accept-Encoding: "+coding, line)
			if err != nil || rs.StatusCode != http.StatusServiceUnavailable || string(got) != body {
				t.Fatalf("%s, %s: %v %.200s, %v, want 503 %s", name, coding, rs, got, err, body)
			}
			headers(t, name, rs.Header, map[string]string{"Retry-After": "1", "Cache-Control": servetest.NotKept, "Content-Encoding": ""})
		}
		if _, n := w.edge.Inflight(); n-before != 2 {
			t.Errorf("%s: %d refused responses are counted, want 2", name, n-before)
		}
		w.edge.Charge(-taken)
		c, r := connected(t, s)
		if rs, _, err := roundTrip(c, r, w.token, "GET", "/3/movie/3", line); err != nil || rs.StatusCode != 200 {
			t.Errorf("%s: with memory again %v, %v, want 200", name, rs, err)
		}
	}
	sharedtest.Eventually(t, "nothing is held", func() bool { return heldBy(w) == 0 })
}

// TestPreparedCopies: what a prepared response copies of short segments counts as memory of a response under way.
func TestPreparedCopies(t *testing.T) {
	const most, segments, length = 1 << 20, 10, 800
	pieces := []any{`{"id":1`}
	for i := range segments {
		pieces = append(pieces, longText(length+i))
	}
	w := writtenWorld(t, func(c *config) { c.MaxInflight = most }, servetest.Numbered(fragment.KindMovie, 1, servetest.Of(fragment.SubDetails, pieces...)))
	s := wired(t, w)
	const uri = "/3/movie/1"
	s.prepare(t, uri)
	others := most - segments*length/4
	// The response above may still be held: its handler ends after the client has read it.
	sharedtest.Eventually(t, "there is room for others", func() bool { return w.edge.Charge(others) })
	rs, _ := s.asker(t).ask(t, "GET", uri)
	if rs.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without memory for the copies: %d, want 503", rs.StatusCode)
	}
	w.edge.Charge(-others)
	rs, _ = s.asker(t).ask(t, "GET", uri)
	if rs.StatusCode != http.StatusOK {
		t.Errorf("with memory: %d, want 200", rs.StatusCode)
	}
	sharedtest.Eventually(t, "nothing is held when all is sent", func() bool { return heldBy(w) == 0 })
}

// TestBatchBytes: a batch is bounded by its bytes, in what it answers and in what it is made with.
func TestBatchBytes(t *testing.T) {
	var movies []servetest.Resource
	for id := range uint64(40) {
		long := fmt.Sprintf(`{"id":%d,"title":"%s"`, id+1, strings.Repeat("x", 1<<20))
		movies = append(movies, servetest.Numbered(fragment.KindMovie, id+1, servetest.Of(fragment.SubDetails, long)))
	}
	for id := range uint64(40) {
		movies = append(movies, longMovie(id+101, 100, 300))
	}
	w := writtenWorld(t, func(c *config) { c.MaxInflight = 1 << 20 }, movies...)
	ids := func(from int) string {
		b := strconv.AppendInt(nil, int64(from), 10)
		for i := 1; i < 40; i++ {
			b = strconv.AppendInt(append(b, ','), int64(from+i), 10)
		}
		return "/3/movie?ids=" + string(b)
	}
	if a := w.get(t, ids(1)); a.Status != status.InvalidParams.HTTP() || a.plain != string(status.InvalidParams.Body()) {
		t.Errorf("batch of 40 MB = %d %.100s, want %d", a.Status, a.plain, status.InvalidParams.HTTP())
	}
	if a := w.get(t, ids(101)); a.Status != status.Offline.HTTP() {
		t.Errorf("batch of 12,000 pieces in little memory = %d %.100s, want 503", a.Status, a.plain)
	}
	if n := heldBy(w); n != 0 {
		t.Errorf("%d bytes are held after the answers, want 0", n)
	}
}
