// Package buildtest makes catalogues for tests of what reads them.
package buildtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"reelsplice/data/sample"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// Catalog writes a catalogue of movies, one JSON object each, in ascending order of
// their ids, and returns its folder.
func Catalog(tb testing.TB, rows ...string) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	WriteCatalog(tb, dir, rows...)
	return dir
}

// WriteCatalog is Catalog in a given folder.
func WriteCatalog(tb interface {
	Helper()
	Fatalf(format string, args ...any)
}, dir string, rows ...string,
) {
	tb.Helper()
	w, err := catalog.Create[catalog.Movie](filepath.Join(dir, catalog.MovieFile), fragment.KindMovie.String())
	if err != nil {
		tb.Fatalf("create catalogue: %v", err)
	}
	p := wire.NewParser()
	for _, row := range rows {
		m := new(catalog.Movie)
		if err := p.Parse(row, wire.RecordOf(m)); err != nil {
			tb.Fatalf("Parse(%s): %v", row, err)
		}
		if err := w.Write(m); err != nil {
			tb.Fatalf("write catalogue: %v", err)
		}
	}
	if err := w.Commit(); err != nil {
		tb.Fatalf("write catalogue: %v", err)
	}
}

// Sample returns the embedded sample in ascending order of ids.
func Sample(tb testing.TB) []string {
	tb.Helper()
	data, err := fs.ReadFile(sample.FS(), "movies.ndjson")
	if err != nil {
		tb.Fatal(err)
	}
	byID := map[int64]string{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row struct{ ID int64 }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			tb.Fatal(err)
		}
		byID[row.ID] = lines.Text()
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	var rows []string
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		rows = append(rows, byID[id])
	}
	return rows
}
