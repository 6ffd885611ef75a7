package source

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/record"
)

const (
	fuzzRowBytes = 1 << 10
	fuzzMemory   = 256 << 20
	fuzzRows     = 20_000
)

// fuzzFile reads a file of any bytes with limits and checks what holds of every file:
// that it costs little memory, and what checkInvariants checks of its rows. It returns
// the reader, closed, the rows and the error that ended them, which is errManyRows when
// there were more than fuzzRows; nil when the file was refused.
func fuzzFile(t *testing.T, dir, name string, b []byte, o Options) (r *Reader, rows []Row, err error) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.WriteFile(p, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	defer func() {
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > fuzzMemory {
			t.Errorf("%d bytes of file cost %d bytes of memory", len(b), n)
		}
	}()
	r, err = Open(File{Path: p}, o)
	if err != nil {
		var fe *FileError
		if !errors.As(err, &fe) {
			t.Errorf("Open: %v is no FileError", err)
		}
		return nil, nil, err
	}
	defer r.Close()
	for len(rows) < fuzzRows {
		row, err := r.Next()
		if err != nil {
			checkEnd(t, r, len(rows), err)
			return r, rows, err
		}
		checkInvariants(t, r, rows, row, o)
		row.JSON, row.Raw = bytes.Clone(row.JSON), bytes.Clone(row.Raw)
		rows = append(rows, row)
	}
	return r, rows, errManyRows
}

var errManyRows = errors.New("many rows")

// checkEnd checks the error that ended a file after n rows.
func checkEnd(t *testing.T, r *Reader, n int, err error) {
	t.Helper()
	var fe *FileError
	if err != io.EOF && (!errors.As(err, &fe) || fe.Row != int64(n+1)) {
		t.Errorf("after %d rows: %v", n, err)
	}
	if _, again := r.Next(); again != err {
		t.Errorf("Next after %v returns %v", err, again)
	}
}

// checkInvariants checks one row, that follows those before it.
func checkInvariants(t *testing.T, r *Reader, before []Row, row Row, o Options) {
	t.Helper()
	table, columnar := r.File().Format.Table(), r.File().Format == FormatParquet
	found, mended := row.JSON, row.Mended != (record.Mended{})
	if columnar {
		mended = false // its values are, and it has no text as found
	}
	plain := !table && !mended && row.Raw != nil // Extended JSON, with its values as plain JSON
	if table && !columnar || mended || plain {
		found = row.Raw
	}
	switch {
	case plain && (row.Err != nil || !bytes.Contains(row.Raw, []byte(`"$`)) || !json.Valid(row.Raw)):
		t.Errorf("%v: row %q with raw bytes %q", row.Place, row.JSON, row.Raw)
	case row.Place.Row != int64(len(before)+1) || columnar != (row.Place.Line == 0) || columnar != (row.Place.Off == -1):
		t.Errorf("row %d is at %+v", len(before)+1, row.Place)
	case (row.Raw != nil) != (table && !columnar || mended || plain) || mended && (table || row.Err != nil || json.Valid(row.Raw) && !bytes.Contains(row.Raw, []byte(`\u0000`))):
		t.Errorf("%v: %v row with raw bytes %q", row.Place, r.File().Format, row.Raw)
	case row.Err == nil && (int64(len(found)) != row.Size || row.Size > o.WithDefaults().MaxRowBytes):
		t.Errorf("%v: %d bytes of %d", row.Place, len(found), row.Size)
	case int64(len(found)) > row.Size || int64(len(found)) < min(row.Size, longRowHead):
		t.Errorf("%v: %d bytes kept of %d", row.Place, len(found), row.Size)
	}
	if len(before) > 0 {
		last := before[len(before)-1]
		if !columnar && (row.Place.Off < last.Place.Off+last.Size || row.Place.Line < last.Place.Line) {
			t.Errorf("row at %+v follows one of %d bytes at %+v", row.Place, last.Size, last.Place)
		}
	}
	var object map[string]json.RawMessage
	if row.Err == nil && (json.Unmarshal(row.JSON, &object) != nil || !utf8.Valid(row.JSON)) {
		t.Errorf("%v: %q is no JSON object", row.Place, row.JSON)
	}
	var re *RowError
	if row.Err != nil && (!errors.As(row.Err, &re) || re.Place != row.Place || table && re.Off > row.Size || re.Reason == "") {
		t.Errorf("%v: error %+v", row.Place, row.Err)
	}
}

// FuzzText reads any bytes as whatever they are taken for, by their extension too; as NDJSON the rows are the
// lines, as a table objects of texts.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"{\"a\":1}\n{\"b\":2}\r\n\n", "{\"a\":\"x\n{}\n", "{}{}\n[", "null\n{}\n", "\xef\xbb\xbf{}\n", "[{},1]", "{\n}\n{\"a\":[\n1]}",
		"{\"a\":\"\u2028\"}\n" + strings.Repeat(" ", 2000) + "{}\n", "id,title\n1,x\n", "id\ttitle\n1\tx\n",
		"id,title\r1,x\r\r\n2,\"a\rb\"\r", "1\r{}\r", "{\"a\":\"\\u0000\"}\n",
		"{\"a\":NaN,\"b\":[-Infinity],\"c\":\"\x01\\s\\u12\"}\n{\"a\":Nan}\n[{\"a\":\"\t\"}]",
		"{\"_id\":{\"$oid\":\"5b\"},\"a\":[{ \"$numberInt\" : \"5\" }],\"b\":{\"$date\":{\"$numberLong\":\"00\"}},\"c\":\"{\\\"$\"}\n",
		"{\"$oid\":\"5b\"}\n{\"a\":{\"$date\":-1}}\n{\"a\":{\"$numberDecimal\":\"NaN\"}}\n{\"a\":{\"$x\":{\"$oid\":\"\"}}}\n",
		"{}\n  1\n", // the fault's offset counts from the start of the line
		"\xef\xbb\xbf\r\n\"a\nb\",,c\n", "\ta\tb\n1\t2\t3\n", "a;b|c\n", "a,a\n", "a", "\"a", "<a>,b\n", "1,b\n",
	} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(2))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, ext uint8) {
		name := "f" + []string{"", ".csv", ".tsv"}[ext%3]
		r, rows, _ := fuzzFile(t, dir, name, b, Options{Limits: limit.Limits{MaxRowBytes: fuzzRowBytes}})
		if r != nil && r.File().Format.Table() {
			for _, row := range rows {
				var object map[string]*string
				if row.Err == nil && json.Unmarshal(row.JSON, &object) != nil {
					t.Fatalf("%q is not an object of strings", row.JSON)
				}
			}
		}
		if r == nil || r.File().Format != FormatNDJSON || r.File().Compression != "none" {
			return
		}
		n := 0
		b = bytes.TrimLeft(bytes.TrimPrefix(b, byteOrderMark), "\r\n")
		if bytes.Contains(b, byteOrderMark) { // at the start of a line it is skipped
			return
		}
		if line, _, _ := bytes.Cut(b, []byte{'\n'}); b[0] != '{' && endsInCR(line) {
			b = b[:new(lineUnifier).unify(b)]
		}
		for _, line := range bytes.Split(b, []byte{'\n'}) {
			if line = bytes.Trim(line, " \t\r"); len(line) == 0 {
				continue
			}
			if n < len(rows) {
				found := rows[n].JSON
				if rows[n].Raw != nil { // it was written anew
					found = rows[n].Raw
				}
				if !bytes.HasPrefix(line, bytes.Trim(found, " \t\r")) || rows[n].Size <= fuzzRowBytes && len(found) != len(line) {
					t.Fatalf("row %d is %q, want %q", n, found, line)
				}
			}
			n++
		}
		if n != len(rows) && len(rows) < fuzzRows {
			t.Fatalf("%d rows of %d lines", len(rows), n)
		}
	})
}

// FuzzArray puts any bytes into an array: when the whole is JSON, every element comes
// back, and what cannot be mended is not read to its end.
func FuzzArray(f *testing.F) {
	for _, s := range []string{`{"a":1},{"b":[2,"]"]}`, `1,"a\"",null,[[]],{}`, `{},`, `{"a":1]`, ``, `{"a":"\`, "\xff", "{\"a\":NaN},{\"b\":\"\t\\q\"},-Infinity"} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(append([]byte{'['}, b...), ']')
		r, got, err := fuzzFile(t, dir, "f.json", b, Options{Encoding: EncodingUTF8})
		if r == nil || !utf8.Valid(b) || err == errManyRows || bytes.Contains(b, byteOrderMark) {
			return // an element that is not UTF-8 is a bad row, whatever else it is; encoding/json knows no byte order marks
		}
		var want []json.RawMessage
		if json.Unmarshal(b, &want) != nil {
			if mended, _ := record.MendJSON(nil, b); err == io.EOF && !json.Valid(mended) {
				t.Fatalf("%q was read to its end", b)
			}
			return
		}
		if err != io.EOF || len(got) != len(want) {
			t.Fatalf("%q gives %d rows, then %v, want %d", b, len(got), err, len(want))
		}
		for i := range got {
			found := got[i].JSON
			if got[i].Raw != nil { // it was written anew
				found = got[i].Raw
			}
			if !bytes.Equal(found, bytes.TrimSpace(want[i])) {
				t.Fatalf("element %d is %q, want %q", i, found, want[i])
			}
		}
	})
}

// cellsOf returns the cells of a row of a table in the order of the columns c1, c2, ...,
// "" for null.
func cellsOf(t *testing.T, row Row) []string {
	t.Helper()
	var object map[string]*string
	if err := json.Unmarshal(row.JSON, &object); err != nil {
		t.Fatalf("%v: %v", row.Place, err)
	}
	cells := make([]string, len(object))
	for i := range cells {
		if s := object["c"+itoa(i+1)]; s != nil {
			cells[i] = *s
		}
	}
	return cells
}

// FuzzCSV reads any bytes behind a header. Where encoding/csv reads all of them, each row
// is one of its rows; rows that are damaged are told apart.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"1,2,3\n", "1,\"a\nb\",\"c\"\"d\"\r\n,,\n\n4,5,6", "1,\"a\n2,\"b\",3\n", "\"\",\"\"\n", "a\"b,c,d\n", "1,2\n1,2,3,4\n",
		"\"a\"b,c,d\n\xff,,\n", "1,\"\r\n\",\r\n\r\n3,4,5\r", "\",\",\"\n\",\"\"\"\"\n",
		"1,a\x00,\n", "\r\",\",2,3\n", ",\"\\\"\\\"\",\n\"\\\"\n\"0\"\\\"\"\n0",
		"\xdb,\x98,\n", // together they are one character
		"1,2,3\n\xef\xbb\xbfc1,c2,c3\n4,5,6\n", "0,\"00\\\"\"\n\"\\\"000\",\"\"", "1,\"a \\\"b\\\"\",c\n2,\"a\\\"\n\",\\\"\n3,\"\\\"\",\"\"\n",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		r, rows, err := fuzzFile(t, dir, "f.csv", append([]byte("c1,c2,c3\n"), b...), Options{Encoding: EncodingUTF8, Limits: limit.Limits{MaxRowBytes: fuzzRowBytes}})
		if r == nil || r.File().Format != FormatCSV {
			t.Fatalf("not read as CSV: %v", err)
		}
		want, ok := csvRows(b)
		if !ok || err == errManyRows || bytes.Contains(b, byteOrderMark) || bytes.Contains(b, []byte(`\"`)) {
			return // encoding/csv reads neither byte order marks nor escaped quotes
		}
		if err != io.EOF {
			t.Fatalf("ended by %v", err)
		}
		for _, row := range rows {
			if row.Size > fuzzRowBytes || row.Err != nil && strings.Contains(row.Err.Error(), "1024 bytes") {
				return // beyond the limit here, not there
			}
		}
		if len(rows) != len(want) {
			t.Fatalf("%d rows, want %d: %q", len(rows), len(want), want)
		}
		for i, row := range rows {
			switch {
			case row.Err != nil && strings.Contains(row.Err.Error(), " cells, want 3") && len(want[i]) != 3:
			case row.Err != nil && strings.Contains(row.Err.Error(), record.NoZero) && strings.Contains(strings.Join(want[i], ","), "\x00"):
			case row.Err != nil && strings.Contains(row.Err.Error(), "invalid UTF-8") && strings.Contains(strings.Join(want[i], ","), "\x00"):
			case row.Err != nil:
				t.Fatalf("row %d of %q: %v", i, want[i], row.Err)
			case !slices.Equal(cellsOf(t, row), threeOf(want[i])):
				t.Fatalf("row %d is %q, want %q", i, cellsOf(t, row), threeOf(want[i]))
			}
		}
	})
}

// threeOf returns the first three cells of a row, and nothing for those that it lacks and those that are no texts.
func threeOf(cells []string) []string {
	cells = append(slices.Clone(cells), "", "")[:3]
	for i, c := range cells {
		if cells[i] = strings.Trim(c, " "); record.CheckText([]byte(c)) != nil {
			cells[i] = ""
		}
	}
	return cells
}

// csvRows returns the rows in b that have a cell that is not empty, as encoding/csv reads
// them, and whether it reads all of b.
func csvRows(b []byte) (rows [][]string, ok bool) {
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	for {
		row, err := r.Read()
		if err != nil {
			return rows, err == io.EOF
		}
		if strings.Trim(strings.Join(row, ""), " ") != "" && !isFuzzHeader(row) {
			rows = append(rows, row)
		}
	}
}

// isFuzzHeader reports whether a row is the header again.
func isFuzzHeader(cells []string) bool {
	return len(cells) == 3 && strings.TrimSpace(cells[0]) == "c1" && strings.TrimSpace(cells[1]) == "c2" && strings.TrimSpace(cells[2]) == "c3"
}

// FuzzTSV reads any bytes after a header: every line that is not blank is a row, and TABs separate its
// cells.
func FuzzTSV(f *testing.F) {
	for _, s := range []string{"1\t2\t3\n", "\"\t\\N\t\x02\n", "\t\t\n\n1\t2\n", "1\t2\t3\r\n", "\xff\t1\t2", strings.Repeat("x", 2000), "1\t\x00\t3\n", "1\t2\t3\n\xef\xbb\xbfc1\tc2\tc3\n", "1\t2\t3\t \n"} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		r, rows, err := fuzzFile(t, dir, "f.tsv", append([]byte("c1\tc2\tc3\n"), b...), Options{Encoding: EncodingUTF8, Limits: limit.Limits{MaxRowBytes: fuzzRowBytes}})
		if r == nil || r.File().Format != FormatTSV || err != io.EOF && err != errManyRows {
			t.Fatalf("not read as TSV to its end: %v", err)
		}
		if bytes.Count(b, []byte{'"'}) > 1 {
			return // quotes may enclose TABs and line ends
		}
		n := 0
		for _, line := range strings.Split(string(b), "\n") {
			for strings.HasPrefix(line, string(byteOrderMark)) {
				line = line[len(byteOrderMark):]
			}
			if strings.Trim(line, "\t ") == "" || isFuzzHeader(strings.Split(line, "\t")) {
				continue
			}
			if n == len(rows) {
				break
			}
			row, cells := rows[n], strings.Split(line, "\t")
			n++
			switch {
			case len(line) > fuzzRowBytes:
				if row.Err == nil || row.Size != int64(len(line)) {
					t.Fatalf("line of %d bytes gives %d, %v", len(line), row.Size, row.Err)
				}
			case slices.ContainsFunc(cells[min(3, len(cells)):], isText) || strings.Contains(line, "\x00"):
				if row.Err == nil || string(row.Raw) != line {
					t.Fatalf("line %q gives %q, %v", line, row.Raw, row.Err)
				}
			case len(cells) != 3 && row.Err != nil: // fewer than before, or after an empty line
			default:
				cells = threeOf(cells)
				for i := range cells {
					if cells[i] == `\N` {
						cells[i] = ""
					} else if cells[i] != "" {
						cells[i] = plainText(cells[i])
					}
				}
				if row.Err != nil || !slices.Equal(cellsOf(t, row), cells) {
					t.Fatalf("line %q gives %q, %v", line, row.JSON, row.Err)
				}
			}
		}
		if n != len(rows) {
			t.Fatalf("%d rows of %d lines", len(rows), n)
		}
	})
}

// FuzzCompressed reads any bytes that claim to be compressed. The packed form of any
// bytes gives the rows of the bytes themselves.
func FuzzCompressed(f *testing.F) {
	text := "{\"a\":1}\n{\"b\":\"x\n{}\n"
	f.Add([]byte(text), uint8(0))
	f.Add([]byte("id,title\n1,\"x\ny\"\n"), uint8(1))
	f.Add(gz(f, text), uint8(2))
	f.Add(append(gz(f, text), gz(f, text)...), uint8(2))
	f.Add(zst(f, text), uint8(2))
	f.Add(append([]byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 9}, zst(f, text)...), uint8(2))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		o := Options{Limits: limit.Limits{MaxRowBytes: fuzzRowBytes}}
		packed := b
		switch how % 3 {
		case 0:
			packed = gz(t, string(b))
		case 1:
			z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<16))
			if err != nil {
				t.Fatal(err)
			}
			packed = z.EncodeAll(b, nil)
			z.Close()
		}
		_, got, err := fuzzFile(t, dir, "packed", packed, o)
		if how%3 == 2 || compressionOf(b) != "none" || bytes.HasPrefix(b, []byte("PAR1")) {
			return
		}
		_, want, wantErr := fuzzFile(t, dir, "plain", b, o)
		if len(got) != len(want) || (err == io.EOF) != (wantErr == io.EOF) {
			t.Fatalf("packed: %d rows, then %v; plain: %d, then %v", len(got), err, len(want), wantErr)
		}
		for i := range got {
			if !bytes.Equal(got[i].JSON, want[i].JSON) || got[i].Size != want[i].Size || got[i].Place.Off != want[i].Place.Off {
				t.Fatalf("row %d is %+v packed, %+v plain", i, got[i], want[i])
			}
		}
	})
}

// FuzzParquet damages a sound file at one place, with flat and nested columns, several
// encodings, codecs and page versions among the seeds.
func FuzzParquet(f *testing.F) {
	type person struct {
		Name  string   `parquet:"name"`
		Roles []string `parquet:"roles,list"`
	}
	type row struct {
		ID   int64             `parquet:"id,optional,delta"`
		Text string            `parquet:"text,delta"`
		Word string            `parquet:"word,dict"`
		Flag bool              `parquet:"flag"`
		Cast []person          `parquet:"cast,list"`
		M    map[string]string `parquet:"m"`
	}
	rows := []row{{ID: 1, Text: "one", Word: "w", Cast: []person{{"a", []string{"b"}}}, M: map[string]string{"k": "v"}}, {ID: 2}, {Text: "three", Flag: true}}
	for _, codec := range []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Zstd)} {
		for _, version := range []int{1, 2} {
			seed, err := os.ReadFile(parquetFile(f, [][]row{rows[:1], rows}, codec, parquet.DataPageVersion(version)))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(seed, 20, byte(1))
			f.Add(seed, len(seed)-20, byte(0x80))
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, at int, x byte) {
		if b = bytes.Clone(b); at >= 0 && at < len(b) {
			b[at] ^= x
		}
		fuzzFile(t, dir, "f", b, Options{Limits: limit.Limits{MaxRowBytes: 1 << 16, MaxRatio: 100}})
	})
}

// FuzzParquetPage puts any bytes into a page of a sound file. Damage in other places is
// found so early that FuzzParquet hardly comes to what is in pages.
func FuzzParquetPage(f *testing.F) {
	encodings := []format.Encoding{format.Plain, format.RLEDictionary, format.RLE, format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray, format.ByteStreamSplit}
	types := []format.Type{format.Boolean, format.Int32, format.Int64, format.Int96, format.Float, format.Double, format.ByteArray}
	ten := levels(10, 1)
	for e := range encodings {
		for typ := range types {
			f.Add(join(ten, deltaOf(10, 3), deltaOf(10, 3), zeros(100)), uint8(e), uint8(typ), uint16(10))
			f.Add(join(ten, []byte{1, 20, 0}, zeros(100)), uint8(e), uint8(typ), uint16(10))
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, body []byte, e, typ uint8, values uint16) {
		p := lie{column: column(types[int(typ)%len(types)]), values: int64(values), pages: [][]byte{
			dictionary(t, 4, zeros(64), 64), pageV1(t, int(values), encodings[int(e)%len(encodings)], body, len(body)),
		}}
		b, err := os.ReadFile(p.write(t))
		if err != nil {
			t.Fatal(err)
		}
		fuzzFile(t, dir, "f", b, Options{Limits: limit.Limits{MaxRowBytes: 1 << 16, MaxRatio: 100}})
	})
}
