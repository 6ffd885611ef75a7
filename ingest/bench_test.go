package ingest

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/data/sample"
)

// BenchmarkRun ingests the embedded sample; bytes counts its rows.
func BenchmarkRun(b *testing.B) {
	rows, err := fs.ReadFile(sample.FS(), "movies.ndjson")
	if err != nil {
		b.Fatal(err)
	}
	plain := put(b, b.TempDir(), "movies.ndjson", string(rows))
	from := b.TempDir()
	ingestInto(b, from, Config{Sources: []string{plain}})
	table := filepath.Join(from, movieFile)
	array := "[" + string(bytes.ReplaceAll(bytes.TrimSpace(rows), []byte("\n"), []byte(",\n"))) + "]"
	for _, bench := range []struct {
		name, src string
		memory    int64
	}{
		{"ndjson", plain, 0},
		{"ndjson.zst", put(b, b.TempDir(), "movies.ndjson.zst", zst(b, string(rows))), 0},
		{"array.gz", put(b, b.TempDir(), "movies.json.gz", gz(b, array)), 0},
		{"parquet", table, 0},
		{"spilled", plain, 1},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(rows)))
			b.ReportAllocs()
			for b.Loop() {
				dir := b.TempDir()
				if r := ingestInto(b, dir, Config{Sources: []string{bench.src}, Memory: bench.memory}); r.Quarantined > 0 {
					b.Fatalf("%d rows in quarantine", r.Quarantined)
				}
			}
		})
	}
}
