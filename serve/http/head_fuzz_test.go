package http

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// FuzzParse holds the parser to two others. What it accepts, fasthttp reads in the form of
// appendNormalized, without a body. Where net/http sees a body, the parser does. The result does
// not depend on how the bytes come.
func FuzzParse(f *testing.F) {
	for _, head := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"\r\nHEAD http://a:1/b?c=http://d HTTP/1.0\r\nAuthorization: Bearer t\r\nConnection: keep-alive\r\n\r\n",
		"POST ///a://b HTTP/1.2\r\nHost: [::1]:1\r\nContent-Length: 5\r\nExpect: 100-continue\r\nCookie: a=b; c\r\n\r\nhello",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\nTrailer: Host\r\nUpgrade: h2c\r\nConnection: a, close\r\n\r\n0\r\n\r\n",
		"GET /\xe4%zz HTTP/1.1\r\nhost: a_b.%41\r\nA:\t\xff \r\nAccept-Encoding: a\r\naccept-encoding: b\r\nContent-Type: multipart/form-data\r\n\r\n",
		"GET http://a?b HTTP/1.9\r\nHost: x\r\nTE: a\r\n\r\n", "GET /a HTTP/1.0\r\nConnection: a, Keep-Alive\r\n\r\n", "GET /a HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n", "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
	} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4096 {
			return
		}
		var p parser
		n, status := p.parse(b)
		for i := range b {
			var of parser
			got, early := of.parse(b[:i])
			switch {
			case got == 0 && early == 0, early != 0 && early == status:
			case early == 0 && got == n && i >= n:
			default:
				t.Fatalf("parse(%q) = %d, %d, of its first %d bytes %d, %d", b, n, status, i, got, early)
			}
		}
		if n == 0 {
			return
		}
		checkFastHTTP(t, &p, b[:n])
		checkNetHTTP(t, &p, b[:n])
	})
}

// checkFastHTTP reads a valid head as fasthttp gets it.
func checkFastHTTP(t *testing.T, p *parser, head []byte) {
	t.Helper()
	sent := p.appendNormalized(nil)
	if len(sent) > 2*max(len(head), 1<<10) { // the least --max-header
		t.Fatalf("appendNormalized of %q has %d bytes", head, len(sent))
	}
	in := bufio.NewReaderSize(bytes.NewReader(sent), len(sent)+1)
	var rq fasthttp.Request
	if err := rq.Read(in); err != nil || in.Buffered() > 0 {
		t.Fatalf("fasthttp reads %q, made of %q: %v, %d bytes left", sent, head, err, in.Buffered())
	}
	h := &rq.Header
	if h.ContentLength() > 0 || len(rq.Body()) > 0 || rq.MayContinue() || !h.ConnectionClose() {
		t.Fatalf("fasthttp reads %q as with a body, or as last %v", sent, h.ConnectionClose())
	}
	if string(h.Method()) != string(p.rq.method) || !bytes.HasSuffix(p.rq.target, h.RequestURI()) {
		t.Fatalf("fasthttp reads %s %q in %q, want %s %q", h.Method(), h.RequestURI(), sent, p.rq.method, p.rq.target)
	}
	for i := fieldAuthorization; i < nFields; i++ {
		if got, want := h.Peek(fieldNames[i]), p.rq.fields[i]; string(got) != string(want) {
			t.Fatalf("fasthttp reads %s %q in %q, want %q", fieldNames[i], got, sent, want)
		}
	}
}

// checkNetHTTP compares what a valid head says of its body.
func checkNetHTTP(t *testing.T, p *parser, head []byte) {
	t.Helper()
	rq, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head[emptyLines(head):])))
	if err != nil {
		return // most errors are in the target
	}
	if hasBody := rq.ContentLength != 0 || len(rq.TransferEncoding) > 0; hasBody != (p.framing.hasCoding || p.framing.hasBody) {
		t.Fatalf("%q: net/http says of a body: %v", head, hasBody)
	}
	if rq.Close && !p.rq.last && !strings.Contains(rq.Proto, "1.0") {
		t.Fatalf("%q is not the last, net/http says it is", head)
	}
}
