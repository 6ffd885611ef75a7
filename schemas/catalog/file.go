package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// FormatVersion is the version of the mapping of records to Parquet columns. Every file has it under the key
// "reelsplice.version".
const FormatVersion = "5"

const (
	versionKey = "reelsplice.version"
	kindKey    = "reelsplice.kind"
)

// QuarantineDir is the folder of a catalogue with rejected rows.
const QuarantineDir = "quarantine"

// ReportName is the name of the catalogue's file with the report of the last ingest.
const ReportName = "ingest-report.json"

// A File is an open catalogue file with records of one kind. Row groups may be read concurrently. A nil File is
// empty.
type File struct {
	typ  *Type
	file *os.File
	pq   *parquet.File
	cols *objectColumns
}

// OpenFile opens a file made by a Writer. It rejects files of other programs or versions; ingest reads those.
func OpenFile(path string, t *Type) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	var f *File
	if err == nil {
		f, err = t.read(file, info.Size())
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// OpenIfAny is OpenFile for an optional file: if it is missing, the File is nil.
func OpenIfAny(path string, t *Type) (*File, error) {
	f, err := OpenFile(path, t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// read reads the footer of a file of size bytes, which the File owns afterwards.
func (t *Type) read(file *os.File, size int64) (f *File, err error) {
	name := file.Name()
	// The library panics on some damaged footers.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: not a readable Parquet file: %v", name, r)
		}
	}()
	pq, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.SkipMagicBytes(true))
	if err != nil {
		return nil, fmt.Errorf("%s: not a readable Parquet file: %w", name, err)
	}
	version, _ := pq.Lookup(versionKey)
	if version != FormatVersion {
		return nil, fmt.Errorf("%s: not a catalogue file of version %s (found %q): ingest it again", name, FormatVersion, version)
	}
	if k, _ := pq.Lookup(kindKey); k != t.Name() {
		return nil, fmt.Errorf("%s: holds %q, want %q", name, k, t.Name())
	}
	schema := parquet.NewSchema(t.Name(), schemaNode(t.Schema))
	if pq.Schema().String() != schema.String() {
		return nil, fmt.Errorf("%s: its columns differ from a catalogue file of version %s: ingest it again", name, version)
	}
	return &File{typ: t, file: file, pq: pq, cols: layout(schema, t.Schema, nil, 0, 0)}, nil
}

// Close closes the file. Its Rows are invalid afterwards.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	return f.file.Close()
}

// NumRows returns the number of records.
func (f *File) NumRows() int64 {
	if f == nil {
		return 0
	}
	return f.pq.NumRows()
}

// RowGroups returns the number of row groups.
func (f *File) RowGroups() int { return len(f.pq.RowGroups()) }

// GroupRows returns the number of records of a row group.
func (f *File) GroupRows(i int) int64 { return f.pq.Metadata().RowGroups[i].NumRows }

// A Rows iterates over the records of consecutive row groups.
type Rows struct {
	f     *File
	cols  *objectColumns
	group int // the next one to open
	end   int
	rest  int64 // remaining records of the open one
	asm   assembler
}

// Groups returns an iterator over row groups from to to-1.
func (f *File) Groups(from, to int) *Rows { return f.rows(f.cols, from, to) }

// Select returns an iterator over row groups from to to-1 that reads only the fields at paths, such as
// "credits.cast.id", or "external_ids" as a whole; all others stay unset. The records keep their type. It panics for
// an unknown path, which is a bug.
func (f *File) Select(paths []string, from, to int) *Rows {
	return f.rows(f.cols.pick(paths), from, to)
}

func (f *File) rows(cols *objectColumns, from, to int) *Rows {
	return &Rows{f: f, cols: cols, group: from, end: to}
}

// Next fills r, which must have the schema of the iterator, with the next record. It returns io.EOF at the end. The
// record's text stays valid after the next call and after Close.
func (r *Rows) Next(rec record.Record) (err error) {
	defer func() {
		if p := recover(); p != nil { // from the library, on a damaged file
			err = r.failed(fmt.Errorf("damaged: %v", p))
		}
	}()
	for r.rest == 0 {
		if r.group >= r.end {
			return io.EOF
		}
		r.Close()
		group := r.f.pq.RowGroups()[r.group]
		r.group++
		r.rest = group.NumRows()
		chunks, names := group.ColumnChunks(), r.f.pq.Schema().Columns()
		r.asm.columns = make([]column, len(chunks))
		for _, i := range r.cols.leaves() {
			r.asm.columns[i] = column{name: strings.Join(names[i], "."), pages: chunks[i].Pages()}
		}
	}
	r.rest--
	rec.Reset()
	r.asm.object(r.cols, rec)
	if r.asm.err != nil {
		return r.failed(r.asm.err)
	}
	return nil
}

func (r *Rows) failed(err error) error {
	return fmt.Errorf("%s: row group %d: %w", r.f.file.Name(), r.group-1, err)
}

// Each calls fn with each record until an error. fn must not retain the record. Each closes the iterator.
func (r *Rows) Each(ctx context.Context, fn func(record.Record) error) error {
	defer r.Close()
	for rec := r.f.typ.New(); ; {
		err := ctx.Err()
		if err == nil {
			err = r.Next(rec)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(rec)
		}
		if err != nil {
			return err
		}
	}
}

// Close releases the current pages.
func (r *Rows) Close() {
	for i := range r.asm.columns {
		c := &r.asm.columns[i]
		if c.page != nil {
			parquet.Release(c.page)
			c.page = nil
		}
		if c.pages != nil {
			_ = c.pages.Close() // opened for reading: nothing is lost
		}
	}
	r.asm.columns = nil
}

// FirstKeys returns the key of the first record of each row group.
func (f *File) FirstKeys() (keys []Key, err error) {
	for group := range f.RowGroups() {
		k, ok := f.lowestKey(group)
		if !ok {
			if k, err = f.firstKey(group); err != nil {
				return nil, err
			}
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// firstKey reads the key of the first record of a row group.
func (f *File) firstKey(group int) (Key, error) {
	rows, rec := f.Select(f.typ.keyFields, group, group+1), f.typ.New()
	defer rows.Close()
	if err := rows.Next(rec); err != nil {
		return Key{}, err
	}
	k, err := f.typ.Key(rec)
	if err != nil {
		return k, rows.failed(err)
	}
	return k, nil
}

// lowestKey returns the lowest key of a row group from its statistics, which have the lowest value of each column; false
// if they lack it, or if keys have several fields, which do not all ascend.
func (f *File) lowestKey(group int) (k Key, known bool) {
	if len(f.typ.keyFields) != 1 {
		return Key{}, false
	}
	name := f.typ.keyFields[0]
	lowest, _, _, ok := f.bounds(group, name)
	if !ok {
		return Key{}, false
	}
	rec := f.typ.New()
	switch lowest.Kind() {
	case parquet.Int64:
		*rec.IntNamed(name) = record.Number(lowest.Int64())
	case parquet.ByteArray:
		*rec.StringNamed(name) = record.Text(string(lowest.ByteArray()))
	default:
		return Key{}, false
	}
	k, err := f.typ.Key(rec)
	return k, err == nil
}

// Fingerprint identifies FormatVersion and the record types: names, and the names, shapes and order of all fields,
// which determine the binary form and the columns. Files contain only the version, so a test requires a new one if
// the types change.
func Fingerprint() string {
	h := xxh3.New()
	for _, t := range Types() {
		h.Write(appendShape([]byte(t.Name()), t.Schema)) //nolint:errcheck // never fails
	}
	return FormatVersion + "-" + strconv.FormatUint(h.Sum64(), 16)
}

func appendShape(dst []byte, s *record.Schema) []byte {
	for i := range s.Fields {
		f := &s.Fields[i]
		dst = append(append(append(dst, 0), f.Name...), 0, byte(f.Shape))
		if f.Elem != nil {
			dst = append(appendShape(append(dst, '{'), f.Elem), '}')
		}
	}
	return dst
}

// FetchedColumn is a column of our own: the day on which the record was fetched from its origin, as YYYY-MM-DD in
// UTC. A record merged from several rows has the newest day, if any has one. No response contains it or depends on
// it.
const FetchedColumn = "_fetched"

// Provenance holds our own columns at the end of the structs of kinds.
type Provenance struct {
	// Details is true if a source had a whole details response of the API: see MarkDetails.
	Details record.Bool `record:"_details,own"`
	// Fetched is the day on which the record was fetched, YYYY-MM-DD: see FetchedColumn.
	Fetched record.String `record:"_fetched,dict,own"`
}

// CheckFetched returns an error if text is not in the form of FetchedColumn. It is a *record.FieldError.
func CheckFetched(text string) error {
	if day.Start(text).IsZero() {
		return &record.FieldError{Field: FetchedColumn, What: fmt.Sprintf("want a day as YYYY-MM-DD, found %q", text)}
	}
	return nil
}

// FetchedOf returns the day of a record; "" if it has none.
func FetchedOf(r record.Record) string { return r.StringNamed(FetchedColumn).V }

// SetFetched sets the day of a record, or removes it with "".
func SetFetched(r record.Record, day string) {
	*r.StringNamed(FetchedColumn) = record.String{V: day, Set: day != ""}
}

// Fetched returns the days of a row group's records. It reads no records: the file's statistics have the number, the
// lowest and the highest of a column's values.
func (f *File) Fetched(group int) (out day.Days, err error) {
	lowest, highest, values, ok := f.bounds(group, FetchedColumn)
	if ok && values > 0 {
		out = day.Days{Records: values, Oldest: string(lowest.ByteArray()), Newest: string(highest.ByteArray())}
		ok = CheckFetched(out.Oldest) == nil && CheckFetched(out.Newest) == nil
	}
	if !ok {
		return out, fmt.Errorf("%s: row group %d: want the first and the last day of %s", f.file.Name(), group, FetchedColumn)
	}
	return out, nil
}

// bounds returns the lowest and the highest value of a column in a row group, and their number, from the statistics;
// false if they are missing.
func (f *File) bounds(group int, column string) (lowest, highest parquet.Value, values int64, ok bool) {
	defer func() {
		if recover() != nil { // from the library, on a damaged value
			ok = false
		}
	}()
	leaf, ok := f.pq.Schema().Lookup(column)
	g := &f.pq.Metadata().RowGroups[group]
	if !ok || leaf.ColumnIndex >= len(g.Columns) {
		return lowest, highest, 0, false
	}
	if values = g.NumRows - g.Columns[leaf.ColumnIndex].MetaData.Statistics.NullCount; values == 0 {
		return lowest, highest, 0, true
	}
	chunk, ok := f.pq.RowGroups()[group].ColumnChunks()[leaf.ColumnIndex].(*parquet.FileColumnChunk)
	if ok {
		lowest, highest, ok = chunk.Bounds()
	}
	return lowest, highest, values, ok
}

// Content is Groups without FetchedColumn. Derived data does not depend on the time of fetching, so a new day is not
// a change.
func (f *File) Content(from, to int) *Rows {
	cols := *f.cols
	cols.fields = slices.DeleteFunc(slices.Clone(cols.fields), func(c fieldColumns) bool { return c.field.Name == FetchedColumn })
	return f.rows(&cols, from, to)
}
