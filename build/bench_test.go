package build

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// inflate returns the raw bytes of a segment.
func inflate(s release.Segment) ([]byte, error) {
	raw := make([]byte, s.RawLen)
	_, err := io.ReadFull(flate.NewReader(bytes.NewReader(s.Stored)), raw)
	return raw, err
}

// BenchmarkSample builds the sample, and compares the CPU time with compression alone of the same raw bytes at the
// same level.
func BenchmarkSample(b *testing.B) {
	c := config(b, buildtest.Catalog(b, buildtest.Sample(b, "movies")...))
	c.Jobs = 1
	first := run(b, c)
	raw := segmentsOf(b, openRelease(b, c, first))
	var built, compressed time.Duration
	for b.Loop() {
		c.Releases = b.TempDir()
		built += cpuTime(b, func() error {
			_, err := Run(b.Context(), c)
			return err
		})
		compressed += cpuTime(b, func() error { return compress(raw, c.Level) })
	}
	b.SetBytes(first.RawBytes)
	b.ReportMetric(float64(built)/float64(compressed), "x-compressing")
	b.ReportMetric(float64(first.RawBytes)/float64(first.StoredBytes), "x-smaller")
	b.ReportMetric(float64(first.Fragments), "fragments")
}

// segmentsOf returns the raw bytes of the segments of a release, each once.
func segmentsOf(tb testing.TB, r *release.Reader) [][]byte {
	tb.Helper()
	type place struct {
		pack int
		off  int64
	}
	seen := map[place]bool{}
	var all [][]byte
	err := r.Resources(tb.Context(), func(_ []byte, e release.Entry, _ release.Ref) error {
		for i := range e.Len() {
			var p release.Piece
			for c := e.Fragment(i).Pieces(); c.Next(&p); {
				at := place{p.Pack, p.Offset}
				if p.Op != release.OpSegment || seen[at] {
					continue
				}
				seen[at] = true
				raw, err := inflate(p.Segment)
				if err != nil {
					return err
				}
				all = append(all, raw)
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func compress(all [][]byte, level int) error {
	z, err := segment.New(level)
	if err != nil {
		return err
	}
	for _, raw := range all {
		z.Reset()
		if _, err := z.Segment(raw); err != nil {
			return err
		}
	}
	return nil
}

// cpuTime returns the CPU time that the process spends while fn runs.
func cpuTime(tb testing.TB, fn func() error) time.Duration {
	tb.Helper()
	before := CPUSeconds()
	if err := fn(); err != nil {
		tb.Fatal(err)
	}
	return time.Duration((CPUSeconds() - before) * float64(time.Second))
}
