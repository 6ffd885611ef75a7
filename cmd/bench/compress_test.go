package main

import (
	"strings"
	"testing"
)

// TestCompressor compresses texts on one and on several threads.
func TestCompressor(t *testing.T) {
	texts := []string{"", "one", strings.Repeat("two and two ", 999), "three"}
	for _, jobs := range []int{1, 3, 9} {
		c := compressor{level: 6, jobs: jobs}
		for _, text := range texts {
			c.texts = append(c.texts, text...)
			c.ends = append(c.ends, len(c.texts))
		}
		if err := c.work(); err != nil {
			t.Fatal(err)
		}
		if c.seconds <= 0 || len(c.texts) > 0 || len(c.ends) > 0 {
			t.Errorf("%d jobs: %v seconds, %d bytes are left", jobs, c.seconds, len(c.texts))
		}
	}
	c := compressor{level: 99, jobs: 1}
	if err := c.work(); err == nil {
		t.Error("compressing at level 99 succeeds")
	}
	if _, err := compressAlone(t.Context(), t.TempDir()); err == nil {
		t.Error("compressing an empty folder succeeds")
	}
}
