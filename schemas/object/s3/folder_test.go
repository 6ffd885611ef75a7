package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestFolders: folders of the stores behave alike.
func TestFolders(t *testing.T) {
	for name, url := range map[string]string{
		"bucket": objecttest.New(t).URL(""), "prefix": objecttest.New(t).URL("some/where"),
		"google": objecttest.NewGoogle(t).URL("some/where a+b"),
	} {
		t.Run(name, func(t *testing.T) { testFolder(t, url) })
	}
}

func testFolder(t *testing.T, url string) {
	t.Helper()
	f, err := s3.OpenFolder(t.Context(), url)
	sharedtest.NoError(t, err)
	ctx := t.Context()
	if list, err := f.List(ctx, "", object.MaxListed); err != nil || len(list) > 0 {
		t.Errorf("List of a new folder = %v, %v", list, err)
	}
	if _, err := f.Stat(ctx, "done"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "done: no such object") {
		t.Errorf("Stat of nothing: %v", err)
	}
	sharedtest.NoError(t, f.Create(ctx, "done/a-1.json", []byte("first")))
	if err := f.Create(ctx, "done/a-1.json", []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create twice: %v", err)
	}
	sharedtest.NoError(t, f.Put(ctx, "done/b-1.json", []byte("x")))
	sharedtest.NoError(t, f.Put(ctx, "done/b-1.json", []byte("put")))
	data := noise(100_000)
	sharedtest.NoError(t, f.Upload(ctx, "big", bytes.NewReader(data), 90_000))
	list, err := f.List(ctx, "done/a", object.MaxListed)
	if err != nil || keys(list) != "done/a-1.json" || list[0].Size != 5 {
		t.Errorf("List = %v, %v", list, err)
	}
	if o, err := f.Stat(ctx, "done/a-1.json"); err != nil || o.ETag == "" || o.ETag != list[0].ETag || o.Size != 5 {
		t.Errorf("Stat = %+v, %v, List = %+v", o, err, list[0])
	}
	if list, err := f.List(ctx, "", object.MaxListed); err != nil || keys(list) != "big done/a-1.json done/b-1.json" {
		t.Errorf("List = %v, %v", keys(list), err)
	}
	o, err := f.Stat(ctx, "big")
	sharedtest.NoError(t, err)
	if got, err := f.ReadRange(ctx, o, 1000, 500); err != nil || !bytes.Equal(got, data[1000:1500]) {
		t.Errorf("ReadRange: %v", err)
	}
	r := f.NewReader(ctx, o)
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data[:90_000]) {
		t.Errorf("NewReader: %v", err)
	}
	sharedtest.NoError(t, r.Close())
	sharedtest.NoError(t, f.Put(ctx, "big", []byte("other")))
	if _, err := f.ReadRange(ctx, o, 0, 5); !errors.Is(err, object.ErrChanged) {
		t.Errorf("ReadRange of an old version: %v", err)
	}
	if _, err := io.ReadAll(f.NewReader(ctx, o)); !errors.Is(err, object.ErrChanged) {
		t.Errorf("NewReader of an old version: %v", err)
	}
	testReplace(t, f)
	sharedtest.NoError(t, f.Delete(ctx, "done/a-1.json"))
	sharedtest.NoError(t, f.Delete(ctx, "done/a-1.json"))
	sharedtest.NoError(t, f.Delete(ctx, "done/b-1.json"))
	sharedtest.NoError(t, f.Delete(ctx, "big"))
	sharedtest.NoError(t, f.Delete(ctx, "current"))
	if list, err := f.List(ctx, "", object.MaxListed); err != nil || len(list) > 0 {
		t.Errorf("List of an empty folder = %v, %v", list, err)
	}
	if got, want := f.URL("done/x"), "done/x"; !strings.HasSuffix(got, want) || strings.Contains(got, "?") {
		t.Errorf("URL = %q", got)
	}
}

// testReplace: of several that replace one version, one wins.
func testReplace(t *testing.T, f object.Folder) {
	t.Helper()
	ctx := t.Context()
	sharedtest.NoError(t, f.Create(ctx, "current", []byte("v0")))
	old, err := f.Stat(ctx, "current")
	sharedtest.NoError(t, err)
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() { errs[i] = f.Replace(ctx, old, fmt.Appendf(nil, "by %d", i)) })
	}
	all.Wait()
	winner := ""
	for i, err := range errs {
		if err == nil {
			winner += fmt.Sprintf("by %d", i)
		} else if !errors.Is(err, object.ErrChanged) {
			t.Errorf("Replace of an old version: %v", err)
		}
	}
	now, err := f.Stat(ctx, "current")
	sharedtest.NoError(t, err)
	if data, err := f.ReadRange(ctx, now, 0, now.Size); err != nil || string(data) != winner {
		t.Errorf("current is %q, %v; won: %q", data, err, winner)
	}
	gone := old
	gone.Key = "none"
	if err := f.Replace(ctx, gone, nil); !errors.Is(err, object.ErrChanged) {
		t.Errorf("Replace of nothing: %v", err)
	}
}

// TestOpenFolderRefuses checks what names no folder.
func TestOpenFolderRefuses(t *testing.T) {
	s := objecttest.New(t)
	for url, want := range map[string]string{s.URL("a/*"): "not a pattern", "http://x/y": "unknown scheme"} {
		if _, err := s3.OpenFolder(t.Context(), url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("OpenFolder(%s): %v, want %q", url, err, want)
		}
	}
}

// TestListCut lists again when a listing broke or came garbled.
func TestListCut(t *testing.T) {
	s := objecttest.New(t)
	f, err := s3.OpenFolder(t.Context(), s.URL(""))
	sharedtest.NoError(t, err)
	s.Put(t, "a", []byte("x"))
	var n atomic.Int64
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		switch n.Add(1) {
		case 1:
			return s.CutAfter(60, w, r)
		case 2:
			return s.Flip(45, w, r) // in the name of the first element
		}
		return false
	})
	if list, err := f.List(t.Context(), "", object.MaxListed); err != nil || keys(list) != "a" || n.Load() != 3 {
		t.Errorf("List = %v, %v after %d requests", list, err, n.Load())
	}
}

// TestListBounds ends listings that go on for ever, by their pages or in one.
func TestListBounds(t *testing.T) {
	s := objecttest.New(t)
	f, err := s3.OpenFolder(t.Context(), s.URL(""))
	sharedtest.NoError(t, err)
	pages := 0
	const entry = `<Contents><Key>deltas/%06d</Key><LastModified>2026-01-02T15:04:05.000Z</LastModified><ETag>"0"</ETag><Size>%d</Size></Contents>`
	s.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		fmt.Fprintf(w, `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>`, pages)
		for i := range 1000 {
			fmt.Fprintf(w, entry, pages*1000+i, i)
		}
		pages++
		fmt.Fprint(w, `</ListBucketResult>`)
		return true
	})
	list, err := f.List(t.Context(), "", 2500)
	if !errors.Is(err, object.ErrTooMany) || !strings.Contains(err.Error(), "s3://bucket/: too many objects: more than 2500") {
		t.Errorf("List of endless pages: %v, want object.ErrTooMany with the number", err)
	}
	if len(list) != 2500 || list[2499].Key != "deltas/002499" || pages != 3 {
		t.Errorf("%d objects of %d pages, want the first 2500", len(list), pages)
	}
	requests := 0
	s.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		requests++
		fmt.Fprint(w, `<ListBucketResult>`)
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(w, entry, i, i); err != nil {
				return true // the client has enough
			}
		}
	})
	if _, err = f.List(t.Context(), "", 2500); err == nil || !strings.Contains(err.Error(), "a page of the listing has more than 4194304 bytes") || requests != 1 {
		t.Errorf("List of an endless page: %v after %d requests, want its bound after one", err, requests)
	}
	s.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		fmt.Fprintf(w, `<ListBucketResult>`+entry+`</ListBucketResult>`, 1, -1)
		return true
	})
	if _, err = f.List(t.Context(), "", 2500); err == nil || !strings.Contains(err.Error(), `"deltas/000001": the store gives no size`) {
		t.Errorf("List of an object of -1 bytes: %v, want an error that names it", err)
	}
}
