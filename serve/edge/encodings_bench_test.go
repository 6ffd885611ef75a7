package edge

import (
	"bytes"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/splice"
)

// An encoding compresses one body or one piece of it, as a whole.
type encoding struct {
	name   string
	encode func(raw []byte) int // returns the length
}

// encodings are those that clients send. Levels of zstd are those of the library that come closest: its best
// one takes the place of level 19.
func encodings(tb testing.TB) []encoding {
	tb.Helper()
	type writer interface {
		io.WriteCloser
		Reset(w io.Writer)
	}
	written := func(w writer) func(raw []byte) int {
		var b bytes.Buffer
		return func(raw []byte) int {
			b.Reset()
			w.Reset(&b)
			_, _ = w.Write(raw) // a Buffer takes all
			_ = w.Close()
			return b.Len()
		}
	}
	gz, err := gzip.NewWriterLevel(nil, 6)
	if err != nil {
		tb.Fatal(err)
	}
	zstdAt := func(level zstd.EncoderLevel) func(raw []byte) int {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
		if err != nil {
			tb.Fatal(err)
		}
		return func(raw []byte) int { return len(z.EncodeAll(raw, nil)) }
	}
	return []encoding{
		{"gzip-6", written(gz)},
		{"zstd-3", zstdAt(zstd.SpeedDefault)},
		{"zstd-best", zstdAt(zstd.SpeedBestCompression)},
		{"brotli-5", written(brotli.NewWriterLevel(nil, 5))},
		{"brotli-11", written(brotli.NewWriterLevel(nil, 11))},
	}
}

// BenchmarkEncodings measures what zstd and brotli would save over the spliced gzip body. Decision 43 has the
// figures.
//
// whole-bytes is the body compressed per request, which takes ns/op. apart-bytes is the body of pieces that a
// release would store in that encoding, too: what splicing would send.
func BenchmarkEncodings(b *testing.B) {
	w := sampleWorld(b, nil)
	for _, c := range []struct{ name, uri string }{
		{"detail", "/3/movie/11"},
		{"five", "/3/movie/11?append_to_response=credits,videos,images,keywords,release_dates"},
		{"page", "/3/discover/movie"},
	} {
		whole := w.get(b, c.uri)
		var pieces [][]byte // of the body, in order
		rs := w.edge.Begin(w.request(c.uri))
		rs.x.c.answer.Parts(func(literal []byte, s *release.Segment) {
			if s == nil {
				pieces = append(pieces, bytes.Clone(literal))
				return
			}
			raw, err := new(splice.Answer).AppendInflated(nil, s)
			if err != nil {
				b.Fatal(err)
			}
			pieces = append(pieces, raw)
		})
		rs.End()
		for _, e := range encodings(b) {
			b.Run(c.name+"/"+e.name, func(b *testing.B) {
				n, apart := 0, 0
				for b.Loop() {
					n = e.encode([]byte(whole.plain))
				}
				for _, p := range pieces {
					apart += min(e.encode(p), len(p)+3) // a short piece stays as it is
				}
				b.ReportMetric(float64(len(whole.plain)), "raw-bytes")
				b.ReportMetric(float64(len(whole.sent)), "sent-bytes")
				b.ReportMetric(float64(n), "whole-bytes")
				b.ReportMetric(float64(apart), "apart-bytes")
			})
		}
		b.Run(c.name+"/served", func(b *testing.B) {
			rq := w.request(c.uri)
			for b.Loop() {
				rs := w.edge.Begin(rq)
				_ = rs.WriteBody(io.Discard) // which fails nobody
				rs.End()
			}
		})
	}
}

// BenchmarkStoredTwice measures segments of a release in each encoding, each apart: what a release would store
// beside its deflate blocks. One segment of 20 stands for all.
func BenchmarkStoredTwice(b *testing.B) {
	w := sampleWorld(b, nil)
	h := w.releases.Acquire()
	defer h.Release()
	seen := map[release.Hash]bool{}
	var raws [][]byte
	gz, raw := 0, 0
	err := h.Reader().Resources(b.Context(), func(_ []byte, e release.Entry, _ release.Ref) error {
		for i := range e.Len() {
			var p release.Piece
			for pieces := e.Fragment(i).Pieces(); pieces.Next(&p); {
				if p.Op != release.OpSegment || seen[p.Segment.Hash] {
					continue
				}
				if seen[p.Segment.Hash] = true; len(seen)%20 != 0 {
					continue
				}
				text, err := new(splice.Answer).AppendInflated(nil, &p.Segment)
				if err != nil {
					return err
				}
				raws = append(raws, text)
				gz, raw = gz+len(p.Segment.Stored), raw+len(text)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range encodings(b) {
		b.Run(e.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = 0
				for _, text := range raws {
					n += e.encode(text)
				}
			}
			b.ReportMetric(float64(len(raws)), "segments")
			b.ReportMetric(float64(raw), "raw-bytes")
			b.ReportMetric(float64(gz), "deflate-bytes")
			b.ReportMetric(float64(n), "stored-bytes")
		})
	}
}
