package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/renameio/v2"
	"github.com/parquet-go/parquet-go"

	"reelsplice/schemas/wire"
)

const (
	// rowGroupBytes is how much text a row group holds at most, and so the unit of work
	// of the builder.
	rowGroupBytes = 8 << 20

	// valueBytes is what a value takes beside its text, about: rows of few texts are not
	// free, or a row group would hold any number of them.
	valueBytes = 2

	// batchRows and batchBytes bound what is taken apart before its columns are written.
	batchRows  = 64
	batchBytes = 64 << 10
)

// A Writer writes records of one kind, which must come in ascending order of their
// keys, into one Parquet file. Row groups are encoded side by side, on as many cores as
// there are; their bytes do not depend on how many. The file appears under its name on
// Commit, durably and at once; Abort leaves what was there.
type Writer struct {
	path string
	file *renameio.PendingFile
	pq   *parquet.GenericWriter[any]
	cols *objectColumns

	open  []wire.Record // the row group that is being collected
	held  int64         // its weight
	under []*rowGroup   // being encoded, in their order
	idle  []*rowGroup
	jobs  int
	n     int64
}

// A rowGroup is an encoder of row groups, one after another.
type rowGroup struct {
	pq      *parquet.ConcurrentRowGroupWriter
	shr     shredder
	records []wire.Record
	done    chan error
}

// Create starts the file path of records of the given kind.
func Create(path string, t *Type) (*Writer, error) {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	jobs := runtime.GOMAXPROCS(0)
	z, err := newCodec(jobs)
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
	return &Writer{path: path, file: f, pq: pq, cols: layout(schema, t.Plan, nil, 0, 0), jobs: jobs}, nil
}

// Write appends one record. The Writer keeps it until its row group is written: it must
// not be changed any more.
func (w *Writer) Write(r wire.Record) error {
	w.open = append(w.open, r)
	w.n++
	text, values := w.cols.weigh(r)
	if w.held += text + valueBytes*values; w.held < rowGroupBytes {
		return nil
	}
	return w.endGroup()
}

// CanCopy reports whether CopyGroup would leave no row group behind that is small: the
// one that is being collected is empty, or has a quarter of its size.
func (w *Writer) CanCopy() bool { return len(w.open) == 0 || w.held >= rowGroupBytes/4 }

// CopyGroup appends row group i of a file of the same kind as it is, without decoding it.
func (w *Writer) CopyGroup(f *File, i int) error {
	err := w.endGroup()
	for err == nil && len(w.under) > 0 {
		err = w.commitOldest()
	}
	if err != nil {
		return err
	}
	g := f.pq.RowGroups()[i]
	if _, err := w.pq.WriteRowGroup(g); err != nil {
		return fmt.Errorf("write %s: copy row group %d of %s: %w", w.path, i, f.path, err)
	}
	w.n += g.NumRows()
	return nil
}

// endGroup has the records at hand encoded, and waits for the oldest row group when as
// many as there are cores are under way.
func (w *Writer) endGroup() error {
	if len(w.open) == 0 {
		return nil
	}
	if len(w.under) == w.jobs {
		if err := w.commitOldest(); err != nil {
			return err
		}
	}
	g := w.group()
	g.records, w.open, w.held = w.open, g.records[:0], 0
	w.under = append(w.under, g)
	go func() { g.done <- g.encode(w.cols) }()
	return nil
}

// group returns an encoder that is free.
func (w *Writer) group() *rowGroup {
	if last := len(w.idle) - 1; last >= 0 {
		g := w.idle[last]
		w.idle = w.idle[:last]
		return g
	}
	return &rowGroup{
		pq: w.pq.BeginRowGroup(), done: make(chan error, 1),
		shr: shredder{columns: make([][]parquet.Value, len(w.pq.Schema().Columns()))},
	}
}

// encode takes the records apart and encodes their columns.
func (g *rowGroup) encode(cols *objectColumns) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encode row group: %v", p)
		}
	}()
	rows := 0
	for i, r := range g.records {
		g.shr.object(cols, r, 0)
		if rows++; rows < batchRows && g.shr.bytes < batchBytes && i < len(g.records)-1 {
			continue
		}
		for c, w := range g.pq.ColumnWriters() {
			if _, err := w.WriteRowValues(g.shr.columns[c]); err != nil {
				return err
			}
		}
		g.shr.reset()
		rows = 0
	}
	return g.pq.Flush()
}

// commitOldest writes the row group that is first in the file.
func (w *Writer) commitOldest() error {
	g := w.under[0]
	w.under = w.under[1:]
	err := <-g.done
	if err == nil {
		_, err = g.pq.Commit()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", w.path, err)
	}
	clear(g.records)
	w.idle = append(w.idle, g)
	return nil
}

// Rows returns how many records were written.
func (w *Writer) Rows() int64 { return w.n }

// Finish completes the file, synced, without its name. Nothing can be written any more.
func (w *Writer) Finish() error {
	err := w.endGroup()
	for err == nil && len(w.under) > 0 {
		err = w.commitOldest()
	}
	if err == nil {
		if err = w.pq.Close(); err == nil {
			err = w.file.Sync()
		}
		if err != nil {
			err = fmt.Errorf("write %s: %w", w.path, err)
		}
	}
	w.idle, w.open = nil, nil
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	w.pq = nil
	return nil
}

// Commit completes the file and gives it its name.
func (w *Writer) Commit() error {
	if w.pq != nil {
		if err := w.Finish(); err != nil {
			return err
		}
	}
	if err := w.file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w", w.path, err)
	}
	return syncDir(filepath.Dir(w.path))
}

// Abort removes what was written. It does nothing after Commit.
func (w *Writer) Abort() error {
	for _, g := range w.under {
		<-g.done
	}
	w.under = nil
	return w.file.Cleanup()
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return errors.Join(d.Sync(), d.Close())
}
