package static

import "testing"

func BenchmarkAnswer(b *testing.B) {
	s := newSet(b, "")
	q := request(b, "/3/watch/providers/movie?watch_region=US")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if body, ok := s.Response(q.Op, q); !ok || len(body.Gzip) == 0 {
				b.Error("no answer, want one")
			}
		}
	})
}

// BenchmarkNew leaves out what package reference parses once in a process.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newSet(b, "")
	}
}
