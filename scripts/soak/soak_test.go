//go:build linux

package main

import (
	"net/http"
	"testing"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestCompare checks that a response with one difference is wrong, and that no other one is.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	id := servetest.Build(t, dir, 6, servetest.Movie550)
	const path = "/3/movie/550"
	c := checker{folder: dir}
	h, err := c.release(id)
	if err != nil {
		t.Fatal(err)
	}
	in, err := edge.Inspect(h.reader, path)
	if err != nil {
		t.Fatal(err)
	}
	broken := append([]byte{}, in.Body...)
	broken[len(broken)-2] ^= 1
	for name, c := range map[string]struct {
		status                   int
		method, etag, id, target string
		body                     []byte
		known                    string
		wrong                    int
	}{
		"right":             {200, "GET", in.ETag, id, path, in.Body, "", 0},
		"HEAD":              {200, "HEAD", in.ETag, id, path, nil, "", 0},
		"unchanged":         {304, "GET", in.ETag, id, path, nil, in.ETag, 0},
		"a wrong byte":      {200, "GET", in.ETag, id, path, broken, "", 1},
		"a wrong tag":       {200, "GET", `W/"0"`, id, path, in.Body, "", 1},
		"a wrong status":    {404, "GET", in.ETag, id, path, in.Body, "", 1},
		"a wrong release":   {200, "GET", in.ETag, "r0000000000000000", path, in.Body, "", 1},
		"another resource":  {200, "GET", in.ETag, id, "/3/movie/551", in.Body, "", 1},
		"unchanged for all": {304, "GET", in.ETag, id, path, nil, "", 1},
		"304 for another":   {304, "GET", in.ETag, id, path, nil, `W/"0"`, 1},
		"304 with a body":   {304, "GET", in.ETag, id, path, in.Body, in.ETag, 1},
	} {
		s := soak{checker: checker{folder: dir}}
		rs := &http.Response{StatusCode: c.status, Header: http.Header{"Etag": {c.etag}, "X-Reelsplice-Release": {c.id}}, Request: &http.Request{Method: c.method}}
		s.compare(name, c.target, c.known, rs, c.body)
		if s.figures.wrongs != c.wrong {
			t.Errorf("%s: %d wrong responses, want %d", name, s.figures.wrongs, c.wrong)
		}
	}
}
