package layout

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// BenchmarkRecords reads a row of each kind of table, and beside it the API's own form of the record that it makes. MB/s
// counts the rows' bytes.
func BenchmarkRecords(b *testing.B) {
	for _, name := range []string{"duckdb-credits", "kaggle-v11", "kaggle-5000-movies", "kaggle-movies-metadata", "kaggle-raw", "id-person"} {
		text, err := os.ReadFile(filepath.Join("testdata", "ready", name+".json"))
		if err != nil {
			b.Fatal(err)
		}
		var g goldenRow
		if err := json.Unmarshal(text, &g); err != nil {
			b.Fatal(err)
		}
		row := Row{File: g.File, JSON: compactRow(b, g.Row), Table: true}
		c := Choose(Subject{Row: Row{File: g.File, Table: true}, Path: g.File, Layout: g.Layout, Rows: []string{row.JSON}}, Options{})
		if c.Meaning == nil {
			b.Fatalf("%s: no meaning: %s", name, c.Why)
		}
		recs := benchRecords(b, name, c.Meaning, row)
		own := Row{File: g.File, JSON: string(record.Append(nil, recs[0].Record)), Type: recs[0].Type}
		benchRecords(b, name+"/own", OwnForm(own.Type, ""), own)
	}
}

// benchRecords reads a row again and again, as an ingest does, and returns its records.
func benchRecords(b *testing.B, name string, m *Meaning, row Row) (recs []Record) {
	b.Helper()
	o := Options{Values: &record.Values{}}
	l := m.Reader(o)
	read := func() {
		var err error
		if recs, err = l.Records(m.Row(row)); err != nil {
			b.Fatal(name, err)
		}
		o.Values.Take()
	}
	read()
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(row.JSON)))
		b.ReportAllocs()
		for b.Loop() {
			read()
		}
	})
	return recs
}

func compactRow(tb testing.TB, raw json.RawMessage) string {
	tb.Helper()
	b, err := json.Marshal(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}
