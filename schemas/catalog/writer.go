package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync/atomic"

	kzstd "github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Tests lower these.
var (
	// rowGroupBytes is the maximum text in a row group, and therefore the builder's unit of work. Metadata of a row
	// group takes a kilobyte for each of some hundred columns, in the file and in memory of every reader. So after
	// the first manyGroups, row groups hold up to largeGroupBytes.
	rowGroupBytes   int64 = 8 << 20
	largeGroupBytes int64 = 48 << 20
	manyGroups            = 32

	// batchRows and batchBytes bound the content of a shredder.
	batchRows        = 256
	batchBytes int64 = 512 << 10
)

// valueBytes is the approximate size of a column's entry without a value. Otherwise a row group could hold any number
// of almost empty rows.
const valueBytes = 2

// A Writer writes records of one kind, in ascending order of key, into one Parquet file. It encodes columns
// concurrently on all cores, but the file's bytes do not depend on their number. Commit puts the file in place
// atomically and durably; Abort leaves the old file.
type Writer struct {
	path string
	file *file.Pending
	pq   *parquet.GenericWriter[any]
	cols *objectColumns

	open   *shredder // splits the current records
	binary []byte    // encoding of the last record, to measure it
	empty  int64     // size of a record without values
	held   int64     // bytes of the row group so far
	groups int       // complete ones
	slack  int64     // permitted excess of the row group: see EndGroup
	n      int64

	// Two shredders: one is filled while a goroutine encodes the other.
	columns chan *shredder
	free    chan *shredder
	done    chan struct{} // closed when everything is encoded
	failed  atomic.Pointer[error]
}

// Create starts the file path of records of the given kind.
func Create(path string, t *Type) (*Writer, error) {
	mode := fs.FileMode(0o644)
	if t.Kind == fragment.KindAccount || t.Kind == fragment.KindList { // some lists are private
		mode = 0o600
	}
	f, err := file.Create(path, mode)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	enc, err := kzstd.NewWriter(nil, kzstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)), kzstd.WithEncoderLevel(kzstd.SpeedDefault),
		kzstd.WithZeroFrames(true), kzstd.WithEncoderCRC(false))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create %s: %w", path, err), f.Abort())
	}
	schema := parquet.NewSchema(t.Name(), schemaNode(t.Schema))
	pq := parquet.NewGenericWriter[any](f, schema,
		parquet.Compression(&codec{enc: enc}),
		parquet.CreatedBy("reelsplice", FormatVersion, ""),
		parquet.KeyValueMetadata(kindKey, t.Name()),
		parquet.KeyValueMetadata(versionKey, FormatVersion),
		parquet.DictionaryMaxBytes(1<<20),
	)
	w := &Writer{
		path: path, file: f, pq: pq, cols: layout(schema, t.Schema, nil, 0, 0),
		columns: make(chan *shredder, 1), free: make(chan *shredder, 1), done: make(chan struct{}),
		empty: valueBytes * int64(len(schema.Columns())),
	}
	w.open = &shredder{columns: make([][]parquet.Value, len(schema.Columns()))}
	w.free <- &shredder{columns: make([][]parquet.Value, len(schema.Columns()))}
	go w.encode(pq.BeginRowGroup())
	return w, nil
}

// Write appends one record. The Writer retains its texts until they are written.
func (w *Writer) Write(r record.Record) error {
	w.open.object(w.cols, r, 0)
	w.open.rows++
	w.n++
	w.binary = record.AppendBinary(w.binary[:0], r)
	size := int64(len(w.binary)) + w.empty
	w.open.bytes += size
	w.held += size
	switch {
	case w.held >= w.groupBytes()+w.slack:
		w.send(true)
	case w.open.rows == batchRows || w.open.bytes >= batchBytes:
		w.send(false)
	}
	return w.err()
}

// groupBytes returns the maximum size of the current row group.
func (w *Writer) groupBytes() int64 {
	if w.groups < manyGroups {
		return rowGroupBytes
	}
	return largeGroupBytes
}

// send passes the current records to the encoder; last ends their row group.
func (w *Writer) send(last bool) {
	if w.open.rows == 0 && (!last || w.held == 0) {
		return
	}
	w.open.last = last
	w.columns <- w.open
	w.open = <-w.free
	if last {
		w.held = 0
		w.groups++
	}
}

func (w *Writer) err() error {
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// fail stores the first error and ignores later ones.
func (w *Writer) fail(err error) {
	if err != nil {
		err = fmt.Errorf("write %s: %w", w.path, err)
		w.failed.CompareAndSwap(nil, &err)
	}
}

// EndGroup ends the row group where one of an earlier file begins, so boundaries stay in place. It returns false for
// a small row group, which stays open. If that file has more row groups, the next one may exceed its size by an
// eighth: a few new records then do not move its end.
func (w *Writer) EndGroup(hasMore bool) bool {
	small := w.held > 0 && w.held < w.groupBytes()/4
	if !small {
		w.send(true)
	}
	w.slack = 0
	if hasMore {
		w.slack = w.groupBytes() / 8
	}
	return !small
}

// CopyGroup appends row group i of a file of the same kind without decoding it. Call EndGroup first.
func (w *Writer) CopyGroup(f *File, i int) error {
	w.send(true)
	w.free <- <-w.free // everything is encoded once the other shredder is free
	if err := w.err(); err != nil {
		return err
	}
	g := f.pq.RowGroups()[i]
	if _, err := w.pq.WriteRowGroup(g); err != nil {
		return fmt.Errorf("write %s: copy row group %d of %s: %w", w.path, i, f.file.Name(), err)
	}
	w.n += g.NumRows()
	w.groups++
	return nil
}

// encode writes the columns of split records.
func (w *Writer) encode(group *parquet.ConcurrentRowGroupWriter) {
	defer close(w.done)
	for s := range w.columns {
		if w.failed.Load() == nil {
			w.fail(eachColumn(group.ColumnWriters(), func(c int, col *parquet.ColumnWriter) error {
				if len(s.columns[c]) > 0 {
					if _, err := col.WriteRowValues(s.columns[c]); err != nil {
						return err
					}
				}
				if s.last {
					return col.Flush()
				}
				return nil
			}))
		}
		if s.last && w.failed.Load() == nil {
			_, err := group.Commit()
			w.fail(err)
		}
		s.rows, s.bytes = 0, 0
		for c := range s.columns {
			clear(s.columns[c]) // they retain texts
			s.columns[c] = s.columns[c][:0]
		}
		w.free <- s
	}
}

// eachColumn calls fn for all columns, several concurrently.
func eachColumn(columns []*parquet.ColumnWriter, fn func(c int, col *parquet.ColumnWriter) error) error {
	var next atomic.Int64
	var g errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("encode a column: %v", p)
				}
			}()
			for {
				c := int(next.Add(1)) - 1
				if c >= len(columns) {
					return nil
				}
				if err := fn(c, columns[c]); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// Rows returns the number of records written.
func (w *Writer) Rows() int64 { return w.n }

// finish ends the goroutine.
func (w *Writer) finish() {
	if w.columns != nil {
		close(w.columns)
		<-w.done
		w.columns = nil
	}
}

// Commit completes the file, syncs it and puts it in place.
func (w *Writer) Commit() error {
	w.send(true)
	w.finish()
	err := w.err()
	if err == nil {
		if err = w.pq.Close(); err != nil {
			err = fmt.Errorf("write %s: %w", w.path, err)
		}
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	if err := w.file.Commit(); err != nil {
		return fmt.Errorf("write %s: %w", w.path, err)
	}
	return file.SyncDir(filepath.Dir(w.path))
}

// Abort removes the new file. It does nothing after Commit.
func (w *Writer) Abort() error {
	w.finish()
	return w.file.Abort()
}

// codec compresses all columns of a file with the same few encoders. The library's codec keeps encoders of several
// megabytes in a pool that may drop them.
type codec struct {
	zstd.Codec
	enc *kzstd.Encoder
}

// Encode compresses src into dst, which it may replace.
func (c *codec) Encode(dst, src []byte) ([]byte, error) { return c.enc.EncodeAll(src, dst[:0]), nil }
