package main

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

func TestConstant(t *testing.T) {
	want := packed(t, `{"id":5}`)
	want.Header.Set("Content-Type", "application/json;charset=utf-8")
	want.Header.Set("Cache-Control", "public, max-age=3600")
	want.Header.Set("Server", "edge")
	notModified := answer{Status: http.StatusNotModified, Header: http.Header{"Etag": {`W/"1"`}}, Body: []byte{}}
	for _, want := range []answer{want, notModified} {
		got := askConstant(t, &want)
		if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) {
			t.Errorf("the answer is %d, %x, want %d, %x", got.Status, got.Body, want.Status, want.Body)
		}
		for name := range want.Header {
			if got.Header.Get(name) != want.Header.Get(name) {
				t.Errorf("%s: %q, want %q", name, got.Header.Get(name), want.Header.Get(name))
			}
		}
	}
	if err := serveConstant(t.Context(), filepath.Join(t.TempDir(), "none"), io.Discard); err == nil {
		t.Error("serveConstant without an answer succeeds")
	}
}

// askConstant serves an answer and asks for it once.
func askConstant(t *testing.T, a *answer) answer {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "answer.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveConstant(ctx, file, w) }()
	var at announcement
	if err := json.NewDecoder(r).Decode(&at); err != nil {
		t.Fatal(err)
	}
	c := newClient()
	got, err := c.get(t.Context(), http.MethodGet, at.URL+"/any/path", []string{"Accept-Encoding: gzip"})
	c.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}
