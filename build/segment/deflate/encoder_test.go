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

func texts() map[string][]byte {
	return map[string][]byte{
		"empty":        nil,
		"one byte":     {'x'},
		"two bytes":    []byte("xy"),
		"short":        []byte(`"results":[]}`),
		"one symbol":   bytes.Repeat([]byte{'a'}, 1000),
		"longest":      bytes.Repeat([]byte{'a'}, 1+maxMatch),
		"rows":         rows(3000),
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
	e := &Encoder{}
	for name, raw := range texts() {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && len(raw) > 100_000 {
				t.Skip("long: run without -short")
			}
			blocks := e.Append([]byte("before"), raw)
			if !bytes.HasPrefix(blocks, []byte("before")) {
				t.Fatalf("Append overwrites what was there: %.6q", blocks)
			}
			blocks = blocks[len("before"):]
			if got := inflate(t, blocks); !bytes.Equal(got, raw) {
				t.Fatalf("Append(%d bytes) inflates to %d others", len(raw), len(got))
			}
			if fresh := (&Encoder{}).Append(nil, raw); !bytes.Equal(fresh, blocks) {
				t.Errorf("a used Encoder writes %d bytes, a fresh one %d", len(blocks), len(fresh))
			}
			if worst := len(raw) + 5*(1+len(raw)/maxStored) + 5; len(blocks) > worst {
				t.Errorf("Append(%d bytes) writes %d, want at most %d", len(raw), len(blocks), worst)
			}
		})
	}
}

// TestSmaller holds the encoder to what it is for.
func TestSmaller(t *testing.T) {
	for _, n := range []int{150, 500, 3000, 30_000, 200_000} {
		raw := rows(n)
		var nine bytes.Buffer
		w, err := flate.NewWriter(&nine, 9)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(raw); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := len((&Encoder{}).Append(nil, raw)); got >= nine.Len() {
			t.Errorf("%d bytes of rows take %d, want fewer than the %d of level 9", n, got, nine.Len())
		}
	}
}

// TestAlone: the edge reads single segments, with nothing behind them, by the length of
// what they say.
func TestAlone(t *testing.T) {
	e := &Encoder{}
	list := texts()
	most := 1000
	if testing.Short() { // nothing runs side by side here
		maps.DeleteFunc(list, func(_ string, raw []byte) bool { return len(raw) > 100_000 })
		most = 100
	}
	for n := range most {
		list[fmt.Sprint(n, " bytes of rows")] = rows(n)
	}
	for name, raw := range list {
		blocks := e.Append(nil, raw)
		out := make([]byte, len(raw))
		if n, err := io.ReadFull(stdflate.NewReader(bytes.NewReader(blocks)), out); err != nil || !bytes.Equal(out, raw) {
			t.Errorf("%s: compress/flate reads %d bytes, %v, want the %d", name, n, err, len(raw))
		}
		clear(out)
		if n, err := io.ReadFull(flate.NewReader(bytes.NewReader(blocks)), out); err != nil || !bytes.Equal(out, raw) {
			t.Errorf("%s: klauspost reads %d bytes, %v, want the %d", name, n, err, len(raw))
		}
	}
}

// TestAnyOrder: blocks of any texts follow one another in any order, so they end on byte
// boundaries and refer to nothing before them.
func TestAnyOrder(t *testing.T) {
	e := &Encoder{}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.SampledFrom([]string{`{"id":`, `,"name":`, `null`, `"de-DE"`, "ä", strings.Repeat("=", 300), string(rows(400))}),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
		)
		text := rapid.Map(rapid.SliceOfN(word, 0, 60), func(w []string) []byte { return []byte(strings.Join(w, "")) })
		list := rapid.SliceOfN(text, 1, 5).Draw(t, "texts")
		var blocks, want []byte
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(list)-1), 1, 8).Draw(t, "order") {
			blocks, want = e.Append(blocks, list[i]), append(want, list[i]...)
		}
		if got := inflate(t, blocks); !bytes.Equal(got, want) {
			t.Fatalf("inflates to %q, want %q", got, want)
		}
	})
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("abcabcabc"), []byte(""))
	f.Add([]byte{}, bytes.Repeat([]byte{0xff}, 70_000))
	f.Add(rows(5000), noise(300, 4))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		e := &Encoder{}
		got := inflate(t, e.Append(e.Append(e.Append(nil, a), b), a))
		if want := bytes.Join([][]byte{a, b, a}, nil); !bytes.Equal(got, want) {
			t.Errorf("three texts inflate to %d bytes, want %d", len(got), len(want))
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{300, 3000, 30_000} {
		b.Run(fmt.Sprint("bytes=", n), func(b *testing.B) {
			e, raw := &Encoder{}, rows(n)
			out := e.Append(nil, raw)
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				out = e.Append(out[:0], raw)
			}
			b.ReportMetric(float64(len(out)), "stored-bytes")
		})
	}
}
