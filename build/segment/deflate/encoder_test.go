package deflate

import (
	"bytes"
	stdflate "compress/flate"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"pgregory.net/rapid"
)

// inflate reads blocks as an answer holds them, with nothing before them and an empty
// final block behind, by two readers that must agree.
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

// An encoder writes blocks.
type encoder interface {
	Append(dst, raw []byte) []byte
}

var (
	_ encoder = (*Encoder)(nil)
	_ encoder = (*Quick)(nil)
)

// encoders make all that there are, by name.
func encoders() map[string]func() encoder {
	all := map[string]func() encoder{"slow": func() encoder { return &Encoder{} }}
	for level := 1; level <= 9; level++ {
		all[fmt.Sprint("level ", level)] = func() encoder { return quick(level) }
	}
	return all
}

// quick returns a Quick of a level that there is.
func quick(level int) *Quick {
	q, err := NewQuick(level)
	if err != nil {
		panic(err)
	}
	return q
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

// rows returns JSON as fragments have it.
func rows(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `{"adult":false,"id":%d,"name":"%x","popularity":%.3f,"profile_path":"/%x.jpg"},`,
			r.IntN(1e7), r.IntN(1e4), r.Float64()*100, r.Uint64())
	}
	return b.Bytes()[:n]
}

// details returns a fragment with prose in it, cut off.
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

func texts() map[string][]byte {
	return map[string][]byte{
		"empty":        nil,
		"one byte":     {'x'},
		"two bytes":    []byte("xy"),
		"short":        []byte(`"results":[]}`),
		"one symbol":   bytes.Repeat([]byte{'a'}, 1000),
		"longest":      bytes.Repeat([]byte{'a'}, 1+maxMatch),
		"rows":         rows(3000),
		"details":      details(700),
		"many rows":    rows(200_000),
		"window":       append(append(rows(maxDistance-500), noise(500, 256)...), rows(maxDistance-500)...),
		"beyond it":    append(append(rows(maxDistance), noise(maxDistance, 256)...), rows(maxDistance)...),
		"chunk":        rows(maxChunk),
		"chunk, a bit": rows(maxChunk + 1),
		"noise":        noise(150_000, 256),
		"half noise":   append(rows(5000), noise(5000, 256)...),
		"few values":   noise(5000, 3),
		"all values":   append(noise(100, 256), bytes.Repeat([]byte("0123456789abcdef"), 40_000)...),
	}
}

func TestAppend(t *testing.T) {
	for by, fresh := range encoders() {
		used := fresh()
		for name, raw := range texts() {
			t.Run(by+"/"+name, func(t *testing.T) {
				if testing.Short() && by == "slow" && len(raw) > 100_000 {
					t.Skip("long: run without -short")
				}
				blocks := used.Append([]byte("before"), raw)
				if !bytes.HasPrefix(blocks, []byte("before")) {
					t.Fatalf("Append overwrites what was there: %.6q", blocks)
				}
				blocks = blocks[len("before"):]
				if got := inflate(t, blocks); !bytes.Equal(got, raw) {
					t.Fatalf("Append(%d bytes) inflates to %d others", len(raw), len(got))
				}
				if again := fresh().Append(nil, raw); !bytes.Equal(again, blocks) {
					t.Errorf("a used encoder writes %d bytes, a fresh one %d", len(blocks), len(again))
				}
				if worst := len(raw) + 5*(1+len(raw)/maxBlock) + 5; len(blocks) > worst {
					t.Errorf("Append(%d bytes) writes %d, want at most %d", len(raw), len(blocks), worst)
				}
			})
		}
	}
}

// like returns fragments of n bytes, so many with prose and as many of rows.
func like(n, each int) (list [][]byte) {
	for i := range each {
		list = append(list, details(n + i)[:n], rows(n + i)[:n])
	}
	return list
}

// size returns how many bytes texts take.
func size(e encoder, list [][]byte) (n int) {
	for _, raw := range list {
		n += len(e.Append(nil, raw))
	}
	return n
}

// TestSmaller holds the slow encoder to what it is for.
func TestSmaller(t *testing.T) {
	for _, n := range []int{150, 500, 3000, 30_000, 200_000} {
		list := like(n, 1)
		if got, nine := size(&Encoder{}, list), size(newKlauspost(t, 9), list); got >= nine {
			t.Errorf("%d bytes take %d, want fewer than the %d of level 9", n, got, nine)
		}
	}
}

// TestAsSmall: a level of the quick encoder takes no more than that of klauspost/compress.
func TestAsSmall(t *testing.T) {
	for _, n := range []int{150, 300, 600, 1200, 3000, 10_000, 30_000, 100_000} {
		list := like(n, 1+10_000/n)
		for level := 1; level <= 9; level++ {
			q := quick(level)
			if n > q.Most() {
				continue
			}
			if got, other := size(q, list), size(newKlauspost(t, level), list); got > other {
				t.Errorf("level %d: texts of %d bytes take %d, want at most %d", level, n, got, other)
			}
		}
	}
}

func TestNewQuickRefuses(t *testing.T) {
	for _, level := range []int{-1, 0, 10} {
		if _, err := NewQuick(level); err == nil || !strings.Contains(err.Error(), fmt.Sprint(level, ": want 1 to 9")) {
			t.Errorf("NewQuick(%d) = %v, want an error that names it and what there is", level, err)
		}
	}
}

// TestAlone: the edge reads single segments, with nothing behind them, by the length of
// what they say.
func TestAlone(t *testing.T) {
	list := texts()
	most := 1000
	if testing.Short() { // nothing runs side by side here
		maps.DeleteFunc(list, func(_ string, raw []byte) bool { return len(raw) > 100_000 })
		most = 100
	}
	for n := range most {
		list[fmt.Sprint(n, " bytes of rows")] = rows(n)
	}
	for by, fresh := range encoders() {
		e := fresh()
		for name, raw := range list {
			blocks := e.Append(nil, raw)
			out := make([]byte, len(raw))
			if n, err := io.ReadFull(stdflate.NewReader(bytes.NewReader(blocks)), out); err != nil || !bytes.Equal(out, raw) {
				t.Errorf("%s, %s: compress/flate reads %d bytes, %v, want the %d", by, name, n, err, len(raw))
			}
			clear(out)
			if n, err := io.ReadFull(flate.NewReader(bytes.NewReader(blocks)), out); err != nil || !bytes.Equal(out, raw) {
				t.Errorf("%s, %s: klauspost reads %d bytes, %v, want the %d", by, name, n, err, len(raw))
			}
		}
	}
}

// TestAnyOrder: blocks of any texts follow one another in any order, so they end on byte
// boundaries and refer to nothing before them.
func TestAnyOrder(t *testing.T) {
	all := encoders()
	used := map[string]encoder{}
	for by, fresh := range all {
		used[by] = fresh()
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.SampledFrom([]string{`{"id":`, `,"name":`, `null`, `"de-DE"`, "ä", strings.Repeat("=", 300), string(rows(400))}),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
		)
		text := rapid.Map(rapid.SliceOfN(word, 0, 60), func(w []string) []byte { return []byte(strings.Join(w, "")) })
		list := rapid.SliceOfN(text, 1, 5).Draw(t, "texts")
		order := rapid.SliceOfN(rapid.IntRange(0, len(list)-1), 1, 8).Draw(t, "order")
		for by, e := range used {
			var blocks, want []byte
			for _, i := range order {
				blocks, want = e.Append(blocks, list[i]), append(want, list[i]...)
			}
			if got := inflate(t, blocks); !bytes.Equal(got, want) {
				t.Fatalf("%s: inflates to %q, want %q", by, got, want)
			}
		}
	})
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("abcabcabc"), []byte(""))
	f.Add([]byte{}, bytes.Repeat([]byte{0xff}, 70_000))
	f.Add(rows(5000), noise(300, 4))
	all := encoders()
	f.Fuzz(func(t *testing.T, a, b []byte) {
		want := bytes.Join([][]byte{a, b, a}, nil)
		for by, fresh := range all {
			e := fresh()
			if got := inflate(t, e.Append(e.Append(e.Append(nil, a), b), a)); !bytes.Equal(got, want) {
				t.Errorf("%s: three texts inflate to %d bytes, want %d", by, len(got), len(want))
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{300, 3000, 30_000} {
		b.Run(fmt.Sprint("bytes=", n), func(b *testing.B) { benchmark(b, &Encoder{}, [][]byte{rows(n)}) })
	}
}

// BenchmarkQuick compares levels with those of klauspost/compress, over texts that differ: of
// one alone, a processor would know the way by heart.
func BenchmarkQuick(b *testing.B) {
	for _, level := range []int{1, 6, 9} {
		for _, n := range []int{150, 300, 600, 1200, 3000, 30_000} {
			list := like(n, max(10, 200_000/n))
			name := fmt.Sprintf("level=%d/bytes=%d/", level, n)
			b.Run(name+"quick", func(b *testing.B) { benchmark(b, quick(level), list) })
			b.Run(name+"klauspost", func(b *testing.B) { benchmark(b, newKlauspost(b, level), list) })
		}
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
			out = e.Append(out[:0], text)
		}
	}
	b.ReportMetric(float64(size(e, list))/float64(len(list)), "stored-bytes")
}

// A klauspost is the baseline.
type klauspost struct {
	w   *flate.Writer
	out []byte
}

func newKlauspost(tb testing.TB, level int) *klauspost {
	tb.Helper()
	k := &klauspost{}
	var err error
	if k.w, err = flate.NewWriter(k, level); err != nil {
		tb.Fatal(err)
	}
	return k
}

func (k *klauspost) Write(p []byte) (int, error) {
	k.out = append(k.out, p...)
	return len(p), nil
}

// Append writes to memory, which does not fail.
func (k *klauspost) Append(dst, raw []byte) []byte {
	k.out = dst
	k.w.Reset(k)
	_, _ = k.w.Write(raw)
	_ = k.w.Flush()
	return k.out
}
