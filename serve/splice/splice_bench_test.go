package splice

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// preparedPart is a part as the edge gets it from a release.
type preparedPart struct {
	name string
	seg  release.Segment
}

// prepare fills parts with segments like those of a popular movie: some 20 KB of
// JSON each, compressed at the level of a build.
func prepare(tb testing.TB, parts []preparedPart) {
	tb.Helper()
	z, err := segment.New(segment.DefaultLevel)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range parts {
		var b strings.Builder
		for k := range 80 {
			fmt.Fprintf(&b, `{"adult":false,"gender":%d,"id":%d,"known_for_department":"Acting","name":"Name %d","order":%d},`,
				k%4, (i*7919+k)*104729%1000003, k*31%977, k)
		}
		s, err := z.Segment([]byte(b.String()))
		if err != nil {
			tb.Fatal(err)
		}
		parts[i] = preparedPart{fmt.Sprintf("part_%d", i), s}
	}
}

// compose does what the edge does for details with appended objects.
func compose(a *Answer, parts []preparedPart) {
	a.Reset()
	a.Segment(&parts[0].seg)
	for i := range parts[1:] {
		Literal(a, `,"`)
		Literal(a, parts[1+i].name)
		Literal(a, `":{`)
		a.Segment(&parts[1+i].seg)
	}
	Literal(a, "}")
}

func benchmark(b *testing.B, write func(a *Answer, dst []byte) []byte) {
	b.Helper()
	for _, n := range []int{1, 6} {
		b.Run(fmt.Sprintf("parts=%d", n), func(b *testing.B) {
			parts := make([]preparedPart, n)
			prepare(b, parts)
			var a Answer
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				compose(&a, parts)
				dst = write(&a, dst[:0])
			}
			b.SetBytes(int64(len(dst)))
			b.ReportMetric(float64(a.RawLen()), "raw-bytes")
		})
	}
}

func BenchmarkAppendGzip(b *testing.B) { benchmark(b, (*Answer).AppendGzip) }

func BenchmarkAppendETag(b *testing.B) { benchmark(b, (*Answer).AppendETag) }

func BenchmarkAppendIdentity(b *testing.B) {
	benchmark(b, func(a *Answer, dst []byte) []byte {
		dst, err := a.AppendIdentity(dst)
		if err != nil {
			b.Fatal(err)
		}
		return dst
	})
}

// BenchmarkBaseline compresses the same answer anew, as a server without segments
// has to.
func BenchmarkBaseline(b *testing.B) {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, segment.DefaultLevel)
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, func(a *Answer, dst []byte) []byte {
		dst, err := a.AppendIdentity(dst)
		if err != nil {
			b.Fatal(err)
		}
		buf.Reset()
		z.Reset(&buf)
		if _, err := z.Write(dst); err != nil {
			b.Fatal(err)
		}
		if err := z.Close(); err != nil {
			b.Fatal(err)
		}
		return append(dst[:0], buf.Bytes()...)
	})
}
