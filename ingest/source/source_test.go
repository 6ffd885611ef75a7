package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

// write makes a file in a folder of its own.
func write(tb testing.TB, name string, data []byte) string {
	tb.Helper()
	p := filepath.Join(tb.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(p, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return p
}

func gz(tb testing.TB, data string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(data))
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func zst(tb testing.TB, data string) []byte {
	tb.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return w.EncodeAll([]byte(data), nil)
}

// readFile returns the rows of a file, as "place json" or as the error of a bad row,
// and the error that ended it.
func readFile(tb testing.TB, p string, o Options) (rows []string, err error) {
	tb.Helper()
	return readRows(tb, File{Path: p}, o)
}

func readRows(tb testing.TB, f File, o Options) (rows []string, err error) {
	tb.Helper()
	r, err := Open(f, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		row, err := r.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			if _, again := r.Next(); again != err {
				tb.Errorf("Next after %v returns %v", err, again)
			}
			return rows, err
		}
		if row.Err != nil {
			rows = append(rows, row.Err.Error())
			continue
		}
		found := row.JSON
		if row.Raw != nil {
			found = row.Raw
		}
		if !json.Valid(row.JSON) || int64(len(found)) != row.Size {
			tb.Errorf("%v: %d bytes, Size %d, valid %v", row.Place, len(row.JSON), row.Size, json.Valid(row.JSON))
		}
		rows = append(rows, row.Place.String()+" "+string(row.JSON))
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRows(t *testing.T) {
	deep := strings.Repeat(`{"a":`, limit.MaxDepth-1) + "{}" + strings.Repeat("}", limit.MaxDepth-1)
	tests := []struct {
		name, data string
		want       []string
		err        string
	}{
		// NDJSON
		{"m.ndjson", "{\"a\":1}\n{\"a\":2}\n", []string{`m.ndjson:1 {"a":1}`, `m.ndjson:2 {"a":2}`}, ""},
		{"m.ndjson", "\xef\xbb\xbf\n\r\n {\"a\":1} \r\n\r\n\t\n{\"a\":2}", []string{`m.ndjson:3 {"a":1}`, `m.ndjson:6 {"a":2}`}, ""},
		{"m.ndjson", "{\"a\":\"x\u2028y\u0085\"}\n{}\n", []string{"m.ndjson:1 {\"a\":\"x\u2028y\u0085\"}", `m.ndjson:2 {}`}, ""},
		{"m.ndjson", "{\"a\":1}\n  {\"a\":tru}\n{\"a\":3}\n", []string{`m.ndjson:1 {"a":1}`, `m.ndjson:2: byte 10: invalid character '}' in literal true (expecting 'e')`, `m.ndjson:3 {"a":3}`}, ""},
		{"m.ndjson", "{\"a\":1}\n[1]\n\"x\"\n7\nnull\nfalse\n", []string{
			`m.ndjson:1 {"a":1}`, `m.ndjson:2: byte 0: want an object, found an array`, `m.ndjson:3: byte 0: want an object, found a string`,
			`m.ndjson:4: byte 0: want an object, found a number`, `m.ndjson:5: byte 0: want an object, found null`, `m.ndjson:6: byte 0: want an object, found a boolean`,
		}, ""},
		{"m.ndjson", "{\"a\":1}\n{\"a\":\"\x94\"}\n{}\n", []string{`m.ndjson:1 {"a":1}`, `m.ndjson:2: byte 6: invalid UTF-8`, `m.ndjson:3 {}`}, ""},
		{"m.ndjson", "{\"a\":\"cut\n{\"a\":2}\n", []string{`m.ndjson:1: byte 9: unexpected end of JSON input`, `m.ndjson:2 {"a":2}`}, ""},
		{"m.ndjson", "{\"a\":1,\n{\"a\":2}\n", []string{`m.ndjson:1: byte 7: unexpected end of JSON input`, `m.ndjson:2 {"a":2}`}, ""},
		{"m.json", "{\"a\":[1,\n{\"a\":2}]}\n", []string{"m.json:1 {\"a\":[1,\n{\"a\":2}]}"}, ""},
		{"m.ndjson", "{\"a\":{\"b\":1\n{\"a\":2}\n", []string{`m.ndjson:1: byte 11: unexpected end of JSON input`, `m.ndjson:2 {"a":2}`}, ""},
		{"m.ndjson", "\"end\":1}\n{\"a\":2}\n", []string{`m.ndjson:1: byte 5: invalid character ':' after top-level value`, `m.ndjson:2 {"a":2}`}, ""},
		{"m.ndjson", "{\"a\":1},\n{\"a\":2}\n", []string{`m.ndjson:1: byte 7: invalid character ',' after top-level value`, `m.ndjson:2 {"a":2}`}, ""},
		{"m.ndjson", deep + "\n{\"a\":" + deep + "}\n{}\n", []string{`m.ndjson:1 ` + deep, `m.ndjson:2: byte 2560: nested deeper than 512 levels`, `m.ndjson:3 {}`}, ""},
		{"550.json", `{"id":550}`, []string{`550.json:1 {"id":550}`}, ""},
		// One document, or several after each other
		{"550.json", "\n{\n \"id\": 550\n}\n", []string{"550.json:2 {\n \"id\": 550\n}"}, ""},
		{"k.json", "{\n \"id\": 1\n}\n{\n \"id\": \"}\\\"\"\n}", []string{"k.json:1 {\n \"id\": 1\n}", "k.json:4 {\n \"id\": \"}\\\"\"\n}"}, ""},
		{"k.json", "{}{\"a\":[{}]} {}", []string{"k.json:1 {}", "k.json:1 {\"a\":[{}]}", "k.json:1 {}"}, ""},
		{"k.json", "{\n}\n[1]\n12\n\"x\"\nnull", []string{"k.json:1 {\n}", "k.json:3: byte 0: want an object, found an array", "k.json:4: byte 0: want an object, found a number", "k.json:5: byte 0: want an object, found a string", "k.json:6: byte 0: want an object, found null"}, ""},
		{"k.json", "{\n}\n{\n\"a\" 1}", []string{"k.json:1 {\n}"}, `k.json: row 2 (line 3): byte 6: invalid character '1' after object key (rows read before it: 1)`},
		{"k.json", "{\n}\n{\n\"a\":1]}", []string{"k.json:1 {\n}"}, `k.json: row 2 (line 3): byte 7: invalid character ']' after object key:value pair (rows read before it: 1)`},
		{"k.json", "{\n}\n{\n\"a\":\"x\n\"}", []string{"k.json:1 {\n}"}, `k.json: row 2 (line 3): byte 8: found a line break in a string (rows read before it: 1)`},
		{"k.json", "{\n}\n}\n{}", []string{"k.json:1 {\n}"}, `k.json: row 2 (line 3): byte 0: invalid character '}' looking for beginning of value (rows read before it: 1)`},
		{"k.json", "{\n}\n{\n\"a\":1", []string{"k.json:1 {\n}"}, `k.json: row 2 (line 3): file ends inside the row (rows read before it: 1)`},
		{"k.json", "{\n\"a\":\"\xff\"}\n{}", []string{"k.json:1: byte 7: invalid UTF-8", "k.json:3 {}"}, ""},
		// JSON array
		{"l.json", "[]", []string{}, ""},
		{"l.json", "[\n]\n", []string{}, ""},
		{"l.json", " [ {\"a\":1}\n,\n{\"a\":[2,{}]} ] \n", []string{`l.json:1 {"a":1}`, `l.json:3 {"a":[2,{}]}`}, ""},
		{"l.json", "[{},1,null,\"a,]\",[],{}]", []string{
			`l.json:1 {}`, `l.json:1: byte 0: want an object, found a number`, `l.json:1: byte 0: want an object, found null`,
			`l.json:1: byte 0: want an object, found a string`, `l.json:1: byte 0: want an object, found an array`, `l.json:1 {}`,
		}, ""},
		{"l.json", "[{},{\"a\":" + deep + "},{}]", []string{`l.json:1 {}`, `l.json:1: byte 2560: nested deeper than 512 levels`, `l.json:1 {}`}, ""},
		{"l.json", "[{},\n{\"a\":nul},{}]", []string{`l.json:1 {}`}, `l.json: row 2 (line 2): byte 8: invalid character '}' in literal null (expecting 'l') (rows read before it: 1)`},
		{"l.json", "[{}\n{}]", []string{`l.json:1 {}`}, `l.json: row 2 (line 2): found '{', want ',' or ']' after an element of the array (rows read before it: 1)`},
		{"l.json", "[{},]", []string{`l.json:1 {}`}, `l.json: row 2 (line 1): byte 0: invalid character ']' looking for beginning of value (rows read before it: 1)`},
		{"l.json", "[,{}]", []string{}, `l.json: row 1 (line 1): byte 0: invalid character ',' looking for beginning of value (rows read before it: 0)`},
		{"l.json", "[{}", []string{`l.json:1 {}`}, `l.json: row 2 (line 1): file ends inside the array (rows read before it: 1)`},
		{"l.json", "[{},", []string{`l.json:1 {}`}, `l.json: row 2 (line 1): file ends inside the array (rows read before it: 1)`},
		{"l.json", "[", []string{}, `l.json: row 1 (line 1): file ends inside the array (rows read before it: 0)`},
		{"l.json", "[{},{\"a\":1", []string{`l.json:1 {}`}, `l.json: row 2 (line 1): file ends inside the row (rows read before it: 1)`},
		{"l.json", "[{}]\n[{}]", []string{`l.json:1 {}`}, `l.json: row 2 (line 2): found '[' after the end of the array (rows read before it: 1)`},
	}
	for _, tt := range tests {
		for _, pack := range []func(testing.TB, string) []byte{func(_ testing.TB, s string) []byte { return []byte(s) }, gz, zst} {
			got, err := readFile(t, write(t, tt.name, pack(t, tt.data)), Options{})
			if len(got)+len(tt.want) > 0 && !reflect.DeepEqual(got, tt.want) || errText(err) != tt.err {
				t.Errorf("%.60q gives\n%.300q, %v\nwant\n%.300q, %s", tt.data, got, err, tt.want, tt.err)
			}
		}
	}
}

func TestPlace(t *testing.T) {
	r, err := Open(File{Path: write(t, "m.ndjson", []byte("\xef\xbb\xbf\n{}\n\n {\"a\":}\n"))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	row, _ := r.Next()
	if want := (Place{File: "m.ndjson", Row: 1, Line: 2, Off: 4}); row.Place != want {
		t.Errorf("first row at %+v, want %+v", row.Place, want)
	}
	row, _ = r.Next()
	want := &RowError{Place: Place{File: "m.ndjson", Row: 2, Line: 4, Off: 8}, Off: 6, Reason: "byte 6: invalid character '}' looking for beginning of value"}
	var got *RowError
	if !errors.As(row.Err, &got) || *got != *want || string(row.JSON) != `{"a":}` {
		t.Errorf("second row is %q with %+v, want %+v", row.JSON, got, want)
	}
	if s := (Place{File: "m.parquet", Row: 17, Off: -1}).String(); s != "m.parquet: row 17" {
		t.Errorf("place without a line is %q", s)
	}
}

func TestRefusals(t *testing.T) {
	f := func(name, data, want string) {
		t.Helper()
		if _, err := readFile(t, write(t, name, []byte(data)), Options{}); errText(err) != want {
			t.Errorf("%s with %.40q gives %q, want %q", name, data, errText(err), want)
		}
	}
	lfs := "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n"
	f("movies.ndjson", lfs, `movies.ndjson: is a Git LFS pointer, not the data: fetch it with "git lfs pull" first`)
	f("movies.parquet", lfs, `movies.parquet: is a Git LFS pointer, not the data: fetch it with "git lfs pull" first`)
	for _, blank := range []string{"", "\n", " \t\r\n", "\xef\xbb\xbf", string(gz(t, "")), string(gz(t, "\n \n")), string(zst(t, "\n"))} {
		f("movies.ndjson", blank, "movies.ndjson: empty file")
	}
	f("m.json", "{\x00\"\x00", "m.json: not UTF-8; looks like utf-16le: --encoding utf-16le")
	f("m.json", "{u'title': u'x'}", "m.json: is a Python repr, not JSON (found {u'): write it with json.dumps")
	f("m.json", "[\n {'title': 'x'}]", "m.json: is a Python repr, not JSON (found {'): write it with json.dumps")
	f("m.json", "{u\"title\": u'x'}", "m.json: is a Python repr, not JSON (found {u\"): write it with json.dumps")
	f("m.json", "\n<!DOCTYPE html><html>", "m.json: is an HTML page, not a dump: probably an error page saved in its place")
	f("ids.txt", "tt0137523\nmovie 550\n", "ids.txt: is a list of ids: fetch what it names with reelsplice crawl --from URL --key-file KEY --out DIR --ids FILE")
	f("ids.txt", "550\n603\n", "ids.txt: is a list of ids: fetch what it names with reelsplice crawl --from URL --key-file KEY --out DIR --ids FILE")
	f("ids", "movie 550 # one\n", "ids: is a list of ids: fetch what it names with reelsplice crawl --from URL --key-file KEY --out DIR --ids FILE")
	f("m.nfo", "<?xml version=\"1.0\"?>\n<movie>\n<title>A</title></movie>", "m.nfo: is an NFO file, which names a title: fetch it with reelsplice crawl --from URL --key-file KEY --out DIR --ids FILE")
	f("m.json", "<?xml version=\"1.0\"?>", "m.json: is XML or HTML, not JSON")
	f("m.json", "id,title\n", `m.json: want JSON, CSV, TSV or Parquet, found text that starts with "id,title": the first line of a table must name its columns`)
	f("m.json", "id,title\n1,x\n", "m.json: is CSV or TSV, but has the extension .json: rename it to .csv or .tsv")
	f("m.ndjson.gz", string(gz(t, "\"id\";\"Name of it\"\r\n\"1\";\"x\"\r\n")), "m.ndjson.gz: is CSV or TSV, but has the extension .ndjson: rename it to .csv or .tsv")
	f("m.parquet", "id\ttitle\n1\tx\n", "m.parquet: is CSV or TSV, but has the extension .parquet: rename it to .csv or .tsv")
	f("m.json", "PK\x03\x04", "m.json: is a zip archive: unpack it first")
	for _, book := range []string{
		"PK\x03\x04\x14\x00\x06\x00" + strings.Repeat("\x00", 22) + "[Content_Types].xml", // .xlsx, .xlsm of Excel
		"PK\x03\x04" + strings.Repeat("\x00", 26) + "docProps/app.xml",                    // of pandas
		"PK\x03\x04" + strings.Repeat("\x00", 26) + "xl/_rels/workbook.xml",               // of LibreOffice
		"PK\x03\x04" + strings.Repeat("\x00", 26) + "mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00", // .xls, and .xlsx with a password
	} {
		f("m.xlsx", book, "m.xlsx: is a workbook of Excel or LibreOffice: save each sheet as CSV UTF-8, and ingest that")
		f("m.csv", book, "m.csv: is a workbook of Excel or LibreOffice: save each sheet as CSV UTF-8, and ingest that")
	}
	f("m.avro", "Obj\x01\x04\x14avro.codec", "m.avro: is an Avro file: write its rows as Parquet or NDJSON")
	f("m.csv", "%PDF-1.4\n%\xe2\xe3", "m.csv: is a PDF: want the table that it was made from")
	f("setup.cfg", "[options]\nzip_safe = False\n", "setup.cfg: is a file of settings, not JSON")
	f("m.json", "BZh91", "m.json: is compressed with bzip2, want gzip or zstd")
	f("m.json", "\xfd7zXZ\x00\x00", "m.json: is compressed with xz, want gzip or zstd")
	f("m.json.gz", string(gz(t, string(gz(t, "{}")))), "m.json.gz: is compressed twice: unpack it first")
	f("m.tar.gz", string(gz(t, "movie.json"+strings.Repeat("\x00", 247)+"ustar\x00")), "m.tar.gz: is a tar archive: unpack it first")
	f("m.parquet", "PARE....PARE", "m.parquet: is an encrypted Parquet file")
	f("m.parquet", "PAR1", "m.parquet: truncated Parquet file: want at least 12 bytes, found 4")
	f("m.parquet", "PAR1 and no end", `m.parquet: truncated Parquet file: want PAR1 as the last 4 bytes, found " end"`)
	f("m.parquet", "PAR1\xff\xff\xff\x7fPAR1", "m.parquet: corrupt Parquet footer: its length is 2147483647 bytes in a file of 12")
	f("m.parquet.gz", string(gz(t, "PAR1....PAR1")), "m.parquet.gz: corrupt Parquet footer: its length is 774778414 bytes in a file of 12")
	f("m.json.gz", "\x1f\x8b\x08", "m.json.gz: unexpected end of gzip stream")
	f("m.json.gz", "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00\x00", "m.json.gz: corrupt gzip stream: gzip: invalid header")
	f("m.json.zst", "\x28\xb5\x2f\xfd", "m.json.zst: unexpected end of zstd stream")
	dir := t.TempDir()
	if _, err := Open(File{Path: dir, Name: "x"}, Options{}); errText(err) != "x: is a folder, want a file" {
		t.Errorf("Open of a folder: %v", err)
	}
	if _, err := Open(File{Path: filepath.Join(dir, "none")}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of nothing: %v", err)
	}
}

func TestDamagedStreams(t *testing.T) {
	var lines, list strings.Builder
	list.WriteString("[")
	for i := range 30000 {
		row := `{"id":` + strings.Repeat("7", i%9+1) + `,"s":"` + strings.Repeat(string(rune('a'+i*7%26)), i%50) + "\"}"
		lines.WriteString(row + "\n")
		list.WriteString(row + ",\n")
	}
	cutAt := func(b []byte, n int) []byte { return b[:len(b)-n] }
	flip := func(b []byte, n int) []byte { b[len(b)-n] ^= 0x10; return b }
	f := func(name string, data []byte, minRows int, want string) {
		t.Helper()
		rows, err := readFile(t, write(t, name, data), Options{})
		var fe *FileError
		if !errors.As(err, &fe) || len(rows) < minRows || fe.Row != int64(len(rows)+1) || fe.Line != fe.Row || fe.Err.Error() != want {
			t.Errorf("%s: %d rows, then %v, want at least %d, then %s", name, len(rows), err, minRows, want)
		}
	}
	g, z := gz(t, lines.String()), zst(t, lines.String())
	f("gz cut by 8", cutAt(g, 8), 30000, "unexpected end of gzip stream")
	f("gz cut by 1000", cutAt(g, 1000), 20000, "unexpected end of gzip stream")
	f("gz checksum", flip(bytes.Clone(g), 6), 30000, "corrupt gzip stream: gzip: invalid checksum")
	f("gz garbage", append(bytes.Clone(g), "garbage here"...), 30000, "corrupt gzip stream: gzip: invalid header")
	f("gz second member cut", append(bytes.Clone(g), g[:5]...), 30000, "unexpected end of gzip stream")
	f("zst cut by 4", cutAt(z, 4), 20000, "unexpected end of zstd stream")
	f("zst cut by 1000", cutAt(z, 1000), 10000, "unexpected end of zstd stream")
	f("zst garbage", append(bytes.Clone(z), "garbage here"...), 30000, "corrupt zstd stream: invalid input: magic number mismatch")
	rows, err := readFile(t, write(t, "l.json.gz", cutAt(gz(t, list.String()), 1000)), Options{})
	if len(rows) < 20000 || !strings.HasSuffix(errText(err), "unexpected end of gzip stream (rows read before it: "+itoa(len(rows))+")") {
		t.Errorf("cut array: %d rows, then %v", len(rows), err)
	}
	rows, err = readFile(t, write(t, "two.gz", append(bytes.Clone(g), g...)), Options{})
	if len(rows) != 60000 || err != nil {
		t.Errorf("two members: %d rows, then %v, want 60000", len(rows), err)
	}
	rows, err = readFile(t, write(t, "two.zst", append(bytes.Clone(z), z...)), Options{})
	if len(rows) != 60000 || err != nil {
		t.Errorf("two frames: %d rows, then %v, want 60000", len(rows), err)
	}
	rows, err = readFile(t, write(t, "movies.ndjson.gz", cutAt(gz(t, "{\"a\":1}\n{\"a\":2}\n"), 8)), Options{})
	if len(rows) != 2 || errText(err) != "movies.ndjson.gz: row 3 (line 3): unexpected end of gzip stream" {
		t.Errorf("small cut file: %q, then %v", rows, err)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestZstdWindow(t *testing.T) {
	// A frame header with a window of 1 GiB, then nothing.
	p := write(t, "m.zst", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 0x01, 0x00, 0x00})
	want := "m.zst: zstd window is larger than 134217728 bytes: compress it again with a smaller --long"
	if _, err := readFile(t, p, Options{}); errText(err) != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestLongRows(t *testing.T) {
	o := Options{Limits: limit.Limits{MaxRowBytes: 10 << 10}}
	long := `{"s":"` + strings.Repeat("x", 1<<20) + `"}`
	fits := `{"s":"` + strings.Repeat("y", 10<<10-8) + `"}`
	for name, data := range map[string]string{
		"m.ndjson": "{}\n" + long + "\n" + fits + "\n{}\n" + long,
		"a.json":   "[{},\n" + long + ",\n" + fits + ",\n{},\n" + long + "]",
		"o.json":   "{\n}" + long + "\n" + fits + "\n{}\n" + long + "\n",
	} {
		r, err := Open(File{Path: write(t, name, []byte(data))}, o)
		if err != nil {
			t.Fatal(err)
		}
		var good, bad int
		for {
			row, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if row.Err == nil {
				good++
				continue
			}
			bad++
			want := row.Place.String() + ": row is longer than 10240 bytes"
			if row.Err.Error() != want || row.Size != int64(len(long)) || string(row.JSON) != long[:longRowHead] {
				t.Errorf("%s: error %v, Size %d, %d bytes kept, want %s", name, row.Err, row.Size, len(row.JSON), want)
			}
		}
		if good != 3 || bad != 2 {
			t.Errorf("%s: %d good and %d bad rows, want 3 and 2", name, good, bad)
		}
		r.Close()
	}
}

// TestHugeLine streams a line of 200 MB and looks at what it costs in memory.
func TestHugeLine(t *testing.T) {
	p := filepath.Join(t.TempDir(), "movies.ndjson")
	f, err := os.Create(p)
	if err != nil {
		t.Fatal(err)
	}
	z, _ := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	io.WriteString(z, "{\"a\":1}\n{\"a\":\"")
	for range 200 {
		z.Write(chunk)
	}
	io.WriteString(z, "\"}\n{\"a\":3}\n")
	z.Close()
	f.Close()
	want := []string{`movies.ndjson:1 {"a":1}`, "movies.ndjson:2: row is longer than 67108864 bytes", `movies.ndjson:3 {"a":3}`}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	got, err := readFile(t, p, Options{Limits: limit.Limits{MaxRatio: -1}})
	runtime.ReadMemStats(&after)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("rows are %q, %v, want %q", got, err, want)
	}
	// The buffer doubles up to the limit: twice the limit is allocated in all.
	if n := after.TotalAlloc - before.TotalAlloc; n > 2*limit.DefaultMaxRowBytes+32<<20 {
		t.Errorf("allocated %d bytes", n)
	}
}

// TestLongBlankLines: white space around a row is no part of it, and alone it is no row,
// however long it is.
func TestLongBlankLines(t *testing.T) {
	blanks := strings.Repeat(" \t\r", 1<<20)
	long := "{\"s\":\"" + strings.Repeat("x", 1<<10) + "\"}"
	got, err := readFile(t, write(t, "m.ndjson", []byte("{}\n"+blanks+"\n"+blanks+"{}\n"+blanks+"{]\n"+blanks+long+"\n"+blanks)), Options{Limits: limit.Limits{MaxRowBytes: 1 << 10}})
	want := []string{"m.ndjson:1 {}", "m.ndjson:3 {}", "m.ndjson:4: byte 3145729: invalid character ']' looking for beginning of object key string", "m.ndjson:5: row is longer than 1024 bytes"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("rows are %q, %v, want %q", got, err, want)
	}
}

func TestManyBlanks(t *testing.T) {
	blanks := strings.Repeat(" \n", 300<<10)
	got, err := readFile(t, write(t, "m.json", []byte(blanks+"{}\n"+blanks+"{}"+blanks)), Options{Limits: limit.Limits{MaxRowBytes: 1 << 10}})
	if err != nil || !reflect.DeepEqual(got, []string{"m.json:307201 {}", "m.json:614402 {}"}) {
		t.Errorf("rows are %q, %v", got, err)
	}
}

func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() { w.Write(gz(t, "{}\n{}\n")); w.Close() }()
	p := "/dev/fd/" + itoa(int(r.Fd()))
	if _, err := os.Stat(p); err != nil {
		t.Skip(err)
	}
	files, err := List([]string{p}, Options{Kind: "movie"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readFile(t, files[0].Path, Options{})
	if err != nil || len(rows) != 2 {
		t.Errorf("rows are %q, %v, want two", rows, err)
	}
}

// TestExtendedJSON: rows of MongoDB's tools have the values themselves.
func TestExtendedJSON(t *testing.T) {
	for _, tt := range []struct{ found, want string }{
		{`{"_id":{"$oid":"5b2d1ba70e0a26431d004b10"},"a":1}`, `{"_id":"5b2d1ba70e0a26431d004b10","a":1}`},
		{`{"a":[{"$numberInt":"5"},{"$numberLong":"-6"}],"b":{"c":{ "$numberDouble" : "7.5" }}}`, `{"a":[5,-6],"b":{"c":7.5}}`},
		{`{"a":{"$numberDecimal":"9.99E+2"},"b":{"$numberDouble":"NaN"},"c":{"$numberLong":"007"}}`, `{"a":9.99E+2,"b":"NaN","c":"007"}`},
		{`{"a":{"$date":"2020-01-01T00:00:00Z"},"b":{"$date":{"$numberLong":"1577836800500"}},"c":{"$date":-86400000}}`, `{"a":"2020-01-01T00:00:00Z","b":"2020-01-01T00:00:00.5Z","c":"1969-12-31T00:00:00Z"}`},
		{`{"a":{"$date":{"$numberLong":"99999999999999999"}},"b":{"$date":{"$numberLong":"00999999999999999999999"}}}`, `{"a":99999999999999999,"b":"00999999999999999999999"}`},
		{`{"a":{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"},"b":{"$ref":"x","$id":{"$oid":"5b"}}}`, `{"a":"3b241101-e2bb-4255-8caf-4136c566a962","b":{"$ref":"x","$id":"5b"}}`},
		// Nothing else changes.
		{`{"a":{"$binary":{"base64":"YQ==","subType":"00"}},"b":{"$oid":5},"c":{"$oid":"5b","d":1},"e":"{\"$oid\":\"5b\"}"}`, ``},
		{`{"$oid":"5b"}`, ``},
		{`{"title":"$9.99","a":{"b":"$"},"c":["$x"]}`, ``},
	} {
		if tt.want == "" {
			tt.want = tt.found
		}
		for name, text := range map[string]string{"m.ndjson": tt.found + "\n" + tt.found, "m.json": "[" + tt.found + "]"} {
			got, err := readFile(t, write(t, name, []byte(text)), Options{})
			if err != nil || got[0] != name+":1 "+tt.want {
				t.Errorf("%s is read as %q, %v, want %s", tt.found, got, err, tt.want)
			}
		}
	}
	// A dollar in the cell of a table is text.
	if got, err := readFile(t, write(t, "m.csv", []byte("a,b\n$9.99,\"{\"\"$oid\"\":1}\"\n")), Options{}); err != nil || got[0] != `m.csv:2 {"a":"$9.99","b":"{\"$oid\":1}"}` {
		t.Errorf("a table with dollars is read as %q, %v", got, err)
	}
}
