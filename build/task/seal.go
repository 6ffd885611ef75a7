package task

import (
	"context"

	"reelsplice/build/changes"
	"reelsplice/build/index"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// The seal task writes the table of changes and the manifest, which names all other files of the
// release. If nothing has changed, it writes neither.
type seal struct {
	b     *Build
	found *sorted // nil without changes
}

func openSeal(b *Build) (_ tasks, err error) {
	t := &seal{b: b}
	n, err := changesTasks(b)
	if err != nil || n == 0 {
		return t, err
	}
	t.found, err = b.openSorted(contributionsNames("changes", n))
	return t, err
}

func (t *seal) close() error {
	if t.found == nil {
		return nil
	}
	return t.found.close()
}

func (t *seal) files(int) (inputs, outputs []string) {
	inputs = t.b.tableDoneNames()
	if t.b.Plan.Previous != "" {
		inputs = append(inputs, doneName("compare", 0))
	}
	if t.found != nil {
		inputs = append(inputs, contributionsNames("changes", changes.Partitions)...)
	}
	return inputs, nil
}

// changedCount is the prefix of the names of the counts of resources that changed, by kind.
const changedCount = "changed_"

func (t *seal) run(ctx context.Context, _ int, d *Done) error {
	if t.b.Plan.Previous != "" && t.found == nil {
		d.Unchanged, d.Release = true, t.b.Plan.Previous
		return nil
	}
	if t.found != nil {
		err := t.b.writeTables(d, false, func(create index.Create) error {
			n, err := changes.Write(ctx, create, t.b.previous, t.b.Plan.Date, t.found.merge)
			for kind, n := range n {
				d.Counts[changedCount+kind.String()] = int64(n)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	c, err := t.b.contents("index", "tables", "accounts")
	if err != nil {
		return err
	}
	c.Tables = append(c.Tables, d.Tables...)
	m, err := release.WriteManifest(t.b.Release, t.b.options(), c)
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
	dirs := []string{b.Release}
	if b.Plan.Previous != "" {
		dirs = append(dirs, release.Store{Dir: b.Plan.Releases}.Path(b.Plan.Previous))
	}
	return release.Preview(b.options(), c, release.Dirs(dirs...))
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
	return o
}
