package source

import (
	"encoding/json"
	"io"
	"testing"

	"reelsplice/schemas/sharedtest"
)

// TestSharedDumps counts the rows of real dumps.
func TestSharedDumps(t *testing.T) {
	tests := []struct {
		path   []string
		format Format
		kind   string
		want   int
	}{
		{[]string{"movnix", "movies.ndjson.zst"}, FormatNDJSON, "movie", 1139},
		{[]string{"movnix", "tv.ndjson.zst"}, FormatNDJSON, "tv", 780},
		{[]string{"tmdb-native-ar", "movies.ndjson.gz"}, FormatNDJSON, "movie", 17},
		{[]string{"tmdb-native-ar", "tv.ndjson.gz"}, FormatNDJSON, "tv", 18},
		{[]string{"tmdb-native-ar", "movies-list.json.gz"}, FormatArray, "movie", 2000},
		{[]string{"tmdb-native-ar", "tv-list.json.gz"}, FormatArray, "tv", 2000},
		{[]string{"tmdb-native", "movie-list-items.ndjson.gz"}, FormatNDJSON, "movie", 995},
		{[]string{"tmdb-native", "movie-550-credits.json.gz"}, FormatObjects, "movie", 1},
		{[]string{"tmdb-native", "movie-163-credits.json.gz"}, FormatNDJSON, "movie", 1},
		{[]string{"daily-ids", "keyword_ids.json.gz"}, FormatObjects, "keyword", 67483},
		{[]string{"daily-ids", "derived", "keyword_ids.json.gz"}, FormatNDJSON, "keyword", 67483},
		{[]string{"parquet-duckdb", "films.parquet"}, FormatParquet, "movie", 7380},
		{[]string{"parquet-duckdb", "credits.parquet"}, FormatParquet, "credit", 184350},
		{[]string{"parquet-pandas", "movies.parquet"}, FormatParquet, "movie", 80},
		{[]string{"parquet-pandas", "movie_cast.parquet"}, FormatParquet, "movie", 1407},
	}
	for _, tt := range tests {
		p := sharedtest.Path(t, append([]string{"dumps"}, tt.path...)...)
		if testing.Short() && tt.want == 780 {
			continue
		}
		files, err := List([]string{p}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := files[0]
		if f.Kind != tt.kind || f.Format != tt.format {
			t.Errorf("List(%s) = kind %q format %v, want %q %v", f.Name, f.Kind, f.Format, tt.kind, tt.format)
		}
		r, err := Open(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.File().Format; got != tt.format {
			t.Errorf("Open(%s) has format %v, want %v", f.Name, got, tt.format)
		}
		got := countGood(t, r)
		if got != tt.want {
			t.Errorf("%s has %d rows, want %d", f.Name, got, tt.want)
		}
		if r.Consumed() != f.Bytes {
			t.Errorf("%s: Consumed() = %d at the end, want %d", f.Name, r.Consumed(), f.Bytes)
		}
		r.Close()
	}
}

// countGood reads r to its end and fails t on a bad row.
func countGood(t *testing.T, r *Reader) int {
	t.Helper()
	for n := 0; ; n++ {
		row, err := r.Next()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if row.Err != nil {
			t.Fatal(row.Err)
		}
		if n < 100 && !json.Valid(row.JSON) {
			t.Fatalf("%v: not JSON: %.200s", row.Place, row.JSON)
		}
		if row.Place.Row != int64(n+1) {
			t.Fatalf("%v has row number %d, want %d", row.Place, row.Place.Row, n+1)
		}
	}
}
