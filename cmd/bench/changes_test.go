package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestChangeRows(t *testing.T) {
	var in strings.Builder
	for i := range 101 {
		fmt.Fprintf(&in, `{"id":%d,"overview":"O.","popularity":8.0,"vote_count":%d}`+"\n", i, 10*i)
	}
	var out bytes.Buffer
	n, err := changeRows(strings.NewReader(in.String()), &out)
	const want = `{"id":0,"overview":"O. Revised.","popularity":8.0,"vote_count":1}
{"id":50,"overview":"O. Revised.","popularity":8.0,"vote_count":501}
{"id":100,"overview":"O. Revised.","popularity":8.0,"vote_count":1001}
`
	if err != nil || n != 3 || out.String() != want {
		t.Errorf("changeRows = %d, %v:\n%swant:\n%s", n, err, &out, want)
	}
	if _, err := changeRows(strings.NewReader("{\n"), &out); err == nil || !strings.HasPrefix(err.Error(), "row 1: ") {
		t.Errorf("changeRows of a broken row: %v", err)
	}
}

// TestChangeTitles makes a night of a dump that has no series.
func TestChangeTitles(t *testing.T) {
	dump, night := t.TempDir(), filepath.Join(t.TempDir(), "night")
	if _, err := changeTitles(dump, night); err == nil {
		t.Error("changeTitles of an empty dump succeeds")
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dump, "movies.ndjson.zst"), string(z.EncodeAll([]byte(`{"id":1}`), nil)))
	if n, err := changeTitles(dump, night); err != nil || n != 1 {
		t.Errorf("changeTitles = %d, %v, want one title", n, err)
	}
	if data, err := os.ReadFile(filepath.Join(night, "movies.ndjson")); err != nil || string(data) != `{"id":1,"overview":" Revised."}`+"\n" {
		t.Errorf("the dump of the night: %q, %v", data, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
