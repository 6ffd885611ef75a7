package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
)

func openStore(ctx context.Context, l object.Location) (object.Bucket, error) {
	return s3.Open(ctx, l)
}

// dumps are the files of a small dump in many forms.
func dumps(t *testing.T) map[string][]byte {
	t.Helper()
	rows := `{"id":1,"title":"One"}` + "\n" + `{"id":2,"title":"Two"}` + "\n"
	var gz, zst, pq bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z} {
		if _, err := io.WriteString(w, rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	type row struct {
		ID    int64  `parquet:"id"`
		Title string `parquet:"title"`
	}
	if err := parquet.Write(&pq, []row{{1, "Ada"}, {2, "Bob"}}); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"movies/part-1.ndjson": []byte(rows), "movies/part-2.ndjson.gz": gz.Bytes(), "movies/part-3.ndjson.zst": zst.Bytes(),
		"movies/a/deep.json": []byte(`[{"id":7}]`), "movies/a-b.json": []byte(`{"id":8}`), "movies/550.json": []byte(`{"id":550}`),
		"people.parquet": pq.Bytes(), "people.csv": []byte("id,name\n1,Ada\n2,Bob\n"),
		"tv/1399-season-1.json": []byte(`{"id":3624,"season_number":1}`),
		"README.md":             []byte("# not a dump\n"), "noext": []byte(rows), ".hidden/x.json": []byte(`{}`), "movies/.tmp.json": []byte(`{}`),
	}
}

// placed puts files into a folder and into the bucket, under dumps/.
func placed(t *testing.T, files map[string][]byte) (dir string, s *objecttest.Server) {
	t.Helper()
	dir, s = filepath.Join(t.TempDir(), "dumps"), objecttest.New(t)
	for name, data := range files {
		s.Put(t, "dumps/"+name, data)
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, s
}

// TestObjectsAreLikeFiles lists and reads the same dumps in a folder and in a bucket.
func TestObjectsAreLikeFiles(t *testing.T) {
	dir, s := placed(t, dumps(t))
	for _, tt := range []struct{ src, dirSrc string }{
		{"dumps/", "."},
		{"dumps", "."},
		{"dumps/movies/part-2.ndjson.gz", "movies/part-2.ndjson.gz"},
		{"dumps/movies/*.ndjson*", "movies/*.ndjson*"},
		{"dumps/**/*.json", "**/*.json"},
		{"dumps/[mt]*", "[mt]*"},
		{"dumps/[mt]*/", "[mt]*"},
		{"dumps/*/a/*", "*/a/*"},
		{"dumps/**/part-%3F.*", "**/part-?.*"},
		{"dumps/people.parquet", "people.parquet"},
		{"dumps/movies/.*.json", "movies/.*.json"},
	} {
		for _, kind := range []string{"", "person"} {
			want := listed(t, filepath.Join(dir, tt.dirSrc), dir, kind)
			got := listed(t, s.URL(tt.src), "s3://bucket/dumps", kind)
			if !slices.Equal(got, want) {
				t.Errorf("%s, kind %q:\n got %s\nwant %s", tt.src, kind, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
			url := listed(t, "file://"+filepath.ToSlash(dir)+strings.TrimPrefix(tt.src, "dumps"), dir, kind)
			if !slices.Equal(url, want) {
				t.Errorf("file: URL of %s:\n got %s\nwant %s", tt.src, strings.Join(url, "\n     "), strings.Join(want, "\n     "))
			}
		}
	}
}

// TestEmptyElements reads objects whose keys have empty elements, which no folder could have.
func TestEmptyElements(t *testing.T) {
	s := objecttest.New(t)
	for _, key := range []string{"/movies/1.json", "d//movies/2.json", "d/movies//3.json", "d/movies/4.json", "d//.x/5.json", "d//README.md", "d/mark//"} {
		s.Put(t, key, []byte(`{"id":1}`))
	}
	for src, want := range map[string][]string{
		"":                 {"//movies/1.json", "/d//README.md", "/d//movies/2.json", "/d/movies//3.json", "/d/movies/4.json"},
		"d/":               {"/d//README.md", "/d//movies/2.json", "/d/movies//3.json", "/d/movies/4.json"},
		"d/movies/":        {"/d/movies//3.json", "/d/movies/4.json"},
		"d/**/*.json":      {"/d//movies/2.json", "/d/movies//3.json", "/d/movies/4.json"},
		"d//movies/2.json": {"/d//movies/2.json"},
	} {
		var got []string
		for _, line := range listed(t, s.URL(src), "s3://bucket", "") {
			if strings.HasPrefix(line, "/") {
				got = append(got, strings.Fields(line)[0])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q lists %q, want %q", src, got, want)
		}
	}
}

// listed describes the files of src: paths below root, the result of source.List, all rows.
func listed(t *testing.T, src, root, kind string) []string {
	t.Helper()
	var all []string
	o := source.Options{Buckets: openStore, Kind: kind, Context: t.Context(), Skipped: func(path, reason string) {
		all = append(all, "skipped "+strings.TrimPrefix(path, root)+": "+reason)
	}}
	files, err := source.List([]string{src}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimPrefix(f.Name, root)
		if f.Modified.IsZero() {
			t.Errorf("%s has no time", f.Path)
		}
		r, err := source.Open(f, o)
		if err != nil {
			t.Fatal(err)
		}
		rows, sum := 0, 0
		for {
			row, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || row.Err != nil {
				t.Fatalf("%s: %v, %v", f.Path, err, row.Err)
			}
			rows++
			for _, c := range row.JSON {
				sum = (sum*31 + int(c)) % 1_000_003
			}
		}
		all = append(all, fmt.Sprintf("%s (%s) base %s: %s %s, kind %q, %+v, %d bytes; read %d of %d bytes, %d rows, %x",
			strings.TrimPrefix(f.Path, root), name, f.Base(), r.File().Format, r.File().Compression, f.Kind, f.Address, f.Bytes, r.Consumed(), r.File().Bytes, rows, sum))
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	return all
}

func TestObjectsTwice(t *testing.T) {
	_, s := placed(t, map[string][]byte{"movies.ndjson": []byte("{}\n"), "b/movies.ndjson": []byte("{}\n")})
	files, err := source.List([]string{s.URL("dumps/movies.ndjson"), s.URL("dumps/")}, source.Options{Buckets: openStore})
	if err != nil || len(files) != 2 {
		t.Fatalf("source.List = %v, %v, want two files", files, err)
	}
	if files[0].Name != "movies.ndjson" || files[1].Name != "b/movies.ndjson" {
		t.Errorf("names are %q and %q", files[0].Name, files[1].Name)
	}
	if files, err = source.List([]string{s.URL("dumps/b/movies.ndjson"), s.URL("dumps/movies.ndjson")}, source.Options{Buckets: openStore}); err != nil || files[1].Name != "s3://bucket/dumps/movies.ndjson" {
		t.Errorf("source.List = %+v, %v, want different names", files, err)
	}
}

func TestObjectRefusals(t *testing.T) {
	_, s := placed(t, map[string][]byte{"README.md": []byte("# no dump\n"), "movies.ndjson": []byte("{}\n"), "broken.ndjson": []byte("<html>")})
	f := func(src, want string) {
		t.Helper()
		_, err := source.List([]string{src}, source.Options{Buckets: openStore, Context: t.Context()})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("source.List(%s): %v, want %s", src, err, want)
		}
	}
	f(s.URL("none"), "s3://bucket/none: no such object or folder")
	f(s.URL("none/*.json"), "s3://bucket/none/*.json: no file matches this pattern")
	f(s.URL("dumps/[a"), "s3://bucket/dumps/[a: bad pattern")
	f(s.URL("dumps/R*")+"x", "s3://bucket/dumps/R*: ") // an invalid parameter
	f("s3://other/?"+s.Query(), "s3://other/: no such object or bucket")
	f("s3://me:pw@bucket/x", "s3://bucket/x: credentials do not belong in a URL")
	f("gopher://x/y", `gopher://x/y: unknown scheme "gopher"`)
	f("file://x/y", "file://x/y: want an absolute path")
	f("file:///does/not/exist", "/does/not/exist: no such file or folder")
	files, err := source.List([]string{s.URL("dumps/broken.ndjson")}, source.Options{Buckets: openStore})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Open(files[0], source.Options{Buckets: openStore}); err == nil || !strings.Contains(err.Error(), "broken.ndjson: is an HTML page") && !strings.Contains(err.Error(), "broken.ndjson: is XML or HTML") {
		t.Errorf("Open: %v", err)
	}
	if _, err := source.Open(source.File{Path: s.URL("dumps/movies.ndjson")}, source.Options{Buckets: openStore}); err == nil {
		t.Error("source.Open of a URL that was not listed: no error")
	}
	s.Delete(t, "dumps/broken.ndjson")
	if _, err := source.Open(files[0], source.Options{Buckets: openStore}); err == nil || !strings.Contains(err.Error(), "s3://bucket/dumps/broken.ndjson: no such object") {
		t.Errorf("source.Open of what is gone: %v", err)
	}
}
