package s3

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// openBucket opens the bucket of a server.
func openBucket(t *testing.T, s *objecttest.Server) *Bucket {
	t.Helper()
	l, err := object.Parse(s.URL(""))
	sharedtest.NoError(t, err)
	b, err := Open(t.Context(), l)
	sharedtest.NoError(t, err)
	return b
}

// TestFewBlocks: a reader of more blocks than it keeps gets the one that was not used for longest again.
func TestFewBlocks(t *testing.T) {
	sharedtest.Set(t, &maxBlocks, 2)
	s := objecttest.New(t)
	data := make([]byte, 3*blockSize+9)
	for i := range data {
		data[i] = byte(i / 1000)
	}
	s.Put(t, "data", data)
	b := openBucket(t, s)
	info, err := b.Stat(t.Context(), "data")
	sharedtest.NoError(t, err)
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

// TestStall: a stream that stops sending is opened again where it stopped.
func TestStall(t *testing.T) {
	s := objecttest.New(t)
	b := openBucket(t, s)
	b.stall = time.Second // a test that stops so long has tries left
	data := bytes.Repeat([]byte("0123456789"), 1000)
	s.Put(t, "a", data)
	o, err := b.Stat(t.Context(), "a")
	sharedtest.NoError(t, err)
	var n atomic.Int64
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if n.Add(1) > 1 {
			return false
		}
		w.Header().Set("Content-Length", "10000")
		w.Header().Set("ETag", `"`+o.ETag+`"`)
		w.Header().Set("Last-Modified", o.ModTime.UTC().Format(http.TimeFormat))
		_, _ = w.Write(data[:100])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // until the client has enough
		return true
	})
	if got, err := io.ReadAll(b.NewReader(t.Context(), o)); err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v, want %d", len(got), err, len(data))
	}
}
