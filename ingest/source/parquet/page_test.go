package parquet

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

type largeRow struct {
	ID    int64    `parquet:"id"`
	Text  string   `parquet:"text,plain"`
	Note  *string  `parquet:"note,optional,plain"`
	Genre string   `parquet:"genre,dict"`
	Cast  []person `parquet:"cast,list"`
}

type person struct {
	ID        int32    `parquet:"id,dict"`
	Character string   `parquet:"character,plain"`
	Jobs      []string `parquet:"jobs,list,plain"`
}

// largePages returns a file with one page a column, as DuckDB writes a row group, and its rows.
func largePages(tb testing.TB) (file []byte, rows []string) {
	tb.Helper()
	var list []largeRow
	for i := range 2000 {
		r := largeRow{ID: int64(i), Text: strings.Repeat(fmt.Sprint("text ", i, " "), 1+i%40), Genre: fmt.Sprint("genre ", i%30)}
		note := "null"
		if i%3 == 0 {
			s := fmt.Sprint("note ", i)
			r.Note, note = &s, `"`+s+`"`
		}
		cast := ""
		for k := range i % 7 {
			one := person{ID: int32(i * k % 300), Character: fmt.Sprint("character ", i, k)}
			jobs := ""
			for j := range (i + k) % 3 {
				one.Jobs = append(one.Jobs, fmt.Sprint("job ", j))
				jobs += fmt.Sprintf(`,"job %d"`, j)
			}
			r.Cast = append(r.Cast, one)
			cast += fmt.Sprintf(`,{"id":%d,"character":"%s","jobs":[%s]}`, one.ID, one.Character, strings.TrimPrefix(jobs, ","))
		}
		list = append(list, r)
		rows = append(rows, fmt.Sprintf(`{"id":%d,"text":"%s","note":%s,"genre":"%s","cast":[%s]}`, i, r.Text, note, r.Genre, strings.TrimPrefix(cast, ",")))
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[largeRow](&b, parquet.Compression(&parquet.Snappy), parquet.PageBufferSize(64<<20))
	if _, err := w.Write(list); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes(), rows
}

// holds returns how many bytes of pages and dictionaries the columns hold.
func (p *Reader) holds() (n int) {
	for _, c := range p.columns {
		for i := range c.page.parts {
			n += len(c.page.parts[i].buf)
		}
		if c.dict != nil {
			n += len(c.dict.body) + 4*len(c.dict.offsets)
		}
	}
	return n + cap(p.packed) + cap(p.body)
}

// TestLargePages: columns whose pages hold a whole row group take the memory that there is for them, not the memory of the pages.
func TestLargePages(t *testing.T) {
	file, want := largePages(t)
	defer func(n, kept int) { heldBytes, keptBytes = n, kept }(heldBytes, keptBytes)
	keptBytes = 1000
	for _, held := range []int{heldBytes, 100_000, 30_000} {
		heldBytes = held
		r, err := Open(bytes.NewReader(file), int64(len(file)), int64(len(file)), limit.Limits{}.WithDefaults())
		if err != nil {
			t.Fatal(err)
		}
		most, size := 0, int64(0)
		for _, c := range r.groups[0].Columns {
			size += c.MetaData.TotalUncompressedSize
		}
		for i := range want {
			row, err := r.Next()
			if err != nil || string(row.JSON) != want[i] {
				t.Fatalf("with %d bytes: row %d is %s, %v, want %s", held, i, row.JSON, err, want[i])
			}
			most = max(most, r.holds())
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("with %d bytes: after the last row: %v", held, err)
		}
		// Beside their shares there are the dictionaries, a value of each column, and the buffers of short pages.
		const spare = 12_000
		if bound := held*5/4 + spare; most > bound {
			t.Errorf("with %d bytes, columns hold %d, want at most %d", held, most, bound)
		}
		if all := int64(held) > size; all != (r.reread == 0) {
			t.Errorf("with %d bytes for pages of %d: %d bytes are uncompressed again", held, size, r.reread)
		}
		r.Close()
	}
}

// TestTooLargePages: there is an end to uncompressing pages again.
func TestTooLargePages(t *testing.T) {
	defer func(n int) { heldBytes = n }(heldBytes)
	heldBytes = 1000
	file, _ := largePages(t)
	for _, tt := range []struct {
		limits limit.Limits
		want   string
	}{
		{limit.Limits{MaxRatio: 100}, ": pages are too large for 1000 bytes of memory: "},
		{limit.Limits{MaxPageBytes: 1 << 20, MaxDictionaryBytes: 600}, "want at most 600"},
	} {
		r, err := Open(bytes.NewReader(file), int64(len(file)), int64(len(file)), tt.limits.WithDefaults())
		for err == nil {
			_, err = r.Next()
		}
		if err == io.EOF || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
