// Package merge makes the new files of a catalogue: the sorted rows of an ingest, kind by kind and
// in order of keys, with the records that the catalogue has.
//
// Several rows of one resource become one record: a later source wins over an earlier one, field
// by field, and fields that only one of them has stay. A Precedence changes which source counts
// as the later one. New rows are joined among themselves first; the result then is news about the
// catalogue's record. The records of overlay sources come last.
package merge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/journal"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/catalog"
)

// A Merger writes the new files of a catalogue.
type Merger struct {
	Catalog string // folder of the catalogue, which stays as it is
	Out     string // folder of the new files
	Overlay bool   // the rows are those of overlay sources
	Update  bool   // row groups without news are copied, not read

	Sources    *input.List
	Precedence *input.Precedence // nil for none
	Quarantine *quarantine.Writer
	Report     *report.Collector

	minted *mintedList
	moves  []journal.Move
}

// Write writes the files of all kinds that have rows, and of those in kinds that have no file yet.
// It returns the moves that give the new files their places.
func (m *Merger) Write(ctx context.Context, rows *Rows, kinds map[string]bool) (moves []journal.Move, err error) {
	gone, err := catalog.ReadRemoved(m.Catalog)
	if err != nil {
		return nil, err
	}
	if m.minted, err = openMinted(m.Catalog, m.Out); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.minted.close()) }()
	var now []catalog.Removed
	for _, t := range catalog.Types() {
		old := &removals{list: ofKind(gone, t)}
		ok, err := m.hasNews(t, rows, kinds)
		if err != nil {
			return nil, err
		}
		if !ok {
			if err := m.countStored(t); err != nil {
				return nil, err
			}
			now = append(now, old.list...)
			continue
		}
		removed, err := m.writeKind(ctx, t, rows, old)
		if err != nil {
			return nil, err
		}
		now = append(now, removed...)
	}
	if err := m.writeRemoved(gone, now); err != nil {
		return nil, err
	}
	switch written, err := m.minted.finish(); {
	case err != nil:
		return nil, err
	case written:
		m.move(journal.MintedFile)
	}
	return m.moves, nil
}

// move notes that a file below Out is complete.
func (m *Merger) move(name string) {
	m.moves = append(m.moves, journal.Move{From: filepath.Join(journal.OutDir, name), To: name})
}

func ofKind(list []catalog.Removed, t *catalog.Type) []catalog.Removed {
	var out []catalog.Removed
	for _, r := range list {
		if r.Kind == t.Kind {
			out = append(out, r)
		}
	}
	return out
}

// hasNews reports whether the file of a kind is to be written: there are rows, or there was a
// source of that kind without any and there is no file yet.
func (m *Merger) hasNews(t *catalog.Type, rows *Rows, kinds map[string]bool) (bool, error) {
	if _, ok, err := rows.peek(t); ok || err != nil {
		return ok, err
	}
	_, err := os.Stat(filepath.Join(m.Catalog, t.File()))
	return kinds[t.Name()] && errors.Is(err, fs.ErrNotExist), nil
}

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
	overlay := filepath.Join(m.Catalog, journal.OverlayFile(t))
	if m.Overlay {
		k := m.kind(t, rows, &removals{})
		k.overlaying = true
		next := filepath.Join(m.Out, journal.OverlayFile(t))
		if err := k.writeFile(ctx, overlay, "", next); err != nil {
			return nil, err
		}
		m.move(journal.OverlayFile(t))
		rows, overlay = &Rows{}, next
	}
	k := m.kind(t, rows, old)
	if err := k.writeFile(ctx, filepath.Join(m.Catalog, t.File()), overlay, filepath.Join(m.Out, t.File())); err != nil {
		return nil, err
	}
	m.Report.Count(k.counts)
	m.move(t.File())
	return k.removed, nil
}

// writeRemoved writes the list of removed resources, if it is another than before. An empty list
// removes the file.
func (m *Merger) writeRemoved(before, now []catalog.Removed) error {
	if slices.Equal(before, now) {
		return nil
	}
	if len(now) == 0 {
		m.moves = append(m.moves, journal.Move{To: catalog.RemovedFile})
		return nil
	}
	if err := catalog.WriteRemoved(m.Out, now); err != nil {
		return err
	}
	m.move(catalog.RemovedFile)
	return nil
}
