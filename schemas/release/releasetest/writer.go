// Package releasetest writes whole releases in one process, for tests of their readers, and damages them in ways that
// no builder does. Real builds write releases in tasks: see build/task.
package releasetest

import (
	"context"
	"errors"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// A Writer writes one release.
type Writer struct {
	*store.Builder
	// The following fields may be changed before their use.
	Spec         release.ManifestSpec
	MaxPackBytes int64 // see PartOptions
	Indexes      int   // number of files; 0 for release.IndexCount
	parts        []*release.PartWriter
	tables       []*release.TableWriter
}

// Create starts a release in the folder releases.
func Create(releases string) (*Writer, error) {
	b, err := store.Create(releases)
	return &Writer{Builder: b, Spec: release.ManifestSpec{Params: map[string]string{}, Sources: map[string]int64{}}}, err
}

// Part starts the next part. If previous is not nil, it is a release of the same folder whose segments may be reused.
func (w *Writer) Part(previous *release.Reader) (*release.PartWriter, error) {
	if previous != nil {
		w.Spec.Parent = previous.Manifest().ID
	}
	p, err := release.CreatePart(release.PartOptions{Dir: w.Dir(), Number: len(w.parts), Previous: previous, MaxPackBytes: w.MaxPackBytes})
	if err == nil {
		w.parts = append(w.parts, p)
	}
	return p, err
}

// Add writes resources as the next part.
func (w *Writer) Add(rs ...release.ResourceSpec) error {
	p, err := w.Part(nil)
	for i := 0; i < len(rs) && err == nil; i++ {
		err = p.Add(rs[i])
	}
	if err == nil {
		_, err = p.Close()
	}
	return err
}

// Table starts a table.
func (w *Writer) Table(name string, rows int) (*release.TableWriter, error) {
	t, err := release.CreateTable(w.Dir(), name, rows, false)
	if err == nil {
		w.tables = append(w.tables, t)
	}
	return t, err
}

// Contents closes parts and tables, and writes the index.
func (w *Writer) Contents(ctx context.Context) (c release.Contents, err error) {
	if len(w.parts) == 0 {
		if _, err := w.Part(nil); err != nil {
			return c, err
		}
	}
	for _, p := range w.parts {
		part, closing := p.Close()
		c.Parts, err = append(c.Parts, part), errors.Join(err, closing)
	}
	for _, t := range w.tables {
		err = errors.Join(err, t.Close())
		c.Tables = append(c.Tables, t.File())
	}
	n := w.Indexes
	if n == 0 {
		n = release.IndexCount(c.Parts)
	}
	for i := 0; i < n && err == nil; i++ {
		var f release.File
		f, err = release.WriteIndex(ctx, w.Dir(), w.Dir(), c.Parts, i, n)
		c.Indexes = append(c.Indexes, f)
	}
	return c, err
}

// Seal completes the release and returns its manifest.
func (w *Writer) Seal(ctx context.Context) (release.Manifest, error) {
	c, err := w.Contents(ctx)
	if err == nil {
		_, err = release.WriteManifest(w.Dir(), w.Spec, c)
	}
	if err != nil {
		return release.Manifest{}, err
	}
	return w.Install()
}

// Abort discards the release.
func (w *Writer) Abort() error {
	for _, p := range w.parts {
		_, _ = p.Close() // otherwise some systems cannot remove its files
	}
	return w.Builder.Abort()
}
