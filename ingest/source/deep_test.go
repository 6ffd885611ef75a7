package source

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDeepRows: rows that lie in a list or an object of a document are found, and read by their path.
func TestDeepRows(t *testing.T) {
	f := func(path, text string, want ...string) {
		t.Helper()
		if !slices.Contains(PathsToRows(text), path) {
			t.Errorf("PathsToRows(%s) = %q, want %s among them", text, PathsToRows(text), path)
		}
		if err := CheckRows(path); err != nil {
			t.Errorf("CheckRows(%s) = %v", path, err)
		}
		got, err := readRows(t, File{Path: write(t, "m.json", []byte(text)), Rows: path}, Options{})
		for i := range got {
			if _, row, ok := strings.Cut(got[i], " {"); ok { // after its place
				got[i] = "{" + row
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("rows at %s of %s:\n%s, %v\nwant\n%s", path, text, strings.Join(got, "\n"), err, strings.Join(want, "\n"))
		}
	}
	const a, b = `{"id":1,"title":"A"}`, `{"id":2,"title":"B"}`
	f("results", `{"page":1,"results":[`+a+`,`+b+`],"total_pages":1}`, a, b)
	f("movies", `{"movies":[`+a+`],"count":1}`, a)
	f("data.Page.media", `{"data":{"Page":{"media":[`+a+`,`+b+`]}}}`, a, b)
	f("result.movies", `{"id":1,"result":{"id":2,"movies":[{"title":"A"},`+b+`]}}`, `{"title":"A"}`, b)
	f("hits.hits[]._source", `{"took":3,"hits":{"total":1,"hits":[{"_id":"7","_source":{"title":"A"}},{"_id":"2","_source":`+b+`}]}}`, `{"id":"7","title":"A"}`, b)
	f("{}", `{"1":`+a+`,"2":{"title":"B"},"0":{}}`, a, `{"id":"2","title":"B"}`)
	f("data[].attributes", `{"data":[{"type":"movies","id":"5","attributes":{"title":"A"}}]}`, `{"id":"5","title":"A"}`)
	f("results.bindings", `{"head":{"vars":["id"]},"results":{"bindings":[{"id":{"type":"literal","value":"5"}}]}}`, `{"id":"5"}`)
	f("movies[].movie", `{"movies":[{"status":"seen","movie":`+a+`},{"status":"new"}]}`, a)
	f("columns()", `{"id":{"0":1,"1":2},"title":{"0":"A","1":"B"}}`, a, b)
	f("columns()", `{"id":[1,2],"title":["A","B"]}`, a, b)
	f("split()", `{"ok":true,"columns":["id","title"],"rows":[[1,"A"],[2,"B"]]}`, a, b)
	f("movies", `{"movies":[null,`+a+`,`+b+`]}`, a, b)
	f("movies[].movie", `{"movies":[null,{"movie":`+a+`},{"movie":null}]}`, a)
	f("split()", `{"columns":["id","title"],"index":[0,1],"data":[[1,"A"],[2,"B"]]}`, a, b)
	f("data", `{"schema":{"fields":[]},"data":[`+a+`]}`, a)
	f("_source", `{"_id":"1","_source":`+a+`}`+"\n"+`{"_id":"2","_source":`+b+`}`+"\n", a, b)
	f("a", `{"a":[{"id":1},5]}`, `m.json:1: rows a: want objects, found 5`)
	for _, path := range []string{"a..b", ".a", "a.", "a[b]", "{a}"} {
		if CheckRows(path) == nil {
			t.Errorf("CheckRows(%s) accepts it", path)
		}
	}
}

// TestDeepBlank: elements without a row are counted.
func TestDeepBlank(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.ndjson")
	if err := os.WriteFile(file, []byte(`{"page":1,"results":[{"movie":{"id":1}},{"show":{"id":2}}]}`+"\n"+`{"success":false}`+"\n"+`{"results":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(File{Path: file, Rows: "results[].movie"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for err == nil {
		_, err = r.Next()
	}
	if blank, _ := r.SkippedRows(); err != io.EOF || blank != 2 {
		t.Errorf("SkippedRows() = %d, %v, want the series and the error", blank, err)
	}
}

// FuzzDeepRows: any document and path gives rows that are JSON objects, or an error.
func FuzzDeepRows(f *testing.F) {
	f.Add(`{"a":[{"id":1}]}`, "a")
	f.Add(`{"1":{"id":{"0":5}},"2":{}}`, "{}.id")
	f.Add(`{"columns":[1],"data":[[2,3]]}`, "split()")
	f.Add(`{"a":{"0":{}}}`, "columns()")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, path string) {
		file := filepath.Join(dir, "m.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths := []string{path}
		if r, err := Open(File{Path: file}, Options{}); err == nil {
			if row, err := r.Next(); err == nil && row.Err == nil {
				paths = append(paths, PathsToRows(string(row.JSON))...)
			}
			r.Close()
		}
		for _, path := range paths {
			if CheckRows(path) != nil {
				continue
			}
			r, err := Open(File{Path: file, Rows: path}, Options{})
			if err != nil {
				continue
			}
			for range 100 {
				row, err := r.Next()
				if err != nil {
					break
				}
				if row.Err == nil && (len(row.JSON) == 0 || row.JSON[0] != '{') {
					t.Errorf("row %q at %s of %q", row.JSON, path, text)
				}
			}
			r.Close()
		}
	})
}
