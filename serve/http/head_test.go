package http

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	f := func(head string, want verdict) {
		t.Helper()
		var p parser
		var rq plainRequest
		n, v := p.parse([]byte(head+"GET"), &rq)
		if v != want || v == plain && n != len(head) {
			t.Errorf("parse(%q) = %d, %d, want %d bytes, %d", head, n, v, len(head), want)
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
		"GET /a HTTP/1.0", "GET /a HTTP/1.2", "GET /\xe4 HTTP/1.1", "!#$%&'*+-.^_`|~ / HTTP/1.1",
	} {
		f(line+"\r\nHost: x\r\n\r\n", notEligible)
	}
	for _, fields := range []string{
		"Connection: close\r\n", "Connection: a, CLOSE ,b\r\n", "Connection: keep-alive\r\nConnection: close\r\n", "Content-Length: 5\r\n",
		"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, , Chunked\r\n", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
		"If-None-Match: a\r\nIf-None-Match: b\r\n", "Accept-Encoding: a\r\nAccept-Encoding: b\r\n", "Content-Length: 99999999999999999999\r\n",
	} {
		f("GET /a HTTP/1.1\r\nHost: x\r\n"+fields+"\r\n", notEligible)
	}

	// Invalid heads are in rules. Some are invalid as soon as it shows.
	for _, start := range []string{"\x16\x03\x01", "GET /\x00", "GET / HTTP/1.1\rH", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\r", "\n"} {
		var p parser
		if _, v := p.parse([]byte(start), new(plainRequest)); v != invalid || p.status != http.StatusBadRequest {
			t.Errorf("parse(%q) = %d, %d, want invalid, 400", start, v, p.status)
		}
	}
}

// TestParseFields reads several requests with one parser, as those of a connection.
func TestParseFields(t *testing.T) {
	var p parser
	f := func(fields string, want map[int]string) {
		t.Helper()
		head := []byte("GET /a?b HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n")
		got := plainRequest{isHead: true, fields: [nFields][]byte{fieldOrigin: []byte("left over")}}
		if n, v := p.parse(append(bytes.Clone(head), "GET /c HTTP/1.1\r\n"...), &got); v != plain || n != len(head) {
			t.Fatalf("parse(%q) = %d, %d, want %d bytes, plain", head, n, v, len(head))
		}
		for i, value := range got.fields {
			if string(value) != want[i] {
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
			var rq plainRequest
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, v := p.parse(heads[i%2], &rq); v != plain {
					b.Fatal(v)
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
