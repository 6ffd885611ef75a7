// Package merge writes the new files of a catalogue. For each kind it merges the sorted rows of an ingest with the records
// of the catalogue, in the order of their keys.
//
// Several rows of one resource become one record: a later source wins over an earlier one, field by field, and fields that
// only one of them has are kept. Rows are joined among themselves first, then with the catalogue's record, then with the
// record of overlay sources.
package merge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Merger writes the new files of a catalogue.
type Merger struct {
	Catalog  string // folder of the catalogue, which is not changed
	Out      string // folder of the new files
	Mode     Mode
	RowKinds layout.KindSet // kinds of the rows, without kinds that rows only refer to, such as people in a cast column

	Sources    []source.File // by number
	Quarantine *report.Quarantine
	Report     *report.Collector
	// Changes is an empty sorter for the changes. Time is their time.
	Changes *extsort.Sorter
	Time    time.Time
	// Progress is called with the number of rows read, every few thousand rows. It may be nil.
	Progress func(read int64)

	minted  mintedList
	log     *changelog
	refused map[rowID]bool  // rows whose first record was rejected
	series  map[uint64]bool // series that Replace removed: their seasons and episodes are removed too
}

// A Mode selects how rows are merged with the catalogue's records.
type Mode string

// The modes. In all of them, the rows of an ingest are joined with each other first.
const (
	Update  Mode = ""        // rows win over records, field by field; other fields and records are kept
	Overlay Mode = "overlay" // rows also win over the rows of later ingests
	Fill    Mode = "fill"    // rows only add fields and records that the catalogue lacks
	Replace Mode = "replace" // rows replace all records of their kinds
)

// overlayFile returns the name of the file with the records of overlay sources alone, which later ingests merge on top.
func overlayFile(t *catalog.Type) string { return t.Name() + ".overlay.parquet" }

// Write writes the files of all kinds that have rows, and of those in fileKinds that have no file yet, under their names in
// the catalogue. An empty file means that the catalogue's file must be removed.
func (m *Merger) Write(ctx context.Context, sorted *extsort.Iterator, fileKinds map[string]bool) (err error) {
	rows := &sortedRows{iterator: sorted, progress: m.Progress}
	before, err := catalog.ReadRemoved(m.Catalog)
	if err != nil {
		return err
	}
	if m.minted, err = readMinted(m.Catalog); err != nil {
		return err
	}
	m.series, m.refused = map[uint64]bool{}, map[rowID]bool{}
	m.log = &changelog{m: m, created: map[fragment.Kind]int{}}
	defer func() { m.log.seasons.close() }()
	var now []catalog.Removed
	for _, t := range catalog.Types() {
		removed := &removedList{list: slices.DeleteFunc(slices.Clone(before), func(r catalog.Removed) bool { return r.Kind != t.Kind })}
		path := filepath.Join(m.Catalog, t.File())
		_, changed, err := rowStream{rows, t}.peek()
		if err != nil {
			return err
		}
		if !changed {
			stored, err := catalog.OpenIfAny(path, t)
			switch {
			case err != nil:
				return err
			case stored == nil:
				changed = fileKinds[t.Name()]
			case len(m.series) > 0 && isOfSeries(t.Kind): // removed series may have records in it
				changed = true
			default:
				n := stored.NumRows()
				m.Report.Count(report.Records{Kind: t.Name(), Before: n, Now: n})
			}
			if err := stored.Close(); err != nil {
				return err
			}
		}
		if !changed {
			now = append(now, removed.list...)
			continue
		}
		k := kindMerger{m: m, typ: t, rows: rowStream{rows, t}, wasRemoved: removed}
		overlay := filepath.Join(m.Catalog, overlayFile(t))
		if m.Mode == Overlay { // the rows go into the overlay, which is then merged on top
			next := filepath.Join(m.Out, overlayFile(t))
			o := kindMerger{m: m, typ: t, rows: k.rows, wasRemoved: &removedList{}, overlaying: true}
			if err := o.writeFile(ctx, overlay, "", next); err != nil {
				return err
			}
			k.rows.sortedRows, overlay = &sortedRows{}, next
		}
		if err := k.writeFile(ctx, path, overlay, filepath.Join(m.Out, t.File())); err != nil {
			return err
		}
		m.Report.Count(k.counts)
		now = append(now, k.removed...)
	}
	switch {
	case slices.Equal(before, now):
	case len(now) == 0:
		err = os.WriteFile(filepath.Join(m.Out, catalog.RemovedFile), nil, 0o644)
	default:
		err = catalog.WriteRemoved(m.Out, now)
	}
	if err != nil {
		return err
	}
	if err := m.log.write(ctx); err != nil {
		return err
	}
	return m.minted.write(m.Out)
}

// isOfSeries reports whether the keys of a kind begin with a series id.
func isOfSeries(k fragment.Kind) bool { return k == fragment.KindSeason || k == fragment.KindEpisode }

// A kindMerger merges the streams of one kind. It holds only the versions of one resource in memory.
type kindMerger struct {
	m            *Merger
	typ          *catalog.Type
	old, overlay *storedFile
	wasRemoved   *removedList // resources that the catalogue lists as removed
	rows         rowStream
	overlaying   bool // the file is an overlay, which has records of removals

	counts  report.Records
	removed []catalog.Removed // in the order of their keys
}

// writeFile merges the rows into the records of a file, with an overlay on top. overlay is "" if there is none.
func (k *kindMerger) writeFile(ctx context.Context, from, overlay, to string) (err error) {
	if k.old, err = openStored(from, k.typ); err != nil {
		return err
	}
	defer k.old.close()
	if k.overlay, err = openStored(overlay, k.typ); err != nil {
		return err
	}
	defer k.overlay.close()
	w, err := catalog.Create(to, k.typ)
	if err != nil {
		return err
	}
	if err := k.merge(ctx, w); err != nil {
		return errors.Join(err, w.Abort())
	}
	k.counts.Kind, k.counts.Before, k.counts.Now = k.typ.Name(), k.old.file.NumRows(), w.Rows()
	return w.Commit()
}

// merge writes the version of each key to w, in the order of the keys.
func (k *kindMerger) merge(ctx context.Context, w *catalog.Writer) error {
	streams := []stream{k.old, k.wasRemoved, k.rows, k.overlay}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, ok, err := lowest(streams)
		if err != nil || !ok {
			return err
		}
		copied, err := k.copyGroup(w, key, streams[1:])
		if err != nil {
			return err
		}
		if copied {
			continue
		}
		v, err := k.resolve(key)
		switch {
		case err != nil:
			return err
		case v.removed != nil && !k.overlaying:
			k.removed = append(k.removed, *v.removed)
		case !v.record.IsNil():
			if err := w.Write(v.record); err != nil {
				return err
			}
		}
	}
}

// lowest returns the lowest next key of all streams.
func lowest(streams []stream) (key catalog.Key, found bool, err error) {
	for _, s := range streams {
		next, ok, err := s.peek()
		if err != nil {
			return key, false, err
		}
		if ok && (!found || next.Compare(key) < 0) {
			key, found = next, true
		}
	}
	return key, found, nil
}

// copyGroup copies the row group that begins with key without decoding it, if no other stream has a key in its range and its
// first record has not been used.
func (k *kindMerger) copyGroup(w *catalog.Writer, key catalog.Key, others []stream) (bool, error) {
	old := k.old
	if k.m.Mode == Replace || old.next.IsNil() || old.key != key {
		return false, nil
	}
	if err := old.loadFirstKeys(); err != nil || old.firstKeys[old.group-1] != key {
		return false, err
	}
	last := old.group == len(old.firstKeys)
	if !w.EndGroup(!last) {
		return false, nil
	}
	other, ok, err := lowest(others)
	if err != nil || ok && (last || other.Compare(old.firstKeys[old.group]) < 0) {
		return false, err
	}
	if err := w.CopyGroup(old.file, old.group-1); err != nil {
		return false, err
	}
	old.closeGroup()
	return true, nil
}
