package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// writeMovies parses the rows, writes them to a catalogue file and returns its path.
func writeMovies(tb testing.TB, rows []string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "movie.parquet")
	w, err := Create(path, TypeOf(fragment.KindMovie))
	if err != nil {
		tb.Fatal(err)
	}
	p := record.NewParser()
	for _, row := range rows {
		var m Movie
		if err := p.Parse(row, record.Of(&m)); err != nil {
			tb.Fatalf("Parse(%.80s): %v", row, err)
		}
		if err := w.Write(record.Of(&m)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// checkRows reads the file back and compares it, as JSON, with the rows.
func checkRows(t *testing.T, path string, rows []string) {
	t.Helper()
	f, err := OpenFile(path, TypeOf(fragment.KindMovie))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	it := f.Groups(0, f.RowGroups())
	defer it.Close()
	p := record.NewParser()
	for i, row := range rows {
		var want, got Movie
		if err := p.Parse(row, record.Of(&want)); err != nil {
			t.Fatal(err)
		}
		if err := it.Next(record.Of(&got)); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
		g, w := string(record.Append(nil, record.Of(&got))), string(record.Append(nil, record.Of(&want)))
		if g != w {
			t.Fatalf("row %d:\n got %s\nwant %s", i, g, w)
		}
	}
	var m Movie
	if err := it.Next(record.Of(&m)); !errors.Is(err, io.EOF) {
		t.Fatalf("after the last row: %v, want EOF", err)
	}
}

func TestFileRoundTrip(t *testing.T) {
	rows := []string{
		`{"id":1}`,
		`{"id":2,"adult":false,"backdrop_path":null,"belongs_to_collection":null,"genres":[],"title":"","overview":"x","new":{"a":1}}`,
		`{"id":3,"genres":[{"id":18,"name":"Drama"},{"id":80,"name":"Crime","x":1}],"origin_country":["US","DE"],"credits":{"cast":[],"crew":[{"id":1,"name":"A","profile_path":null}]}}`,
		`{"id":4,"watch/providers":{"results":{"US":{"link":"l","rent":[{"provider_id":1}],"buy":[]},"CA":{}}}}`,
		`{"id":5,"similar":{"page":1,"results":[{"id":9,"genre_ids":[]},{"id":10,"genre_ids":[1,2,3]}],"total_pages":1,"total_results":2}}`,
		`{"id":6,"translations":{"translations":[{"iso_639_1":"de","data":{"title":""}},{"iso_639_1":"fr","data":null},{"iso_639_1":"it"}]}}`,
		`{"id":7,"belongs_to_collection":{"id":5,"name":"C","poster_path":null,"backdrop_path":"/b"},"release_dates":{"results":[{"iso_3166_1":"US","release_dates":[{"descriptors":[]},{"descriptors":["a"]},{}]},{"iso_3166_1":"FR","release_dates":[]}]}}`,
	}
	for i := 8; i < 2000; i++ {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"%s","keywords":{"keywords":[{"id":1,"name":"k%d"}]}}`, i, strings.Repeat("t", i%90), i%7))
	}
	checkRows(t, writeMovies(t, rows), rows)
}

func TestOpenFileRefuses(t *testing.T) {
	good := writeMovies(t, []string{`{"id":1,"title":"a"}`})
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	f := func(b []byte, kind *Type, want string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "movie.parquet")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenFile(path, kind)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("OpenFile = %v, want %q and the path", err, want)
		}
	}
	movie := TypeOf(fragment.KindMovie)
	f(b[:len(b)/2], movie, "not a readable Parquet file")
	f(nil, movie, "not a readable Parquet file")
	f(b, TypeOf(fragment.KindTV), `holds "movie", want "tv"`)
	version := "a catalogue file of version " + FormatVersion
	f(table(t, FormatVersion), movie, "its columns differ from "+version+": ingest it again")
	f(table(t, "0"), movie, `not `+version+` (found "0"): ingest it again`)
}

// table is a Parquet file that says of itself what ours do, with one column.
func table(t *testing.T, version string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[struct {
		ID int64 `parquet:"id"`
	}](&b, parquet.KeyValueMetadata(versionKey, version), parquet.KeyValueMetadata(kindKey, "movie"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// BenchmarkMovie measures what is done with a long record: bytes are those of its JSON.
func BenchmarkMovie(b *testing.B) {
	raw, err := os.ReadFile(sharedtest.Path(b, "recorded", "movie", "details-append--krelinga-550-append5.json"))
	if err != nil {
		b.Fatal(err)
	}
	p, row, rows := record.NewParser(), string(raw), make([]string, 64)
	for i := range rows {
		rows[i] = row
	}
	f, err := OpenFile(writeMovies(b, rows), TypeOf(fragment.KindMovie))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	it := f.Groups(0, f.RowGroups())
	var m Movie
	if err := p.Parse(row, record.Of(&m)); err != nil {
		b.Fatal(err)
	}
	binary := string(record.AppendBinary(nil, record.Of(&m)))
	var dst []byte
	for name, do := range map[string]func() error{
		"parse":  func() error { return p.Parse(row, record.Of(new(Movie))) },
		"append": func() error { dst = record.Append(dst[:0], record.Of(&m)); return nil },
		"binary": func() error { return record.DecodeBinary(binary, record.Of(new(Movie))) },
		"file": func() error {
			err := it.Next(record.Of(new(Movie)))
			if errors.Is(err, io.EOF) {
				it.Close()
				it, err = f.Groups(0, f.RowGroups()), nil
			}
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
