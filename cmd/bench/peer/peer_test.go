package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// peer runs a server of this package until the test ends, and asks it once.
func peer(t *testing.T, serve func(ctx context.Context, out io.Writer) error) Answer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, w) }()
	var at Announcement
	if err := json.NewDecoder(r).Decode(&at); err != nil {
		t.Fatal(err)
	}
	c := NewClient()
	a, err := c.Get(t.Context(), http.MethodGet, at.URL+"/any/path", []string{"Accept-Encoding: gzip"})
	c.Close()
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
	notModified := Answer{Status: http.StatusNotModified, Header: http.Header{"Etag": {`W/"1"`}}, Body: []byte{}}
	for _, want := range []Answer{want, notModified} {
		file := filepath.Join(t.TempDir(), "answer.json")
		if err := WriteJSON(file, want); err != nil {
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
	if err := WriteJSON(file, MergeJob{
		Header: whole.Header, Details: []byte(`{"id":5,"title":"A"}`), Parts: []Part{{"videos", []byte(`{"results":[8.0]}`)}},
	}); err != nil {
		t.Fatal(err)
	}
	got := peer(t, func(ctx context.Context, out io.Writer) error { return ServeMerge(ctx, file, out) })
	text, err := got.Identity()
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.Identity()
	if err != nil {
		t.Fatal(err)
	}
	if err := SameJSON(text, want); err != nil {
		t.Errorf("the answer is %s: %v", text, err)
	}
	if err := SameJSON([]byte(`{"id":6}`), []byte(`{"id":5}`)); err == nil {
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

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
