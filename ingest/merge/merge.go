// Package merge makes the new files of a catalogue: the sorted rows of an ingest, kind by kind and
// in order of keys, with the records that the catalogue has.
//
// Several rows of one resource become one record: a later source wins over an earlier one, field
// by field, and fields that only one of them has stay. New rows are joined among themselves first; the result then is news about the
// catalogue's record. The records of overlay sources come last.
package merge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Merger writes the new files of a catalogue.
type Merger struct {
	Catalog string // folder of the catalogue, which stays as it is
	Out     string // folder of the new files
	Mode    Mode
	Given   layout.KindSet // kinds of the rows, without those of which rows only name records, such as the cast of a table

	Sources    []Source // by number
	Quarantine *report.Quarantine
	Report     *report.Collector
	// Changes is empty: it sorts the changes, whose time is Time.
	Changes *extsort.Sorter
	Time    time.Time

	minted  mintedList
	log     *changelog
	refused map[row]bool    // rows of which a record was refused
	series  map[uint64]bool // series that Replace removed: their seasons and episodes go too
}

// A Mode is how rows and the catalogue's records go together.
type Mode string

// The modes. In all of them, the rows of an ingest are joined among themselves first.
const (
	Update  Mode = ""        // rows win over records, field by field; fields and records that they lack stay
	Overlay Mode = "overlay" // they win over the rows of later ingests, too
	Fill    Mode = "fill"    // rows give what the catalogue lacks, and win over nothing
	Replace Mode = "replace" // records of the rows' kinds go, with all their fields, unless rows give them
)

// A Source is a file that rows came from.
type Source struct{ Name, Path string }

// OverlayFile returns the name of the file that holds the records of overlay sources by
// themselves, so that they also win over records that are ingested later.
func OverlayFile(t *catalog.Type) string { return t.Name() + ".overlay.parquet" }

// Write writes the files of all kinds that have rows, and of those in kinds that have no file yet,
// under their names in the catalogue. An empty one stands for a file that goes.
func (m *Merger) Write(ctx context.Context, rows *Rows, kinds map[string]bool) (err error) {
	gone, err := catalog.ReadRemoved(m.Catalog)
	if err != nil {
		return err
	}
	if m.minted, err = readMinted(m.Catalog); err != nil {
		return err
	}
	m.series = map[uint64]bool{}
	m.log = &changelog{m: m, created: map[fragment.Kind]int{}}
	defer func() { m.log.seasons.close() }()
	var now []catalog.Removed
	for _, t := range catalog.Types() {
		old := &removals{list: slices.DeleteFunc(slices.Clone(gone), func(r catalog.Removed) bool { return r.Kind != t.Kind })}
		ok, err := m.hasNews(t, rows, kinds)
		if err != nil {
			return err
		}
		if !ok {
			if err := m.countStored(t); err != nil {
				return err
			}
			now = append(now, old.list...)
			continue
		}
		removed, err := m.writeKind(ctx, t, rows, old)
		if err != nil {
			return err
		}
		now = append(now, removed...)
	}
	if err := m.writeRemoved(gone, now); err != nil {
		return err
	}
	if err := m.log.write(ctx); err != nil {
		return err
	}
	return m.minted.write(m.Out)
}

// hasNews reports whether the file of a kind is to be written: there are rows, or it has parts of removed series, or there
// was a source of that kind without any and there is no file yet.
func (m *Merger) hasNews(t *catalog.Type, rows *Rows, kinds map[string]bool) (bool, error) {
	if _, ok, err := rows.peek(t); ok || err != nil {
		return ok, err
	}
	_, err := os.Stat(filepath.Join(m.Catalog, t.File()))
	if errors.Is(err, fs.ErrNotExist) {
		return kinds[t.Name()], nil
	}
	return len(m.series) > 0 && isOfSeries(t.Kind), nil
}

// isOfSeries reports whether a kind's keys begin with the id of a series.
func isOfSeries(k fragment.Kind) bool { return k == fragment.KindSeason || k == fragment.KindEpisode }

// countStored counts the records of a kind without news.
func (m *Merger) countStored(t *catalog.Type) error {
	f, err := catalog.OpenIfAny(filepath.Join(m.Catalog, t.File()), t)
	if f == nil || err != nil {
		return err
	}
	n := f.NumRows()
	m.Report.Count(report.Records{Kind: t.Name(), Before: n, Now: n})
	return f.Close()
}

// writeKind writes the file of a kind, and before it that of its overlay where that changes. It
// returns the removed resources of the kind.
func (m *Merger) writeKind(ctx context.Context, t *catalog.Type, rows *Rows, old *removals) ([]catalog.Removed, error) {
	overlay := filepath.Join(m.Catalog, OverlayFile(t))
	if m.Mode == Overlay {
		k := m.kind(t, rows, &removals{})
		k.overlaying = true
		next := filepath.Join(m.Out, OverlayFile(t))
		if err := k.writeFile(ctx, overlay, "", next); err != nil {
			return nil, err
		}
		rows, overlay = &Rows{}, next
	}
	k := m.kind(t, rows, old)
	if err := k.writeFile(ctx, filepath.Join(m.Catalog, t.File()), overlay, filepath.Join(m.Out, t.File())); err != nil {
		return nil, err
	}
	m.Report.Count(k.counts)
	return k.removed, nil
}

// writeRemoved writes the list of removed resources, if it is another than before.
func (m *Merger) writeRemoved(before, now []catalog.Removed) error {
	if slices.Equal(before, now) {
		return nil
	}
	if len(now) == 0 {
		return os.WriteFile(filepath.Join(m.Out, catalog.RemovedFile), nil, 0o644)
	}
	return catalog.WriteRemoved(m.Out, now)
}
