package ingest

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bytedance/sonic"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/data/gen"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// speedMovies is how many movies the benchmark of the speed ingests: few in the checks,
// REELSPLICE_BENCH_MOVIES for figures that mean something.
func speedMovies(b *testing.B) int64 {
	b.Helper()
	n, err := strconv.ParseInt(os.Getenv("REELSPLICE_BENCH_MOVIES"), 10, 64)
	if err != nil {
		return 1000
	}
	return n
}

// BenchmarkSpeed compares an ingest with what cannot be done without, in turn and on the same cores: rows are
// uncompressed and parsed by sonic into structs of the same fields, and nothing else; and a catalogue's own
// Parquet file is read by parquet-go, row by row. It reports the speed of the ingest as a share of theirs, the
// median of the rounds.
func BenchmarkSpeed(b *testing.B) {
	dir := b.TempDir()
	c := gen.DefaultConfig()
	c.Out, c.Movies = dir, speedMovies(b)
	if _, err := gen.Run(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	dump := filepath.Join(dir, "movies.ndjson.zst")
	from := b.TempDir()
	r := ingestInto(b, from, Config{Sources: []string{dump}})
	table := filepath.Join(from, movieFile)
	rows := r.Records["movie"]
	for _, bench := range []struct {
		name, file string
		baseline   func(testing.TB, string) int64
	}{{"ndjson.zst", dump, parseOnly}, {"parquet", table, readOnly}} {
		b.Run(bench.name, func(b *testing.B) {
			var shares []float64
			for b.Loop() {
				ours := timed(b, func() int64 {
					return ingestInto(b, b.TempDir(), Config{Sources: []string{bench.file}}).Records["movie"]
				}, rows)
				theirs := timed(b, func() int64 { return bench.baseline(b, bench.file) }, rows)
				shares = append(shares, theirs/ours)
			}
			slices.Sort(shares)
			b.ReportMetric(shares[len(shares)/2], "of-its-speed")
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

// timed returns how many seconds fn takes, which must see all rows.
func timed(tb testing.TB, fn func() int64, rows int64) float64 {
	tb.Helper()
	runtime.GC()
	start := time.Now()
	if got := fn(); got != rows {
		tb.Fatalf("%d rows, want %d", got, rows)
	}
	return time.Since(start).Seconds()
}

// parseOnly parses all rows of a packed dump with sonic into structs that have the fields of
// catalog.Movie as plain Go types.
func parseOnly(tb testing.TB, path string) (n int64) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	t := plainStruct(record.SchemaOf[catalog.Movie]())
	s := bufio.NewScanner(z)
	s.Buffer(make([]byte, 1<<20), 64<<20)
	for ; s.Scan(); n++ {
		if err := sonic.Unmarshal(s.Bytes(), reflect.New(t).Interface()); err != nil {
			tb.Fatal(err)
		}
	}
	if err := s.Err(); err != nil {
		tb.Fatal(err)
	}
	return n
}

// plainStruct makes a struct type for encoding/json of a plan.
func plainStruct(p *record.Schema) reflect.Type {
	var fields []reflect.StructField
	for i := range p.Fields {
		f := &p.Fields[i]
		if f.Name == "*" || i == p.Key {
			continue
		}
		var t reflect.Type
		switch f.Shape {
		case record.ShapeString:
			t = reflect.TypeFor[*string]()
		case record.ShapeInt:
			t = reflect.TypeFor[*int64]()
		case record.ShapeFloat:
			t = reflect.TypeFor[*float64]()
		case record.ShapeBool:
			t = reflect.TypeFor[*bool]()
		case record.ShapeRaw:
			t = reflect.TypeFor[any]()
		case record.ShapeStrings:
			t = reflect.TypeFor[[]string]()
		case record.ShapeInts:
			t = reflect.TypeFor[[]int64]()
		case record.ShapeObject, record.ShapePages:
			t = reflect.PointerTo(plainStruct(f.Elem))
		case record.ShapeKeyed:
			t = reflect.TypeFor[map[string]any]()
		default:
			t = reflect.SliceOf(plainStruct(f.Elem))
		}
		fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(i), Type: t, Tag: reflect.StructTag(`json:"` + f.Name + `"`)})
	}
	return reflect.StructOf(fields)
}

// readOnly reads all rows of a Parquet file with the library.
func readOnly(tb testing.TB, path string) (n int64) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r := parquet.NewReader(f)
	defer r.Close()
	for rows := make([]parquet.Row, 64); ; {
		k, err := r.ReadRows(rows)
		n += int64(k)
		if err == io.EOF {
			return n
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}
