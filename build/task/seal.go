package task

import (
	"context"

	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/age"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// The seal task writes the manifest, which names all other files of the release. It reads records
// of tasks alone. If nothing has changed, it writes none.
type seal struct{ b *Build }

func openSeal(b *Build) (tasks, error) { return seal{b}, nil }

func (seal) close() error { return nil }

func (t seal) run(_ context.Context, _ int, d *Done) error {
	done, err := t.b.Read("changelog")
	if err != nil {
		return err
	}
	for i := range done {
		if done[i].Unchanged {
			d.Unchanged, d.Release = true, t.b.Plan.Previous
			return nil
		}
	}
	c, err := t.b.contents("index", "tables", "accounts", "changelog")
	if err != nil {
		return err
	}
	m, err := release.WriteManifest(t.b.Folder.Dir(work.Release), t.b.options(), c)
	d.Release = m.ID
	return err
}

// contents describes the parts of the release, and the indexes and tables of some stages.
func (b *Build) contents(stages ...string) (c release.Contents, err error) {
	if c.Parts, err = b.parts(); err != nil {
		return c, err
	}
	done, err := b.Read(stages...)
	for i := range done {
		c.Indexes = append(c.Indexes, done[i].Indexes...)
		c.Tables = append(c.Tables, done[i].Tables...)
	}
	return c, err
}

// preview opens the parts of the release, and the indexes and tables of some stages.
func (b *Build) preview(stages ...string) (*release.Reader, error) {
	c, err := b.contents(stages...)
	if err != nil {
		return nil, err
	}
	return release.Preview(b.options(), c, b.Folder.From(work.Release), b.previousDir) // which has reused packs
}

// options returns the free fields of the manifest.
func (b *Build) options() release.ManifestSpec {
	o := release.ManifestSpec{Params: b.Params(), Parent: b.Plan.Previous, Sources: map[string]int64{}}
	for kind, n := range b.Plan.Records {
		o.Sources[kind] = n
	}
	if b.Plan.Removed > 0 {
		o.Sources[fragment.KindRemoved.String()] = int64(b.Plan.Removed)
	}
	for kind, days := range b.Plan.Fetched {
		age.Put(o.Sources, kind, days)
	}
	return o
}
