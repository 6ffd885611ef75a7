package http

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// Fates of the bytes that a client has sent.
const (
	partial = "partial"
	plain   = "plain"
	handOff = "handed over"
	invalid = "invalid"
)

func fate(p *parser, n, status int) string {
	switch {
	case status != 0:
		return invalid
	case n == 0:
		return partial
	case p.rq.plain:
		return plain
	}
	return handOff
}

func TestParse(t *testing.T) {
	f := func(head string, want string) {
		t.Helper()
		var p parser
		n, status := p.parse([]byte(head + "GET"))
		if got := fate(&p, n, status); got != want || n > 0 && n != len(head) {
			t.Errorf("parse(%q) = %d, %d, %s, want %d bytes, %s", head, n, status, got, len(head), want)
		}
	}
	f("GET / HTTP/1.1\r\nHost: x\r\n\r\n", plain)
	f("HEAD /3/movie/550?a=b%20c#d HTTP/1.1\r\nhOST:localhost:8080\r\nX-Y:\r\n\r\n", plain)
	f("GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Keep-Alive\r\nCookie: a=b\r\nUser-Agent: w (x; y)\r\n\r\n", plain)
	f("GET /a HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nAccept: b\r\n\r\n", plain)

	f("GET /a?b=http://c HTTP/1.1\r\nHost: x\r\n\r\n", plain)
	f("\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n", plain)
	for _, fields := range []string{
		"Host:\r\n", "Host: [::1]\r\n", "Host: [::1]:80\r\n", "Host: a:\r\n", "Host: a_b.%41!\r\n", "Host: x\r\nConnection: keep-alive, upgrade\r\n",
		"Host: x\r\nContent-Length: 0\r\n", "Host: x\r\nExpect: 100-continue\r\n", "Host: x\r\nUpgrade: h2c\r\n", "Host: x\r\nTE: trailers\r\n",
		"Host: x\r\nTrailer: x\r\n", "Host: x\r\nA: b\tc\r\n", "Host: x\r\nA: \xff\r\n", "Host:\t x\t \r\n",
	} {
		f("GET /a HTTP/1.1\r\n"+fields+"\r\n", plain)
	}

	f("", partial)
	f("\r\n", partial)
	f("HEAD /a HTTP/1.1\r\nHost: x\r\nAccept", partial)
	f("GET /aaaa", partial)

	for _, line := range []string{
		"POST /a HTTP/1.1", "get /a HTTP/1.1", "OPTIONS * HTTP/1.1", "GET http://x/a HTTP/1.1", "GET HTTPS://x HTTP/1.1", "GET http://[::1]:1?a HTTP/1.1",
		"GET /a HTTP/1.2", "GET /\xe4 HTTP/1.1", "!#$%&'*+-.^_`|~ / HTTP/1.1",
	} {
		f(line+"\r\nHost: x\r\n\r\n", plain)
	}
	f("GET /a HTTP/1.0\r\nHost: x\r\n\r\n", handOff)
	f("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", handOff)
	for _, fields := range []string{
		"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, , Chunked\r\n", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
		"Content-Length: 99999999999999999999\r\n",
	} {
		f("GET /a HTTP/1.1\r\nHost: x\r\n"+fields+"\r\n", handOff)
	}
	for fields, last := range map[string]bool{
		"Connection: close\r\n": true, "Connection: a, CLOSE ,b\r\n": true, "Connection: keep-alive\r\nConnection: close\r\n": true, "Connection: closed\r\n": false,
	} {
		var p parser
		if n, _ := p.parse([]byte("GET /a HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n")); n == 0 || p.rq.last != last {
			t.Errorf("%q: the last request: %v, want %v", fields, p.rq.last, last)
		}
	}

	// Invalid heads are in rules. Some are invalid as soon as it shows.
	for _, start := range []string{"\x16\x03\x01", "GET /\x00", "GET / HTTP/1.1\rH", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\r", "\n"} {
		var p parser
		if n, status := p.parse([]byte(start)); n != 0 || status != http.StatusBadRequest {
			t.Errorf("parse(%q) = %d, %d, want 400", start, n, status)
		}
	}
}

// TestParseFields reads several requests with one parser, as a connection does.
func TestParseFields(t *testing.T) {
	var p parser
	f := func(fields string, want map[int]string) {
		t.Helper()
		head := []byte("GET /a?b HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n")
		if n, status := p.parse(append(bytes.Clone(head), "GET /c HTTP/1.1\r\n"...)); n != len(head) {
			t.Fatalf("parse(%q) = %d, %d, want %d bytes", head, n, status, len(head))
		}
		got := &p.rq
		for i, value := range got.fields {
			if i != fieldHost && string(value) != want[i] {
				t.Errorf("parse(%q): field %d = %q, want %q", head, i, value, want[i])
			}
		}
		if string(got.target) != "/a?b" || got.isHead {
			t.Errorf("parse(%q): %q, Head %v, want false", head, got.target, got.isHead)
		}
	}
	for range 2 { // the second time by the fast path
		f("authorization:Bearer t\r\nAccept-Encoding:  gzip  \r\nUser-Agent: app/1\r\nTraceparent: 00-1\r\n",
			map[int]string{fieldAuthorization: "Bearer t", fieldAcceptEncoding: "gzip", fieldUserAgent: "app/1", fieldTraceparent: "00-1"})
	}
	f("Authorization: Bearer u\r\n", map[int]string{fieldAuthorization: "Bearer u"})
	f("Authorization: Bearer v\r\n", map[int]string{fieldAuthorization: "Bearer v"})
	f("", map[int]string{})
	f("If-None-Match: \"a\", \"b\"\r\nORIGIN: https://x\r\n", map[int]string{fieldIfNoneMatch: `"a", "b"`, fieldOrigin: "https://x"})
	// Lists in several lines.
	f("If-None-Match: \"a\"\r\nA: b\r\nif-none-match: \"b\" , c\r\nIf-None-Match:\r\nTraceparent: 1\r\nTraceparent: 2\r\nAccept-Encoding: br\r\naccept-encoding:\tgzip\r\nUser-Agent: x\r\nUser-Agent: y\r\n",
		map[int]string{fieldIfNoneMatch: `"a","b" , c,`, fieldAcceptEncoding: "br,gzip", fieldUserAgent: "x"})
	f("If-None-Match: \"a\", \"b\"\r\nORIGIN: https://x\r\n", map[int]string{fieldIfNoneMatch: `"a", "b"`, fieldOrigin: "https://x"})
	// Fields that start as those before do.
	f("If-None-Match: \"a\", \"b\"\r\nORIGIN: https://x\r\nA: b\r\n", map[int]string{fieldIfNoneMatch: `"a", "b"`, fieldOrigin: "https://x"})
}

func TestPrintable(t *testing.T) {
	for _, length := range []int{1, 7, 8, 9, 16, 23} {
		for at := range length {
			for c := range 256 {
				b := bytes.Repeat([]byte{'~'}, length)
				b[at] = byte(c)
				for _, least := range []byte{' ', '!'} {
					if got, want := printable(b, least), byte(c) >= least && c <= '~'; got != want {
						t.Fatalf("printable(%q, %q) = %v, want %v", b, least, got, want)
					}
				}
			}
		}
	}
}

// BenchmarkParse reads the heads of one connection, with fields that change or stay.
func BenchmarkParse(b *testing.B) {
	const fields = "Host: api.example.org\r\nUser-Agent: client/1.0\r\nAccept: application/json\r\nAccept-Encoding: gzip\r\nConnection: keep-alive\r\nAuthorization: Bearer 0123456789012345678901234567890123456789\r\n"
	for name, n := range map[string]int{"same": 1, "changing": 2} {
		b.Run(name, func(b *testing.B) {
			var heads [2][]byte
			for i := range heads {
				heads[i] = []byte("GET /3/movie/550?append_to_response=credits,images HTTP/1.1\r\n" + fields + "X: " + strings.Repeat("y", 1+i%n) + "\r\n\r\n")
			}
			var p parser
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if n, status := p.parse(heads[i%2]); n == 0 {
					b.Fatal(status)
				}
			}
		})
	}
}

func TestEqual(t *testing.T) {
	for _, length := range []int{0, 1, 7, 8, 9, 200} {
		a := []byte(strings.Repeat("x", length))
		if !equal(a, bytes.Clone(a)) {
			t.Errorf("equal of %d equal bytes = false", length)
		}
		for i := range a {
			b := bytes.Clone(a)
			b[i] = 'y'
			if equal(a, b) {
				t.Errorf("equal of %d bytes, byte %d of which differs, = true", length, i)
			}
		}
	}
}
