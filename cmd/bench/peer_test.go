package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"testing"
)

// peer runs a server of this package until the test ends, and asks it once.
func peer(t *testing.T, serve func(ctx context.Context, out io.Writer) error) answer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, w) }()
	var at announcement
	if err := json.NewDecoder(r).Decode(&at); err != nil {
		t.Fatal(err)
	}
	c := newClient()
	a, err := c.get(t.Context(), http.MethodGet, at.URL+"/any/path", []string{"Accept-Encoding: gzip"})
	c.close()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestConstant(t *testing.T) {
	want := packed(t, `{"id":5}`)
	want.Header.Set("Content-Type", "application/json;charset=utf-8")
	want.Header.Set("Cache-Control", "public, max-age=3600")
	want.Header.Set("Server", "edge")
	notModified := answer{Status: http.StatusNotModified, Header: http.Header{"Etag": {`W/"1"`}}, Body: []byte{}}
	for _, want := range []answer{want, notModified} {
		file := filepath.Join(t.TempDir(), "answer.json")
		if err := writeJSON(file, want); err != nil {
			t.Fatal(err)
		}
		got := peer(t, func(ctx context.Context, out io.Writer) error { return ServeConstant(ctx, file, out) })
		if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) {
			t.Errorf("the answer is %d, %x, want %d, %x", got.Status, got.Body, want.Status, want.Body)
		}
		for name := range want.Header {
			if got.Header.Get(name) != want.Header.Get(name) {
				t.Errorf("%s: %q, want %q", name, got.Header.Get(name), want.Header.Get(name))
			}
		}
	}
}

func TestMerge(t *testing.T) {
	whole := packed(t, `{"id":5,"title":"A","videos":{"results":[8.0]}}`)
	file := filepath.Join(t.TempDir(), "merge.json")
	if err := writeJSON(file, mergeJob{
		Header: whole.Header, Details: []byte(`{"id":5,"title":"A"}`), Parts: []part{{"videos", []byte(`{"results":[8.0]}`)}},
	}); err != nil {
		t.Fatal(err)
	}
	got := peer(t, func(ctx context.Context, out io.Writer) error { return ServeMerge(ctx, file, out) })
	text, err := got.identity()
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.identity()
	if err != nil {
		t.Fatal(err)
	}
	if err := sameJSON(text, want); err != nil {
		t.Errorf("the answer is %s: %v", text, err)
	}
	if err := sameJSON([]byte(`{"id":6}`), []byte(`{"id":5}`)); err == nil {
		t.Error("sameJSON finds no difference between two ids")
	}
}

func TestAnswerFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answer.json")
	for _, text := range []string{"", "{", `{"status":200,"colour":1}`} {
		write(t, file, text)
		if err := ServeConstant(t.Context(), file, io.Discard); err == nil {
			t.Errorf("ServeConstant of %q succeeds", text)
		}
	}
}
