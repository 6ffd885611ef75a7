package release

import (
	"context"
	"errors"
)

// testOptions divide the release of a testWriter.
type testOptions struct {
	Params       map[string]string
	Sources      map[string]int64
	Parent       string
	MaxPackBytes int64
	Parts        int // 0 for 1
	Previous     *Reader
}

// A testWriter writes a whole release in one process, as build/task does in many tasks. Package
// writertest has its like for other packages.
type testWriter struct {
	*Writer
	o      testOptions
	parts  []*PartWriter // nil for those that were not started
	tables []*TableWriter

	indexes int // files; 0 for IndexCount
}

func create(dir string, o testOptions) (*testWriter, error) {
	w, err := Create(dir)
	return &testWriter{Writer: w, o: o, parts: make([]*PartWriter, max(1, o.Parts))}, err
}

// Part starts a part. Parts may be written at the same time.
func (w *testWriter) Part(i int) (p *PartWriter, err error) {
	p, err = CreatePart(PartOptions{
		Dir: w.tmp, Number: i, Previous: w.o.Previous, MaxPackBytes: w.o.MaxPackBytes, disk: w.disk,
	})
	w.parts[i] = p
	return p, err
}

func (w *testWriter) Table(name string, rows int) (*TableWriter, error) {
	t, err := CreateTable(w.tmp, name, rows, false)
	if err == nil {
		t.disk = w.disk
		w.tables = append(w.tables, t)
	}
	return t, err
}

// contents closes the parts and writes the index.
func (w *testWriter) contents(ctx context.Context) (c Contents, err error) {
	if w.parts[0] == nil {
		if _, err := w.Part(0); err != nil {
			return c, err
		}
	}
	for _, p := range w.parts {
		if p != nil {
			part, closing := p.Close()
			c.Parts, err = append(c.Parts, part), errors.Join(err, closing)
		}
	}
	for _, t := range w.tables {
		err = errors.Join(err, t.Close())
		c.Tables = append(c.Tables, t.File())
	}
	n := w.indexes
	if n == 0 {
		n = IndexCount(c.Parts)
	}
	for i := 0; i < n && err == nil; i++ {
		var f File
		f, err = writeIndex(ctx, w.tmp, w.tmp, c.Parts, i, n, w.disk)
		c.Indexes = append(c.Indexes, f)
	}
	return c, err
}

func (w *testWriter) manifest() ManifestSpec {
	s := ManifestSpec{Params: w.o.Params, Sources: w.o.Sources, Parent: w.o.Parent, disk: w.disk}
	if s.Params == nil {
		s.Params = map[string]string{}
	}
	if s.Sources == nil {
		s.Sources = map[string]int64{}
	}
	return s
}

func (w *testWriter) Seal(ctx context.Context) (Manifest, error) {
	c, err := w.contents(ctx)
	if err == nil {
		_, err = WriteManifest(w.tmp, w.manifest(), c)
	}
	if err != nil {
		return Manifest{}, err
	}
	return w.Install()
}

// Abort gives the release up, as the end of a process does.
func (w *testWriter) Abort() error {
	for _, p := range w.parts {
		if p != nil {
			p.discard()
		}
	}
	return w.Writer.Abort()
}
