package task

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// writeChanges writes the table of changes from the catalogue's log of the last days' ingests, if there is a log. It
// holds a few dozen bytes in memory for each resource that an ingest changed.
func writeChanges(ctx context.Context, b *Build, _ int, d *taskRecord) error {
	c := &changesTable{b: b, log: b.inputs.Changes, changed: map[fragment.Kind][]changedResource{}}
	if err := c.survey(ctx); err != nil {
		return err
	}
	if b.previous != nil {
		c.countChanges(d)
	}
	if len(c.times) == 0 {
		return nil
	}
	for _, kind := range changelog.Lists() {
		if err := c.readFlags(ctx, kind); err != nil {
			return err
		}
	}
	return b.writeTables(d, false, func(create index.Create) error {
		out, err := create(changelog.Table, len(c.times))
		if err != nil {
			return err
		}
		return errors.Join(c.write(ctx, out), out.Close())
	})
}

// A changedResource is a resource that an ingest changed: one row of a list.
type changedResource struct {
	id   uint64
	time int64
	row  changelog.Row
	// created and deleted report that the whole resource was added or removed.
	created, deleted bool
}

// changesTable holds the data from which the table is made.
type changesTable struct {
	b       *Build
	log     *catalog.File
	times   []int64                             // times of the ingests, ascending
	fields  []string                            // ascending
	changed map[fragment.Kind][]changedResource // by changelog.Lists, in order of time, then id
}

// eachChange calls fn with each change of the log. If fields is not nil, only those are read.
func (c *changesTable) eachChange(ctx context.Context, fields []string, fn func(fragment.Kind, *catalog.LoggedChange) error) error {
	if c.log == nil {
		return nil
	}
	rows := c.log.Groups(0, c.log.RowGroups())
	if fields != nil {
		rows = c.log.Select(fields, 0, c.log.RowGroups())
	}
	return rows.Each(ctx, func(r record.Record) error {
		v := record.As[catalog.LoggedChange](r)
		t, ok := catalog.TypeNamed(v.Kind.V)
		if !ok || len(v.Field.V) > changelog.MaxKey || strings.Trim(v.Field.V, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return nil // not an API field: its name does not fit the table
		}
		return fn(t.Kind, v)
	})
}

// survey reads the changed resources, the times of changes and the names of fields.
func (c *changesTable) survey(ctx context.Context) error {
	times, fields := map[int64]struct{}{}, map[string]struct{}{}
	err := c.eachChange(ctx, []string{"kind", "id", "field", "time", "new"}, func(kind fragment.Kind, v *catalog.LoggedChange) error {
		times[v.Time.V], fields[v.Field.V] = struct{}{}, struct{}{}
		if slices.Contains(changelog.Lists(), kind) {
			general := v.Field.V == catalog.FieldGeneral
			c.changed[kind] = append(c.changed[kind], changedResource{id: uint64(v.ID.V), time: v.Time.V, created: general && v.New.Set, deleted: general && !v.New.Set})
		}
		return nil
	})
	c.times, c.fields = slices.Sorted(maps.Keys(times)), slices.Sorted(maps.Keys(fields))
	for kind, list := range c.changed {
		slices.SortFunc(list, func(a, b changedResource) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.time, b.time)) })
		rows := list[:0]
		for i := range list {
			v := list[i]
			if last := len(rows) - 1; last >= 0 && rows[last].id == v.id {
				if rows[last].time == v.time {
					rows[last].created, rows[last].deleted = rows[last].created || v.created, rows[last].deleted || v.deleted
					continue
				}
				rows[last].row.Newer = uint32(c.ingestAt(v.time))
			}
			v.row = changelog.Row{ID: v.id, Newer: changelog.None, Adult: changelog.Null, Softcore: changelog.Null}
			rows = append(rows, v)
		}
		c.changed[kind] = rows
	}
	return err
}

// ingestAt returns the number of the ingest at a time.
func (c *changesTable) ingestAt(time int64) int {
	i, _ := slices.BinarySearch(c.times, time)
	return i
}

// countChanges counts the resources that changed in ingests since the previous release.
func (c *changesTable) countChanges(d *taskRecord) {
	since := int64(0)
	if log := changelog.Open(c.b.previous); log.Builds() > 0 {
		since = log.Time(log.Builds() - 1)
	}
	d.Changed, d.Created, d.Deleted = map[string]int{}, map[string]int{}, map[string]int{}
	for _, kind := range changelog.Lists() {
		list, last, name := c.changed[kind], uint64(0), kind.String()
		d.Changed[name] = 0
		for i := range list {
			v := &list[i]
			if v.time <= since {
				continue
			}
			if v.id != last {
				d.Changed[name]++
			}
			last = v.id
			if v.created {
				d.Created[name]++
			}
			if v.deleted {
				d.Deleted[name]++
			}
		}
	}
}

// readFlags reads the flags of the changed resources of a kind. They stay null for resources that the catalogue
// lacks.
func (c *changesTable) readFlags(ctx context.Context, kind fragment.Kind) error {
	list, in, schema := c.changed[kind], c.b.inputs.Of(kind), catalog.TypeOf(kind).Schema
	if len(list) == 0 || in == nil {
		return nil
	}
	adult, _ := schema.Field("adult")
	paths := []string{"adult"}
	softcore, ok := schema.Field("softcore")
	if ok {
		paths = append(paths, "softcore")
	}
	return in.Each(ctx, work.Everything, paths, func(k catalog.Key, r record.Record) error {
		for len(list) > 0 && list[0].id < k.ID() {
			list = list[1:]
		}
		for ; len(list) > 0 && list[0].id == k.ID(); list = list[1:] {
			list[0].row.Adult, list[0].row.Softcore = flagOf(r, adult), flagOf(r, softcore)
		}
		return nil
	})
}

// flagOf returns a boolean; No if a dump has none.
func flagOf(r record.Record, f *record.Field) changelog.Flag {
	if f != nil && r.Bool(f).V {
		return changelog.Yes
	}
	return changelog.No
}

// write writes the table.
func (c *changesTable) write(ctx context.Context, out *release.TableWriter) error {
	var b []byte
	for _, t := range c.times {
		b = binary.LittleEndian.AppendUint64(b, uint64(t))
	}
	_, _ = out.Section(changelog.SectionBuilds).Write(b) // Close returns the error, here and below
	b = b[:0]
	for _, name := range c.fields {
		b = changelog.AppendKey(b, name)
	}
	_, _ = out.Section(changelog.SectionKeys).Write(b)
	for _, kind := range changelog.Lists() {
		list := c.changed[kind]
		slices.SortStableFunc(list, func(a, b changedResource) int { return cmp.Compare(a.time, b.time) })
		section := out.Section(changelog.ListSection(kind))
		var row, starts []byte
		n := 0
		for _, t := range c.times {
			starts = binary.LittleEndian.AppendUint64(starts, uint64(n))
			for ; n < len(list) && list[n].time == t; n++ {
				row = list[n].row.Append(row[:0])
				_, _ = section.Write(row)
			}
		}
		starts = binary.LittleEndian.AppendUint64(starts, uint64(n))
		_, _ = out.Section(changelog.StartsSection(kind)).Write(starts)
	}
	return c.writeItems(ctx, out)
}

// writeItems writes the items, one segment for each resource, field and ingest.
func (c *changesTable) writeItems(ctx context.Context, out *release.TableWriter) (err error) {
	z, err := segment.New(c.b.Plan.Level)
	if err != nil {
		return err
	}
	data, err := os.CreateTemp(c.b.temp(), "changes-*") // segments are the last section
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close(), os.Remove(data.Name())) }()
	w := &itemWriter{z: z, data: data, out: out}
	err = c.eachChange(ctx, nil, func(kind fragment.Kind, v *catalog.LoggedChange) error {
		key, _ := slices.BinarySearch(c.fields, v.Field.V)
		items := changelog.Items{ID: uint64(v.ID.V), Key: uint32(key), Build: uint32(c.ingestAt(v.Time.V))}
		if kind != w.kind || items.ID != w.items.ID || items.Key != w.items.Key || items.Build != w.items.Build {
			if err := w.endSegment(kind); err != nil {
				return err
			}
			items.Offset = w.items.Offset // endSegment has advanced it
			w.items = items
		}
		w.appendItem(v)
		return nil
	})
	if err == nil {
		err = w.endSegment(0)
	}
	if err == nil {
		_, err = data.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(out.Section(changelog.SectionData), data)
	}
	return err
}

// An itemWriter writes items in the API's form, a segment at a time.
type itemWriter struct {
	z       *segment.Compressor
	data    *os.File
	out     *release.TableWriter
	section io.Writer // section of the items of kind
	kind    fragment.Kind
	items   changelog.Items // the current segment, with Offset at its start
	n       int             // items in it
	raw     []byte
	input   []byte
	row     []byte
}

// endSegment ends the current segment, if any, and begins one of a kind; 0 begins none.
func (w *itemWriter) endSegment(kind fragment.Kind) (err error) {
	if w.n > 0 {
		w.z.Reset()
		if w.items.Segment, err = w.z.Segment(w.raw); err != nil {
			return err
		}
		w.row = w.items.Append(w.row[:0])
		_, _ = w.section.Write(w.row) // Close returns the error
		if _, err := w.data.Write(w.items.Segment.Stored); err != nil {
			return err
		}
		w.items.Offset += uint64(len(w.items.Segment.Stored))
	}
	if kind != w.kind && kind != 0 {
		w.section = w.out.Section(changelog.ItemSection(kind))
	}
	w.kind, w.n, w.raw = kind, 0, w.raw[:0]
	return nil
}

// appendItem appends an item. Its id is 24 hexadecimal digits like the API's: the time, then a hash of the item and its
// number.
func (w *itemWriter) appendItem(v *catalog.LoggedChange) {
	action, before, after := "updated", v.Old.V, v.New.V
	switch {
	case v.Field.V == catalog.FieldGeneral && v.New.Set:
		action, after = "created", ""
	case v.Field.V == catalog.FieldGeneral:
		action, before = "destroyed", ""
	case !v.Old.Set:
		action = "added"
	case !v.New.Set:
		action = "deleted"
	case before == after:
		before = ""
	}
	w.input = append(binary.BigEndian.AppendUint64(w.input[:0], uint64(w.n)), action...)
	w.input = record.AppendBinary(w.input, record.Of(v))
	id := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, uint32(v.Time.V)), xxh3.Hash(w.input))
	if w.n++; w.n > 1 {
		w.raw = append(w.raw, ',')
	}
	w.raw = fmt.Appendf(w.raw, `{"id":"%s","action":"%s","time":"%s","iso_639_1":%s,"iso_3166_1":%s`,
		hex.EncodeToString(id), action, time.Unix(v.Time.V, 0).UTC().Format("2006-01-02 15:04:05 UTC"), record.AppendString(nil, v.ISO639.V), record.AppendString(nil, v.ISO3166.V))
	w.raw = record.AppendField(w.raw, "value", after)
	w.raw = append(record.AppendField(w.raw, "original_value", before), '}')
}
