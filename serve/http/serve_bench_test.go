//go:build !race

package http

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/reelsplice/reelsplice/serve/edge"
)

// BenchmarkServer sends requests one after another over a connection of TCP to this machine: the whole way of a request, with
// the client's and the kernel's part. For comparison, a constantServer.
func BenchmarkServer(b *testing.B) {
	w := sampleWorld(b, nil)
	all := hotRequests(b, w)
	for _, name := range []string{"details", "append 5", "identity", "filtered", "304", "401"} {
		b.Run(name, func(b *testing.B) { benchmarkTCP(b, all[name], w.start(b).addr()) })
		b.Run(name+"/constant", func(b *testing.B) {
			ln, s := listenTCP(b), constantServer(w, all[name])
			done := make(chan error, 1)
			go func() { done <- s.Serve(ln) }()
			benchmarkTCP(b, all[name], ln.Addr())
			_ = ln.Close()
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
	}
}

// constantServer answers with what the Edge answers to rq, without looking at the request.
func constantServer(w *world, rq *edge.Request) *fasthttp.Server {
	var constant fasthttp.Response
	var ctx fasthttp.RequestCtx
	setResponse(&ctx.Response, &body{rs: w.edge.Begin(rq), meters: newMeters(), meter: new(meter)})
	_ = ctx.Response.Body() // makes a body of the stream
	ctx.Response.CopyTo(&constant)
	s, body := newFastHTTP(&w.cfg.Limits, w.edge, newMeters()), constant.Body()
	s.Handler = func(ctx *fasthttp.RequestCtx) {
		constant.Header.CopyTo(&ctx.Response.Header)
		ctx.Response.SetBodyRaw(body)
	}
	return s
}

func benchmarkTCP(b *testing.B, rq *edge.Request, addr net.Addr) {
	b.Helper()
	conn, err := net.Dial("tcp", addr.String())
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
