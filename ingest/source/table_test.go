package source

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/record"
)

func TestTables(t *testing.T) {
	tests := []struct {
		name, data string
		want       []string
		err        string
	}{
		// CSV
		{"m.csv", "id,title\n1,A\n2,B\n", []string{`m.csv:2 {"id":"1","title":"A"}`, `m.csv:3 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "\xef\xbb\xbf\r\n id ,\"title \"\r\n1,A\r\n2,B", []string{`m.csv:3 {"id":"1","title":"A"}`, `m.csv:4 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "id,title\n1,\n,\"\"\n,x\n\n", []string{`m.csv:2 {"id":"1","title":null}`, `m.csv:4 {"id":null,"title":"x"}`}, ""},
		// Blanks beside delimiters, as of psql's aligned output.
		{"m.csv", "id, title, note\n 1 , \"A, B\",x \n2,C, \n , ,\n", []string{`m.csv:2 {"id":"1","title":"A, B","note":"x"}`, `m.csv:3 {"id":"2","title":"C","note":null}`}, ""},
		{"m.tsv", "id\ttitle\n 1\t A b \n", []string{`m.tsv:2 {"id":"1","title":"A b"}`}, ""},
		{"m.csv", "id,title\n1,\"a \"\"b\"\",\r\nc\"\n2,\" d\"\n", []string{`m.csv:2 {"id":"1","title":"a \"b\",\nc"}`, `m.csv:4 {"id":"2","title":"d"}`}, ""},
		{"m.csv", "id,\"long\nname\"\n1,A\n", []string{`m.csv:3 {"id":"1","long\nname":"A"}`}, ""},
		{"m.csv", "id;title\n1;A,B\n", []string{`m.csv:2 {"id":"1","title":"A,B"}`}, ""},
		{"m.csv", "id|title\n1|A\n", []string{`m.csv:2 {"id":"1","title":"A"}`}, ""},
		{"m.csv", "\ttitle\tid\n0\t\"A\tB\"\t1\n", []string{`m.csv:2 {"column_1":"0","title":"A\tB","id":"1"}`}, ""},
		{"m.csv", "imdb_id\ntt1\n\ntt2\n", []string{`m.csv:2 {"imdb_id":"tt1"}`, `m.csv:4 {"imdb_id":"tt2"}`}, ""},
		{"m.csv", "id,,title\n1,2,3\n", []string{`m.csv:2 {"id":"1","column_2":"2","title":"3"}`}, ""},
		{"m.csv", "id,title\n1,\"a\x02\x01\x7f\\\u2028\"\n", []string{"m.csv:2 {\"id\":\"1\",\"title\":\"a\\u0002\\u0001\x7f\\\\\u2028\"}"}, ""},
		{"m.csv", "id,title\n1,\\N\n", []string{`m.csv:2 {"id":"1","title":"\\N"}`}, ""},
		{"m.csv", "id,title\n", nil, ""},
		{
			"m.csv", "Letterboxd list export v7\nDate,Name,Tags,URL,Description\n2024-01-01,Best,,https://x,\n\nPosition,Name,Year,URL,Description\n1,Alien,1979,https://y,\n",
			[]string{`m.csv:6 {"Position":"1","Name":"Alien","Year":"1979","URL":"https://y","Description":null}`},
			"",
		},
		{"m.csv", "Letterboxd list export v7\nDate,Name\n", nil, "m.csv: EOF"},
		{"table", "id,title\n1,A\n", []string{`table:2 {"id":"1","title":"A"}`}, ""},
		{"table.txt", "id\ttitle\n1\tA\n", []string{`table.txt:2 {"id":"1","title":"A"}`}, ""},
		// Rows that are bad, and the good ones around them
		{"m.csv", "id,title\n1\n2,B\n1,2,3\n", []string{`m.csv:2 {"id":"1","title":null}`, `m.csv:3 {"id":"2","title":"B"}`, "m.csv:4: has 3 cells, want 2"}, ""},
		// Cells beyond the header are empty in many rows, or a row has a comma inside a text.
		{"m.csv", "id,title\n1,A,,\"\"\n2,B,,\n3\n", []string{`m.csv:2 {"id":"1","title":"A"}`, `m.csv:3 {"id":"2","title":"B"}`, `m.csv:4 {"id":"3","title":null}`}, ""},
		{"m.csv", "id,title\n1,A,\n", []string{`m.csv:2 {"id":"1","title":"A"}`}, ""},
		{"m.csv", "id,title,year,note\n1,Godfather, The,1972,\n2,B,1999,\n3,Me, Myself,2000,\n", []string{
			"m.csv:2: has 5 cells, want 4", `m.csv:3 {"id":"2","title":"B","year":"1999","note":null}`, "m.csv:4: has 5 cells, want 4",
		}, ""},
		// A file that was cut, and a second table after an empty line
		{"m.csv", "id,title,year\n1,A,1999\n2,B\n3,C", []string{`m.csv:2 {"id":"1","title":"A","year":"1999"}`, `m.csv:3 {"id":"2","title":"B","year":null}`, "m.csv:4: has 2 cells, want 3"}, ""},
		{"m.csv", "id,title,year\r\n1,A,1999\r\n\r\n2,B,2000\r\n3,C\r\n\r\nid,name\r\n287,Brad Pitt\r\n", []string{
			`m.csv:2 {"id":"1","title":"A","year":"1999"}`, `m.csv:4 {"id":"2","title":"B","year":"2000"}`, `m.csv:5 {"id":"3","title":"C","year":null}`,
			"m.csv:7: has 2 cells, want 3", "m.csv:8: has 2 cells, want 3",
		}, ""},
		{"m.csv", "id,title\n1,'A'\n2,'B''s'\n", nil, `m.csv: column "title" has its texts in single quotes, want double quotes`},
		{"m.csv", "id,title\n1,'71'\n2,'night, Mother\n", []string{`m.csv:2 {"id":"1","title":"'71'"}`, "m.csv:3: has 3 cells, want 2"}, ""},
		{"m.csv", "id,title\n1,A\x94\n2,B\n", []string{`m.csv:2 {"id":"1","title":null}`, `m.csv:3 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "id,title\n1,A\"B\n2,B\n", []string{`m.csv:2: byte 3: found '"' inside a cell that does not start with one`, `m.csv:3 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "id,title\n1,\"A\"B\n2,B\n", []string{`m.csv:2: byte 4: want ',' or the end of the line after a closing quote`, `m.csv:3 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "id,title\n1,\"A\n2,B\n", []string{"m.csv:2: byte 2: found a quote that is not closed before the end of the file", `m.csv:3 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "id,title\n1,\"A\n2,\"B\"\n3,C\n", []string{"m.csv:2: byte 2: found a quote that is not closed before the end of the file", `m.csv:3 {"id":"2","title":"B"}`, `m.csv:4 {"id":"3","title":"C"}`}, ""},
		{"m.csv", "a,b,c\n1,\"A\nx\",\"B\nC\n", []string{
			"m.csv:2: byte 2: found a quote that is not closed before the end of the file",
			"m.csv:3: byte 1: found '\"' inside a cell that does not start with one", "m.csv:4: has 1 cells, want 3",
		}, ""},
		{"m.csv", "id,title\n1,\"A\nB\"C\"\"\n2,B\n", []string{"m.csv:2: byte 2: want ',' or the end of the line after a closing quote", "m.csv:3: byte 1: found '\"' inside a cell that does not start with one", `m.csv:4 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "id,title\n1,\"A\nB\"\n2\n", []string{`m.csv:2 {"id":"1","title":"A\nB"}`, `m.csv:4 {"id":"2","title":null}`}, ""},
		// Files that were joined of several, with a byte order mark and a header each
		{"m.csv", "\xef\xbb\xbfid,title\n1,A\n\xef\xbb\xbfid,title\r\n2,B\n\xef\xbb\xbf\"3\",\"C\"\n id,\"title \"\n", []string{`m.csv:2 {"id":"1","title":"A"}`, `m.csv:4 {"id":"2","title":"B"}`, `m.csv:5 {"id":"3","title":"C"}`}, ""},
		{"m.csv", "id,,title\n1,2,3\nid,,title\n", []string{`m.csv:2 {"id":"1","column_2":"2","title":"3"}`}, ""},
		{"m.csv", "title\ntitle\n", []string{`m.csv:2 {"title":"title"}`}, ""},
		{"m.tsv", "\xef\xbb\xbfid\ttitle\n1\tA\n\xef\xbb\xbfid\ttitle\n\xef\xbb\xbf2\tB\n", []string{`m.tsv:2 {"id":"1","title":"A"}`, `m.tsv:4 {"id":"2","title":"B"}`}, ""},
		{"m.ndjson", "{\"id\":1}\n\xef\xbb\xbf{\"id\":2}\n \xef\xbb\xbf\n{\"id\":3}", []string{`m.ndjson:1 {"id":1}`, `m.ndjson:2 {"id":2}`, `m.ndjson:4 {"id":3}`}, ""},
		{"m.json", "{\n\"id\":1\n}\n\xef\xbb\xbf{\"id\":2}\n\xef\xbb\xbf", []string{"m.json:1 {\n\"id\":1\n}", `m.json:4 {"id":2}`}, ""},
		// Quotes inside cells with a backslash before them
		{"m.csv", "id,title,note\n1,\"He said \\\"hi\\\"\",x\n2,\"5\\\" disc\",y\n3,\"a\\\\b\\\"\",z\n", []string{
			`m.csv:2 {"id":"1","title":"He said \"hi\"","note":"x"}`, `m.csv:3 {"id":"2","title":"5\" disc","note":"y"}`, `m.csv:4 {"id":"3","title":"a\\b\"","note":"z"}`,
		}, ""},
		{"m.csv", "id,title\n1,\"ends in \\\"\"\n2,B\n3,\"so does \\\"\"\n", []string{`m.csv:2 {"id":"1","title":"ends in \""}`, `m.csv:3 {"id":"2","title":"B"}`, `m.csv:4 {"id":"3","title":"so does \""}`}, ""},
		{"m.csv", "id,title\n1,\"x, \\\"y\\\", z\"\n2,\"one \\\" more\nline\\\"\"\n3,C\n", []string{`m.csv:2 {"id":"1","title":"x, \"y\", z"}`, `m.csv:3 {"id":"2","title":"one \" more\nline\""}`, `m.csv:5 {"id":"3","title":"C"}`}, ""},
		{"m.csv", "id,path\n1,\"C:\\\"\n2,\"D:\\x\\\"\n", []string{`m.csv:2 {"id":"1","path":"C:\\"}`, `m.csv:3 {"id":"2","path":"D:\\x\\"}`}, ""},
		{"m.csv", "id,j\n1,\"{\"\"a\"\":\"\"x\\\"\"y\\\"\"\"\"}\"\n2,\"one \\\"\"\nmore\"\n", []string{`m.csv:2 {"id":"1","j":"{\"a\":\"x\\\"y\\\"\"}"}`, `m.csv:3 {"id":"2","j":"one \\\"\nmore"}`}, ""},
		// TSV
		{"m.tsv", "id\ttitle\n1\t\"A\n2\t\\N\n\t\"\"\n", []string{`m.tsv:2 {"id":"1","title":"\"A"}`, `m.tsv:3 {"id":"2","title":null}`, `m.tsv:4 {"id":null,"title":"\"\""}`}, ""},
		{"m.tsv", "id\ttitle\n1\ta\x02b\r\n2\tc\u2028\u0085d\n", []string{`m.tsv:2 {"id":"1","title":"a\u0002b\r"}`, "m.tsv:3 {\"id\":\"2\",\"title\":\"c\u2028\u0085d\"}"}, ""},
		{"m.tsv", "id\ttitle\r\n1\ta\r\n2\tb", []string{`m.tsv:2 {"id":"1","title":"a"}`, `m.tsv:3 {"id":"2","title":"b"}`}, ""},
		{"m.tsv", "id\ttitle\n\\N\t\\N\n\t\n1\ta\tb\n", []string{`m.tsv:2 {"id":null,"title":null}`, "m.tsv:4: has 3 cells, want 2"}, ""},
		{"m.tsv", "id\ttitle\n1\n2\tB\t\t\n3\tC\t\t\n", []string{`m.tsv:2 {"id":"1","title":null}`, `m.tsv:3 {"id":"2","title":"B"}`, `m.tsv:4 {"id":"3","title":"C"}`}, ""},
		// Quotes of pandas: only around cells that need them
		{"m.tsv", "id\ttitle\n1\t\"\"\"A\"\" b\"\n2\t\"C\"\n3\t\"D\tE\"\n4\t\"F\nG\"\n5\t\"H\n6\t\"I\n", []string{
			`m.tsv:2 {"id":"1","title":"\"A\" b"}`, `m.tsv:3 {"id":"2","title":"\"C\""}`, `m.tsv:4 {"id":"3","title":"D\tE"}`, `m.tsv:5 {"id":"4","title":"F\nG"}`,
			`m.tsv:7 {"id":"5","title":"\"H"}`, `m.tsv:8 {"id":"6","title":"\"I"}`,
		}, ""},
		{"m.tsv", "id\ttitle\tnote\n1\t\"A\nB\"\tx\n2\t5\" disc\n", []string{`m.tsv:2 {"id":"1","title":"A\nB","note":"x"}`, `m.tsv:4 {"id":"2","title":"5\" disc","note":null}`}, ""},
		// Quotes of Excel, around each cell with a comma
		{"m.tsv", "id\ttitle\r\n1\t\"A, B\"\r\n2\tC\r\n3\t\"D, E\"\r\n", []string{`m.tsv:2 {"id":"1","title":"A, B"}`, `m.tsv:3 {"id":"2","title":"C"}`, `m.tsv:4 {"id":"3","title":"D, E"}`}, ""},
		{"m.tsv", "id\ttitle\n1\t\"A, B\"\n2\tC, D\n3\t\"E, F\"\n", []string{`m.tsv:2 {"id":"1","title":"\"A, B\""}`, `m.tsv:3 {"id":"2","title":"C, D"}`, `m.tsv:4 {"id":"3","title":"\"E, F\""}`}, ""},
		// Escapes of databases
		{"m.txt", "id\ttitle\n1\tThe \"A\"\n2\t\"Go,\" he said\\nB\n3\t\"D\tE\"\n4\t\\N\n5\t\"F\n", []string{
			`m.txt:2 {"id":"1","title":"The \"A\""}`, `m.txt:3 {"id":"2","title":"\"Go,\" he said\nB"}`, `m.txt:4 {"id":"3","title":"D\tE"}`, `m.txt:5 {"id":"4","title":null}`,
			"m.txt:6: byte 2: found a quote that is not closed before the end of the file",
		}, ""},
		{"m.tsv", "id\ttitle\n1\tA\\nB\\tC\\\\n \\d\n2\t[\"D\\n\"]\n", []string{`m.tsv:2 {"id":"1","title":"A\nB\tC\\n \\d"}`, `m.tsv:3 {"id":"2","title":"[\"D\\n\"]"}`}, ""},
		{"m.tsv", "id,title\n1,\"A\"\n", []string{`m.tsv:2 {"id":"1","title":"A"}`}, ""},
		{"m.tsv", "\"id\"\t\"title\"\n1\t\"A, \"\"B\"\"\"\n2\t\"C\tD\"\n", []string{`m.tsv:2 {"id":"1","title":"A, \"B\""}`, `m.tsv:3 {"id":"2","title":"C\tD"}`}, ""},
		{"m.tsv", "tconst\ntt1\n", []string{`m.tsv:2 {"tconst":"tt1"}`}, ""},
		// Zero bytes, as a crash leaves them in blocks
		{"m.csv", "id,title\n1,\x00\x00\x00\n2,B\n", []string{"m.csv:2: byte 2: found U+0000, which no text has", `m.csv:3 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "id,title\n1,\"a\x00\"\n\x00\x00\n2,B\n", []string{"m.csv:2: byte 4: found U+0000, which no text has", "m.csv:3: byte 0: found U+0000, which no text has", `m.csv:4 {"id":"2","title":"B"}`}, ""},
		{"m.tsv", "id\ttitle\n1\ta\x00b\n2\tB\n", []string{"m.tsv:2: byte 3: found U+0000, which no text has", `m.tsv:3 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "id,ti\x00tle,a\n1,2,3\n", nil, "m.csv: header: byte 5: found U+0000, which no text has"},
		{"m.csv", "\x00\x00\x00\x00\x00\n", nil, "m.csv: begins with zero bytes: it is damaged, or was never written"},
		// Line ends of old Macs, and those that became two
		{"m.csv", "id,title\r1,A\r2,B\r", []string{`m.csv:2 {"id":"1","title":"A"}`, `m.csv:3 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "\xef\xbb\xbfid,title\r\r1,\"A\rB\"\r2,B", []string{`m.csv:3 {"id":"1","title":"A\nB"}`, `m.csv:5 {"id":"2","title":"B"}`}, ""},
		{"m.csv", "id,title\r1,A\n2,B\r\n3,C\r\n", []string{`m.csv:2 {"id":"1","title":"A"}`, `m.csv:3 {"id":"2","title":"B"}`, `m.csv:4 {"id":"3","title":"C"}`}, ""},
		{"m.csv", "id,title\r\r\n1,A\r\r\n", []string{`m.csv:3 {"id":"1","title":"A"}`}, ""},
		{"m.csv", "id,\"long\rname\"\n1,A\n", []string{`m.csv:2 {"id":"1","long\rname":"A"}`}, ""},
		{"m.tsv", "id\ttitle\r1\tA\r2\tB\r", []string{`m.tsv:2 {"id":"1","title":"A"}`, `m.tsv:3 {"id":"2","title":"B"}`}, ""},
		{"table", "id,title\r1,A\r", []string{`table:2 {"id":"1","title":"A"}`}, ""},
		{"m.json", "{\"id\":1}\r{\"id\":2}\r", []string{`m.json:1 {"id":1}`, `m.json:1 {"id":2}`}, ""},
		{"m.csv", "id,title\r", nil, ""},
		// UTF-16
		{"m.csv", "\xff\xfei\x00d\x00\n\x00\xe9\x00\n\x00", []string{`m.csv:2 {"id":"é"}`}, ""},
		{"m.csv", "\xff\xfei\x00d\x00\n\x00\x00\xd8\n\x00\n\x00A\x00", []string{"m.csv:2: byte 0: invalid utf-16", `m.csv:4 {"id":"A"}`}, ""},
		{"m.csv", "\xfe\xff\x00i\x00d\x00\n\x00A\x00\n", []string{`m.csv:2 {"id":"A"}`}, ""},
		{"m.csv", "i\x00d\x00,\x00t\x00\n\x001\x00,\x00A\x00\n\x00", nil, "m.csv: not UTF-8; looks like utf-16le: --encoding utf-16le"},
		{"m.tsv", "\x00i\x00d\x00\t\x00t\x00\n\x001\x00\t\x00A\x00\n", nil, "m.tsv: not UTF-8; looks like utf-16be: --encoding utf-16be"},
		// A line of Excel's above the header
		{"m.csv", "sep=;\r\nid;t\r\n1;A\r\n", []string{`m.csv:3 {"id":"1","t":"A"}`}, ""},
		{"m.csv", "\xef\xbb\xbfsep=,\nid,t\n1,A\n", []string{`m.csv:3 {"id":"1","t":"A"}`}, ""},
		{"m.csv", "\"sep=;\"\r\nid;t\r\n1;A\r\n", []string{`m.csv:3 {"id":"1","t":"A"}`}, ""},
		{"m.csv", "SEP=;\nid;t\n1;A\n", []string{`m.csv:3 {"id":"1","t":"A"}`}, ""},
		{"m.tsv", "sep=;\n", nil, "m.tsv: EOF"},
		// What is no table
		{"m.csv", "{\"id\":1}\n{\"id\":2}\n", []string{`m.csv:1 {"id":1}`, `m.csv:2 {"id":2}`}, ""},
		{"m.csv", "[{\"id\":1}]", []string{`m.csv:1 {"id":1}`}, ""},
		{"m.csv", "1,2,3\n", nil, `m.csv: want JSON, CSV, TSV or Parquet, found text that starts with "1,2,3": the first line of a table must name its columns`},
		{"m.csv", "<!DOCTYPE html>\n", nil, "m.csv: is an HTML page, not a dump: probably an error page saved in its place"},
		{"m.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n", nil, `m.csv: is a Git LFS pointer, not the data: fetch it with "git lfs pull" first`},
		{"m.csv", " \n", nil, "m.csv: empty file"},
		{"m.txt", "Words, and more\nof them, too\n", nil, `m.txt: want JSON, CSV, TSV or Parquet, found text that starts with "Words, and more": the first line of a table must name its columns`},
		{"m.txt", "Words,more\nof them\n", nil, `m.txt: want JSON, CSV, TSV or Parquet, found text that starts with "Words,more": the first line of a table must name its columns`},
		{"m.csv", "id,title,id\n1,2,3\n", nil, `m.csv: columns 1 and 3 of the header are both named "id": rename one`},
		{"m.csv", "id,\"title\n1,2\n", nil, "m.csv: header: byte 3: found a quote that is not closed before the end of the file"},
		{"m.csv", "id,title\xff,c\n1,2\n", nil, "m.csv: not UTF-8; looks like windows-1252: --encoding windows-1252"},
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

func TestTableRow(t *testing.T) {
	data := "\xef\xbb\xbfid,title\r\n\r\n,\r\n1,\"a\r\n\"\"b\"\r\n2,\x94\r\n\"\",\r\n"
	r, err := Open(File{Path: write(t, "m.csv", []byte(data))}, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	row, _ := r.Next()
	wantPlace, wantRaw := Place{File: "m.csv", Row: 1, Line: 4, Off: 18}, "1,\"a\r\n\"\"b\""
	if row.Place != wantPlace || string(row.JSON) != `{"id":"1","title":"a\n\"b"}` || string(row.Raw) != wantRaw || row.Size != 10 || row.Err != nil {
		t.Errorf("first row is %+v: %q of %q", row, row.JSON, row.Raw)
	}
	row, _ = r.Next()
	var fault *RowError
	if !errors.As(row.Err, &fault) || fault.Off != 2 || string(row.Raw) != "2,\x94" || string(row.JSON) != "2,\x94" || row.Size != 3 || row.Place != (Place{File: "m.csv", Row: 2, Line: 6, Off: 30}) {
		t.Errorf("second row is %+v", row)
	}
	lenient, err := Open(File{Path: write(t, "m.csv", []byte(data))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lenient.Close()
	_, _ = lenient.Next()
	left := []record.FieldError{{Field: "title", What: "byte 0: invalid UTF-8 in \ufffd", Value: "\ufffd"}}
	if row, err := lenient.Next(); err != nil || row.Err != nil || string(row.JSON) != `{"id":"2","title":null}` || !slices.Equal(row.Nulled, left) {
		t.Errorf("second row is %+v, %v, want a title that was left out", row, err)
	}
	_, err = r.Next()
	if blank, headers := r.SkippedRows(); err != io.EOF || blank != 2 || headers != 0 {
		t.Errorf("after the last row: %v, %d blank, %d headers, want EOF, 2 and 0", err, blank, headers)
	}
	if !r.File().Format.Table() || !FormatTSV.Table() || !FormatParquet.Table() || FormatNDJSON.Table() {
		t.Error("Table tells tables wrongly")
	}
}

func TestTableLongRows(t *testing.T) {
	o := Options{Limits: limit.Limits{MaxRowBytes: 1 << 10}}
	lines := strings.Repeat("7,x\n", 500)
	long := "1," + strings.Repeat("x", 1<<20)
	fits := "1," + strings.Repeat("y", 1<<10-2)
	r, err := Open(File{Path: write(t, "m.csv", []byte("id,title\n"+long+"\n"+fits+"\r\n2,\"open\n"+lines+long))}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var bad []Row
	good := 0
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
		row.JSON, row.Raw = bytes.Clone(row.JSON), bytes.Clone(row.Raw)
		bad = append(bad, row)
	}
	if good != 501 || len(bad) != 3 {
		t.Fatalf("%d good and %d bad rows, want 501 and 3", good, len(bad))
	}
	for i, want := range []struct {
		err  string
		size int
		raw  string
	}{
		{"m.csv:2: row is longer than 1024 bytes", len(long), long[:longRowHead]},
		{"m.csv:4: byte 2: found a quote that is not closed within the 1024 bytes of a row", 7, "2,\"open"},
		{"m.csv:505: row is longer than 1024 bytes", len(long), long[:longRowHead]},
	} {
		if b := bad[i]; b.Err.Error() != want.err || b.Size != int64(want.size) || string(b.Raw) != want.raw || string(b.JSON) != want.raw {
			t.Errorf("bad row %d is %v, %d bytes, %.20q, want %.60v", i, b.Err, b.Size, b.Raw, want)
		}
	}
}

// TestTableHeaderLimits: a header is bounded by itself, whatever rows may be.
func TestTableHeaderLimits(t *testing.T) {
	f := func(header, want string) {
		t.Helper()
		if _, err := readFile(t, write(t, "m.csv", []byte(header+"\n")), Options{}); errText(err) != want {
			t.Errorf("header of %d bytes: %v, want %s", len(header), err, want)
		}
	}
	f("a"+strings.Repeat(",", limit.MaxColumns-1)+"b", `m.csv: want JSON, CSV, TSV or Parquet, found text that starts with "a,,,,,,,,,,,,,,,,,,,": the first line of a table must name its columns`)
	var wide strings.Builder
	for i := range limit.MaxColumns + 1 {
		wide.WriteString(",c" + itoa(i))
	}
	f(wide.String()[1:], "m.csv: header has 10001 columns, want at most 10000")
	f("id,"+strings.Repeat("x", maxHeaderBytes), `m.csv: header is longer than 262144 bytes`)
}

// TestTableDamage: rows before the damage of a packed file are read.
func TestTableDamage(t *testing.T) {
	var data strings.Builder
	data.WriteString("id,title\n")
	for i := range 30000 {
		data.WriteString(itoa(i*i) + ",\"x\n\"\n")
	}
	packed := gz(t, data.String())
	rows, err := readFile(t, write(t, "m.csv.gz", packed[:len(packed)-1000]), Options{})
	var fe *FileError
	if !errors.As(err, &fe) || len(rows) < 20000 || fe.Row != int64(len(rows)+1) || fe.Line != 2*fe.Row || fe.Err.Error() != "unexpected end of gzip stream" {
		t.Errorf("%d rows, then %v", len(rows), err)
	}
}
