// Package writertest writes whole releases in one process, for tests of what reads them. Builds
// write theirs in tasks: see build/task.
package writertest

import (
	"context"
	"errors"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// A Writer writes one release.
type Writer struct {
	w *release.Writer
	// Spec may be changed until Seal.
	Spec   release.ManifestSpec
	parts  []*release.PartWriter
	tables []*release.TableWriter
}

// Create starts a release in the folder releases.
func Create(releases string) (*Writer, error) {
	w, err := release.Create(releases)
	if err != nil {
		return nil, err
	}
	return &Writer{w: w, Spec: release.ManifestSpec{Params: map[string]string{}, Sources: map[string]int64{}}}, nil
}

// Part starts the next part, upon a previous release of the same folder unless that is nil.
func (w *Writer) Part(previous *release.Reader) (*release.PartWriter, error) {
	if previous != nil {
		w.Spec.Parent = previous.Manifest().ID
	}
	p, err := release.CreatePart(release.PartOptions{Dir: w.w.Dir(), Number: len(w.parts), Previous: previous})
	w.parts = append(w.parts, p)
	return p, err
}

// Table starts a table.
func (w *Writer) Table(name string, rows int) (*release.TableWriter, error) {
	t, err := release.CreateTable(w.w.Dir(), name, rows, false)
	w.tables = append(w.tables, t)
	return t, err
}

// Seal closes parts and tables, completes the release, and returns its manifest.
func (w *Writer) Seal(ctx context.Context) (release.Manifest, error) {
	var c release.Contents
	var err error
	for _, p := range w.parts {
		part, closing := p.Close()
		c.Parts, err = append(c.Parts, part), errors.Join(err, closing)
	}
	for _, t := range w.tables {
		err = errors.Join(err, t.Close())
		c.Tables = append(c.Tables, t.File())
	}
	n := release.IndexCount(c.Parts)
	for i := 0; i < n && err == nil; i++ {
		var f release.File
		f, err = release.WriteIndex(ctx, w.w.Dir(), w.w.Dir(), c.Parts, i, n)
		c.Indexes = append(c.Indexes, f)
	}
	if err == nil {
		_, err = release.WriteManifest(w.w.Dir(), w.Spec, c)
	}
	if err != nil {
		return release.Manifest{}, errors.Join(err, w.w.Abort())
	}
	return w.w.Install()
}
