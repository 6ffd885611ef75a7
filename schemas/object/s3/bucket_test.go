package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func open(t *testing.T, url string) *s3.Bucket {
	t.Helper()
	l, err := object.Parse(url)
	sharedtest.NoError(t, err)
	b, err := s3.Open(t.Context(), l)
	sharedtest.NoError(t, err)
	return b
}

// noise returns n bytes that no two places have in common.
func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

func stat(t *testing.T, b *s3.Bucket, key string) object.Info {
	t.Helper()
	o, err := b.Stat(t.Context(), key)
	sharedtest.NoError(t, err)
	return o
}

func keys(list []object.Info) string {
	var all []string
	for _, o := range list {
		all = append(all, o.Key)
	}
	return strings.Join(all, " ")
}

// TestListPages has more objects than one answer holds, and names between which the
// order of folders and that of keys differ.
func TestListPages(t *testing.T) {
	s := objecttest.New(t)
	b := open(t, s.URL(""))
	var want []string
	for i := range 1200 {
		key := []string{"p/a/", "p/a-"}[i%2] + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		s.Put(t, key, nil)
		want = append(want, key)
	}
	slices.Sort(want)
	list, err := b.List(t.Context(), "p/", object.MaxListed)
	if got := keys(list); err != nil || got != strings.Join(slices.Compact(want), " ") {
		t.Errorf("List: %v, %d objects, want %d in order", err, len(list), len(want))
	}
}

func TestRead(t *testing.T) {
	s := objecttest.New(t)
	b := open(t, s.URL(""))
	data := noise(3<<20 + 17)
	s.Put(t, "data", data)
	s.Put(t, "empty", nil)
	r := b.NewReader(t.Context(), stat(t, b, "data"))
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v, want the %d there are", len(got), err, len(data))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(b.NewReader(t.Context(), stat(t, b, "empty"))); err != nil || len(got) != 0 {
		t.Errorf("read %d bytes of an empty object, %v", len(got), err)
	}
	readAt(t, b.NewReaderAt(t.Context(), stat(t, b, "data")), data)
}

func readAt(t *testing.T, r io.ReaderAt, data []byte) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		off, n := rnd.IntN(len(data)), rnd.IntN(2<<20)
		p := make([]byte, n)
		got, err := r.ReadAt(p, int64(off))
		want := data[off:min(len(data), off+n)]
		if !bytes.Equal(p[:got], want) || (err == io.EOF) != (len(want) < n) || err != nil && err != io.EOF {
			t.Fatalf("ReadAt(%d bytes, %d) = %d, %v, want %d", n, off, got, err, len(want))
		}
	}
	if _, err := r.ReadAt(make([]byte, 1), -1); err == nil || err == io.EOF {
		t.Errorf("ReadAt(-1): %v", err)
	}
}

// TestReadResumes cuts every stream after a while: reading goes on where it was.
func TestReadResumes(t *testing.T) {
	s := objecttest.New(t)
	data := noise(5 << 20)
	s.Put(t, "data", data)
	b := open(t, s.URL(""))
	o := stat(t, b, "data")
	var n atomic.Int64
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		switch n.Add(1) {
		case 1:
			return s.CutAfter(1, w, r)
		case 3:
			return objecttest.Unavailable(w)
		}
		return s.CutAfter(1_200_000, w, r)
	})
	got, err := io.ReadAll(b.NewReader(t.Context(), o))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v, want %d", len(got), err, len(data))
	}
	if n.Load() < 6 {
		t.Errorf("%d requests: nothing was cut", n.Load())
	}
	n.Store(0)
	p := make([]byte, 3<<20)
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		return n.Add(1)%2 == 1 && s.CutAfter(1000, w, r)
	})
	if _, err := b.NewReaderAt(t.Context(), o).ReadAt(p, 500_000); err != nil || !bytes.Equal(p, data[500_000:][:len(p)]) {
		t.Errorf("ReadAt: %v", err)
	}
}

func TestReadGivesUp(t *testing.T) {
	s := objecttest.New(t)
	s.Put(t, "data", noise(100_000))
	b := open(t, s.URL(""))
	o := stat(t, b, "data")
	var n atomic.Int64
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		n.Add(1)
		return s.CutAfter(10, w, r)
	})
	_, err := io.ReadAll(b.NewReader(t.Context(), o))
	if err == nil || !strings.HasPrefix(err.Error(), "s3://bucket/data: given up after 5 tries: ") {
		t.Errorf("error is %v", err)
	}
	if n.Load() != 5 {
		t.Errorf("%d requests, want 5", n.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := io.ReadAll(b.NewReader(ctx, o)); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

// TestReadChanged replaces an object between two requests, on a store that knows
// conditions and on one that passes over them.
func TestReadChanged(t *testing.T) {
	for _, conditions := range []bool{true, false} {
		s := objecttest.New(t)
		old := noise(2 << 20)
		s.Put(t, "data", old)
		b := open(t, s.URL(""))
		o := stat(t, b, "data")
		asked := ""
		s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
			if asked = r.Header.Get("If-Match"); !conditions {
				r.Header.Del("If-Match")
			}
			s.Put(t, "data", append([]byte("new"), old[3:]...))
			return false
		})
		r := b.NewReaderAt(t.Context(), o)
		_, err := r.ReadAt(make([]byte, 10), 1<<20)
		if !errors.Is(err, object.ErrChanged) || !strings.HasPrefix(err.Error(), "s3://bucket/data: the object was changed") {
			t.Errorf("ReadAt: %v", err)
		}
		if asked != `"`+o.ETag+`"` {
			t.Errorf("asked for version %s, want %q", asked, o.ETag)
		}
		s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
			s.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
				if !conditions {
					r.Header.Del("If-Match")
				}
				return false
			})
			s.CutAfter(5, w, r)
			return true
		})
		o = stat(t, open(t, s.URL("")), "data")
		s.Put(t, "data", old)
		if _, err := io.ReadAll(b.NewReader(t.Context(), o)); !errors.Is(err, object.ErrChanged) {
			t.Errorf("Read: %v", err)
		}
		s.Delete(t, "data")
		if _, err := io.ReadAll(b.NewReader(t.Context(), o)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read after deletion: %v", err)
		}
	}
}

// TestNoSize: an object has a size, or there is an error, when responses lack Content-Length.
func TestNoSize(t *testing.T) {
	s := objecttest.New(t)
	s.Put(t, "data", []byte("content"))
	b := open(t, s.URL(""))
	o := stat(t, b, "data")
	s.SetFault(s.NoLength)
	if got, err := b.Stat(t.Context(), "data"); err == nil || !strings.Contains(err.Error(), "s3://bucket/data: the store gives no size") {
		t.Errorf("Stat = %+v, %v, want an error about the size", got, err)
	}
	if _, err := io.ReadAll(b.NewReader(t.Context(), o)); err == nil || !strings.Contains(err.Error(), "the store gives no size") {
		t.Errorf("Read: %v, want an error about the size", err)
	}
	if data, err := b.ReadRange(t.Context(), o, 1, 3); err != nil || string(data) != "ont" { // it has Content-Range
		t.Errorf("ReadRange = %q, %v, want the bytes", data, err)
	}
}

// TestUpload uploads an object in several parts.
func TestUpload(t *testing.T) {
	s := objecttest.New(t)
	b := open(t, s.URL(""))
	ctx := t.Context()
	data := noise(33 << 20)
	sharedtest.NoError(t, b.Upload(ctx, "a/big", bytes.NewReader(data), int64(len(data))))
	o := stat(t, b, "a/big")
	if o.Size != int64(len(data)) || o.ETag == "" {
		t.Errorf("Stat = %+v", o)
	}
	if got, err := io.ReadAll(b.NewReader(ctx, o)); err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

func TestCreateUnsupported(t *testing.T) {
	s := objecttest.New(t)
	b := open(t, s.URL(""))
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("If-None-Match") == "" {
			return false
		}
		w.WriteHeader(http.StatusNotImplemented)
		io.WriteString(w, `<Error><Code>NotImplemented</Code><Message>A header you provided implies functionality that is not implemented</Message></Error>`)
		return true
	})
	if err := b.Create(t.Context(), "x", nil); !errors.Is(err, object.ErrUnsupported) {
		t.Errorf("Create: %v", err)
	}
}

// TestErrorsHoldNoSecrets makes a store refuse a request with all that it knows.
func TestErrorsHoldNoSecrets(t *testing.T) {
	s := objecttest.New(t)
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `<Error><Code>AccessDenied</Code><Message>test-key-id may not, nor test-secret-key: https://x/y?sig=hush`+"\n"+`second line</Message></Error>`)
		return true
	})
	b := open(t, s.URL("some"))
	_, err := b.List(t.Context(), "some/", object.MaxListed)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("List: %v", err)
	}
	for _, secret := range []string{"test-key-id", "test-secret-key", "hush", "\n", "region="} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%q in %v", secret, err)
		}
	}
	if !strings.HasPrefix(err.Error(), "s3://bucket/some/: ") {
		t.Errorf("error does not name the URL: %v", err)
	}
	if _, err := s3.Open(t.Context(), location(t, "s3://bucket/x?region=us-east-1&ssetype=hush")); err == nil || strings.Contains(err.Error(), "?") {
		t.Errorf("Open: %v", err)
	}
}

func location(t *testing.T, url string) object.Location {
	t.Helper()
	l, err := object.Parse(url)
	sharedtest.NoError(t, err)
	return l
}
