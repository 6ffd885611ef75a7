package catalog

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"

	kzstd "github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Tests lower these.
var (
	// rowGroupBytes is how much text a row group holds at most, and so the unit of work
	// of the builder. What is known of a row group takes a kilobyte for each of some
	// hundred columns, in the file and in the memory of all who open it, so that behind
	// the first manyGroups of a file they hold largeGroupBytes.
	rowGroupBytes   int64 = 8 << 20
	largeGroupBytes int64 = 48 << 20
	manyGroups            = 32

	// batchRows and batchBytes bound what a shredder holds.
	batchRows        = 256
	batchBytes int64 = 512 << 10
)

// valueBytes is what a column takes in a row without a value, about: rows of few texts are
// not free, or a row group would hold any number of them.
const valueBytes = 2

// A Writer writes records of one kind, which must come in ascending order of their
// keys, into one Parquet file. Columns are encoded side by side, on as many cores as
// there are; the file's bytes do not depend on how many. The file appears under its name
// on Commit, durably and at once; Abort leaves what was there.
type Writer struct {
	path string
	file *file.Pending
	pq   *parquet.GenericWriter[any]
	cols *objectColumns

	open   *shredder // takes the records at hand apart
	binary []byte    // of the last record, which measures it
	empty  int64     // bytes of a record without values
	held   int64     // bytes of the row group so far
	groups int       // that are complete
	slack  int64     // bytes that the row group may hold beyond its size: see EndGroup
	n      int64

	// Of two shredders, one is filled while a goroutine encodes what the other one holds.
	columns chan *shredder
	free    chan *shredder
	done    chan struct{} // closed when all is encoded
	failed  atomic.Pointer[error]
}

// Create starts the file path of records of the given kind.
func Create(path string, t *Type) (*Writer, error) {
	f, err := file.Create(path, t.fileMode())
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	z, err := newCodec(runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create %s: %w", path, err), f.Abort())
	}
	schema := t.Schema()
	pq := parquet.NewGenericWriter[any](f, schema,
		parquet.Compression(z),
		parquet.CreatedBy("reelsplice", FormatVersion, ""),
		parquet.KeyValueMetadata(kindKey, t.Name()),
		parquet.KeyValueMetadata(versionKey, FormatVersion),
		parquet.DictionaryMaxBytes(1<<20),
	)
	w := &Writer{
		path: path, file: f, pq: pq, cols: layout(schema, t.Plan, nil, 0, 0),
		columns: make(chan *shredder, 1), free: make(chan *shredder, 1), done: make(chan struct{}),
		empty: valueBytes * int64(len(schema.Columns())),
	}
	w.open = &shredder{columns: make([][]parquet.Value, len(schema.Columns()))}
	w.free <- &shredder{columns: make([][]parquet.Value, len(schema.Columns()))}
	go w.encode(pq.BeginRowGroup())
	return w, nil
}

// Write appends one record. The Writer keeps its texts until they are written.
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

// groupBytes returns how many bytes the row group at hand may hold.
func (w *Writer) groupBytes() int64 {
	if w.groups < manyGroups {
		return rowGroupBytes
	}
	return largeGroupBytes
}

// send has the records at hand encoded, as the last ones of their row group if they are.
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

// fail keeps the first error; what comes after it is passed over.
func (w *Writer) fail(err error) {
	if err != nil {
		err = fmt.Errorf("write %s: %w", w.path, err)
		w.failed.CompareAndSwap(nil, &err)
	}
}

// EndGroup ends the open row group where one of an earlier file begins, so that the boundaries of row groups stay in
// place. It reports false for one that is small, which stays open. If that file has more row groups, the next one may
// grow by an eighth: a few new records then do not move its end.
func (w *Writer) EndGroup(more bool) bool {
	small := w.held > 0 && w.held < w.groupBytes()/4
	if !small {
		w.send(true)
	}
	w.slack = 0
	if more {
		w.slack = w.groupBytes() / 8
	}
	return !small
}

// CopyGroup appends row group i of a file of the same kind as it is, without decoding it. It comes after EndGroup.
func (w *Writer) CopyGroup(f *File, i int) error {
	w.send(true)
	w.free <- <-w.free // all is encoded once the other shredder is free
	if err := w.err(); err != nil {
		return err
	}
	g := f.pq.RowGroups()[i]
	if _, err := w.pq.WriteRowGroup(g); err != nil {
		return fmt.Errorf("write %s: copy row group %d of %s: %w", w.path, i, f.path, err)
	}
	w.n += g.NumRows()
	w.groups++
	return nil
}

// encode writes the columns of records that were taken apart.
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
		s.reset()
		w.free <- s
	}
}

// eachColumn calls fn for all columns, some at once.
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

// Rows returns how many records were written.
func (w *Writer) Rows() int64 { return w.n }

// finish ends the goroutines.
func (w *Writer) finish() {
	if w.columns != nil {
		close(w.columns)
		<-w.done
		w.columns = nil
	}
}

// Commit completes the file, syncs it and gives it its name.
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

// Abort removes what was written. It does nothing after Commit.
func (w *Writer) Abort() error {
	w.finish()
	return w.file.Abort()
}

// codec compresses all columns of a file with the same few encoders. The library's keeps
// its encoders in a pool that may forget them, and each takes megabytes.
type codec struct {
	zstd.Codec
	enc *kzstd.Encoder
}

// newCodec returns a codec for so many users at once.
func newCodec(users int) (*codec, error) {
	enc, err := kzstd.NewWriter(nil, kzstd.WithEncoderConcurrency(users), kzstd.WithEncoderLevel(kzstd.SpeedDefault),
		kzstd.WithZeroFrames(true), kzstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	return &codec{enc: enc}, nil
}

// Encode compresses src into dst, which it may replace.
func (c *codec) Encode(dst, src []byte) ([]byte, error) { return c.enc.EncodeAll(src, dst[:0]), nil }
