package segment

import (
	"bytes"
	stdflate "compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"pgregory.net/rapid"
)

// inflate reads blocks as in a response, with nothing before them and an empty final block after them, with two
// readers that must agree.
func inflate(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, blocks []byte,
) []byte {
	t.Helper()
	read := func(name string, open func(io.Reader) io.ReadCloser) []byte {
		in := bytes.NewReader(append(bytes.Clone(blocks), 3, 0))
		out, err := io.ReadAll(open(in))
		if err != nil || in.Len() > 0 {
			t.Fatalf("%s: %v behind %d bytes, %d bytes are left", name, err, len(out), in.Len())
		}
		return out
	}
	a, b := read("compress/flate", stdflate.NewReader), read("klauspost", flate.NewReader)
	if !bytes.Equal(a, b) {
		t.Fatalf("compress/flate reads %d bytes, klauspost %d others", len(a), len(b))
	}
	return a
}

// An encoder writes blocks: a shortEncoder, or its baseline.
type encoder interface {
	append(dst, raw []byte) []byte
}

// noise returns bytes of a few values.
func noise(n, values int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), uint64(values)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(values))
	}
	return b
}

// rows returns JSON in the form of fragments.
func rows(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `{"adult":false,"id":%d,"name":"%x","popularity":%.3f,"profile_path":"/%x.jpg"},`,
			r.IntN(1e7), r.IntN(1e4), r.Float64()*100, r.Uint64())
	}
	return b.Bytes()[:n]
}

// details returns a fragment with prose in it, truncated.
func details(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 9))
	word := func() string {
		b := []byte{"tsmbpw"[r.IntN(6)]}
		for range 1 + r.IntN(3) {
			b = append(b, "aeiou"[r.IntN(5)], "nrtslmd"[r.IntN(7)])
		}
		return string(b)
	}
	known := make([]string, 300)
	for i := range known {
		known[i] = word()
	}
	b := fmt.Appendf(nil, `"adult":false,"backdrop_path":"/%x.jpg","budget":%d,"genres":[{"id":18,"name":"Drama"}],`+
		`"homepage":"","imdb_id":"tt%07d","original_language":"en","overview":"`, r.Uint64(), r.IntN(1e6), r.IntN(1e7))
	for len(b) < n {
		b = append(b, known[r.IntN(1+r.IntN(len(known)))]...)
		b = append(b, ' ')
	}
	return b[:n]
}

func shortTexts() map[string][]byte {
	return map[string][]byte{
		"empty":       nil,
		"one byte":    {'x'},
		"two bytes":   []byte("xy"),
		"short":       []byte(`"results":[]}`),
		"one symbol":  bytes.Repeat([]byte{'a'}, 1000),
		"longest":     bytes.Repeat([]byte{'a'}, 1+maxMatch),
		"rows":        rows(3000),
		"details":     details(700),
		"most":        rows(maxShort),
		"far":         append(append(rows(700), noise(maxShort-1400, 256)...), rows(700)...),
		"noise":       noise(maxShort, 256),
		"half noise":  append(rows(5000), noise(5000, 256)...),
		"few values":  noise(5000, 3),
		"all values":  append(noise(100, 256), bytes.Repeat([]byte("0123456789abcdef"), 1800)...),
		"most values": bytes.Repeat([]byte{'a'}, maxShort),
	}
}

// TestAppend reads each text between others, and alone by its raw length with nothing after it, as the edge does.
func TestAppend(t *testing.T) {
	list := shortTexts()
	for n := range 1000 {
		list[fmt.Sprint(n, " bytes of rows")] = rows(n)
	}
	used := &shortEncoder{}
	for name, raw := range list {
		blocks := used.append([]byte("before"), raw)
		if !bytes.HasPrefix(blocks, []byte("before")) {
			t.Fatalf("%s: append overwrites the bytes before: %.6q", name, blocks)
		}
		blocks = blocks[len("before"):]
		if got := inflate(t, blocks); !bytes.Equal(got, raw) {
			t.Fatalf("%s: append(%d bytes) inflates to %d others", name, len(raw), len(got))
		}
		for _, open := range []func(io.Reader) io.ReadCloser{stdflate.NewReader, flate.NewReader} {
			out := make([]byte, len(raw))
			if n, err := io.ReadFull(open(bytes.NewReader(blocks)), out); err != nil || !bytes.Equal(out, raw) {
				t.Errorf("%s alone: %d bytes, %v, want the %d", name, n, err, len(raw))
			}
		}
		if again := new(shortEncoder).append(nil, raw); !bytes.Equal(again, blocks) {
			t.Errorf("%s: a used encoder writes %d bytes, a fresh one %d", name, len(blocks), len(again))
		}
		if worst := len(raw) + 10; len(blocks) > worst {
			t.Errorf("%s: append(%d bytes) writes %d, want at most %d", name, len(raw), len(blocks), worst)
		}
	}
}

// like returns fragments of n bytes, half of them with prose, half with rows.
func like(n, each int) (list [][]byte) {
	for i := range each {
		list = append(list, details(n + i)[:n], rows(n + i)[:n])
	}
	return list
}

// size returns the encoded size of texts.
func size(e encoder, list [][]byte) (n int) {
	for _, raw := range list {
		n += len(e.append(nil, raw))
	}
	return n
}

// TestAsSmall: texts are at most as large as with klauspost/compress at level 6.
func TestAsSmall(t *testing.T) {
	for _, n := range []int{150, 300, 600, 1200, 3000, 10_000, maxShort} {
		list := like(n, 1+10_000/n)
		if got, other := size(&shortEncoder{}, list), size(newKlauspost(t), list); got > other {
			t.Errorf("texts of %d bytes take %d, want at most %d", n, got, other)
		}
	}
}

// TestAnyOrder: blocks of any texts may follow one another in any order, so they end on byte boundaries and refer to
// nothing before them.
func TestAnyOrder(t *testing.T) {
	e := &shortEncoder{}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.SampledFrom([]string{`{"id":`, `,"name":`, `null`, `"de-DE"`, "ä", strings.Repeat("=", 300), string(rows(400))}),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
		)
		text := rapid.Map(rapid.SliceOfN(word, 0, 60), func(w []string) []byte { return []byte(strings.Join(w, "")) })
		list := rapid.SliceOfN(text, 1, 5).Draw(t, "texts")
		order := rapid.SliceOfN(rapid.IntRange(0, len(list)-1), 1, 8).Draw(t, "order")
		var blocks, want []byte
		for _, i := range order {
			blocks, want = e.append(blocks, list[i]), append(want, list[i]...)
		}
		if got := inflate(t, blocks); !bytes.Equal(got, want) {
			t.Fatalf("inflates to %q, want %q", got, want)
		}
	})
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("abcabcabc"), []byte(""))
	f.Add([]byte{}, bytes.Repeat([]byte{0xff}, 20_000))
	f.Add(rows(5000), noise(300, 4))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		a, b = a[:min(len(a), maxShort)], b[:min(len(b), maxShort)]
		e, want := &shortEncoder{}, bytes.Join([][]byte{a, b, a}, nil)
		if got := inflate(t, e.append(e.append(e.append(nil, a), b), a)); !bytes.Equal(got, want) {
			t.Errorf("three texts inflate to %d bytes, want %d", len(got), len(want))
		}
	})
}

// BenchmarkAppend compares with klauspost/compress, over distinct texts: a processor's branch predictor would learn a
// single one.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{150, 300, 600, 1200, 3000, maxShort} {
		list := like(n, max(10, 200_000/n))
		b.Run(fmt.Sprintf("bytes=%d/ours", n), func(b *testing.B) { benchmark(b, &shortEncoder{}, list) })
		b.Run(fmt.Sprintf("bytes=%d/klauspost", n), func(b *testing.B) { benchmark(b, newKlauspost(b), list) })
	}
}

func benchmark(b *testing.B, e encoder, list [][]byte) {
	b.Helper()
	raw := 0
	for _, text := range list {
		raw += len(text)
	}
	b.SetBytes(int64(raw))
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		for _, text := range list {
			out = e.append(out[:0], text)
		}
	}
	b.ReportMetric(float64(size(e, list))/float64(len(list)), "stored-bytes")
}

// A klauspost is the baseline.
type klauspost struct {
	w   *flate.Writer
	out []byte
}

func newKlauspost(tb testing.TB) *klauspost {
	tb.Helper()
	k := &klauspost{}
	var err error
	if k.w, err = flate.NewWriter(k, 6); err != nil {
		tb.Fatal(err)
	}
	return k
}

func (k *klauspost) Write(p []byte) (int, error) {
	k.out = append(k.out, p...)
	return len(p), nil
}

// append writes to memory, which does not fail.
func (k *klauspost) append(dst, raw []byte) []byte {
	k.out = dst
	k.w.Reset(k)
	_, _ = k.w.Write(raw)
	_ = k.w.Flush()
	return k.out
}
