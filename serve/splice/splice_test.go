package splice

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// AppendGzip appends the body as one gzip member.
func (a *Answer) AppendGzip(dst []byte) []byte {
	a.GzipPieces(func(b []byte, _ bool) { dst = append(dst, b...) })
	return dst
}

// part is a piece of an answer in a test: a segment, or a literal.
type part struct {
	raw     string
	literal bool
}

func lit(s string) part { return part{s, true} }
func seg(s string) part { return part{s, false} }

func joined(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.raw)
	}
	return b.String()
}

// fill puts parts into a, compressed at level.
func fill(tb testing.TB, a *Answer, level int, parts ...part) {
	tb.Helper()
	z, err := segment.New(level)
	if err != nil {
		tb.Fatal(err)
	}
	for _, p := range parts {
		if p.literal {
			Literal(a, p.raw)
			continue
		}
		s, err := z.Segment([]byte(p.raw))
		if err != nil {
			tb.Fatal(err)
		}
		a.Segment(&s)
	}
}

// packer packs all of the tests' answers, one after the other.
var packer Packer

// check compares every form of the answer with the joined parts.
func check(tb testing.TB, a *Answer, want string) {
	tb.Helper()
	gz := a.AppendGzip([]byte("before"))
	if !bytes.HasPrefix(gz, []byte("before")) {
		tb.Fatal("AppendGzip overwrites what was there")
	}
	gz = gz[len("before"):]
	if got := servetest.OneMember(tb, gz); got != want {
		tb.Errorf("gunzip(AppendGzip) = %.200q, want %.200q", got, want)
	}
	if len(gz) != a.GzipLen() {
		tb.Errorf("GzipLen() = %d, AppendGzip appends %d", a.GzipLen(), len(gz))
	}
	plain, err := a.AppendIdentity([]byte("before"))
	if err != nil {
		tb.Fatalf("AppendIdentity: %v", err)
	}
	if string(plain) != "before"+want {
		tb.Errorf("AppendIdentity = %.200q, want %.200q", plain, "before"+want)
	}
	var identity, zipped bytes.Buffer
	if err := errors.Join(a.WriteIdentity(&identity), a.WriteGzip(&zipped)); err != nil {
		tb.Fatalf("WriteIdentity, WriteGzip: %v", err)
	}
	if identity.String() != want || !bytes.Equal(zipped.Bytes(), gz) {
		tb.Errorf("WriteIdentity = %.200q, WriteGzip = %d bytes, want %.200q, %d bytes", identity.String(), zipped.Len(), want, len(gz))
	}
	if a.RawLen() != len(want) {
		tb.Errorf("RawLen() = %d, want %d", a.RawLen(), len(want))
	}
	packed, err := packer.AppendGzip([]byte("before"), a)
	if err != nil || servetest.OneMember(tb, bytes.TrimPrefix(packed, []byte("before"))) != want {
		tb.Errorf("Packer.AppendGzip = %d bytes, %v, want %.200q", len(packed), err, want)
	}
	var parts strings.Builder
	a.Parts(func(raw []byte, s *release.Segment) {
		if s != nil {
			if raw, err = a.AppendInflated(nil, s); err != nil {
				tb.Errorf("AppendInflated: %v", err)
			}
		}
		parts.Write(raw)
	})
	if parts.String() != want {
		tb.Errorf("Parts = %.200q, want %.200q", parts.String(), want)
	}
}

func TestAnswer(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 9000) // more than two stored blocks
	f := func(parts ...part) {
		t.Helper()
		var a Answer
		for range 2 { // the second time over what the first one left
			fill(t, &a, segment.DefaultLevel, parts...)
			check(t, &a, joined(parts))
			a.Reset()
		}
	}
	f()
	f(lit(""))
	f(seg(""))
	f(seg(""), lit("a"), seg(""), lit("b"))
	f(lit("{}"))
	f(seg(`{"id":550`), lit("}"))
	f(seg(`{"id":550`), lit(`,"`), lit("videos"), lit(`":{`), seg(`"results":[]}`), lit("}"))
	f(lit("{"), lit(`"id":550,`), seg(`"results":[]}`))
	f(seg(long), seg(long), seg("x"))
	f(lit(long))
	f(lit("a"), lit(long), lit("b"), seg("c"), lit(long[:maxStored]), lit("d"))
	f(lit(long[:maxStored-1]), lit("ab"), lit("c"))
}

func TestLiteralsMerge(t *testing.T) {
	f := func(want int, parts ...part) {
		t.Helper()
		var a Answer
		fill(t, &a, segment.DefaultLevel, parts...)
		got := 0
		a.Parts(func([]byte, *release.Segment) { got++ })
		if got != want {
			t.Errorf("Parts calls fn %d times, want %d", got, want)
		}
	}
	f(1, lit("a"), lit("b"), lit("c"))
	f(3, lit("a"), lit("b"), seg("s"), lit("c"), lit("d"))
	f(1, lit("a"), seg(""), lit("b"))
	f(2, lit(strings.Repeat("x", maxStored)), lit("y"))
	f(1, lit(strings.Repeat("x", maxStored-1)), lit("y"))
}

func TestETag(t *testing.T) {
	tag := func(level int, parts ...part) string {
		t.Helper()
		var a Answer
		fill(t, &a, level, parts...)
		b := a.AppendETag([]byte("x"))
		if len(b) != 1+ETagLen || !bytes.HasPrefix(b, []byte(`xW/"`)) || b[len(b)-1] != '"' {
			t.Fatalf("AppendETag = %s, want W/ and 32 hex digits in quotes after x", b)
		}
		if hex := b[4 : len(b)-1]; len(bytes.Trim(hex, "0123456789abcdef")) != 0 {
			t.Fatalf("AppendETag = %s, want lower-case hex digits", b)
		}
		return string(b[1:])
	}
	base := []part{seg(`{"id":550,"title":"Fight Club"`), lit(`,"videos":{`), seg(`"results":[]}`), lit("}")}
	want := tag(6, base...)
	for level := 1; level <= 9; level++ {
		if got := tag(level, base...); got != want {
			t.Errorf("AppendETag at level %d = %s, want %s", level, got, want)
		}
	}
	seen := map[string]int{want: -1}
	for i, parts := range [][]part{
		{},
		{seg(`{"id":551,"title":"Fight Club"`), base[1], base[2], base[3]},
		{base[0], lit(`,"images":{`), base[2], base[3]},
		{base[0], base[1], seg(`"results":[{}]}`), base[3]},
		{base[0], base[1], base[2]},
		{base[2], base[1], base[0], base[3]},
		{lit("ab")},
		{seg("ab")},
		{lit(strings.Repeat("a", 256))},
		{lit(strings.Repeat("a", 512))},
	} {
		got := tag(6, parts...)
		if j, ok := seen[got]; ok {
			t.Errorf("AppendETag of answers %d and %d = %s, want different ones", j, i, got)
		}
		seen[got] = i
	}
}

func TestCorruptSegment(t *testing.T) {
	z, err := segment.New(6)
	if err != nil {
		t.Fatal(err)
	}
	good, err := z.Segment([]byte(strings.Repeat("reel", 100)))
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, change func(s *release.Segment)) {
		t.Helper()
		s := good
		s.Stored = bytes.Clone(good.Stored)
		change(&s)
		var a Answer
		a.Segment(&s)
		if _, err := a.AppendIdentity(nil); !errors.Is(err, release.ErrCorrupt) {
			t.Errorf("%s: AppendIdentity = %v, want release.ErrCorrupt", name, err)
		}
		var out bytes.Buffer
		if err := a.WriteIdentity(&out); !errors.Is(err, release.ErrCorrupt) || out.Len() >= int(s.RawLen) {
			t.Errorf("%s: WriteIdentity = %v after %d bytes, want release.ErrCorrupt before the last of %d", name, err, out.Len(), s.RawLen)
		}
		// The Answer stays usable.
		a.Reset()
		a.Segment(&good)
		check(t, &a, strings.Repeat("reel", 100))
	}
	f("cut", func(s *release.Segment) { s.Stored = s.Stored[:len(s.Stored)/2] })
	f("empty", func(s *release.Segment) { s.Stored = nil })
	f("another CRC", func(s *release.Segment) { s.CRC++ })
	f("too long", func(s *release.Segment) { s.RawLen++ })
	f("too short", func(s *release.Segment) { s.RawLen-- })
	f("far too long", func(s *release.Segment) { s.RawLen = 1<<32 - 1 })
	f("no deflate", func(s *release.Segment) {
		for i := range s.Stored {
			s.Stored[i] = 0xff
		}
	})
}

func TestResetLetsGo(t *testing.T) {
	var a Answer
	fill(t, &a, 6, seg("segment"), lit("literal"))
	a.Reset()
	for i, c := range a.chunks[:cap(a.chunks)] {
		if c.seg.Stored != nil {
			t.Errorf("chunk %d holds a segment after Reset", i)
		}
	}
}

// FuzzAnswer cuts data into parts and checks that every form of the answer is the
// parts joined.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"id":550,"title":"Fight Club"},"videos":{"results":[]}}`), uint64(0x0f), uint8(6))
	f.Add([]byte{}, uint64(0), uint8(1))
	f.Add(bytes.Repeat([]byte("abc"), 50000), uint64(0xaaaaaaaa), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, cuts uint64, level uint8) {
		var a Answer
		var parts []part
		for rest := data; ; cuts >>= 4 {
			n := len(rest)
			if cuts>>4 != 0 {
				n = min(n, n*int(cuts>>1&7)/7)
			}
			parts = append(parts, part{string(rest[:n]), cuts&1 == 0})
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
		}
		fill(t, &a, 1+int(level%9), parts...)
		check(t, &a, string(data))
	})
}

// FuzzAppendInflated checks that a damaged segment is an error and no more.
func FuzzAppendInflated(f *testing.F) {
	f.Add([]byte{0x4a, 0x04, 0, 0, 0, 0xff, 0xff}, uint32(1), uint32(0))
	f.Fuzz(func(t *testing.T, stored []byte, rawLen, crc uint32) {
		var a Answer
		s := release.Segment{Stored: stored, RawLen: rawLen % (1 << 20), CRC: crc}
		out, err := a.AppendInflated([]byte("x"), &s)
		if err != nil && !errors.Is(err, release.ErrCorrupt) || len(out) == 0 || out[0] != 'x' {
			t.Errorf("AppendInflated = %d bytes, %v, want release.ErrCorrupt or none", len(out), err)
		}
		if err == nil {
			z := flate.NewReader(bytes.NewReader(stored))
			want := make([]byte, s.RawLen)
			if _, err := io.ReadFull(z, want); err != nil || !bytes.Equal(out[1:], want) {
				t.Errorf("AppendInflated = %q, want %q, %v", out[1:], want, err)
			}
		}
	})
}
