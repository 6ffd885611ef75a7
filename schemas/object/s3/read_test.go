package s3

import (
	"bytes"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestFewBlocks: a reader of more blocks than it keeps gets the one that was not used for longest again.
func TestFewBlocks(t *testing.T) {
	sharedtest.Set(t, &maxBlocks, 2)
	s := objecttest.New(t)
	data := make([]byte, 3*blockSize+9)
	for i := range data {
		data[i] = byte(i / 1000)
	}
	s.Put(t, "data", data)
	l, err := object.Parse(s.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	info, err := b.Stat(t.Context(), "data")
	if err != nil {
		t.Fatal(err)
	}
	r := b.NewReaderAt(t.Context(), info)
	s.Requests()
	for _, read := range []struct{ block, requests int }{{0, 1}, {1, 1}, {0, 0}, {2, 1}, {0, 0}, {1, 1}, {3, 1}, {1, 0}, {0, 1}} {
		off := read.block * blockSize
		got := make([]byte, min(blockSize, len(data)-off))
		if _, err := r.ReadAt(got, int64(off)); err != nil || !bytes.Equal(got, data[off:off+len(got)]) {
			t.Fatalf("block %d: %v, or other bytes", read.block, err)
		}
		if n := len(s.Requests()); n != read.requests {
			t.Errorf("block %d took %d requests, want %d", read.block, n, read.requests)
		}
	}
}
