package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"reelsplice/build/changes"
	"reelsplice/build/reuse"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/extsort"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables"
	"reelsplice/schemas/tables/changelog"
)

// The compare task finds the resources that differ from those of the previous release, or that
// nothing does: then no release is made. Without a previous release there is no such task.
type compare struct{ b *Build }

func compareTasks(b *Build) (int, error) {
	if b.Plan.Previous == "" {
		return 0, nil
	}
	return 1, nil
}

func openCompare(b *Build) (tasks, error) { return compare{b}, nil }

func (compare) close() error { return nil }

// differencesName is the name of the resources that differ, in the work folder.
const differencesName = "differences"

func (t compare) files(int) (inputs, outputs []string) {
	return t.b.tableDoneNames(), []string{differencesName}
}

// createdCount is the prefix of the names of the counts of new resources, by kind.
const createdCount = "created_"

func (t compare) run(ctx context.Context, _ int, d *Done) (err error) {
	if err := changes.CheckDate(t.b.previous, t.b.Plan.Date); err != nil {
		return err
	}
	next, err := t.b.preview("index", "tables", "accounts")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	return t.b.sort(ctx, differencesName, changes.Partitions, func(s *extsort.Sorter) (err error) {
		if d.Unchanged, err = t.isUnchanged(ctx, next, d); err != nil || d.Unchanged {
			return err
		}
		created, differ, err := changes.Collect(ctx, t.b.previous, next, s)
		if err != nil {
			return err
		}
		d.Unchanged = differ == 0 && t.isRewritten(next)
		for kind, n := range created {
			d.Counts[createdCount+kind.String()] = n
		}
		return nil
	})
}

// isUnchanged reports whether the previous release has all that this one would have. What
// tables have of the previous release, trends and changes, does not count; access counts do.
func (t compare) isUnchanged(ctx context.Context, next *release.Reader, d *Done) (bool, error) {
	if !t.sameParams() {
		return false, nil
	}
	same := release.Same(next, t.b.previous, t.isOfPrevious)
	if !same || !t.b.Plan.Full {
		return same, nil
	}
	// A full build may have a damaged release to mend.
	if err := release.CheckAll(ctx, t.b.Plan.Releases, t.b.previous); err != nil {
		d.Warning = fmt.Sprintf("the previous release is damaged, and another one with the same content is made: %v", err)
		return false, ctx.Err()
	}
	return true, nil
}

// isOfPrevious reports whether a section follows from the previous release.
func (t compare) isOfPrevious(table, section string) bool {
	trend := strings.HasPrefix(section, "trend_") || section == tables.Heat.String()
	return table == changelog.Table || trend && !t.b.Plan.Access
}

// isRewritten reports whether next, of which no resource differs, has only moved segments of the
// previous release out of packs with few live bytes. A full build moves them on purpose.
func (t compare) isRewritten(next *release.Reader) bool {
	return !t.b.Plan.Full && t.sameParams() && maps.Equal(t.b.previous.Manifest().Sources, next.Manifest().Sources) &&
		release.SameSections(next, t.b.previous, t.isOfPrevious)
}

// sameParams reports whether the previous release has the same parameters, besides the date.
func (t compare) sameParams() bool {
	was, is := maps.Clone(t.b.previous.Manifest().Params), t.b.Params()
	delete(was, paramDate)
	delete(is, paramDate)
	return maps.Equal(was, is)
}

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
	d, err := b.readDone("compare", 0)
	if err != nil || d.Unchanged {
		return 0, err
	}
	return changes.Partitions, nil
}

func openChanges(b *Build) (_ tasks, err error) {
	t := &changesTask{b: b, created: map[fragment.Kind]int64{}}
	d, err := b.readDone("compare", 0)
	if err != nil {
		return nil, err
	}
	for _, k := range changelog.Kinds() {
		t.created[k] = d.Counts[createdCount+k.String()]
	}
	if t.differences, err = b.openSorted([]string{differencesName}); err != nil {
		return nil, err
	}
	t.next, err = b.preview("index", "tables", "accounts")
	if err != nil {
		return nil, errors.Join(err, t.differences.close())
	}
	return t, nil
}

func (t *changesTask) close() error { return errors.Join(t.differences.close(), t.next.Close()) }

func (t *changesTask) files(i int) (inputs, outputs []string) {
	return append(t.b.tableDoneNames(), doneName("compare", 0), differencesName), []string{contributionsName("changes", i)}
}

func (t *changesTask) run(ctx context.Context, i int, d *Done) error {
	it, err := t.differences.merge(ctx, i)
	if err != nil {
		return err
	}
	defer it.Close()
	o := changes.Options{
		Previous: t.b.previous, Next: t.next, Created: t.created, Date: t.b.Plan.Date, Level: t.b.Plan.Level, Memory: t.b.Memory / 4,
	}
	return t.b.sort(ctx, contributionsName("changes", i), changes.Sections(), func(s *extsort.Sorter) error {
		return changes.Compare(o, it, s)
	})
}

// The names of parameters in the manifest.
const (
	paramLevel   = "level"
	paramCatalog = "catalog_version"
	paramDate    = "date" // with a previous release
)

// Params returns what the bytes of the release follow from, beside the catalogue and the
// previous release.
func (b *Build) Params() map[string]string {
	p := map[string]string{paramLevel: fmt.Sprint(b.Plan.Level), reuse.ParamEncoder: reuse.Encoder(b.Plan.Level), paramCatalog: catalog.FormatVersion}
	if b.Plan.Previous != "" {
		p[paramDate] = b.Plan.Date.Format(time.RFC3339)
	}
	return p
}
