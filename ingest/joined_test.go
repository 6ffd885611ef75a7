package ingest

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// TestJoined: of files that were joined to one, headers and byte order marks after the first are nothing.
func TestJoined(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	const mark = "\xef\xbb\xbf"
	put(t, src, "movies.csv", mark+"id,title,runtime\n1,A,90\n"+mark+"id,title,runtime\n2,\"B \\\"b\\\"\",95\n")
	put(t, src, "tv.ndjson", mark+`{"id":3,"name":"C"}`+"\n"+mark+`{"id":4,"name":"D"}`+"\n")
	var log bytes.Buffer
	r := ingestInto(t, dir, Config{Sources: []string{src}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if r.Records["movie"] != 2 || r.Records["tv"] != 2 || r.Quarantined != 0 || r.Blank != 1 {
		t.Errorf("Run = %+v", r)
	}
	want := []string{`{"id":1,"runtime":90,"title":"A"}`, `{"id":2,"runtime":95,"title":"B \"b\""}`}
	if got := records(t, dir); !slices.Equal(got, want) {
		t.Errorf("records %s, want %s", got, want)
	}
	if want := `msg="passed over rows that are the header again" file=movies.csv rows=1`; !strings.Contains(log.String(), want) {
		t.Errorf("log is %s, want %s", log.String(), want)
	}
}
