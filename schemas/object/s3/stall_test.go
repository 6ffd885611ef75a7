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
)

// TestStall: a stream that stops sending is opened again where it stopped.
func TestStall(t *testing.T) {
	s := objecttest.New(t)
	l, err := object.Parse(s.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	b.stall = time.Second // a test that stops so long has tries left
	data := bytes.Repeat([]byte("0123456789"), 1000)
	s.Put(t, "a", data)
	o, err := b.Stat(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
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
