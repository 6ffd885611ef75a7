package layout

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkRecords reads a row of each kind of table. MB/s are those of the rows.
func BenchmarkRecords(b *testing.B) {
	for _, name := range []string{"duckdb-credits", "kaggle-v11", "kaggle-5000-movies", "kaggle-movies-metadata", "kaggle-raw", "id-person"} {
		b.Run(name, func(b *testing.B) {
			text, err := os.ReadFile(filepath.Join("testdata", "ready", name+".json"))
			if err != nil {
				b.Fatal(err)
			}
			var g goldenRow
			if err := json.Unmarshal(text, &g); err != nil {
				b.Fatal(err)
			}
			l := newReader(g.Layout, Options{})
			row := Row{File: g.File, JSON: compactRow(b, g.Row), Table: true}
			b.SetBytes(int64(len(row.JSON)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Records(row); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func compactRow(tb testing.TB, raw json.RawMessage) string {
	tb.Helper()
	b, err := json.Marshal(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}
