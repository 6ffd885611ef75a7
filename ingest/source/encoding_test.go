package source

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

// TestEncodings: a file that is not UTF-8 is refused, with a guess where it is western, and read with --encoding.
func TestEncodings(t *testing.T) {
	const excel = "Nr;Titel;Erschienen\r\n1;Die fabelhafte Welt der Amélie;25.04.2001\r\n2;Für ein paar Dollar mehr;18.12.1965\r\n3;Die Blechtrommel – nach Günter Grass;03.05.1979\r\n"
	const japanese = "番号,タイトル,公開日\n1,千と千尋の神隠し,2001-07-20\n2,もののけ姫,1997-07-12\n"
	const russian = "id,Название\n1,Сталкер\n2,Иван Васильевич меняет профессию\n"
	for _, c := range []struct{ text, encoding, guess string }{
		{excel, "windows-1252", "windows-1252"},
		{strings.ReplaceAll(excel, "–", "-"), "iso-8859-1", "windows-1252"},
		{"id,titre\n1,Être et avoir\n2,À bout de souffle\n", "windows-1252", "windows-1252"},
		{"id,title\n1,Amélie\n", "ISO-8859-15", "windows-1252"},
		{"id,title\n1,Schindler’s List\n2,“Crocodile” Dundee\n3,Child’s Play\n", "windows-1252", "windows-1252"},
		{"id,titre\n1,Amélie\n2,Délicatessen\n3,Le dîner de cons\n", "macintosh", ""},
		{japanese, "shift_jis", ""},
		{japanese, "euc-jp", ""},
		{"id,标题,日期\n1,卧虎藏龙,2000-07-06\n2,霸王别姬，国语,1993-01-01\n", "gb18030", ""},
		{"id,제목\n1,기생충\n2,올드보이\n", "euc-kr", ""},
		{russian, "windows-1251", ""},
		{excel, "utf-16le", "utf-16le"},
		{excel, "utf-16be", "utf-16be"},
		{japanese, "utf-16le", "utf-16le"},
		{`[{"id":1,"title":"Amélie"},{"id":2,"title":"Être et avoir"},{"id":3,"title":"Le pari, l'été"}]`, "windows-1252", "windows-1252"},
	} {
		enc, err := htmlindex.Get(c.encoding)
		if err != nil {
			t.Fatal(err)
		}
		b, err := enc.NewEncoder().Bytes([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		name := "f.csv"
		if c.text[0] == '[' {
			name = "f.json"
		}
		want, err := readFile(t, write(t, name, []byte(c.text)), Options{Encoding: EncodingAuto})
		if err != nil {
			t.Fatal(err)
		}
		path := write(t, name, b)
		if got, err := readFile(t, path, Options{Encoding: c.encoding}); err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q, %v, want %q", c.encoding, got, err, want)
		}
		refusal := fmt.Sprintf("%s: not UTF-8; looks like %s: --encoding %s", name, c.guess, c.guess)
		if c.guess == "" {
			refusal = name + ": not UTF-8: name its encoding, such as --encoding windows-1251, shift_jis, euc-kr or gb18030"
		}
		if _, err := readFile(t, path, Options{Encoding: EncodingAuto}); err == nil || err.Error() != refusal {
			t.Errorf("%s: %v, want %s", c.encoding, err, refusal)
		}
		// A source of UTF-8 beside it is read as such.
		if got, err := readFile(t, write(t, name, []byte(c.text)), Options{Encoding: c.encoding}); err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s for UTF-8: %q, %v, want %q", c.encoding, got, err, want)
		}
	}
}

// TestLateBytes: a text that shows its encoding after the sample is read in the encoding that is named, otherwise as UTF-8.
func TestLateBytes(t *testing.T) {
	for _, before := range []int{maxSample / 2, maxSample + 10} {
		text := "id,title\n1," + strings.Repeat("x", before) + "\n2,Am\xe9lie\n"
		path := write(t, "f.csv", []byte(text))
		rows, err := readFile(t, path, Options{Encoding: "windows-1252"})
		if err != nil || len(rows) != 2 || rows[1] != `f.csv:3 {"id":"2","title":"Amélie"}` {
			t.Errorf("after %d bytes, with an encoding: %d rows, %v, the last %q", before, len(rows), err, rows[len(rows)-1:])
		}
		rows, err = readFile(t, path, Options{Encoding: EncodingAuto})
		if before > maxSample && (err != nil || len(rows) != 2 || rows[1] != `f.csv:3 {"id":"2","title":null}`) {
			t.Errorf("after %d bytes: %d rows, %v, the last %q", before, len(rows), err, rows[len(rows)-1:])
		}
	}
}

// TestBrokenUTF8: marks that were cut in texts of UTF-8 make bad rows, of tables bad cells, and no other encoding.
func TestBrokenUTF8(t *testing.T) {
	for _, text := range []string{
		"id,title\n1,fear?\x94in each case\n2,Earth?\x99s heroes\n3,B\n",
		"{\"id\":1,\"title\":\"cut \xc3\"}\n{\"id\":2,\"title\":\"B\"}\n{\"id\":3,\"title\":\"C\"}\n",
		"id,title\n1,a\x01\x02\xff\xfe\n2,B\n3,C\n",
	} {
		name, want := "f.csv", `{"id":"1","title":null}`
		if text[0] == '{' {
			name, want = "f.ndjson", "invalid UTF-8"
		}
		rows, err := readFile(t, write(t, name, []byte(text)), Options{Encoding: EncodingAuto})
		if err != nil || len(rows) != 3 || !strings.Contains(rows[0], want) {
			t.Errorf("%q: %q, %v, want rows, the first with %s", text, rows, err, want)
		}
	}
}

// TestInvalidEncoded: what an encoding does not have makes a bad row with its place. Long files are read in a stream, also
// packed ones.
func TestInvalidEncoded(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, "id,title\n")
	const rows = 100_000
	for i := range rows {
		title := "\x83\x41"
		if i == 70_000 {
			title = "\xa0\xff"
		}
		fmt.Fprintf(z, "%d,%s\n", i, title)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := readFile(t, write(t, "f.csv.gz", packed.Bytes()), Options{Encoding: "Shift_JIS"})
	if err != nil || len(got) != rows {
		t.Fatalf("%d rows, %v, want %d", len(got), err, rows)
	}
	for n, want := range map[int]string{0: `f.csv.gz:2 {"id":"0","title":"ア"}`, 70_000: "f.csv.gz:70002: byte 6: invalid Shift_JIS", rows - 1: `f.csv.gz:100001 {"id":"99999","title":"ア"}`} {
		if got[n] != want {
			t.Errorf("row %d is %q, want %q", n, got[n], want)
		}
	}
	if err := CheckEncoding("latin-one"); err == nil || !strings.Contains(err.Error(), `encoding "latin-one": want auto, or a name such as windows-1252`) {
		t.Errorf("CheckEncoding = %v", err)
	}
}
