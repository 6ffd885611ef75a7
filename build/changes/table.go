package changes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// A history is the content of the table: the builds of the one before from first on, and this one.
type history struct {
	log   *changelog.Log // of the previous release
	found Found
	date  time.Time
	first int
	built int // number of the build at work, behind those of before
	keys  []string
	// numbers has, by the number of a key in the table before, its number in this one.
	numbers []uint32
	changed map[fragment.Kind][]changelog.Row
}

// Write writes the table: the recent builds of the previous release's table, and the changes that
// Compare found. It returns how many resources of each kind changed.
func Write(ctx context.Context, create func(name string, rows int) (*release.TableWriter, error), previous *release.Reader, date time.Time, found Found) (_ map[fragment.Kind]int, err error) {
	h := &history{log: changelog.Open(previous), found: found, date: date, changed: map[fragment.Kind][]changelog.Row{}}
	for oldest := date.Add(-changelog.Retention).Unix(); h.first < h.log.Builds() && h.log.Time(h.first) < oldest; {
		h.first++
	}
	h.built = h.log.Builds() - h.first
	n := map[fragment.Kind]int{}
	for _, k := range changelog.Lists() {
		err := found.each(ctx, rowSection(k), func(_, row []byte) error {
			h.changed[k] = append(h.changed[k], changelog.Rows(row).At(0))
			return nil
		})
		if err != nil {
			return nil, err
		}
		n[k] = len(h.changed[k])
	}
	if err := h.nameKeys(ctx); err != nil {
		return nil, err
	}
	out, err := create(changelog.Table, h.built+1)
	if err != nil {
		return nil, err
	}
	return n, errors.Join(h.write(ctx, out), out.Close())
}

func (h *history) write(ctx context.Context, out *release.TableWriter) error {
	h.writeBuilds(out)
	h.writeKeys(out)
	for _, k := range changelog.Lists() {
		h.writeList(out, k)
	}
	var off uint64
	for _, k := range changelog.Kinds() {
		section := out.Section(changelog.ItemSection(k))
		var buf []byte
		err := h.each(ctx, k, func(it *changelog.Items) error {
			it.Offset = off
			off += uint64(len(it.Segment.Stored))
			buf = it.Append(buf[:0])
			_, err := section.Write(buf)
			return err
		})
		if err != nil {
			return err
		}
	}
	data := out.Section(changelog.SectionData)
	for _, k := range changelog.Kinds() {
		err := h.each(ctx, k, func(it *changelog.Items) error {
			_, err := data.Write(it.Segment.Stored)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// nameKeys numbers the keys that are in use.
func (h *history) nameKeys(ctx context.Context) error {
	log := h.log
	used := make([]bool, log.Keys())
	for _, k := range changelog.Kinds() {
		for i := range log.Segments(k) {
			it, err := log.At(k, i)
			if err != nil {
				return err
			}
			if int(it.Build) >= h.first {
				used[it.Key] = true
			}
		}
	}
	names := map[string]struct{}{}
	err := h.found.each(ctx, keySection(), func(key, _ []byte) error {
		names[string(key)] = struct{}{}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range used {
		if used[i] {
			names[string(log.Key(i))] = struct{}{}
		}
	}
	h.keys = slices.Sorted(maps.Keys(names))
	for i := range used {
		h.numbers = append(h.numbers, h.number(string(log.Key(i))))
	}
	return nil
}

// number returns the number of a key that is in use.
func (h *history) number(key string) uint32 {
	i, _ := slices.BinarySearch(h.keys, key)
	return uint32(i)
}

func (h *history) writeBuilds(out *release.TableWriter) {
	var b []byte
	for i := h.first; i < h.log.Builds(); i++ {
		b = binary.LittleEndian.AppendUint64(b, uint64(h.log.Time(i)))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(h.date.Unix()))
	_, _ = out.Section(changelog.SectionBuilds).Write(b) // an error shows in Close
}

func (h *history) writeKeys(out *release.TableWriter) {
	var b []byte
	for _, key := range h.keys {
		b = changelog.AppendKey(b, key)
	}
	_, _ = out.Section(changelog.SectionKeys).Write(b) // an error shows in Close
}

// writeList writes the lists of one kind. Of the rows of before, those change that no
// build changed again until this one.
func (h *history) writeList(out *release.TableWriter, k fragment.Kind) {
	section := out.Section(changelog.ListSection(k))
	changed, n := h.changed[k], 0
	var buf, starts []byte
	write := func(row changelog.Row) {
		buf = row.Append(buf[:0])
		_, _ = section.Write(buf) // an error shows in Close
		n++
	}
	for i := h.first; i < h.log.Builds(); i++ {
		starts = binary.LittleEndian.AppendUint64(starts, uint64(n))
		rows := h.log.Changed(k, i)
		for j := range rows.Len() {
			row := rows.At(j)
			if row.Newer != changelog.None {
				row.Newer -= uint32(h.first)
			} else if h.has(changed, row.ID) {
				row.Newer = uint32(h.built)
			}
			write(row)
		}
	}
	starts = binary.LittleEndian.AppendUint64(starts, uint64(n))
	for _, row := range changed {
		write(row)
	}
	starts = binary.LittleEndian.AppendUint64(starts, uint64(n))
	_, _ = out.Section(changelog.StartsSection(k)).Write(starts) // an error shows in Close
}

func (h *history) has(rows []changelog.Row, id uint64) bool {
	_, ok := slices.BinarySearchFunc(rows, id, func(r changelog.Row, id uint64) int { return cmp.Compare(r.ID, id) })
	return ok
}

// each calls fn for the items of a kind in their order: those of before, and the new
// ones. What they point to is valid until fn returns.
func (h *history) each(ctx context.Context, k fragment.Kind, fn func(*changelog.Items) error) error {
	i := 0
	var sorted []byte
	// before calls fn for the items of before up to a key, nil for the end.
	before := func(key []byte) error {
		for ; i < h.log.Segments(k); i++ {
			old, err := h.log.At(k, i)
			if err != nil {
				return err
			}
			if int(old.Build) < h.first {
				continue
			}
			sorted = append(binary.BigEndian.AppendUint64(sorted[:0], old.ID), h.log.Key(int(old.Key))...)
			if key != nil && bytes.Compare(key, sorted) < 0 {
				return nil
			}
			old.Build, old.Key = old.Build-uint32(h.first), h.numbers[old.Key]
			if err := fn(&old); err != nil {
				return err
			}
		}
		return nil
	}
	err := h.found.each(ctx, itemSection(k), func(key, payload []byte) error {
		if err := before(key); err != nil {
			return err
		}
		return fn(h.itemsOf(key, payload))
	})
	if err != nil {
		return err
	}
	return before(nil)
}

// itemsOf returns the items of a record.
func (h *history) itemsOf(key, payload []byte) *changelog.Items {
	return &changelog.Items{
		ID: binary.BigEndian.Uint64(key), Build: uint32(h.built), Key: h.number(string(key[8:])), Segment: parseSegment(payload),
	}
}
