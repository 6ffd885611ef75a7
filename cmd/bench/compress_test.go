package bench

import (
	"io"
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

// TestCompressor counts texts that come in more than one batch.
func TestCompressor(t *testing.T) {
	var sum Compressed
	c, err := newCompressor(6, &sum)
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, compressBatch/2+1)
	var alone counter
	z, err := flate.NewWriter(&alone, 6)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.texts = append(c.texts, text...)
		if err := c.end(); err != nil {
			t.Fatal(err)
		}
		z.Reset(&alone)
		_, _ = z.Write(text)
		_ = z.Flush()
	}
	if err := c.work(); err != nil {
		t.Fatal(err)
	}
	if sum.Texts != 3 || sum.Raw != 3*int64(len(text)) || sum.Stored != int64(alone) || sum.Seconds <= 0 {
		t.Errorf("compressed %+v, want 3 texts of %d bytes in %d", sum, len(text), alone)
	}
	if _, err := newCompressor(12, &sum); err == nil {
		t.Error("a compressor of level 12 is made")
	}
}

func TestCompressOfNothing(t *testing.T) {
	if err := Compress(t.Context(), t.TempDir(), io.Discard); err == nil {
		t.Error("Compress of an empty folder succeeds")
	}
}
