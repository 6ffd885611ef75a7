// Package catalogtest makes catalogues of earlier versions for tests.
package catalogtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Undate makes a catalogue in a folder one of version 4, whose files have no column _fetched.
func Undate(tb testing.TB, dir string) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d catalogue files in %s (%v)", len(files), dir, err)
	}
	for _, path := range files {
		if err := undate(path); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
	}
}

// undate writes the rows of a file without the column.
func undate(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	pq, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	node := parquet.Group{}
	for _, f := range pq.Schema().Fields() {
		if f.Name() != "_fetched" {
			node[f.Name()] = f
		}
	}
	schema := parquet.NewSchema(pq.Schema().Name(), node)
	kind, _ := pq.Lookup("reelsplice.kind")
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, schema, parquet.KeyValueMetadata("reelsplice.kind", kind), parquet.KeyValueMetadata("reelsplice.version", "4"))
	for _, g := range pq.RowGroups() {
		converted, err := parquet.Convert(schema, pq.Schema())
		if err != nil {
			return err
		}
		rows := g.Rows()
		_, err = parquet.CopyRows(w, parquet.ConvertRowReader(rows, converted))
		if err == nil {
			err = rows.Close()
		}
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}
