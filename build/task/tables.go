package task

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// partStages are the stages that write parts of the release.
var partStages = []string{"prepare", "titles", "resources", "find"}

// parts returns the parts of the release in order.
func (b *Build) parts() ([]release.Part, error) {
	done, err := b.Read(partStages...)
	if err != nil {
		return nil, err
	}
	var parts []release.Part
	for i := range done {
		parts = append(parts, done[i].Parts...)
	}
	// The part of removed resources comes from the second task, but is the last of the release.
	return slices.Concat(parts[:prepareRemoved], parts[prepareRemoved+1:], parts[prepareRemoved:prepareRemoved+1]), nil
}

func indexTasks(b *Build) (int, error) {
	parts, err := b.parts()
	return release.IndexCount(parts), err
}

// writeIndex writes one of the indexes of the release, which maps the keys of a range of hashes to their resources in
// the parts.
func writeIndex(ctx context.Context, b *Build, i int, d *Done) error {
	parts, err := b.parts()
	if err != nil {
		return err
	}
	f, err := release.WriteIndex(ctx, b.Folder.Dir(work.Release), b.Folder.From(work.Release), parts, i, release.IndexCount(parts))
	d.Indexes = append(d.Indexes, f)
	return err
}

// A ranges task sorts the columns of a range of a table's rows. It counts the rows before the range, so its ranks hold
// for the whole table.
type ranges struct {
	b    *Build
	rows *sorted
}

func openRanges(b *Build) (_ tasks, err error) {
	t := &ranges{b: b}
	t.rows, err = b.openSorted("", "titles", "resources")
	return tasks{t.run, t.rows.close}, err
}

// columnsPrefix starts the file names of a table's columns.
func columnsPrefix(table int) string { return "columns-" + tables.Kinds[table].String() + "-" }

func (t *ranges) run(ctx context.Context, i int, d *Done) error {
	table := 0
	first, to := t.b.Plan.RangesOf(table)
	for i >= to {
		table++
		first, to = t.b.Plan.RangesOf(table)
	}
	before := int64(0)
	for k := first; k < i; k++ {
		before += t.rows.len(t.b.Plan.RangeSection(k))
	}
	rows, err := t.rows.merge(ctx, t.b.Plan.RangeSection(i))
	if err != nil {
		return err
	}
	o := index.Options{Work: t.b.temp(), Memory: t.b.Memory / 2, Previous: t.b.previous}
	name := fmt.Sprintf("%s%05d", columnsPrefix(table), i-first)
	err = t.b.replace(d, name, func(path string) error {
		n, err := index.WriteColumns(ctx, tables.Kinds[table], int(before), rows, path, o)
		d.Made = int64(n)
		return err
	})
	return errors.Join(err, rows.Close())
}

// writeTable writes a table: of a kind, from the columns of its ranges, or of credits.
func writeTable(ctx context.Context, b *Build, i int, d *Done) (err error) {
	if i == len(tables.Kinds) {
		return writeCredits(ctx, b, d)
	}
	in, err := b.openSorted(columnsPrefix(i), "ranges")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	done, err := b.Read("ranges")
	if err != nil {
		return err
	}
	rows := int64(0)
	from, to := b.Plan.RangesOf(i)
	for k := from; k < to; k++ {
		rows += done[k].Made
	}
	merge := func(section int) (*extsort.Iterator, error) { return in.merge(ctx, section) }
	return b.writeTables(d, false, func(create index.Create) (err error) {
		d.Made, err = index.WriteTable(tables.Kinds[i], int(rows), merge, create, index.Options{Memory: b.Memory / 2})
		return err
	})
}

// writeCredits writes the table of credits.
func writeCredits(ctx context.Context, b *Build, d *Done) (err error) {
	in, err := b.openSorted("", "titles", "resources")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	section, _ := b.Plan.RangesOf(len(tables.Kinds))
	rows, err := in.merge(ctx, b.Plan.RangeSection(section))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return b.writeTables(d, false, func(create index.Create) error { return index.WriteCredits(rows, create) })
}

// writeTables runs fn with a function that starts tables of the release, and adds the tables to the record of the
// task. fn closes them. Only the owner of the files may read private ones.
func (b *Build) writeTables(d *Done, private bool, fn func(create index.Create) error) error {
	var made []*release.TableWriter
	err := fn(func(name string, rows int) (*release.TableWriter, error) {
		w, err := release.CreateTable(b.Folder.Dir(work.Release), name, rows, private)
		if err == nil {
			made = append(made, w)
		}
		return w, err
	})
	if err != nil {
		return err
	}
	for _, w := range made {
		d.Tables = append(d.Tables, w.File())
	}
	return nil
}
