package http

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func TestParse(t *testing.T) {
	sharedtest.Cases(t, "testdata/heads.txt", func(head string) string {
		var p parser
		n, status := p.parse([]byte(head + "GET"))
		var fate string
		switch {
		case status == http.StatusBadRequest && n == 0:
			fate = "invalid"
		case status != 0 || n != 0 && n != len(head):
			fate = fmt.Sprintf("%d, %d bytes of %d", status, n, len(head))
		case n == 0:
			fate = "partial"
		case p.rq.plain:
			fate = "plain"
		default:
			fate = "handed over"
		}
		if n > 0 && p.rq.last {
			fate += ", last"
		}
		return fate
	})
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

func TestEqual(t *testing.T) {
	for _, length := range []int{0, 1, 7, 8, 9, 200} {
		a := bytes.Repeat([]byte("x"), length)
		if !equalConstantTime(a, bytes.Clone(a)) {
			t.Errorf("equal of %d equal bytes = false", length)
		}
		for i := range a {
			b := bytes.Clone(a)
			b[i] = 'y'
			if equalConstantTime(a, b) {
				t.Errorf("equal of %d bytes, byte %d of which differs, = true", length, i)
			}
		}
	}
}
