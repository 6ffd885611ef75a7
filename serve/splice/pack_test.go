package splice

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

func TestPacker(t *testing.T) {
	var p Packer
	for _, text := range []string{"", "a", strings.Repeat(`{"title":"Fight Club"},`, 500), "another"} {
		var a Answer
		Literal(&a, text)
		got, err := p.AppendGzip([]byte("before"), &a)
		if err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(bytes.TrimPrefix(got, []byte("before"))))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil || string(body) != text {
			t.Errorf("packed %d bytes, got %d back: %v", len(text), len(body), err)
		}
	}
}
