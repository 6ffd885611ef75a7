package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestParts: a folder with the name of a file is one file, with the meaning of its first part that has rows.
func TestParts(t *testing.T) {
	src := t.TempDir()
	own := catalogOf(t, `{"id":1,"title":"A"}`)
	more := catalogOf(t, `{"id":2,"title":"B"}`)
	put(t, src, "films.parquet/_SUCCESS", "")
	put(t, src, "films.parquet/_metadata", own)
	put(t, src, "films.parquet/_common_metadata", own)
	put(t, src, "films.parquet/part-00000-9b.parquet.crc", "crc")
	put(t, src, "films.parquet/part-00000-9b.parquet", own)
	put(t, src, "films.parquet/status=Released/part-00001-9b.parquet", more)
	put(t, src, "shows.csv/part-00000-1a.csv", "") // Spark writes parts without rows
	put(t, src, "shows.csv/part-00001-1a.csv", "name,tmdb_id,seen\nC,3,yes\n")
	put(t, src, "shows.csv/part-00002-1a.csv", "name,tmdb_id,seen\nD,4,no\n")
	put(t, src, "shows.toml", "[[table]]\nrequires = ['tmdb_id']\n[[table.record]]\nkind = 'tv'\nfields.id = 'tmdb_id'\nfields.name = 'name'\n[[table.ignore]]\ncolumn = 'seen'\n")
	for _, sources := range [][]string{
		{src}, {filepath.Join(src, "films.parquet"), filepath.Join(src, "shows.csv")}, {filepath.Join(src, "films.parquet/**/*.parquet"), filepath.Join(src, "shows.csv/part-*.csv")},
	} {
		dir := t.TempDir()
		r := ingestInto(t, dir, Config{Sources: sources})
		if r.Records["movie"] != 2 || r.Records["tv"] != 2 || r.Quarantined != 0 || len(r.Skipped) != 0 || r.FailedFiles != 0 {
			t.Errorf("%v: Run = %+v", sources, r)
		}
		var fits []string
		for _, f := range r.Columns {
			fits = append(fits, f.File)
		}
		if want := []string{"films.parquet", "shows.csv"}; !slices.Equal(fits, want) {
			t.Errorf("%v: files %q, want %q", sources, fits, want)
		}
	}
	explained, err := Explain(t.Context(), Config{Sources: []string{filepath.Join(src, "shows.csv")}})
	if err != nil || len(explained.Files) != 1 {
		t.Errorf("explained %d files, %v, want the parts as one", len(explained.Files), err)
	}
}

// catalogOf returns the catalogue's Parquet file of movies.
func catalogOf(t *testing.T, rows string) string {
	t.Helper()
	dir := t.TempDir()
	ingestInto(t, dir, Config{Sources: []string{put(t, t.TempDir(), "movies.ndjson", rows+"\n")}})
	b, err := os.ReadFile(filepath.Join(dir, movieFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLakeTables: the files of a table with a log have rows that were removed.
func TestLakeTables(t *testing.T) {
	for _, tt := range []struct{ log, want string }{
		{"_delta_log/00000000000000000000.json", ": is a Delta table, whose files also have rows that were removed: write its rows to one file, such as with DuckDB: COPY (FROM delta_scan('"},
		{"metadata/00001-5f.metadata.json", ": is an Iceberg table"},
		{"metadata/v1.metadata.json", "COPY (FROM iceberg_scan('"},
	} {
		src := t.TempDir()
		put(t, src, "movies/data/part-0.csv", "id,title\n1,A\n")
		put(t, src, "movies/"+tt.log, "{}\n")
		for _, source := range []string{src, filepath.Join(src, "movies"), "file://" + src} {
			_, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{source}})
			if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(src, "movies")) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s of %s: %v, want %s", source, tt.log, err, tt.want)
			}
		}
	}
}
