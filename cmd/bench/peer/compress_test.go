package peer

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
)

// TestCompressor compresses texts on one and on several threads to the same lengths.
func TestCompressor(t *testing.T) {
	texts := []string{"", "one", strings.Repeat("two and two ", 999), "three"}
	var want Counter
	for _, text := range texts {
		z, err := flate.NewWriter(&want, 6)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(z, text); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for _, jobs := range []int{1, 3, 9} {
		c := compressor{jobs: jobs, sum: Compressed{Level: 6}}
		for _, text := range texts {
			c.texts = append(c.texts, text...)
			c.ends = append(c.ends, len(c.texts))
		}
		for range 2 {
			if err := c.work(); err != nil {
				t.Fatal(err)
			}
		}
		if s := c.sum; s.Texts != int64(len(texts)) || s.Raw != int64(len(strings.Join(texts, ""))) || s.Stored != int64(want) || s.Seconds <= 0 {
			t.Errorf("%d jobs: %+v, want %d bytes stored", jobs, s, want)
		}
		if len(c.texts) > 0 || len(c.ends) > 0 {
			t.Errorf("%d jobs: texts are left", jobs)
		}
	}
}

func TestCompressRefuses(t *testing.T) {
	for want, jobs := range map[string]int{"jobs 0: want 1 or more": 0, "no release": 1} {
		if err := Compress(t.Context(), t.TempDir(), jobs, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) && jobs == 0 {
			t.Errorf("Compress on %d threads: %v, want %q", jobs, err, want)
		}
	}
}
