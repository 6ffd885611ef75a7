//go:build !race

package http

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/reelsplice/reelsplice/serve/edge"
)

// BenchmarkFastPath sends requests one after another over a connection of TCP to this machine:
// the whole way of a request, with the client's and the kernel's part. For comparison, the
// same without the fast path, and by a constantServer.
func BenchmarkFastPath(b *testing.B) {
	w := sampleWorld(b, nil)
	all := hotRequests(b, w)
	for _, name := range []string{"details", "append 5", "identity", "filtered", "304", "401"} {
		for way, change := range map[string]func(fastConfig) fastConfig{"": withFastPath, "/fasthttp": withoutFastPath} {
			b.Run(name+way, func(b *testing.B) {
				ln := listenFast(listenTCP(b), change(w.fastConfig(newMeters(), newPreparedSet())))
				benchmarkTCP(b, all[name], newFastHTTP(&w.cfg.Limits, w.edge, newMeters()), ln)
			})
		}
		b.Run(name+"/constant", func(b *testing.B) { benchmarkTCP(b, all[name], constantServer(w, all[name]), listenTCP(b)) })
	}
}

// BenchmarkMeter notes prepared responses for connections on all CPUs at once: all that metrics cost the fast path.
func BenchmarkMeter(b *testing.B) {
	all, now := newMeters(), time.Now()
	b.RunParallel(func(pb *testing.PB) {
		m := all.of(uint64(all.opened.Add(1)))
		for pb.Next() {
			m.add(edge.RouteDetail, 200, 1000, inGzip|wasPrepared)
			m.timed(edge.RouteDetail, now)
		}
	})
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

func benchmarkTCP(b *testing.B, rq *edge.Request, s *fasthttp.Server, ln net.Listener) {
	b.Helper()
	done := make(chan error, 1)
	go func() { done <- s.Serve(ln) }()
	defer func() {
		_ = ln.Close()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	raw := wireOf(rq)
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
