package changes

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// A worker compares resources, those of a series with their seasons and episodes.
type worker struct {
	o      Options
	differ differ
	z      *segment.Compressor
	out    *extsort.Sorter
	writer *itemWriter
	series group
	season group               // of series
	keys   map[string]struct{} // of items
	tally  Tally
	done   int64  // resources
	last   []byte // key of the last one
	sorted []item
	raw    []byte
	record []byte
	key    [fragment.MaxKeyLen]byte
}

// A group has the changes of a series or a season until all of it has passed by.
type group struct {
	id     uint64 // of a season, its number
	open   bool
	change compare.Change // of itself; 0 for none
	items  []item         // what happened to its seasons or episodes
}

// comparedBytes is about what a worker maps of both releases to compare a resource: it reads few
// fragments, and the system maps 64 KiB around each place.
const comparedBytes = 4 << 20

// lookupsPerAll is how often what lookups read is forgotten for each time that all is: of what
// the packs have, a resource reads a tenth as much, and forgetting takes longer the more packs
// there are.
const lookupsPerAll = 4

// all compares the resources that it has.
func (w *worker) all(it *extsort.Iterator) error {
	w.keys = map[string]struct{}{}
	forgetEvery := max(16, w.o.Memory/comparedBytes)
	for {
		w.done++
		switch n := w.done; {
		case n%(lookupsPerAll*forgetEvery) == 0:
			w.o.Previous.Forget()
			w.o.Next.Forget()
		case n%forgetEvery == 0:
			w.o.Previous.ForgetLookups()
			w.o.Next.ForgetLookups()
		}
		key, payload, err := it.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && string(key) == string(w.last) {
			continue // several shares have found it
		}
		if err == nil {
			w.last = append(w.last[:0], key...)
			err = w.one(key, compare.Change(payload[0]))
		}
		if err != nil {
			return err
		}
	}
	err := w.endSeries()
	for key := range w.keys { // their order does not show: records are sorted
		err = errors.Join(err, w.out.Add(keySection(), []byte(key), nil))
	}
	return err
}

// one takes in a resource. Those of a series wait for what belongs to them.
func (w *worker) one(key []byte, change compare.Change) error {
	id, rest := binary.BigEndian.Uint64(key[1:]), key[9:]
	if k := fragment.Kind(key[0]); k != fragment.KindTV {
		return w.title(k, id, change, nil)
	}
	if !w.series.open || w.series.id != id {
		if err := w.endSeries(); err != nil {
			return err
		}
		w.series = group{id: id, open: true, items: w.series.items[:0]}
	}
	if len(rest) == 0 {
		w.series.change = change
		return nil
	}
	s := &w.season
	if number := uint64(binary.BigEndian.Uint32(rest)); !s.open || s.id != number {
		if err := w.endSeason(); err != nil {
			return err
		}
		*s = group{id: number, open: true, items: s.items[:0]}
	}
	if len(rest) == 4 {
		s.change = change
		return nil
	}
	return w.episode(binary.BigEndian.Uint32(rest[4:]), change)
}

// endSeries ends the series at hand, if there is one.
func (w *worker) endSeries() error {
	s := &w.series
	if !s.open {
		return nil
	}
	err := w.endSeason()
	s.open = false
	if err != nil {
		return err
	}
	return w.title(fragment.KindTV, s.id, s.change, s.items)
}

// title compares a movie, a series or a person. more are the items of its parts.
func (w *worker) title(k fragment.Kind, id uint64, change compare.Change, more []item) error {
	key := fragment.AppendID(w.key[:0], k, fragment.ID(id))
	items, err := w.compare(k, key, change)
	if err != nil {
		return err
	}
	if !w.differ.old.found && !w.differ.now.found {
		return nil // seasons of a series that nothing answers for
	}
	if w.differ.now.found {
		items = append(items, more...)
	}
	if len(items) == 0 {
		return nil
	}
	row := changelog.Row{ID: id, Newer: changelog.None, Adult: changelog.Null, Softcore: changelog.Null}
	if w.differ.now.found {
		now, err := w.differ.now.object(fragment.SubDetails)
		if err != nil {
			return fmt.Errorf("%s: %w", fragment.DescribeKey(key), err)
		}
		row.Adult, row.Softcore = flagOf(now["adult"]), flagOf(now["softcore"])
	}
	if err := w.out.Add(rowSection(k), binary.BigEndian.AppendUint64(nil, id), row.Append(nil)); err != nil {
		return err
	}
	switch change {
	case compare.Created:
		w.tally.Created[k]++
	case compare.Deleted, compare.Merged:
		w.tally.Deleted[k]++
	}
	return w.emit(k, id, items)
}

// flagOf returns a boolean; No where a dump has none.
func flagOf(v json.RawMessage) changelog.Flag {
	if string(v) == "true" {
		return changelog.Yes
	}
	return changelog.No
}

// endSeason ends the season at hand, if there is one.
func (w *worker) endSeason() error {
	s := &w.season
	if !s.open {
		return nil
	}
	s.open = false
	number := uint32(s.id)
	key := fragment.AppendSeason(w.key[:0], fragment.ID(w.series.id), number)
	return w.part(fragment.KindSeason, key, s.change, s.items, &w.series.items, "season", number)
}

// episode compares an episode.
func (w *worker) episode(number uint32, change compare.Change) error {
	key := fragment.AppendEpisode(w.key[:0], fragment.ID(w.series.id), uint32(w.season.id), number)
	return w.part(fragment.KindEpisode, key, change, nil, &w.season.items, "episode", number)
}

// part compares a season or an episode, and adds to those of what it is a part of an item
// with its changes.
func (w *worker) part(k fragment.Kind, key []byte, change compare.Change, more []item, of *[]item, name string, number uint32) error {
	items, err := w.compare(k, key, change)
	if err != nil {
		return err
	}
	id := w.differ.old.entry.ID()
	if w.differ.now.found {
		id = w.differ.now.entry.ID()
		items = append(items, more...)
	}
	if len(items) == 0 {
		return nil
	}
	value := json.RawMessage(fmt.Sprintf(`{"%s_id":%d,"%s_number":%d}`, name, id, name, number))
	it := item{key: name, action: updated, value: value, language: none, country: none}
	switch change {
	case compare.Created:
		it.action = added
	case compare.Deleted, compare.Merged:
		it.action, it.value, it.replace = deleted, nil, value
	}
	*of = append(*of, it)
	if id == 0 {
		return nil // no path leads to its changes
	}
	return w.emit(k, id, items)
}

// compare returns what happened to a resource by itself; change is 0 when only parts of
// it changed. The slice is valid until the next call.
func (w *worker) compare(k fragment.Kind, key []byte, change compare.Change) (items []item, err error) {
	switch change {
	case compare.Created:
		items, err = w.differ.create(k, key, w.o.Created[k] <= MaxDetailed)
	case compare.Changed:
		items, err = w.differ.compare(k, key)
	case compare.Deleted, compare.Merged:
		items = w.differ.remove(k, key)
	default:
		w.differ.start(k, key)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fragment.DescribeKey(key), err)
	}
	return items, nil
}

// emit writes the items of a resource, a segment for each key.
func (w *worker) emit(k fragment.Kind, id uint64, items []item) error {
	w.sorted = append(w.sorted[:0], items...)
	slices.SortStableFunc(w.sorted, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	w.z.Reset()
	w.raw = w.raw[:0]
	for i := range w.sorted {
		it := &w.sorted[i]
		if len(w.raw) > 0 {
			w.raw = append(w.raw, ',')
		}
		w.raw = w.writer.append(w.raw, k, id, i, it)
		if i+1 < len(w.sorted) && w.sorted[i+1].key == it.key {
			continue
		}
		g, err := w.z.Segment(w.raw)
		if err != nil {
			return err
		}
		w.keys[it.key] = struct{}{}
		w.record = appendSegment(w.record[:0], &g)
		key := append(binary.BigEndian.AppendUint64(w.key[:0], id), it.key...)
		if err := w.out.Add(itemSection(k), key, w.record); err != nil {
			return err
		}
		w.raw = w.raw[:0]
	}
	return nil
}

// appendSegment appends a segment as it lies in files of sorted records.
func appendSegment(dst []byte, g *release.Segment) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(le.AppendUint32(le.AppendUint32(dst, g.RawLen), g.CRC), g.Op)
	return append(append(dst, g.Hash[:]...), g.Stored...)
}

// parseSegment is the inverse of appendSegment.
func parseSegment(b []byte) release.Segment {
	le := binary.LittleEndian
	return release.Segment{
		RawLen: le.Uint32(b), CRC: le.Uint32(b[4:]), Op: le.Uint32(b[8:]), Hash: release.Hash(b[12:20]), Stored: b[20:],
	}
}
