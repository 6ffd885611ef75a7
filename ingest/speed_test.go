package ingest

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
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

// BenchmarkSpeed compares an ingest with what cannot be done without, in turn and on the
// same cores: rows are uncompressed and parsed by sonic into structs of the same members,
// and nothing else; and a catalogue's own Parquet file is read by parquet-go, row by row.
// It reports how fast the ingest is against each, as a share of its speed, and the same
// of the CPU time; medians of the rounds.
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
	}{
		{"ndjson.zst", dump, parseOnly},
		{"ndjson.zst, into record structs", dump, parseWire},
		{"parquet", table, readStructs},
		{"parquet, into loose values", table, readOnly},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var wall, cpu []float64
			for b.Loop() {
				ours := timed(b, func() int64 {
					return ingestInto(b, b.TempDir(), Config{Sources: []string{bench.file}}).Records["movie"]
				}, rows)
				theirs := timed(b, func() int64 { return bench.baseline(b, bench.file) }, rows)
				wall, cpu = append(wall, theirs.wall/ours.wall), append(cpu, theirs.cpu/ours.cpu)
			}
			b.ReportMetric(median(wall), "of-its-speed")
			b.ReportMetric(median(cpu), "of-its-CPU")
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

type cost struct{ wall, cpu float64 } // seconds

// timed runs fn, which must see all rows.
func timed(tb testing.TB, fn func() int64, rows int64) cost {
	tb.Helper()
	runtime.GC()
	start, used := time.Now(), cpuSeconds()
	if got := fn(); got != rows {
		tb.Fatalf("%d rows, want %d", got, rows)
	}
	return cost{time.Since(start).Seconds(), cpuSeconds() - used}
}

func median(list []float64) float64 {
	sorted := append([]float64(nil), list...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted[len(sorted)/2]
}

// eachLine calls fn with the lines of a packed dump.
func eachLine(tb testing.TB, path string, fn func(line []byte)) int64 {
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
	s := bufio.NewScanner(z)
	s.Buffer(make([]byte, 1<<20), 64<<20)
	n := int64(0)
	for s.Scan() {
		fn(s.Bytes())
		n++
	}
	if err := s.Err(); err != nil {
		tb.Fatal(err)
	}
	return n
}

// parseOnly parses all rows with sonic into structs that have the members of
// catalog.Movie as plain Go types.
func parseOnly(tb testing.TB, path string) int64 {
	tb.Helper()
	t := plainStruct(record.SchemaOf[catalog.Movie]())
	return eachLine(tb, path, func(line []byte) {
		if err := sonic.Unmarshal(line, reflect.New(t).Interface()); err != nil {
			tb.Fatal(err)
		}
	})
}

// parseWire parses all rows into catalog.Movie itself.
func parseWire(tb testing.TB, path string) int64 {
	tb.Helper()
	p := record.NewParser()
	return eachLine(tb, path, func(line []byte) {
		if err := p.Parse(string(line), record.Of(new(catalog.Movie))); err != nil {
			tb.Fatal(err)
		}
	})
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

// rowStruct makes a struct type for parquet-go of a plan.
func rowStruct(p *record.Schema) reflect.Type {
	column := func(n int, name, options string, t reflect.Type) reflect.StructField {
		return reflect.StructField{Name: "F" + strconv.Itoa(n), Type: t, Tag: reflect.StructTag(`parquet:"` + name + options + `"`)}
	}
	fields := []reflect.StructField{
		column(1000, record.UnusualColumn, ",optional", reflect.TypeFor[*string]()),
		column(1001, record.ExtraColumn, ",optional", reflect.TypeFor[*string]()),
	}
	for i := range p.Fields {
		f := &p.Fields[i]
		t, options := reflect.TypeFor[*string](), ",optional"
		switch f.Shape {
		case record.ShapeInt:
			t = reflect.TypeFor[*int64]()
		case record.ShapeFloat:
			t = reflect.TypeFor[*float64]()
		case record.ShapeBool:
			t = reflect.TypeFor[*bool]()
		case record.ShapeStrings:
			t, options = reflect.TypeFor[[]string](), ",optional,list"
		case record.ShapeInts:
			t, options = reflect.TypeFor[[]int64](), ",optional,list"
		case record.ShapeObject:
			t = reflect.PointerTo(rowStruct(f.Elem))
		case record.ShapeObjects, record.ShapeKeyed, record.ShapePages:
			t, options = reflect.SliceOf(rowStruct(f.Elem)), ",optional,list"
		}
		fields = append(fields, column(i, f.Column, options, t))
	}
	return reflect.StructOf(fields)
}

// readStructs reads all rows of a Parquet file with the library into structs.
func readStructs(tb testing.TB, path string) int64 {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	t := rowStruct(record.SchemaOf[catalog.Movie]())
	r := parquet.NewReader(f, parquet.SchemaOf(reflect.New(t).Interface()))
	defer r.Close()
	for n := int64(0); ; n++ {
		if err := r.Read(reflect.New(t).Interface()); err == io.EOF {
			return n
		} else if err != nil {
			tb.Fatal(err)
		}
	}
}

// readOnly reads all rows of a Parquet file with the library.
func readOnly(tb testing.TB, path string) int64 {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		tb.Fatal(err)
	}
	n := int64(0)
	rows := make([]parquet.Row, 64)
	for _, g := range file.RowGroups() {
		r := g.Rows()
		for {
			k, err := r.ReadRows(rows)
			n += int64(k)
			if err == io.EOF {
				break
			}
			if err != nil {
				tb.Fatal(err)
			}
		}
		r.Close()
	}
	return n
}
