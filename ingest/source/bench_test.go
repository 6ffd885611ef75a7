package source

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// sampleLines returns about n bytes of NDJSON of the kind a crawl gives.
func sampleLines(n int) []byte {
	var b bytes.Buffer
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"id":%d,"title":"Plain \"title\" %d","overview":"Ένας τίτλος, and some plain text that goes on for a while, as overviews do.","popularity":%d.%d,"adult":false,"genre_ids":[18,35,%d],"credits":{"cast":[`, i, i, i%100, i%7, i%40)
		for k := range i % 30 {
			fmt.Fprintf(&b, `%s{"id":%d,"name":"Some Body","character":"Somebody","credit_id":"52fe4250c3a36847f8014a11","order":%d,"profile_path":null}`, []string{"", ","}[min(k, 1)], k, k)
		}
		b.WriteString("]}}\n")
	}
	return b.Bytes()
}

func benchFile(b *testing.B, path string, size int64) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(size)
	rows := 0
	for b.Loop() {
		r, err := Open(File{Path: path}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		for {
			row, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || row.Err != nil {
				b.Fatal(err, row.Err)
			}
			rows++
		}
		r.Close()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkReader(b *testing.B) {
	lines := sampleLines(16 << 20)
	array := append([]byte{'['}, bytes.ReplaceAll(bytes.TrimSpace(lines), []byte("\n"), []byte(",\n"))...)
	array = append(array, ']')
	var zst, gz bytes.Buffer
	zw, _ := zstd.NewWriter(&zst)
	zw.Write(lines)
	zw.Close()
	gw := gzip.NewWriter(&gz)
	gw.Write(lines)
	gw.Close()
	for _, c := range []struct {
		name string
		data []byte
	}{{"ndjson", lines}, {"ndjson.gz", gz.Bytes()}, {"ndjson.zst", zst.Bytes()}, {"array", array}} {
		b.Run(c.name, func(b *testing.B) {
			p := filepath.Join(b.TempDir(), c.name)
			if err := os.WriteFile(p, c.data, 0o600); err != nil {
				b.Fatal(err)
			}
			benchFile(b, p, int64(len(lines)))
		})
	}
}

// sampleTable returns about n bytes of a table of the kind that is found, with a text
// of some length in each row.
func sampleTable(n int, delim, quote string) []byte {
	var b bytes.Buffer
	b.WriteString(strings.Join([]string{"id", "title", "vote_average", "vote_count", "status", "release_date", "overview", "popularity", "tagline"}, delim) + "\n")
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d\x00Plain title %d\x00%d.%d\x00%d\x00Released\x002010-07-16\x00%[6]sΈνας τίτλος, and some plain text that goes on for a while, as overviews do. %[7]s%[7]sA quote%[7]s%[7]s ends it, after some more of the same plain text.%[6]s\x00%[4]d.125\x00\n",
			i, i, i%10, i%7, i%90000, quote, quote)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte{0}, []byte(delim))
}

func BenchmarkTable(b *testing.B) {
	for _, c := range []struct{ name, delim, quote string }{{"m.csv", ",", `"`}, {"m.tsv", "\t", ""}} {
		b.Run(c.name, func(b *testing.B) {
			data := sampleTable(16<<20, c.delim, c.quote)
			benchFile(b, write(b, c.name, data), int64(len(data)))
		})
	}
	b.Run("encoding-csv", func(b *testing.B) { // splits only
		data := sampleTable(16<<20, ",", `"`)
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			r := csv.NewReader(bytes.NewReader(data))
			r.ReuseRecord = true
			for {
				if _, err := r.Read(); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
