package imdb

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// checkGolden compares all records of a join, one per line, with a file of testdata.
func checkGolden(t *testing.T, g joined, name string) {
	t.Helper()
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(g.records)) {
		b.WriteString(key + " " + g.records[key] + "\n")
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test ./ingest/imdb -update writes it", err)
	}
	if b.String() != string(want) {
		t.Errorf("%s; go test ./ingest/imdb -update writes it:\n%s\nwant\n%s", name, b.String(), want)
	}
}
