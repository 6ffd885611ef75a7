package changes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/changelog"
)

// A history is what a table keeps of the one before: the builds from first on.
type history struct {
	t     *task
	first int
	built int // number of the build at work, behind those that are kept
	keys  []string
	// numbers has, by the number of a key in the table before, its number in this one.
	numbers []uint32
}

// write writes the table: what is kept of the one before, and what was found.
func (t *task) write(ctx context.Context, w *release.Writer) (err error) {
	h := &history{t: t}
	for oldest := t.Date.Add(-changelog.Retention).Unix(); h.first < t.log.Builds() && t.log.Time(h.first) < oldest; {
		h.first++
	}
	h.built = t.log.Builds() - h.first
	if err := h.nameKeys(); err != nil {
		return err
	}
	out, err := w.Table(changelog.Table, h.built+1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
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
func (h *history) nameKeys() error {
	log := h.t.log
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
	names := maps.Clone(h.t.keys)
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
	for i := h.first; i < h.t.log.Builds(); i++ {
		b = binary.LittleEndian.AppendUint64(b, uint64(h.t.log.Time(i)))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(h.t.Date.Unix()))
	_, _ = out.Section(changelog.SectionBuilds).Write(b) // an error shows in Close
}

func (h *history) writeKeys(out *release.TableWriter) {
	var b []byte
	for _, key := range h.keys {
		b = changelog.AppendKey(b, key)
	}
	_, _ = out.Section(changelog.SectionKeys).Write(b) // an error shows in Close
}

// writeList writes the lists of one kind. Of the rows that are kept, those change that no
// build changed again until this one.
func (h *history) writeList(out *release.TableWriter, k fragment.Kind) {
	section := out.Section(changelog.ListSection(k))
	changed, n := h.t.changed[k], 0
	var buf, starts []byte
	write := func(row changelog.Row) {
		buf = row.Append(buf[:0])
		_, _ = section.Write(buf) // an error shows in Close
		n++
	}
	for i := h.first; i < h.t.log.Builds(); i++ {
		starts = binary.LittleEndian.AppendUint64(starts, uint64(n))
		rows := h.t.log.Changed(k, i)
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

// each calls fn for the items of a kind in their order: those that are kept, and the new
// ones. What they point to is valid until fn returns.
func (h *history) each(ctx context.Context, k fragment.Kind, fn func(*changelog.Items) error) error {
	it, err := h.t.items.Partition(ctx, slices.Index(changelog.Kinds(), k), h.t.Memory/4)
	if err != nil {
		return err
	}
	defer it.Close()
	key, payload, err := it.Next()
	var sorted []byte
	for i := 0; i < h.t.log.Segments(k) || err == nil; {
		if i == h.t.log.Segments(k) {
			if err := fn(h.found(key, payload)); err != nil {
				return err
			}
			key, payload, err = it.Next()
			continue
		}
		old, broken := h.t.log.At(k, i)
		if broken != nil {
			return broken
		}
		if int(old.Build) < h.first {
			i++
			continue
		}
		sorted = append(appendNumber(sorted[:0], old.ID), h.t.log.Key(int(old.Key))...)
		if err == nil && bytes.Compare(key, sorted) < 0 {
			if err := fn(h.found(key, payload)); err != nil {
				return err
			}
			key, payload, err = it.Next()
			continue
		}
		old.Build, old.Key = old.Build-uint32(h.first), h.numbers[old.Key]
		if err := fn(&old); err != nil {
			return err
		}
		i++
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// found returns the items of a record of the shuffle.
func (h *history) found(key, payload []byte) *changelog.Items {
	return &changelog.Items{
		ID: binary.BigEndian.Uint64(key), Build: uint32(h.built), Key: h.number(string(key[8:])), Segment: parseSegment(payload),
	}
}
