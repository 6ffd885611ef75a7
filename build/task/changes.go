package task

import (
	"context"
	"errors"

	"github.com/reelsplice/reelsplice/build/changes"
	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// A changes task compares a part of the resources that differ.
type changesTask struct {
	b           *Build
	next        *release.Reader
	differences *sorted
	created     map[fragment.Kind]int64
}

func changesTasks(b *Build) (int, error) {
	if b.Plan.Previous == "" {
		return 0, nil
	}
	done, err := compared(b)
	if err != nil || done[0].Unchanged {
		return 0, err
	}
	return changes.Partitions, nil
}

func openChanges(b *Build) (_ tasks, err error) {
	t := &changesTask{b: b, created: map[fragment.Kind]int64{}}
	done, err := compared(b)
	if err != nil {
		return nil, err
	}
	for i := range done {
		for _, k := range changelog.Kinds() {
			t.created[k] += done[i].Counts[createdCount+k.String()]
		}
	}
	if t.differences, err = b.openSorted("", "compare"); err != nil {
		return nil, err
	}
	t.next, err = b.preview("index", "tables", "accounts")
	if err != nil {
		return nil, errors.Join(err, t.differences.close())
	}
	return t, nil
}

func (t *changesTask) close() error { return errors.Join(t.differences.close(), t.next.Close()) }

func (t *changesTask) run(ctx context.Context, i int, d *Done) error {
	it, err := t.differences.merge(ctx, i)
	if err != nil {
		return err
	}
	defer it.Close()
	o := changes.Options{
		Previous: t.b.previous, Next: t.next, Created: t.created, Date: t.b.Plan.Date, Level: t.b.Plan.Level, Memory: t.b.Memory / 4,
	}
	return t.b.sort(ctx, d, contributionsName("changes", i), changes.Sections(), func(s *extsort.Sorter) error {
		tally, err := changes.Compare(o, it, s)
		for kind, n := range tally.Created {
			d.Counts[newCount+kind.String()] = n
		}
		for kind, n := range tally.Deleted {
			d.Counts[goneCount+kind.String()] = n
		}
		return err
	})
}

// The changelog task writes the table of changes, unless nothing has changed: then no release is
// made. Without a previous release there is no such task.
type changelogTask struct {
	b     *Build
	found *sorted // nil if the first compare task found no difference
}

func changelogTasks(b *Build) (int, error) {
	if b.Plan.Previous == "" {
		return 0, nil
	}
	return 1, nil
}

func openChangelog(b *Build) (_ tasks, err error) {
	t := &changelogTask{b: b}
	n, err := changesTasks(b)
	if err != nil || n == 0 {
		return t, err
	}
	t.found, err = b.openSorted("", "changes")
	return t, err
}

func (t *changelogTask) close() error {
	if t.found == nil {
		return nil
	}
	return t.found.close()
}

// Prefixes of the names of counts, by kind: of resources in the table of changes, and of those among
// them that are new or gone.
const (
	changedCount = "changed_"
	newCount     = "new_"
	goneCount    = "gone_"
)

func (t *changelogTask) run(ctx context.Context, _ int, d *Done) (err error) {
	if d.Unchanged, err = t.isUnchanged(); err != nil || d.Unchanged {
		return err
	}
	return t.b.writeTables(d, false, func(create index.Create) error {
		n, err := changes.Write(ctx, create, t.b.previous, t.b.Plan.Date, t.found.merge)
		for kind, n := range n {
			d.Counts[changedCount+kind.String()] = int64(n)
		}
		return err
	})
}

// isUnchanged reports whether the previous release has all that this one would have, be it in
// other packs.
func (t *changelogTask) isUnchanged() (_ bool, err error) {
	if t.found == nil {
		return true, nil
	}
	done, err := compared(t.b)
	for i := range done {
		if done[i].Counts[differCount] > 0 {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}
	next, err := t.b.preview("index", "tables", "accounts")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	return isRewritten(t.b, next), nil
}
