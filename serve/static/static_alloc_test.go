//go:build !race

package static

import "testing"

func TestAnswerAllocs(t *testing.T) {
	s := newSet(t, "")
	for _, uri := range []string{
		"/3/configuration",
		"/3/genre/movie/list?language=de-DE",
		"/3/genre/tv/list?language=zz",
		"/3/watch/providers/movie?watch_region=US",
	} {
		q := request(t, uri)
		if n := testing.AllocsPerRun(1000, func() { s.Response(q.Op, q) }); n != 0 {
			t.Errorf("Answer(%s) allocates %v times a call, want 0", uri, n)
		}
	}
}
