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
	done, err := b.taskRecords(partStages...)
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
func writeIndex(ctx context.Context, b *Build, i int, d *taskRecord) error {
	parts, err := b.parts()
	if err != nil {
		return err
	}
	f, err := release.WriteIndex(ctx, b.Folder.OutDir(work.Release), b.Folder.InDir(work.Release), parts, i, release.IndexCount(parts))
	d.Indexes = append(d.Indexes, f)
	return err
}

// columnsPrefix starts the file names of a table's columns.
func columnsPrefix(table int) string { return "columns-" + tables.Kinds[table].String() + "-" }

// openRanges opens the tasks that sort the columns of tables, a range of a table's rows each. A task counts the rows
// before its range, so its ranks hold for the whole table.
func openRanges(b *Build) (tasks, error) {
	in, err := b.openSorted("", "titles", "resources")
	run := func(ctx context.Context, i int, d *taskRecord) error {
		table := 0
		first, end := b.Plan.RangesOf(table)
		for i >= end {
			table++
			first, end = b.Plan.RangesOf(table)
		}
		before := int64(0)
		for k := first; k < i; k++ {
			for _, f := range in.files {
				before += f.SectionLen(b.Plan.RangeSection(k))
			}
		}
		rows, err := in.merge(ctx, b.Plan.RangeSection(i))
		if err != nil {
			return err
		}
		o := index.Options{Work: b.temp(), Memory: b.Memory / 2, Previous: b.previous}
		name := fmt.Sprintf("%s%05d", columnsPrefix(table), i-first)
		err = b.writeFile(d, name, func(path string) error {
			n, err := index.WriteColumns(ctx, tables.Kinds[table], int(before), rows, path, o)
			d.Count = int64(n)
			return err
		})
		return errors.Join(err, rows.Close())
	}
	return tasks{run, in.close}, err
}

// writeTable writes a table: of a kind, from the columns of its ranges, or of credits.
func writeTable(ctx context.Context, b *Build, i int, d *taskRecord) (err error) {
	if i == len(tables.Kinds) {
		return writeCredits(ctx, b, d)
	}
	in, err := b.openSorted(columnsPrefix(i), "ranges")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	done, err := b.taskRecords("ranges")
	if err != nil {
		return err
	}
	rows := int64(0)
	first, end := b.Plan.RangesOf(i)
	for k := first; k < end; k++ {
		rows += done[k].Count
	}
	merge := func(section int) (*extsort.Iterator, error) { return in.merge(ctx, section) }
	return b.writeTables(d, false, func(create index.Create) (err error) {
		d.Count, err = index.WriteTable(tables.Kinds[i], int(rows), merge, create, index.Options{Memory: b.Memory / 2})
		return err
	})
}

// writeCredits writes the table of credits.
func writeCredits(ctx context.Context, b *Build, d *taskRecord) (err error) {
	in, err := b.openSorted("", "titles", "resources")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	credits, _ := b.Plan.RangesOf(len(tables.Kinds))
	rows, err := in.merge(ctx, b.Plan.RangeSection(credits))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return b.writeTables(d, false, func(create index.Create) error { return index.WriteCredits(rows, create) })
}

// writeTables runs fn with a function that starts tables of the release, and adds the tables to the record of the
// task. fn closes them. Only the owner of the files may read private ones.
func (b *Build) writeTables(d *taskRecord, private bool, fn func(create index.Create) error) error {
	var writers []*release.TableWriter
	err := fn(func(name string, rows int) (*release.TableWriter, error) {
		w, err := release.CreateTable(b.Folder.OutDir(work.Release), name, rows, private)
		if err == nil {
			writers = append(writers, w)
		}
		return w, err
	})
	if err != nil {
		return err
	}
	for _, w := range writers {
		d.Tables = append(d.Tables, w.File())
	}
	return nil
}
