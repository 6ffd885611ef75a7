package http

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// benchRequests are the requests whose speed counts.
func benchRequests(w *world) []struct {
	name string
	rq   *edge.Request
} {
	const five = "/3/movie/550?append_to_response=credits,images,videos,keywords,release_dates"
	seen := w.request("/3/movie/550")
	w.serve(seen, func(rs *edge.Response) { seen.IfNoneMatch = bytes.Clone(rs.ETag) })
	stranger := w.request("/3/movie/550")
	stranger.Authorization = []byte("Bearer rsp_unknown")
	identity := w.request(five)
	identity.AcceptEncoding = nil
	return []struct {
		name string
		rq   *edge.Request
	}{
		{"details", w.request("/3/movie/550")},
		{"append5", w.request(five)},
		{"append5-identity", identity},
		{"images-filtered", w.request("/3/movie/550/images?include_image_language=en,null")},
		{"304", seen},
		{"401", stranger},
	}
}

// benchWorld serves the sample.
func benchWorld(b *testing.B) *world {
	b.Helper()
	return newWorld(b, nil, buildtest.Sample(b, "movies")...)
}

func BenchmarkServe(b *testing.B) {
	w := benchWorld(b)
	for _, c := range benchRequests(w) {
		b.Run(c.name, func(b *testing.B) {
			n := 0
			done := func(rs *edge.Response) { n = rs.Len() }
			b.ReportAllocs()
			for b.Loop() {
				w.serve(c.rq, done)
			}
			b.SetBytes(int64(n))
		})
	}
}

// BenchmarkServeParallel answers on all CPUs at once.
func BenchmarkServeParallel(b *testing.B) {
	w := benchWorld(b)
	for _, c := range benchRequests(w)[:2] {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					w.serve(c.rq, func(*edge.Response) {})
				}
			})
		})
	}
}

// BenchmarkHandle is BenchmarkServe with fasthttp's request and response, without a
// connection.
func BenchmarkHandle(b *testing.B) {
	w := benchWorld(b)
	m := newMeters()
	for _, c := range benchRequests(w) {
		b.Run(c.name, func(b *testing.B) {
			var ctx fasthttp.RequestCtx
			ctx.Request.Header.SetMethodBytes(c.rq.Method)
			ctx.Request.SetRequestURI(string(c.rq.Path) + "?" + string(c.rq.Query))
			ctx.Request.Header.SetBytesV(fasthttp.HeaderAuthorization, c.rq.Authorization)
			ctx.Request.Header.SetBytesV(fasthttp.HeaderAcceptEncoding, c.rq.AcceptEncoding)
			if len(c.rq.IfNoneMatch) > 0 {
				ctx.Request.Header.SetBytesV(fasthttp.HeaderIfNoneMatch, c.rq.IfNoneMatch)
			}
			b.ReportAllocs()
			for b.Loop() {
				ctx.Response.Reset()
				handle(&ctx, w.edge, m)
			}
		})
	}
}

// BenchmarkConnection sends requests one after another over an in-memory connection:
// everything that a request costs fasthttp but the kernel's part. The constant answers with
// the same body and headers without looking at the request.
func BenchmarkConnection(b *testing.B) {
	w := benchWorld(b)
	for _, c := range benchRequests(w) {
		b.Run(c.name, func(b *testing.B) {
			benchmarkInMemory(b, c.rq, newFastHTTP(&w.cfg.Limits, w.edge, newMeters()))
		})
		b.Run(c.name+"/constant", func(b *testing.B) { benchmarkInMemory(b, c.rq, constantServer(w, c.rq)) })
	}
}

// BenchmarkFastPath sends requests one after another over a connection of TCP to this machine:
// the whole way of a request, with the client's and the kernel's part. For comparison, the
// same without the fast path, and the constant of BenchmarkConnection.
func BenchmarkFastPath(b *testing.B) {
	w := benchWorld(b)
	for _, c := range benchRequests(w) {
		b.Run(c.name, func(b *testing.B) {
			ln := listenFast(listenTCP(b), w.fastConfig(newMeters(), newPreparedSet()))
			benchmarkTCP(b, c.rq, newFastHTTP(&w.cfg.Limits, w.edge, newMeters()), ln)
		})
		b.Run(c.name+"/fasthttp", func(b *testing.B) {
			ln := listenFast(listenTCP(b), withoutFastPath(w.fastConfig(newMeters(), newPreparedSet())))
			benchmarkTCP(b, c.rq, newFastHTTP(&w.cfg.Limits, w.edge, newMeters()), ln)
		})
		b.Run(c.name+"/constant", func(b *testing.B) { benchmarkTCP(b, c.rq, constantServer(w, c.rq), listenTCP(b)) })
	}
}

// constantServer answers with what the Edge answers to rq, without looking at the request.
func constantServer(w *world, rq *edge.Request) *fasthttp.Server {
	var constant fasthttp.Response
	var ctx fasthttp.RequestCtx
	setResponse(&ctx.Response, &body{rs: w.edge.Begin(rq)}, sameOrigin)
	_ = ctx.Response.Body() // makes a body of the stream
	ctx.Response.CopyTo(&constant)
	s, body := newFastHTTP(&w.cfg.Limits, w.edge, newMeters()), constant.Body()
	s.Handler = func(ctx *fasthttp.RequestCtx) {
		constant.Header.CopyTo(&ctx.Response.Header)
		ctx.Response.SetBodyRaw(body)
	}
	return s
}

func benchmarkInMemory(b *testing.B, rq *edge.Request, s *fasthttp.Server) {
	b.Helper()
	ln := fasthttputil.NewInmemoryListener()
	benchmarkConnection(b, rq, s, ln, ln.Dial)
}

func benchmarkTCP(b *testing.B, rq *edge.Request, s *fasthttp.Server, ln net.Listener) {
	b.Helper()
	benchmarkConnection(b, rq, s, ln, func() (net.Conn, error) { return net.Dial("tcp", ln.Addr().String()) })
}

func benchmarkConnection(b *testing.B, rq *edge.Request, s *fasthttp.Server, ln net.Listener, dial func() (net.Conn, error)) {
	b.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Serve(ln) }()
	defer func() {
		_ = ln.Close()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}()
	conn, err := dial()
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	raw := fmt.Appendf(nil, "GET %s?%s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nAccept-Encoding: %s\r\nIf-None-Match: %s\r\n\r\n",
		rq.Path, rq.Query, rq.Authorization, rq.AcceptEncoding, rq.IfNoneMatch)
	r := bufio.NewReaderSize(conn, 64<<10)
	// The first answer tells how long all of them are: only the date may change.
	if _, err := conn.Write(raw); err != nil {
		b.Fatal(err)
	}
	size := answerLen(b, r)
	buf := make([]byte, size)
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for b.Loop() {
		if _, err := conn.Write(raw); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(r, buf); err != nil {
			b.Fatal(err)
		}
	}
	if !bytes.HasPrefix(buf, []byte("HTTP/1.1 ")) {
		b.Errorf("last answer starts with %q", buf[:20])
	}
}

// answerLen reads one answer and returns its length.
func answerLen(tb testing.TB, r *bufio.Reader) int {
	tb.Helper()
	var seen bytes.Buffer
	tee := bufio.NewReaderSize(io.TeeReader(r, &seen), 1)
	rs, err := http.ReadResponse(tee, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, rs.Body); err != nil {
		tb.Fatal(err)
	}
	return seen.Len() - tee.Buffered()
}

// BenchmarkRecorded answers with five appended objects of a recorded movie, which is
// as large as popular movies are.
func BenchmarkRecorded(b *testing.B) {
	data := servetest.ReadFile(b, sharedtest.Path(b, "recorded", "movie", "details-append--krelinga-550-append5.json"))
	w := newWorld(b, nil, data)
	const five = "/3/movie/550?append_to_response=credits,images,keywords,release_dates,videos"
	identity := w.request(five)
	identity.AcceptEncoding = nil
	for name, rq := range map[string]*edge.Request{
		"gzip": w.request(five), "identity": identity,
		"filtered": w.request("/3/movie/550/images?include_image_language=en,null"),
	} {
		b.Run(name, func(b *testing.B) {
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				w.serve(rq, func(rs *edge.Response) { n = rs.Len() })
			}
			b.SetBytes(int64(n))
		})
	}
}

// BenchmarkIncludes answers a filmography, each row of which is looked up.
func BenchmarkIncludes(b *testing.B) {
	for _, n := range []int{1, 20, 200} {
		credits := []any{`"cast":[`}
		resources := make([]servetest.Resource, 0, n+1)
		for i := range n {
			id := uint64(i + 1)
			resources = append(resources, servetest.Numbered(fragment.KindMovie, id, servetest.Of(fragment.SubRow, fmt.Sprintf(`"id":%d,"title":"Title %d"`, id, id))))
			credits = append(credits, `{`, servetest.RowOf(fragment.KindMovie, id, fragment.SubRow), fmt.Sprintf(`,"order":%d},`, i))
		}
		credits = append(credits, `{}],"crew":[]`, servetest.IDEnd)
		resources = append(resources, servetest.Numbered(fragment.KindPerson, 287, servetest.Of(fragment.SubMovieCredits, credits...)))
		w := writtenWorld(b, nil, resources...)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			rq, length := w.request("/3/person/287/movie_credits"), 0
			b.ReportAllocs()
			for b.Loop() {
				w.serve(rq, func(rs *edge.Response) { length = rs.Len() })
			}
			b.SetBytes(int64(length))
		})
	}
}

// BenchmarkFiltered answers the titles of a country, from a literal and from a segment.
func BenchmarkFiltered(b *testing.B) {
	const titles = `"titles":[{"iso_3166_1":"FR","n":1},{"iso_3166_1":"DE","n":2}]}`
	for _, c := range []struct {
		name string
		text any
	}{{"literal", servetest.Literal(titles)}, {"segment", titles}} {
		w := writtenWorld(b, nil, servetest.Numbered(fragment.KindMovie, 1, servetest.Of(fragment.SubAlternativeTitles, servetest.IDMark, c.text)))
		b.Run(c.name, func(b *testing.B) {
			rq, status := w.request("/3/movie/1/alternative_titles?country=de"), 0
			b.ReportAllocs()
			for b.Loop() {
				w.serve(rq, func(rs *edge.Response) { status = rs.Status })
			}
			if status != 200 {
				b.Fatalf("status = %d, want 200", status)
			}
		})
	}
}
