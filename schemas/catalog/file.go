package catalog

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/parquet-go/parquet-go"

	"reelsplice/schemas/wire"
)

// FormatVersion is the version of the mapping of records to Parquet columns. It is
// stored in every file under the key "reelsplice.version".
const FormatVersion = "1"

const (
	versionKey = "reelsplice.version"
	kindKey    = "reelsplice.kind"
)

// rowGroupBytes is how much text a row group holds at most, and so the unit of work
// of the builder.
const rowGroupBytes = 8 << 20

// valueBytes is what a value takes beside its text, about: rows of few texts are not
// free, or a row group would hold any number of them.
const valueBytes = 2

// QuarantineDir is the folder, in a catalogue, of rows that did not validate.
const QuarantineDir = "quarantine"

// Schema returns the Parquet schema of the kind's records.
func (t *Type) Schema() *parquet.Schema {
	return parquet.NewSchema(t.Name(), schemaNode(t.Plan))
}

// A Writer writes records of one kind, which must come in ascending order of their
// keys, into one Parquet file. The file appears under its name on Commit, durably
// and at once; Abort leaves what was there.
type Writer struct {
	path string
	file *renameio.PendingFile
	pq   *parquet.GenericWriter[any]
	cols *objectColumns
	shr  shredder
	row  parquet.Row
	held int64 // bytes in the open row group
	n    int64
}

// Create starts the file path of records of the given kind.
func Create(path string, t *Type) (*Writer, error) {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	z, err := newCodec()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create %s: %w", path, err), f.Cleanup())
	}
	schema := t.Schema()
	pq := parquet.NewGenericWriter[any](f, schema,
		parquet.Compression(z),
		parquet.CreatedBy("reelsplice", FormatVersion, ""),
		parquet.KeyValueMetadata(kindKey, t.Name()),
		parquet.KeyValueMetadata(versionKey, FormatVersion),
		parquet.DictionaryMaxBytes(1<<20),
	)
	cols := layout(schema, t.Plan, nil, 0, 0)
	return &Writer{
		path: path, file: f, pq: pq, cols: cols,
		shr: shredder{columns: make([][]parquet.Value, len(schema.Columns()))},
	}, nil
}

// Write appends one record.
func (w *Writer) Write(r wire.Record) error {
	w.shr.bytes = 0
	w.shr.object(w.cols, r, 0)
	w.row = w.shr.row(w.row[:0])
	if _, err := w.pq.WriteRows([]parquet.Row{w.row}); err != nil {
		return fmt.Errorf("write %s: %w", w.path, err)
	}
	w.n++
	w.held += w.shr.bytes + valueBytes*int64(len(w.row))
	if w.held < rowGroupBytes {
		return nil
	}
	w.held = 0
	if err := w.pq.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", w.path, err)
	}
	return nil
}

// Rows returns how many records were written.
func (w *Writer) Rows() int64 { return w.n }

// Commit completes the file, syncs it and gives it its name.
func (w *Writer) Commit() error {
	if err := w.pq.Close(); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", w.path, err), w.Abort())
	}
	if err := w.file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w", w.path, err)
	}
	return syncDir(filepath.Dir(w.path))
}

// Abort removes what was written. It does nothing after Commit.
func (w *Writer) Abort() error { return w.file.Cleanup() }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// A File is an open catalogue file of records of one kind. Its row groups may be read
// concurrently.
type File struct {
	typ  *Type
	path string
	file *os.File
	pq   *parquet.File
	cols *objectColumns
}

// OpenFile opens a file that a Writer made. A file of another program or version
// is refused; ingest reads those.
func OpenFile(path string, t *Type) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	file, err := openFile(f, path, t)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return file, nil
}

func openFile(f *os.File, path string, t *Type) (file *File, err error) {
	// The library panics on some damaged footers.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: not a readable Parquet file: %v", path, r)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	pq, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%s: not a readable Parquet file: %w", path, err)
	}
	if v, _ := pq.Lookup(versionKey); v != FormatVersion {
		return nil, fmt.Errorf("%s: not a catalogue file of version %s (found %q): ingest it again", path, FormatVersion, v)
	}
	if k, _ := pq.Lookup(kindKey); k != t.Name() {
		return nil, fmt.Errorf("%s: holds %q, want %q", path, k, t.Name())
	}
	want := t.Schema()
	if pq.Schema().String() != want.String() {
		return nil, fmt.Errorf("%s: its columns are not those of a catalogue file of version %s: ingest it again", path, FormatVersion)
	}
	return &File{typ: t, path: path, file: f, pq: pq, cols: layout(want, t.Plan, nil, 0, 0)}, nil
}

// Close closes the file. No Rows may be used after it.
func (f *File) Close() error { return f.file.Close() }

// NumRows returns the number of records.
func (f *File) NumRows() int64 { return f.pq.NumRows() }

// RowGroups returns the number of row groups.
func (f *File) RowGroups() int { return len(f.pq.RowGroups()) }

// A Rows iterates over the records of one row group, or of several in a row.
type Rows struct {
	path  string
	pq    *parquet.File
	cols  *objectColumns
	group int // the next one to open
	end   int
	left  int64
	asm   assembler
}

// Rows returns an iterator over row group i.
func (f *File) Rows(i int) *Rows { return f.rows(f.cols, i, i+1) }

// Groups returns an iterator over row groups from to to-1.
func (f *File) Groups(from, to int) *Rows { return f.rows(f.cols, from, to) }

// All returns an iterator over the whole file.
func (f *File) All() *Rows { return f.rows(f.cols, 0, f.RowGroups()) }

// Project returns an iterator over the whole file that reads only the columns of p,
// a plan with some of the kind's members.
func (f *File) Project(p *wire.Plan) *Rows { return f.ProjectGroups(p, 0, f.RowGroups()) }

// ProjectGroups is Project for row groups from to to-1.
func (f *File) ProjectGroups(p *wire.Plan, from, to int) *Rows {
	return f.rows(layout(f.pq.Schema(), p, nil, 0, 0), from, to)
}

func (f *File) rows(cols *objectColumns, from, to int) *Rows {
	return &Rows{path: f.path, pq: f.pq, cols: cols, group: from, end: to}
}

// FirstKeys returns the key of the first record of each row group.
func (f *File) FirstKeys() ([]Key, error) {
	cols := layout(f.pq.Schema(), f.typ.keyPlan, nil, 0, 0)
	row := f.typ.newKey()
	var keys []Key
	for i := range f.RowGroups() {
		rows := f.rows(cols, i, i+1)
		err := rows.Next(row)
		rows.Close()
		if err != nil {
			return nil, err
		}
		k, err := f.typ.keyOf(row)
		if err != nil {
			return nil, fmt.Errorf("%s: row group %d: %w", f.path, i, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Next fills r, which must have the plan of the iterator, with the next record. It
// returns io.EOF at the end. The record's text stays valid after the next call and
// after Close.
func (r *Rows) Next(rec wire.Record) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: row group %d: damaged: %v", r.path, r.group-1, p)
		}
	}()
	for r.left == 0 {
		if r.group >= r.end {
			return io.EOF
		}
		r.open()
	}
	r.left--
	rec.Reset()
	r.asm.object(r.cols, rec)
	if r.asm.err != nil {
		return fmt.Errorf("%s: row group %d: %w", r.path, r.group-1, r.asm.err)
	}
	return nil
}

// Each returns the records in order, the last pair with an error if there is one.
// Each record is a new value. T is the struct of the iterator's plan.
func Each[T any](r *Rows) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for {
			v := new(T)
			err := r.Next(wire.RecordOf(v))
			if errors.Is(err, io.EOF) || !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (r *Rows) open() {
	r.Close()
	g := r.pq.RowGroups()[r.group]
	r.group++
	r.left = g.NumRows()
	chunks := g.ColumnChunks()
	r.asm.columns = make([]column, len(chunks))
	names := r.pq.Schema().Columns()
	for _, i := range r.cols.leaves() {
		r.asm.columns[i] = column{
			name:  strings.Join(names[i], "."),
			pages: chunks[i].Pages(),
			buf:   make([]parquet.Value, 0, columnBuffer),
		}
	}
}

// Close releases the pages at hand.
func (r *Rows) Close() {
	for i := range r.asm.columns {
		r.asm.columns[i].close()
	}
	r.asm.columns = nil
}
