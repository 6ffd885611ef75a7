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

// parsed returns the records of rows.
func parsed(tb testing.TB, typ *Type, rows ...string) (list []record.Record) {
	tb.Helper()
	p := record.NewParser()
	for _, row := range rows {
		r := typ.New()
		if err := p.Parse(row, r); err != nil {
			tb.Fatalf("Parse(%.80s): %v", row, err)
		}
		list = append(list, r)
	}
	return list
}

// create starts a file with records.
func create(tb testing.TB, path string, typ *Type, records ...record.Record) *Writer {
	tb.Helper()
	w, err := Create(path, typ)
	sharedtest.NoError(tb, err)
	for _, r := range records {
		sharedtest.NoError(tb, w.Write(r))
	}
	return w
}

// writeMovies writes rows to a catalogue file and returns its path.
func writeMovies(tb testing.TB, rows []string) string {
	tb.Helper()
	path, movie := filepath.Join(tb.TempDir(), "movie.parquet"), TypeOf(fragment.KindMovie)
	sharedtest.NoError(tb, create(tb, path, movie, parsed(tb, movie, rows...)...).Commit())
	return path
}

// checkRows reads the file back and compares it, as JSON, with the rows.
func checkRows(t *testing.T, path string, rows []string) {
	t.Helper()
	f, err := OpenFile(path, TypeOf(fragment.KindMovie))
	sharedtest.NoError(t, err)
	defer f.Close()
	it := f.Groups(0, f.RowGroups())
	defer it.Close()
	for i, want := range parsed(t, TypeOf(fragment.KindMovie), rows...) {
		var got Movie
		if err := it.Next(record.Of(&got)); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
		if g, w := string(record.Append(nil, record.Of(&got))), string(record.Append(nil, want)); g != w {
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
	sharedtest.NoError(t, err)
	f := func(b []byte, kind *Type, want string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "movie.parquet")
		sharedtest.NoError(t, os.WriteFile(path, b, 0o600))
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
	sharedtest.NoError(t, w.Close())
	return b.Bytes()
}

// BenchmarkMovie measures what is done with a long record: bytes are those of its JSON.
func BenchmarkMovie(b *testing.B) {
	raw, err := os.ReadFile(sharedtest.Path(b, "recorded", "movie", "details-append--krelinga-550-append5.json"))
	sharedtest.NoError(b, err)
	p, row, rows := record.NewParser(), string(raw), make([]string, 64)
	for i := range rows {
		rows[i] = row
	}
	f, err := OpenFile(writeMovies(b, rows), TypeOf(fragment.KindMovie))
	sharedtest.NoError(b, err)
	defer f.Close()
	it := f.Groups(0, f.RowGroups())
	var m Movie
	sharedtest.NoError(b, p.Parse(row, record.Of(&m)))
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
				sharedtest.NoError(b, do())
			}
		})
	}
}
