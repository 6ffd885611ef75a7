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
	err := changeRows(strings.NewReader(in.String()), &out)
	const want = `{"id":0,"overview":"O. Revised.","popularity":8.0,"vote_count":1}
{"id":50,"overview":"O. Revised.","popularity":8.0,"vote_count":501}
{"id":100,"overview":"O. Revised.","popularity":8.0,"vote_count":1001}
`
	if err != nil || out.String() != want {
		t.Errorf("changeRows: %v:\n%swant:\n%s", err, &out, want)
	}
	if err := changeRows(strings.NewReader("{\n"), &out); err == nil || !strings.HasPrefix(err.Error(), "row 1: ") {
		t.Errorf("changeRows of a broken row: %v", err)
	}
}

func TestChangeTitles(t *testing.T) {
	dump, changes := t.TempDir(), filepath.Join(t.TempDir(), "changes")
	if err := changeTitles(dump, changes); err == nil {
		t.Error("changeTitles of an empty dump succeeds")
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"movies", "tv"} {
		write(t, filepath.Join(dump, name+".ndjson.zst"), string(z.EncodeAll([]byte(`{"id":1}`), nil)))
	}
	if err := changeTitles(dump, changes); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(changes, "tv.ndjson")); err != nil || string(data) != `{"id":1,"overview":" Revised."}`+"\n" {
		t.Errorf("the dump of changes: %q, %v", data, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
