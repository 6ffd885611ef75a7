package main

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"testing"
)

// packed returns a text as a response with gzip.
func packed(t *testing.T, text string) response {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return response{Status: http.StatusOK, Header: http.Header{"Content-Encoding": {"gzip"}, "Etag": {`W/"1"`}}, Body: b.Bytes()}
}

func TestIdentity(t *testing.T) {
	a := packed(t, "text")
	if got, err := a.identity(); err != nil || string(got) != "text" {
		t.Errorf("identity = %q, %v", got, err)
	}
	plain := response{Header: http.Header{}, Body: []byte("text")}
	if got, err := plain.identity(); err != nil || string(got) != "text" {
		t.Errorf("identity of a plain response = %q, %v", got, err)
	}
	two, short := a, a
	two.Body = append(bytes.Clone(a.Body), a.Body...)
	short.Body = a.Body[:len(a.Body)-3]
	for name, bad := range map[string]*response{"of two members": &two, "that is cut off": &short} {
		if _, err := bad.identity(); err == nil {
			t.Errorf("identity of a response %s succeeds", name)
		}
		if err := sameBytes("nginx", "/a", bad, &a); err == nil {
			t.Errorf("a response %s is that of the edge", name)
		}
	}
	other := packed(t, "test")
	if err := sameBytes("nginx", "/a", &other, &a); err == nil {
		t.Error("other bytes are those of the edge")
	}
}
