package main

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
)

func TestSizes(t *testing.T) {
	a := gzipped(t, strings.Repeat("all work and no play ", 100))
	var s report.Sizes
	if err := addSize(&s, &a); err != nil {
		t.Fatal(err)
	}
	if s.Answers != 1 || s.Raw != 2100 || s.Gzip != len(a.Body) || s.OnePass != len(a.Body) || s.Ratio != 1 {
		t.Errorf("sizes of a text in one pass: %+v, want %d bytes both ways", s, len(a.Body))
	}
}

// gzipped returns a text as an answer with gzip.
func gzipped(t *testing.T, text string) peer.Answer {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return peer.Answer{Status: http.StatusOK, Header: http.Header{"Content-Encoding": {"gzip"}, "Etag": {`W/"1"`}}, Body: b.Bytes()}
}
