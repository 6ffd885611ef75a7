package partial_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/partial"
	"github.com/reelsplice/reelsplice/schemas/object/store"
)

const granule = 1 << 10

// noise returns bytes in which no granule is like another.
func noise(n int) []byte {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32()) | 1 // no zeros, which holes have
	}
	return b
}

// A remote is an object in a bucket, and its file.
type remote struct {
	server *objecttest.Server
	folder object.Folder
	data   []byte
	path   string
	*partial.File
}

func open(t *testing.T, size int) *remote {
	t.Helper()
	r := &remote{server: objecttest.New(t), data: noise(size), path: filepath.Join(t.TempDir(), "some", "file")}
	r.server.Put(t, "rel/pack", r.data)
	var err error
	if r.folder, err = store.OpenFolder(t.Context(), r.server.URL("rel")); err != nil {
		t.Fatal(err)
	}
	info, err := r.folder.Stat(t.Context(), "pack")
	if err != nil {
		t.Fatal(err)
	}
	if r.File, err = partial.Open(t.Context(), partial.Options{Folder: r.folder, Info: info, Path: r.path, Granule: granule}); err != nil {
		t.Fatal(err)
	}
	r.server.Requests()
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(r.path); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", r.path, err)
		}
	})
	return r
}

// check reads a range and compares it.
func (r *remote) check(t *testing.T, off, n int) {
	t.Helper()
	b := make([]byte, n)
	got, err := r.ReadAt(b, int64(off))
	want := r.data[min(off, len(r.data)):min(off+n, len(r.data))]
	if len(want) < n && !errors.Is(err, io.EOF) || len(want) == n && err != nil {
		t.Fatalf("ReadAt(%d, %d) = %d, %v", off, n, got, err)
	}
	if !bytes.Equal(b[:got], want) {
		t.Fatalf("ReadAt(%d, %d): other bytes than the object has", off, n)
	}
}

// TestRead: what is read is fetched once, neighbours with one request.
func TestRead(t *testing.T) {
	r := open(t, 100*granule+100)
	for _, s := range []struct {
		off, n, granules int
		requests         string
	}{
		{50*granule + 10, 20, 1, "bytes=51200-52223"},
		{50 * granule, granule, 0, ""},
		{40*granule - 1, 2, 2, "bytes=39936-41983"},
		{38 * granule, 14 * granule, 11, "bytes=38912-39935 bytes=41984-51199 bytes=52224-53247"},
		{100*granule + 50, 500, 1, "bytes=102400-102499"},
		{200 * granule, 5, 0, ""},
	} {
		before := r.Fetched()
		r.check(t, s.off, s.n)
		var ranges []string
		for _, req := range r.server.Requests() {
			ranges = append(ranges, strings.TrimPrefix(req, "GET /bucket/rel/pack "))
		}
		if got := strings.ReplaceAll(strings.Join(ranges, " "), "bytes=102400-", "bytes=102400-102499"); got != s.requests {
			t.Errorf("reading %d bytes at %d: requests %q, want %q", s.n, s.off, got, s.requests)
		}
		if moved := r.Fetched() - before; moved > int64(s.granules*granule) || moved <= int64((s.granules-1)*granule) {
			t.Errorf("reading %d bytes at %d: %d bytes moved, want %d granules", s.n, s.off, moved, s.granules)
		}
	}
	if err := r.Fill(90*granule, 11*granule); err == nil || !strings.Contains(err.Error(), "rel/pack") {
		t.Errorf("Fill beyond the end: %v", err)
	}
	if _, err := r.ReadAt(nil, -1); err == nil {
		t.Error("ReadAt of a negative offset: no error")
	}
}

// TestReadOn: a file that is read from one end to the other takes few requests.
func TestReadOn(t *testing.T) {
	r := open(t, 1000*granule)
	for off := 0; off < len(r.data); off += 100 {
		r.check(t, off, 100)
	}
	if n := len(r.server.Requests()); n > 12 {
		t.Errorf("%d requests for 1000 granules", n)
	}
	if r.Fetched() != int64(len(r.data)) {
		t.Errorf("%d bytes moved, want %d", r.Fetched(), len(r.data))
	}
}

// TestConcurrent: goroutines that read the same granules fetch each once.
func TestConcurrent(t *testing.T) {
	r := open(t, 300*granule+7)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			for range 200 {
				off, n := rng.IntN(len(r.data)), 1+rng.IntN(5*granule)
				r.check(t, off, min(n, len(r.data)-off))
			}
		})
	}
	wg.Wait()
	r.check(t, 0, len(r.data))
	if r.Fetched() != int64(len(r.data)) {
		t.Errorf("%d bytes moved, want %d: each granule once", r.Fetched(), len(r.data))
	}
}

// TestFaults: a bucket that fails now and then is asked again; one that fails for good is an error that names
// the object, and the next use tries again.
func TestFaults(t *testing.T) {
	r := open(t, 64*granule)
	var n atomic.Int64
	r.server.SetFault(func(w http.ResponseWriter, req *http.Request) bool {
		switch n.Add(1) {
		case 1:
			return objecttest.Unavailable(w)
		case 3:
			return r.server.CutAfter(100, w, req)
		}
		return false
	})
	r.check(t, 0, 3*granule)
	r.check(t, 10*granule, granule)

	r.server.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := r.Fill(20*granule, 1); err == nil || !strings.Contains(err.Error(), "s3://bucket/rel/pack") || strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("a bucket that refuses: %v, want an error that names the object alone", err)
			}
		})
	}
	wg.Wait()
	r.check(t, 0, 3*granule) // it is there
	r.server.SetFault(nil)
	r.check(t, 20*granule, 1)
}

// TestReplaced: an object that was replaced is an error, whatever is there of the old one.
func TestReplaced(t *testing.T) {
	r := open(t, 8*granule)
	r.check(t, 0, 10)
	r.server.Put(t, "rel/pack", noise(8*granule+1))
	if err := r.Fill(4*granule, 1); !errors.Is(err, object.ErrChanged) || !strings.Contains(err.Error(), "s3://bucket/rel/pack") {
		t.Errorf("a replaced object: %v, want ErrChanged", err)
	}
	r.check(t, 0, 10)
	r.server.Delete(t, "rel/pack")
	if err := r.Fill(6*granule, 1); err == nil || !strings.Contains(err.Error(), "s3://bucket/rel/pack") {
		t.Errorf("a removed object: %v", err)
	}
}

// TestRefetch: bytes that came wrong are fetched again, and those beside them stay.
func TestRefetch(t *testing.T) {
	r := open(t, 4*granule)
	r.server.SetFault(r.server.Lie)
	b := make([]byte, granule)
	if _, err := r.ReadAt(b, granule); err != nil || b[7] != r.data[granule+7]^0x55 {
		t.Fatalf("a bucket that lies: %x, %v", b[7], err)
	}
	r.server.SetFault(nil)
	if err := r.Refetch(granule+100, 200); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadAt(b, granule); err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(r.data[granule : 2*granule])
	for i := range want {
		if i < 100 || i >= 300 {
			want[i] ^= 0x55
		}
	}
	if !bytes.Equal(b, want) {
		t.Error("Refetch of 200 bytes: want those and no others to be new")
	}
}

// TestEnds: the end of the context, and Close, end fetches.
func TestEnds(t *testing.T) {
	r := open(t, 4*granule)
	stuck := make(chan struct{})
	var once sync.Once
	r.server.SetFault(func(_ http.ResponseWriter, req *http.Request) bool {
		once.Do(func() { close(stuck) })
		<-req.Context().Done()
		return true
	})
	ctx, cancel := context.WithCancel(t.Context())
	f, err := partial.Open(ctx, partial.Options{Folder: r.folder, Info: object.Info{Key: "pack", Size: r.Size()}, Path: r.path + "2"})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-stuck
		cancel()
	}()
	if err := f.Fill(0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Fill after the end of its context: %v", err)
	}
	if _, err := partial.Open(t.Context(), partial.Options{Folder: r.folder, Path: r.path + "2"}); !os.IsExist(errors.Unwrap(err)) {
		t.Errorf("a second file of the same path: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Fill(0, 1); err == nil {
		t.Error("Fill after Close: no error")
	}
}
