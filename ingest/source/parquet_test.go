package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

// parquetFile makes a Parquet file of rows, groups of them as row groups.
func parquetFile[T any](tb testing.TB, groups [][]T, options ...parquet.WriterOption) string {
	tb.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	for _, g := range groups {
		if _, err := w.Write(g); err != nil {
			tb.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return write(tb, "m.parquet", b.Bytes())
}

// wantRows fails t when the rows of a Parquet file are not want, without their places.
func wantRows(t *testing.T, p string, want ...string) {
	t.Helper()
	got, err := readFile(t, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], "m.parquet: row "+itoa(i+1)+" ")
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func ptr[T any](v T) *T { return &v }

func TestParquetFlat(t *testing.T) {
	type row struct {
		ID    float64   `parquet:"id"`
		B     *bool     `parquet:"b,optional"`
		I32   int32     `parquet:"i32"`
		I64   *int64    `parquet:"i64,optional"`
		U32   uint32    `parquet:"u32"`
		U64   uint64    `parquet:"u64"`
		F     float32   `parquet:"f"`
		S     string    `parquet:"a \"name\""`
		J     string    `parquet:"j,json"`
		Raw   []byte    `parquet:"raw"`
		U     [16]byte  `parquet:"u,uuid"`
		Index int64     `parquet:"__index_level_0__"`
		E     string    `parquet:"e,enum"`
		When  time.Time `parquet:"when,timestamp(microsecond)"`
	}
	p := parquetFile(t, [][]row{{
		{ID: 550, B: ptr(true), I32: -1, I64: ptr(int64(math.MinInt64)), U32: math.MaxUint32, U64: math.MaxUint64, F: 0.1, S: "a\"b\\\n\x01é", J: `{"x":1}`, Raw: []byte("x"), U: [16]byte{1, 15: 255}, Index: 7, E: "e", When: time.Date(2024, 2, 29, 1, 2, 3, 4000, time.UTC)},
		{ID: math.NaN(), F: float32(math.Inf(1)), When: time.Unix(0, 0)},
		{ID: 7.25, F: 1e30, When: time.Date(1950, 1, 1, 0, 0, 0, 999_000, time.UTC)},
	}})
	wantRows(t, p,
		`{"id":550,"b":true,"i32":-1,"i64":-9223372036854775808,"u32":4294967295,"u64":18446744073709551615,"f":0.1,"a \"name\"":"a\"b\\\n\u0001é","j":"{\"x\":1}","raw":"x","u":"01000000-0000-0000-0000-0000000000ff","e":"e","when":"2024-02-29T01:02:03.000004Z"}`,
		`{"id":null,"b":null,"i32":0,"i64":null,"u32":0,"u64":0,"f":null,"a \"name\"":"","j":"","raw":"","u":"00000000-0000-0000-0000-000000000000","e":"","when":"1970-01-01T00:00:00Z"}`,
		`{"id":7.25,"b":null,"i32":0,"i64":null,"u32":0,"u64":0,"f":1e+30,"a \"name\"":"","j":"","raw":"","u":"00000000-0000-0000-0000-000000000000","e":"","when":"1950-01-01T00:00:00.000999Z"}`,
	)
}

// rawRows writes a Parquet file of a schema that no Go struct has, from rows of
// values in column order.
func rawRows(tb testing.TB, node parquet.Node, rows ...parquet.Row) string {
	tb.Helper()
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("t", node))
	if _, err := w.WriteRows(rows); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return write(tb, "m.parquet", b.Bytes())
}

func TestParquetLogicalTypes(t *testing.T) {
	value := func(v parquet.Value, column int) parquet.Value { return v.Level(0, 0, column) }
	node := parquet.Group{
		"a_date": parquet.Date(),
		"b_dec":  parquet.Decimal(2, 9, parquet.Int32Type),
		"c_dec":  parquet.Decimal(3, 18, parquet.Int64Type),
		"d_dec":  parquet.Decimal(2, 20, parquet.FixedLenByteArrayType(9)),
		"e_96":   parquet.Leaf(parquet.Int96Type),
		"f_ms":   parquet.Timestamp(parquet.Millisecond),
		"g_ns":   parquet.TimestampAdjusted(parquet.Nanosecond, false),
		"h_time": parquet.Time(parquet.Microsecond),
		"i_u8":   parquet.Uint(8),
	}
	row := func(date, d32 int32, d64 int64, fixed []byte, i96 deprecated.Int96, ms, ns, us int64, u8 int32) parquet.Row {
		return parquet.Row{
			value(parquet.Int32Value(date), 0), value(parquet.Int32Value(d32), 1), value(parquet.Int64Value(d64), 2),
			value(parquet.FixedLenByteArrayValue(fixed), 3), value(parquet.Int96Value(i96), 4), value(parquet.Int64Value(ms), 5),
			value(parquet.Int64Value(ns), 6), value(parquet.Int64Value(us), 7), value(parquet.Int32Value(u8), 8),
		}
	}
	p := rawRows(t, node,
		row(19782, 1250, -5, []byte{0, 0, 0, 0, 0, 0, 0, 1, 0}, deprecated.Int96{1000, 0, 2440589}, 1709168523004, -1, 3723000001, 255),
		row(-1, -7, 0, bytes.Repeat([]byte{255}, 9), deprecated.Int96{0, 0, 2440588}, -1, 0, 0, 0),
	)
	wantRows(t, p,
		`{"a_date":"2024-02-29","b_dec":12.50,"c_dec":-0.005,"d_dec":2.56,"e_96":"1970-01-02T00:00:00.000001Z","f_ms":"2024-02-29T01:02:03.004Z","g_ns":"1969-12-31T23:59:59.999999999Z","h_time":"01:02:03.000001","i_u8":255}`,
		`{"a_date":"1969-12-31","b_dec":-0.07,"c_dec":0.000,"d_dec":-0.01,"e_96":"1970-01-01T00:00:00Z","f_ms":"1969-12-31T23:59:59.999Z","g_ns":"1970-01-01T00:00:00Z","h_time":"00:00:00","i_u8":0}`,
	)
	p = rawRows(t, node, row(math.MaxInt32, 0, 0, make([]byte, 9), deprecated.Int96{0, 0, 2440588}, 0, 0, 0, 0))
	const left = `"b_dec":0.00,"c_dec":0.000,"d_dec":0.00,"e_96":"1970-01-01T00:00:00Z","f_ms":"1970-01-01T00:00:00Z","g_ns":"1970-01-01T00:00:00Z","h_time":"00:00:00","i_u8":0}`
	wantRows(t, p, `{"a_date":null,`+left)
	if got, err := readFile(t, p, Options{Strict: true}); err != nil || !slices.Equal(got, []string{`m.parquet: row 1: column "a_date": year is outside 0 to 9999`}) {
		t.Errorf("a strict reader has %q, %v", got, err)
	}
}

func TestParquetNested(t *testing.T) {
	type person struct {
		Name  string   `parquet:"name"`
		Roles []string `parquet:"roles,list"`
	}
	type row struct {
		ID     int64             `parquet:"id"`
		Genres []int32           `parquet:"genres,list"`
		Cast   []person          `parquet:"cast,list"`
		Plain  []int32           `parquet:"plain"` // repeated, without a LIST around it
		Extra  map[string]int64  `parquet:"extra"`
		ByID   map[int32]*string `parquet:"by_id"`
		Sub    *person           `parquet:"sub,optional"`
	}
	rows := []row{
		{ID: 1, Genres: []int32{18, 35}, Cast: []person{{"A", []string{"x", "y"}}, {"B", nil}, {"C", []string{""}}}, Plain: []int32{1, 2, 3}, Extra: map[string]int64{"k\"": 1}, ByID: map[int32]*string{5: ptr("v")}, Sub: &person{"S", []string{"z"}}},
		{ID: 2},
		{ID: 3, Genres: []int32{0}, Cast: []person{{}}},
	}
	p := parquetFile(t, [][]row{rows[:1], rows[1:]})
	wantRows(t, p,
		`{"id":1,"genres":[18,35],"cast":[{"name":"A","roles":["x","y"]},{"name":"B","roles":[]},{"name":"C","roles":[""]}],"plain":[1,2,3],"extra":{"k\"":1},"by_id":{"5":"v"},"sub":{"name":"S","roles":["z"]}}`,
		`{"id":2,"genres":[],"cast":[],"plain":[],"extra":{},"by_id":{},"sub":null}`,
		`{"id":3,"genres":[0],"cast":[{"name":"","roles":[]}],"plain":[],"extra":{},"by_id":{},"sub":null}`,
	)
}

func TestParquetNullLists(t *testing.T) {
	// An optional list of optional elements, as Arrow writes: absent, empty and NULL
	// elements differ.
	node := parquet.Group{"l": parquet.Optional(parquet.List(parquet.Optional(parquet.String())))}
	v := func(s string, rep int) parquet.Value { return parquet.ByteArrayValue([]byte(s)).Level(rep, 3, 0) }
	null := func(rep, def int) parquet.Value { return parquet.NullValue().Level(rep, def, 0) }
	p := rawRows(t, node,
		parquet.Row{null(0, 0)}, parquet.Row{null(0, 1)}, parquet.Row{null(0, 2)},
		parquet.Row{v("a", 0), null(1, 2), v("b", 1)}, parquet.Row{v("c", 0)},
	)
	wantRows(t, p, `{"l":null}`, `{"l":[]}`, `{"l":[null]}`, `{"l":["a",null,"b"]}`, `{"l":["c"]}`)
}

func TestParquetListOfLists(t *testing.T) {
	node := parquet.Group{"l": parquet.List(parquet.List(parquet.Leaf(parquet.Int32Type)))}
	v := func(n, rep int) parquet.Value { return parquet.Int32Value(int32(n)).Level(rep, 2, 0) }
	null := func(rep, def int) parquet.Value { return parquet.NullValue().Level(rep, def, 0) }
	p := rawRows(t, node,
		parquet.Row{v(1, 0), v(2, 2), v(3, 1)}, parquet.Row{null(0, 0)}, parquet.Row{null(0, 1), v(4, 1), null(1, 1)},
	)
	wantRows(t, p, `{"l":[[1,2],[3]]}`, `{"l":[]}`, `{"l":[[],[4],[]]}`)
}

func TestParquetOldLists(t *testing.T) {
	// Two-level lists of old writers: the repeated node is the element.
	node := parquet.Group{"l": listOf{parquet.Group{"array": parquet.Repeated(parquet.Leaf(parquet.Int32Type))}}}
	p := rawRows(t, node, parquet.Row{parquet.Int32Value(1).Level(0, 1, 0), parquet.Int32Value(2).Level(1, 1, 0)})
	wantRows(t, p, `{"l":[1,2]}`)
	node = parquet.Group{"l": listOf{parquet.Group{"array": parquet.Repeated(parquet.Group{"x": parquet.Leaf(parquet.Int32Type)})}}}
	p = rawRows(t, node, parquet.Row{parquet.Int32Value(1).Level(0, 1, 0), parquet.Int32Value(2).Level(1, 1, 0)})
	wantRows(t, p, `{"l":[{"x":1},{"x":2}]}`)
}

// listOf marks a group as a LIST whatever is in it.
type listOf struct{ parquet.Group }

func (listOf) Type() parquet.Type { return parquet.List(parquet.String()).Type() }

func TestParquetBadRows(t *testing.T) {
	type row struct {
		ID int64  `parquet:"id"`
		S  string `parquet:"s"`
	}
	p := parquetFile(t, [][]row{{{1, "a"}, {2, "b\x94"}, {3, strings.Repeat("x", 20<<10)}, {4, "d"}, {5, "e\x00"}}})
	r, err := Open(File{Path: p}, Options{Strict: true, Limits: limit.Limits{MaxRowBytes: 10 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := []struct{ err, json string }{
		{"", `{"id":1,"s":"a"}`},
		{`m.parquet: row 2: column "s": byte 1: invalid UTF-8`, "{\"id\":2,\"s\":\"b\x94\"}"},
		{`m.parquet: row 3: row is longer than 10240 bytes`, (`{"id":3,"s":"` + strings.Repeat("x", longRowHead))[:longRowHead]},
		{"", `{"id":4,"s":"d"}`},
		{`m.parquet: row 5: column "s": byte 1: found U+0000, which no text has`, `{"id":5,"s":"e\u0000"}`},
	}
	for i, w := range want {
		row, err := r.Next()
		if err != nil || errText(row.Err) != w.err || string(row.JSON) != w.json || row.Place != (Place{File: "m.parquet", Row: int64(i + 1), Off: -1}) {
			t.Errorf("row %d is %.60q with %v, %v at %+v, want %.60q with %s", i+1, row.JSON, row.Err, err, row.Place, w.json, w.err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
}

// TestParquetNulled: a value that JSON does not have is null, and handed on; the row is good.
func TestParquetNulled(t *testing.T) {
	type row struct {
		ID int64    `parquet:"id"`
		S  []string `parquet:"s,list"`
	}
	p := parquetFile(t, [][]row{{{1, []string{"a"}}, {2, []string{"b\x94", "c", "d\x00"}}}})
	r, err := Open(File{Path: p}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, want := range []string{
		`{"id":1,"s":["a"]} [] <nil>`, `{"id":2,"s":[null,"c","d"]} [{s.list.element byte 1: invalid UTF-8 }] <nil>`,
	} {
		row, err := r.Next()
		if got := fmt.Sprint(string(row.JSON), " ", row.Nulled, " ", row.Err); err != nil || got != want {
			t.Errorf("row is %s, %v, want %s", got, err, want)
		}
	}
}

func TestParquetCorruptPage(t *testing.T) {
	type row struct {
		S string `parquet:"s,zstd"`
	}
	var group []row
	for i := range 1000 {
		group = append(group, row{strings.Repeat(itoa(i*i), 5)})
	}
	p := parquetFile(t, [][]row{group, group, group})
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	meta := f.Metadata().RowGroups[1].Columns[0].MetaData
	b[meta.DataPageOffset+meta.TotalCompressedSize/2] ^= 0xff
	rows, err := readFile(t, write(t, "m.parquet", b), Options{})
	var fe *FileError
	if !errors.As(err, &fe) || len(rows) != 1000 || !strings.HasPrefix(err.Error(), `m.parquet: row 1001: row group 2: column "s": corrupt page: `) {
		t.Errorf("%d rows, then %v, want 1000, then a corrupt page in row group 2", len(rows), err)
	}
}

// TestParquetManyPages reads rows that spread over pages, whose memory the library
// uses again.
func TestParquetManyPages(t *testing.T) {
	type row struct {
		ID int64    `parquet:"id"`
		S  string   `parquet:"s,optional,dict"`
		L  []string `parquet:"l,list"`
	}
	var rows []row
	var want []string
	for i := range 3000 {
		r := row{ID: int64(i), S: "s" + itoa(i%50)}
		js := `{"id":` + itoa(i) + `,"s":"s` + itoa(i%50) + `","l":[`
		for k := range i % 700 / (1 + i%7*20) {
			r.L = append(r.L, itoa(i)+"-"+itoa(k))
			js += strings.Repeat(",", min(k, 1)) + `"` + itoa(i) + "-" + itoa(k) + `"`
		}
		rows, want = append(rows, r), append(want, js+"]}")
	}
	for _, version := range []int{1, 2} {
		p := parquetFile(t, [][]row{rows[:1700], rows[1700:]}, parquet.PageBufferSize(2000), parquet.DataPageVersion(version), parquet.Compression(&parquet.Snappy))
		wantRows(t, p, want...)
	}
}

// TestParquetPacked: a packed Parquet file is unpacked for as long as it is read.
func TestParquetPacked(t *testing.T) {
	type row struct {
		ID int64 `parquet:"id"`
	}
	raw, err := os.ReadFile(parquetFile(t, [][]row{{{1}, {2}}, {{3}}}))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"m.parquet.gz": gz(t, string(raw)), "m.parquet.zst": zst(t, string(raw))} {
		p, dir := write(t, name, data), t.TempDir()
		r, err := Open(File{Path: p}, Options{TempDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for id := 1; id <= 3; id++ {
			row, err := r.Next()
			if want := fmt.Sprintf(`{"id":%d}`, id); err != nil || string(row.JSON) != want {
				t.Errorf("%s: row %d is %s, %v, want %s", name, id, row.JSON, err, want)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: after the last row: %v, want EOF", name, err)
		}
		if f := r.File(); f.Format != FormatParquet || f.Compression == "none" || r.Consumed() != int64(len(data)) {
			t.Errorf("%s: %+v, %d bytes consumed, want Parquet, packed, %d", name, f, r.Consumed(), len(data))
		}
		r.Close()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %d files are left, %v, want none", name, len(left), err)
		}
		if _, err := Open(File{Path: p}, Options{TempDir: filepath.Join(dir, "none")}); err == nil || !strings.HasPrefix(err.Error(), name+": unpack Parquet file: ") {
			t.Errorf("Open without a folder to unpack into: %v", err)
		}
	}
}
