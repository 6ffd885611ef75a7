package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A lie is a Parquet file of one column whose metadata need not be true.
type lie struct {
	column format.SchemaElement
	codec  format.CompressionCodec
	values int64 // values in the column, and rows in the file
	pages  [][]byte
	pad    int // zero bytes behind the pages
	meta   func(*format.FileMetaData)
	footer func([]byte) []byte
}

func marshal(tb testing.TB, v any) []byte {
	tb.Helper()
	var compact thrift.CompactProtocol
	b, err := thrift.Marshal(&compact, v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func some[T any](v T) thrift.Null[T] { return thrift.Null[T]{V: v, Valid: true} }

// column returns the schema of a column that may be NULL.
func column(typ format.Type) format.SchemaElement {
	return format.SchemaElement{Name: "c", Type: some(typ), RepetitionType: some(format.Optional)}
}

// write writes the file.
func (l *lie) write(tb testing.TB) string {
	tb.Helper()
	b := []byte("PAR1")
	for _, p := range l.pages {
		b = append(b, p...)
	}
	size := int64(len(b) - 4)
	b = append(b, make([]byte, l.pad)...)
	meta := format.FileMetaData{
		Version: 1, NumRows: l.values,
		Schema: []format.SchemaElement{{Name: "root", NumChildren: some(int32(1))}, l.column},
		RowGroups: []format.RowGroup{{NumRows: l.values, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: l.column.Type.V, Codec: l.codec, NumValues: l.values, TotalCompressedSize: size, TotalUncompressedSize: size,
			DataPageOffset: 4, PathInSchema: []string{"c"}, Encoding: []format.Encoding{format.Plain},
		}}}}},
	}
	if l.meta != nil {
		l.meta(&meta)
	}
	footer := marshal(tb, &meta)
	if l.footer != nil {
		footer = l.footer(footer)
	}
	b = append(b, footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return write(tb, "m.parquet", append(b, "PAR1"...))
}

// pageV1 returns a data page of version 1 that claims to have claimed bytes uncompressed.
func pageV1(tb testing.TB, values int, e format.Encoding, body []byte, claimed int) []byte {
	tb.Helper()
	h := format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(claimed), CompressedPageSize: int32(len(body)),
		DataPageHeader: some(format.DataPageHeader{NumValues: int32(values), Encoding: e, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}),
	}
	return append(marshal(tb, &h), body...)
}

// levels returns definition levels of page version 1: one run of the given length.
func levels(run uint64, level byte) []byte {
	b := append(binary.AppendUvarint(nil, run<<1), level)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// nulls returns a page of so many NULLs.
func nulls(tb testing.TB, n int) []byte {
	tb.Helper()
	b := levels(uint64(n), 0)
	return pageV1(tb, n, format.Plain, b, len(b))
}

func dictionary(tb testing.TB, values int, body []byte, claimed int) []byte {
	tb.Helper()
	h := format.PageHeader{
		Type: format.DictionaryPage, UncompressedPageSize: int32(claimed), CompressedPageSize: int32(len(body)),
		DictionaryPageHeader: some(format.DictionaryPageHeader{NumValues: int32(values), Encoding: format.Plain}),
	}
	return append(marshal(tb, &h), body...)
}

func zeros(n int) []byte { return make([]byte, n) }

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// delta returns the head of numbers in DELTA_BINARY_PACKED encoding and, where there is
// more than one, blocks without bits: each number is the one before it.
func deltaOf(total, first uint64) []byte {
	b := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4), total)
	b = binary.AppendUvarint(b, first<<1)
	for i := uint64(1); i < min(total, 1<<20); i += 128 {
		b = append(b, 0, 0, 0, 0, 0)
	}
	return b
}

// refused reads a file and fails t unless it ends with the error want, soon and without
// much memory. It returns the number of rows before that.
func refused(t *testing.T, name, p string, o Options, want string) (rows int) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	r, err := Open(File{Path: p}, o)
	for err == nil {
		if _, err = r.Next(); err == nil {
			rows++
		}
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if r != nil {
		r.Close()
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %d rows, then %v, want %s", name, rows, err, want)
	}
	var fe *FileError
	if !errors.As(err, &fe) {
		t.Errorf("%s: %v is no FileError", name, err)
	}
	if is := errors.Is(err, limit.Err); is == (strings.Contains(want, "corrupt") || strings.Contains(want, "no columns")) {
		t.Errorf("%s: %v matches limit.Err: %v", name, err, is)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
		t.Errorf("%s: allocated %d bytes, want at most 256 MiB", name, n)
	}
	if took > sharedtest.Patience { // it takes milliseconds; what such a file claims would take minutes
		t.Errorf("%s: took %v, want at most some milliseconds", name, took)
	}
	return rows
}

// TestParquetLies: none of these files is larger than 1 MiB, whatever it claims.
func TestParquetLies(t *testing.T) {
	bytesColumn, intColumn, boolColumn := column(format.ByteArray), column(format.Int64), column(format.Boolean)
	ten := levels(10, 1)
	chain := func(n int) func(*format.FileMetaData) {
		return func(m *format.FileMetaData) {
			leaf := m.Schema[1]
			for range n {
				m.Schema = append(m.Schema, m.Schema[0])
			}
			m.Schema[1], m.Schema[len(m.Schema)-1] = m.Schema[0], leaf
		}
	}
	tests := []struct {
		name string
		lie  lie
		o    Options
		want string
	}{
		{
			"page size",
			lie{column: bytesColumn, values: 10, pages: [][]byte{pageV1(t, 10, format.Plain, ten, math.MaxInt32)}},
			Options{},
			`m.parquet: row 1: row group 1: column "c": page claims 2147483647 bytes uncompressed, want at most 268435456`,
		},
		{
			"page size below the limit",
			lie{column: bytesColumn, values: 10, pages: [][]byte{pageV1(t, 10, format.Plain, ten, 200<<20)}},
			Options{},
			`column "c": expands to `,
		},
		{
			"page limit",
			lie{column: bytesColumn, values: 10, pages: [][]byte{pageV1(t, 10, format.Plain, ten, 1<<20)}},
			Options{Limits: limit.Limits{MaxPageBytes: 1 << 19}},
			`column "c": page claims 1048576 bytes uncompressed, want at most 524288`,
		},
		{
			"negative page size",
			lie{column: bytesColumn, values: 10, pages: [][]byte{pageV1(t, 10, format.Plain, ten, -1)}},
			Options{},
			`column "c": corrupt page: header of the page: 6 bytes, -1 uncompressed`,
		},
		{
			"page behind its column",
			lie{column: bytesColumn, values: 10, pages: [][]byte{pageV1(t, 10, format.Plain, ten, 7)[:20]}},
			Options{},
			`column "c": corrupt page: header of the page: `,
		},
		{
			"dictionary values",
			lie{column: bytesColumn, values: 10, pages: [][]byte{dictionary(t, math.MaxInt32, zeros(40), 40)}},
			Options{},
			`column "c": dictionary page claims 2147483647 values in 40 bytes`,
		},
		{
			"dictionary size",
			lie{column: bytesColumn, values: 10, pages: [][]byte{dictionary(t, 10, zeros(40), math.MaxInt32)}},
			Options{},
			`column "c": dictionary page claims 2147483647 bytes uncompressed, want at most 268435456`,
		},
		{
			"dictionary limit",
			lie{column: bytesColumn, values: 10, pages: [][]byte{dictionary(t, 10, zeros(4096), 4096)}},
			Options{Limits: limit.Limits{MaxDictionaryBytes: 1024}},
			`column "c": dictionary page claims 4096 bytes uncompressed, want at most 1024`,
		},
		{
			"two dictionaries",
			lie{column: bytesColumn, values: 10, pages: [][]byte{dictionary(t, 1, zeros(4), 4), dictionary(t, 1, zeros(4), 4)}},
			Options{},
			`column "c": corrupt page: found a second dictionary page`,
		},
		{
			"no dictionary",
			lie{column: bytesColumn, values: 10, pages: [][]byte{pageV1(t, 10, format.RLEDictionary, join(ten, []byte{1, 20, 0}), 10)}},
			Options{},
			`column "c": corrupt page: it refers to a dictionary, but none is in front of it`,
		},
		{
			"petabytes of NULLs",
			lie{column: bytesColumn, values: 1e15, pages: [][]byte{nulls(t, 1e9)}, pad: 42 << 10},
			Options{},
			"m.parquet: claims 1000000000000000 values in 4",
		},
		{"petabytes in many row groups", lie{column: bytesColumn, values: 1e9, pages: [][]byte{nulls(t, 1e9)}, pad: 42 << 10, meta: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 0
			for range 9 {
				m.RowGroups = append(m.RowGroups, m.RowGroups...)
			}
		}}, Options{}, "m.parquet: claims 512000000000 values in "},
		{"rows without values", lie{column: bytesColumn, values: 1e15, pages: [][]byte{nulls(t, 10)}, meta: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.NumValues = 10
		}}, Options{}, "m.parquet: corrupt Parquet footer: row group 1: column 1: it has 10 values in 1000000000000000 rows"},
		{"values without rows", lie{column: bytesColumn, values: 10, pages: [][]byte{nulls(t, 10)}, meta: func(m *format.FileMetaData) {
			m.RowGroups[0].NumRows = 9
		}}, Options{}, `m.parquet: corrupt Parquet footer: row group 1: column "c" has 10 values in 9 rows`},
		{
			"page of more values than its column",
			lie{column: bytesColumn, values: 10, pages: [][]byte{nulls(t, 1e9)}},
			Options{},
			`column "c": corrupt page: header of the page: 1000000000 values where 10 are left of the column`,
		},
		{
			"page of many values",
			lie{column: bytesColumn, values: 5e6, pages: [][]byte{nulls(t, 5e6)}},
			Options{Limits: limit.Limits{MaxPageBytes: 1 << 20}},
			`column "c": page claims 5000000 values, 25000000 bytes in memory, want at most 1048576`,
		},
		{
			"run of levels",
			lie{column: bytesColumn, values: 10, pages: [][]byte{pageV1(t, 10, format.Plain, levels(math.MaxInt32, 0), 10)}},
			Options{},
			`column "c": page of 10 values holds a run of 2147483647`,
		},
		{"run of dictionary places", lie{column: bytesColumn, values: 10, pages: [][]byte{
			dictionary(t, 1, zeros(4), 4),
			pageV1(t, 10, format.RLEDictionary, join(ten, []byte{1}, binary.AppendUvarint(nil, math.MaxInt32<<1), []byte{0}), 14),
		}}, Options{}, `column "c": page of 10 values holds a run of 2147483647`},
		{"run of booleans", lie{column: boolColumn, values: 10, pages: [][]byte{
			pageV1(t, 10, format.RLE, join(ten, []byte{6, 0, 0, 0}, binary.AppendUvarint(nil, math.MaxInt32<<1), []byte{0}), 17),
		}}, Options{}, `column "c": page of 10 values holds a run of 2147483647`},
		{
			"delta numbers",
			lie{column: intColumn, values: 10, pages: [][]byte{pageV1(t, 10, format.DeltaBinaryPacked, join(ten, deltaOf(math.MaxInt32, 1)), 7)}},
			Options{},
			`column "c": page of 10 values claims 2147483647 encoded numbers`,
		},
		{
			"delta lengths",
			lie{column: bytesColumn, values: 10, pages: [][]byte{pageV1(t, 10, format.DeltaLengthByteArray, join(ten, deltaOf(10, math.MaxInt32/4)), 7)}},
			Options{},
			`column "c": corrupt page: values of 5368709110 bytes in a page of 0`,
		},
		{
			"delta prefixes",
			lie{column: bytesColumn, values: 100_000, pages: [][]byte{pageV1(t, 100_000, format.DeltaByteArray,
				join(levels(100_000, 1), deltaOf(100_000, 100_000), deltaOf(100_000, 0), zeros(100_000)), 7)}},
			Options{},
			`column "c": page claims values of 10000000000 bytes, want at most 268435456`,
		},
		{
			"delta prefixes below the limit",
			lie{column: bytesColumn, values: 10_000, pages: [][]byte{pageV1(t, 10_000, format.DeltaByteArray,
				join(levels(10_000, 1), deltaOf(10_000, 10_000), deltaOf(10_000, 0)), 7)}},
			Options{},
			`column "c": expands to `,
		},
		{
			"long values",
			lie{column: format.SchemaElement{Name: "c", Type: some(format.FixedLenByteArray), TypeLength: some(int32(math.MaxInt32))}, values: 10, pages: [][]byte{nulls(t, 10)}},
			Options{},
			`m.parquet: corrupt Parquet footer: column "c" holds values of 2147483647 bytes`,
		},
		{
			"deep schema",
			lie{column: bytesColumn, values: 10, meta: chain(65)},
			Options{},
			`m.parquet: Parquet schema is nested deeper than 64 levels at "root"`,
		},
		{
			"very deep schema",
			lie{column: bytesColumn, values: 10, meta: chain(100_000)},
			Options{},
			`m.parquet: Parquet schema is nested deeper than 64 levels at "root"`,
		},
		{"many columns", lie{column: bytesColumn, values: 10, meta: func(m *format.FileMetaData) {
			for range 10_000 {
				m.Schema = append(m.Schema, m.Schema[1])
			}
			m.Schema[0].NumChildren.V = 10_001
		}}, Options{}, "m.parquet: Parquet schema has more than 10000 columns"},
		{
			"children that are not there",
			lie{column: bytesColumn, values: 10, meta: func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = math.MaxInt32 }},
			Options{},
			"m.parquet: corrupt Parquet footer: the schema ends inside a group",
		},
		{"rows without columns", lie{column: bytesColumn, values: 1e15, meta: func(m *format.FileMetaData) {
			m.Schema[1] = format.SchemaElement{Name: "g"}
			m.RowGroups[0].Columns = nil
		}}, Options{}, "m.parquet: no columns in the Parquet file"},
		{"columns that overlap", lie{column: bytesColumn, values: 10, pages: [][]byte{nulls(t, 10), zeros(1000)}, meta: func(m *format.FileMetaData) {
			m.RowGroups = append(m.RowGroups, m.RowGroups...)
		}}, Options{}, "m.parquet: corrupt Parquet footer: its columns have "},
		{"list of the footer", lie{column: bytesColumn, values: 10, footer: func([]byte) []byte {
			// field 1, I32 of 1; field 2, a list of 2^31-1 structs
			return []byte{0x15, 2, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0}
		}}, Options{}, "m.parquet: corrupt Parquet footer: it ends too early"},
		{"nesting of the footer", lie{column: bytesColumn, values: 10, footer: func([]byte) []byte {
			return bytes.Repeat([]byte{0xfc}, 1<<20) // structs in structs
		}}, Options{}, "m.parquet: footer of the Parquet file: it is nested deeper than 32 levels"},
		{"items of the footer", lie{column: bytesColumn, values: 10, footer: func([]byte) []byte {
			return join([]byte{0x19, 0xf3}, binary.AppendUvarint(nil, 2<<20), zeros(2<<20), []byte{0})
		}}, Options{}, "m.parquet: footer of the Parquet file: it lists more items than its size allows"},
	}
	for _, tt := range tests {
		refused(t, tt.name, tt.lie.write(t), tt.o, tt.want)
	}
}

// packers compress with each codec that a Parquet page may have.
func packers(tb testing.TB) map[format.CompressionCodec]func([]byte) []byte {
	tb.Helper()
	return map[format.CompressionCodec]func([]byte) []byte{
		format.Snappy: func(b []byte) []byte { return snappy.Encode(nil, b) },
		format.Zstd:   func(b []byte) []byte { return zst(tb, string(b)) },
		format.Gzip:   func(b []byte) []byte { return gz(tb, string(b)) },
		format.Brotli: func(b []byte) []byte {
			var out bytes.Buffer
			w := brotli.NewWriterLevel(&out, 5)
			w.Write(b)
			w.Close()
			return out.Bytes()
		},
		format.Lz4Raw: func(b []byte) []byte {
			out := make([]byte, lz4.CompressBlockBound(len(b)))
			n, err := lz4.CompressBlock(b, out, nil)
			if err != nil {
				tb.Fatal(err)
			}
			return out[:n]
		},
	}
}

// TestParquetPageBombs: a page that expands to more than it claims is not expanded, and
// one that claims what it expands to is counted.
func TestParquetPageBombs(t *testing.T) {
	body := join(levels(1, 1), zeros(24<<20))
	for codec, pack := range packers(t) {
		packed := pack(body)
		lying := lie{column: column(format.Int64), codec: codec, values: 10, pages: [][]byte{pageV1(t, 10, format.Plain, packed, 1000)}}
		refused(t, codec.String(), lying.write(t), Options{}, `column "c": corrupt page: `)
		honest := pageV1(t, 1, format.Plain, packed, len(body))
		bomb := lie{column: column(format.Int64), codec: codec, values: 10, pages: [][]byte{honest, honest, honest, honest, honest}}
		if rows := refused(t, codec.String(), bomb.write(t), Options{Limits: limit.Limits{MaxRatio: 2}}, `column "c": expands to `); rows != 2 {
			t.Errorf("%s: %d rows before the bomb, want 2", codec, rows)
		}
		refused(t, codec.String(), bomb.write(t), Options{Limits: limit.Limits{MaxRatio: -1, MaxBytes: 32 << 20}}, `column "c": holds more than 33554432 bytes uncompressed, the limit for one file`)
		cut := lie{column: column(format.Int64), codec: codec, values: 10, pages: [][]byte{pageV1(t, 1, format.Plain, packed[:len(packed)/2], len(body))}}
		refused(t, codec.String(), cut.write(t), Options{Limits: limit.Limits{MaxRatio: -1}}, `column "c": corrupt page: `)
	}
	unknown := lie{column: column(format.ByteArray), codec: 3, values: 10, pages: [][]byte{nulls(t, 10)}}
	refused(t, "LZO", unknown.write(t), Options{}, `column "c": corrupt page: it is compressed with LZO, want SNAPPY, ZSTD, GZIP, BROTLI or LZ4_RAW`)
}

// TestParquetConstants: what compresses well is no bomb. These are a million rows of
// NULLs and of one word in a few thousand bytes.
func TestParquetConstants(t *testing.T) {
	type row struct {
		A *string `parquet:"a,optional"`
		B string  `parquet:"b,dict"`
		C int64   `parquet:"c,delta"`
	}
	rows := make([]row, 1_000_000)
	for i := range rows {
		rows[i].B = "word"
	}
	p := parquetFile(t, [][]row{rows}, parquet.Compression(&parquet.Zstd))
	info, err := os.Stat(p)
	if err != nil || info.Size() > 100_000 {
		t.Fatalf("the file has %d bytes, %v, want few", info.Size(), err)
	}
	r, err := Open(File{Path: p}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for ; ; n++ {
		row, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil || row.Err != nil || string(row.JSON) != `{"a":null,"b":"word","c":0}` {
			t.Fatalf("row %d is %s, %v, %v", n+1, row.JSON, row.Err, err)
		}
	}
	if n != len(rows) {
		t.Errorf("%d rows, want %d", n, len(rows))
	}
}

//go:linkname parquetHeldBytes github.com/reelsplice/reelsplice/ingest/source/parquet.heldBytes
var parquetHeldBytes int

// TestParquetEncodings reads every encoding in every codec and page version, half of them with too little memory for whole pages:
// the checks of pages must let pass what writers write.
func TestParquetEncodings(t *testing.T) {
	fixed := parquet.FixedLenByteArrayType(4)
	node := parquet.Group{
		"a": parquet.Encoded(parquet.Optional(parquet.Leaf(parquet.Int32Type)), &parquet.DeltaBinaryPacked),
		"b": parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked),
		"c": parquet.Encoded(parquet.Optional(parquet.String()), &parquet.DeltaLengthByteArray),
		"d": parquet.Encoded(parquet.Repeated(parquet.String()), &parquet.DeltaByteArray),
		"e": parquet.Encoded(parquet.Leaf(fixed), &parquet.DeltaByteArray),
		"f": parquet.Encoded(parquet.Repeated(parquet.String()), &parquet.RLEDictionary),
		"g": parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.RLE),
		"h": parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.ByteStreamSplit),
		"i": parquet.Encoded(parquet.Optional(parquet.Leaf(parquet.BooleanType)), &parquet.Plain),
		"j": parquet.Leaf(parquet.Int96Type),
	}
	var rows []parquet.Row
	var want []string
	for i := range 5000 {
		word := "word " + itoa(i/7)
		row := parquet.Row{
			parquet.Int32Value(int32(i*i%1000-500)).Level(0, 1, 0), parquet.Int64Value(int64(i)*math.MaxInt32).Level(0, 0, 1),
			parquet.ByteArrayValue([]byte(word)).Level(0, 1, 2), parquet.ByteArrayValue([]byte(word)).Level(0, 1, 3),
			parquet.ByteArrayValue([]byte("more "+word)).Level(1, 1, 3), parquet.FixedLenByteArrayValue([]byte(itoa(1000+i))).Level(0, 0, 4),
			parquet.ByteArrayValue([]byte("w"+itoa(i%50))).Level(0, 1, 5), parquet.BooleanValue(i/100%2 == 0).Level(0, 0, 6),
			parquet.DoubleValue(float64(i)+0.5).Level(0, 0, 7), parquet.BooleanValue(i%3 == 0).Level(0, 1, 8),
			parquet.Int96Value(deprecated.Int96{0, 0, 2440588}).Level(0, 0, 9),
		}
		js := `{"a":` + itoa(i*i%1000-500) + `,"b":` + itoa(i*math.MaxInt32) + `,"c":"` + word + `","d":["` + word + `","more ` + word + `"],"e":"` + itoa(1000+i) +
			`","f":["w` + itoa(i%50) + `"],"g":` + map[bool]string{true: "true", false: "false"}[i/100%2 == 0] + `,"h":` + itoa(i) + `.5,"i":` +
			map[bool]string{true: "true", false: "false"}[i%3 == 0] + `,"j":"1970-01-01T00:00:00Z"}`
		if i%5 == 0 {
			row[0] = parquet.NullValue().Level(0, 0, 0)
			js = strings.Replace(js, `"a":`+itoa(i*i%1000-500), `"a":null`, 1)
		}
		rows, want = append(rows, row), append(want, js)
	}
	defer func(n int) { parquetHeldBytes = n }(parquetHeldBytes)
	for n, codec := range []parquet.WriterOption{
		parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Gzip),
		parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Brotli), parquet.Compression(&parquet.Lz4Raw),
	} {
		for _, version := range []int{1, 2} {
			parquetHeldBytes = []int{64 << 20, 4000}[(n+version)%2]
			var b bytes.Buffer
			w := parquet.NewWriter(&b, parquet.NewSchema("t", node), codec, parquet.DataPageVersion(version), parquet.PageBufferSize(3000))
			if _, err := w.WriteRows(rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			wantRows(t, write(t, "m.parquet", b.Bytes()), want...)
		}
	}
}

// TestParquetWide reads as many columns as there may be, with little memory for each.
func TestParquetWide(t *testing.T) {
	page := nulls(t, 3)
	l := lie{column: column(format.Int64), values: 3, pages: slices.Repeat([][]byte{page}, limit.MaxColumns), meta: func(m *format.FileMetaData) {
		leaf, chunk := m.Schema[1], m.RowGroups[0].Columns[0]
		m.Schema, m.RowGroups[0].Columns = m.Schema[:1], nil
		m.Schema[0].NumChildren.V = limit.MaxColumns
		for i := range limit.MaxColumns {
			leaf.Name = "c" + itoa(i)
			chunk.MetaData.DataPageOffset, chunk.MetaData.TotalCompressedSize = int64(4+i*len(page)), int64(len(page))
			m.Schema = append(m.Schema, leaf)
			m.RowGroups[0].Columns = append(m.RowGroups[0].Columns, chunk)
		}
	}}
	p := l.write(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rows, err := readFile(t, p, Options{})
	runtime.ReadMemStats(&after)
	if err != nil || len(rows) != 3 || !strings.HasSuffix(rows[2], `,"c9999":null}`) {
		t.Errorf("%d rows, then %v, want 3", len(rows), err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 && !testing.Short() { // the race detector, for which tests are short, takes some too
		t.Errorf("allocated %d bytes, want at most 256 MiB", n)
	}
}

// TestParquetLongHeader: statistics make the header of a page longer than a read buffer.
func TestParquetLongHeader(t *testing.T) {
	b := levels(2, 0)
	for _, n := range []int{100, 5000, 40_000, 60_000, 70_000} {
		long := bytes.Repeat([]byte("x"), n)
		h := format.PageHeader{
			Type: format.DataPage, UncompressedPageSize: int32(len(b)), CompressedPageSize: int32(len(b)),
			DataPageHeader: some(format.DataPageHeader{NumValues: 2, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE, Statistics: format.Statistics{MinValue: long, MaxValue: long}}),
		}
		l := lie{column: column(format.ByteArray), values: 2, pages: [][]byte{append(marshal(t, &h), b...)}}
		rows, err := readFile(t, l.write(t), Options{})
		if n < 65_000 && (err != nil || len(rows) != 2) {
			t.Errorf("header with two values of %d bytes: %q, %v", n, rows, err)
		}
		if want := `corrupt page: header of the page: it ends too early`; n > 65_000 && !strings.Contains(errText(err), want) {
			t.Errorf("header with two values of %d bytes: %v, want %s", n, err, want)
		}
	}
}
