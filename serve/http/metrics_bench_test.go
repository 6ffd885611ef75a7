package http

import (
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/serve/edge"
)

// BenchmarkMeter notes a prepared response: all that metrics cost the fast path.
func BenchmarkMeter(b *testing.B) {
	m, now := newMeters().next(), time.Now()
	b.ReportAllocs()
	for b.Loop() {
		m.add(edge.RouteDetail, 200, 1000, inGzip|wasPrepared)
		m.timed(edge.RouteDetail, now)
	}
}

// BenchmarkMeterParallel is BenchmarkMeter for connections on all CPUs at once.
func BenchmarkMeterParallel(b *testing.B) {
	all, now := newMeters(), time.Now()
	b.RunParallel(func(pb *testing.PB) {
		m := all.next()
		for pb.Next() {
			m.add(edge.RouteDetail, 200, 1000, inGzip|wasPrepared)
			m.timed(edge.RouteDetail, now)
		}
	})
}
