package bench

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
)

func TestPlaces(t *testing.T) {
	var s places
	for _, c := range []struct {
		pack   int
		offset int64
		want   bool
	}{
		{0, 64, true}, {0, 64, false}, {0, 65, true}, {3, 64, true}, {3, 100_000, true}, {0, 65, false}, {3, 100_000, false},
	} {
		if got := s.add(c.pack, c.offset); got != c.want {
			t.Errorf("add(%d, %d) = %v, want %v", c.pack, c.offset, got, c.want)
		}
	}
}

// TestCompressor counts texts that come in more than one batch, on one thread and on
// several.
func TestCompressor(t *testing.T) {
	long := make([]byte, compressBatch/2+1)
	texts := [][]byte{long, long, long}
	for i := range 5 * compressRun {
		texts = append(texts, bytes.Repeat([]byte{byte(i), 'a'}, i))
	}
	var raw int64
	var alone counter
	z, err := flate.NewWriter(&alone, 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		raw += int64(len(text))
		z.Reset(&alone)
		_, _ = z.Write(text)
		_ = z.Flush()
	}
	for _, jobs := range []int{1, 3} {
		var sum Compressed
		c, err := newCompressor(6, jobs, &sum)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			c.texts = append(c.texts, text...)
			if err := c.end(); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.work(); err != nil {
			t.Fatal(err)
		}
		if sum.Texts != int64(len(texts)) || sum.Raw != raw || sum.Stored != int64(alone) || sum.Seconds <= 0 {
			t.Errorf("%d jobs compressed %+v, want %d texts of %d bytes in %d", jobs, sum, len(texts), raw, alone)
		}
	}
}

func TestCompressRefuses(t *testing.T) {
	if _, err := newCompressor(12, 1, new(Compressed)); err == nil {
		t.Error("a compressor of level 12 is made")
	}
	if err := Compress(t.Context(), t.TempDir(), 1, io.Discard); err == nil {
		t.Error("Compress of an empty folder succeeds")
	}
	if err := Compress(t.Context(), t.TempDir(), 0, io.Discard); err == nil || !strings.Contains(err.Error(), "jobs 0") {
		t.Errorf("Compress on no thread: %v, want an error about jobs 0", err)
	}
}
