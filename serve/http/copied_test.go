package http

import (
	"bufio"
	"bytes"
	"fmt"
	"testing"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestCopiedBodies: over TLS, which copies bodies, those that go out whole and those that go out in parts are the
// same as elsewhere, also once they are prepared.
func TestCopiedBodies(t *testing.T) {
	sizes := []int{writeBuffer / 2, writeBuffer, edge.MaxWhole - 1000, edge.MaxWhole, edge.MaxWhole + 1000, 3 * edge.MaxWhole}
	var movies []servetest.Resource
	for i, n := range sizes {
		movies = append(movies, longMovie(uint64(i+1), n, 3))
	}
	s := wired(t, writtenWorld(t, nil, movies...))
	for i := range sizes {
		target := fmt.Sprintf("/3/movie/%d", i+1)
		for _, coding := range []string{"gzip", "identity"} {
			rq := s.request(target)
			rq.Gzip = coding == "gzip"
			want := s.do(t, rq)
			c := s.secure.dial(t)
			r := bufio.NewReader(c)
			for n := range 4 {
				rs, body, err := roundTrip(c, r, s.token, "GET", target, "Accept-Encoding: "+coding)
				if err != nil || rs.StatusCode != 200 || !bytes.Equal(body, want.body) {
					t.Fatalf("%s, %s, response %d = %v, %d bytes, %v, want 200, %d bytes", target, coding, n, rs, len(body), err, len(want.body))
				}
			}
		}
	}
}
