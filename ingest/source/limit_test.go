package source

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

// repeated writes a file that head and then a hundred times chunk are packed into: by zstd
// in a frame each, so that chunk is packed once; a gzip member each would expand less.
func repeated(tb testing.TB, name, head string, chunk []byte) string {
	tb.Helper()
	const times = 100
	if filepath.Ext(name) == ".zst" {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		if err != nil {
			tb.Fatal(err)
		}
		return write(tb, name, append(z.EncodeAll([]byte(head), nil), bytes.Repeat(z.EncodeAll(chunk, nil), times)...))
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		tb.Fatal(err)
	}
	io.WriteString(w, head)
	for range times {
		w.Write(chunk)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return write(tb, name, b.Bytes())
}

func TestCompressionBombs(t *testing.T) {
	mib := bytes.Repeat([]byte(" "), 1<<20)
	row := []byte(`{"a":"` + strings.Repeat("x", 1014) + "\"}\n")
	rows := bytes.Repeat(row, 1<<10)
	names := []string{"m.ndjson.zst", "m.ndjson.gz"}
	if testing.Short() {
		names = names[:1] // gzip is read by the same goroutine
	}
	for _, name := range names {
		refused(t, name+" of blanks", repeated(t, name, "", mib), Options{}, name+": expands to ")
		p := repeated(t, name, "", rows)
		if n := refused(t, name, p, Options{Limits: limit.Limits{MaxRatio: 100}}, name+": row 6"); n < 63<<10 || n > 65<<10 {
			t.Errorf("%s: %d rows were read, want those in the first 64 MiB", name, n)
		}
		if n := refused(t, name, p, Options{Limits: limit.Limits{MaxBytes: 3000, MaxRatio: -1}}, name+": row 3 (line 3): holds more than 3000 bytes uncompressed, the limit for one file"); n != 2 {
			t.Errorf("%s: %d rows were read, want those in the first 3000 bytes", name, n)
		}
	}
	refused(t, "packed Parquet", repeated(t, "m.parquet.zst", "PAR1", mib), Options{TempDir: t.TempDir()}, "m.parquet.zst: expands to ")
	table := repeated(t, "m.csv.zst", "id,title\n1,\"", mib) // a quote that is not closed
	refused(t, "open quote", table, Options{Limits: limit.Limits{MaxRowBytes: 96 << 20}}, "m.csv.zst: row 1 (line 2): expands to ")
	if _, err := readFile(t, write(t, "m.ndjson", []byte("{}\n{\"a\":1}\n")), Options{Limits: limit.Limits{MaxBytes: 10}}); !errors.Is(err, limit.Err) {
		t.Errorf("a plain file above MaxBytes: %v, want ErrLimit", err)
	}
	if rows, err := readFile(t, write(t, "m.ndjson", []byte("{}\n{\"a\":1}\n")), Options{Limits: limit.Limits{MaxBytes: 11}}); err != nil || len(rows) != 2 {
		t.Errorf("a plain file as long as MaxBytes: %q, %v", rows, err)
	}
}

func TestMaxDepth(t *testing.T) {
	deep := strings.Repeat(`{"a":`, limit.MaxDepth) + "{}" + strings.Repeat("}", limit.MaxDepth)
	got, err := readFile(t, write(t, "m.json", []byte("["+deep+"]")), Options{})
	if want := "m.json:1: byte 2560: nested deeper than 512 levels"; err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("513 levels: %.80q, %v, want %s", got, err, want)
	}
}
