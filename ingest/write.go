package ingest

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"reelsplice/ingest/report"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
)

// overlayFile names the file that holds the records of overlay sources by themselves,
// so that they win over what is ingested later too.
func overlayFile(t *catalog.Type) string { return t.Name() + ".overlay.parquet" }

// write merges the new records with those of the catalogue, kind by kind and in order
// of their keys. The files go to the folder of temporary files, until all are complete.
func (i *ingester) write(ctx context.Context) error {
	it, err := i.sorter.Sort(ctx, 0)
	if err != nil {
		return err
	}
	in := &incoming{it: it, names: i.numbers}
	if total := i.sorter.Len(); i.Writing != nil {
		in.tell = func(read int64) { i.Writing(read, total) }
		defer func() { i.Writing(total, total) }()
	}
	gone, err := catalog.ReadRemoved(i.Catalog)
	if err != nil {
		return err
	}
	if i.minted, err = openMinted(i.Catalog, filepath.Join(i.work, outDir)); err != nil {
		return err
	}
	defer func() { _ = i.minted.close() }() // after an error
	var now []catalog.Removed
	for _, t := range catalog.Types() {
		old := &removals{list: ofKind(gone, t)}
		ok, err := i.hasNews(t, in)
		if err != nil {
			return err
		}
		if !ok {
			if err := i.countStored(t); err != nil {
				return err
			}
			now = append(now, old.list...)
			continue
		}
		removed, err := i.writeKind(ctx, t, in, old)
		if err != nil {
			return err
		}
		now = append(now, removed...)
	}
	if err := i.writeRemoved(gone, now); err != nil {
		return err
	}
	switch written, err := i.minted.finish(); {
	case err != nil:
		return err
	case written:
		i.moves = append(i.moves, move{filepath.Join(outDir, mintedFile), mintedFile})
	}
	return i.complete()
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

// hasNews reports whether the file of a kind is to be written: there are new records,
// or there was a source of that kind without any and there is no file yet.
func (i *ingester) hasNews(t *catalog.Type, in *incoming) (bool, error) {
	if _, ok, err := in.peek(t); ok || err != nil {
		return ok, err
	}
	_, err := os.Stat(filepath.Join(i.Catalog, t.File()))
	return i.kinds[t.Name()] && errors.Is(err, fs.ErrNotExist), nil
}

// countStored tells how many records a kind has that nothing is said about.
func (i *ingester) countStored(t *catalog.Type) error {
	n, ok, err := storedRows(filepath.Join(i.Catalog, t.File()), t)
	if ok && err == nil {
		i.collector.Records(report.Records{Kind: t.Name(), Before: n, Now: n})
	}
	return err
}

// storedRows returns how many records a file has; false when there is none.
func storedRows(path string, t *catalog.Type) (int64, bool, error) {
	f, err := catalog.OpenFile(path, t)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	n := f.NumRows()
	return n, true, f.Close()
}

// writeKind writes the file of a kind, and before it that of its overlay where that
// changes. It returns what of the kind is removed now.
func (i *ingester) writeKind(ctx context.Context, t *catalog.Type, in *incoming, old *removals) ([]catalog.Removed, error) {
	records, overlay := filepath.Join(i.Catalog, t.File()), filepath.Join(i.Catalog, overlayFile(t))
	if i.Overlay {
		next := filepath.Join(i.work, outDir, overlayFile(t))
		if _, err := i.merge(ctx, t, merge{from: overlay, to: next, in: in, old: &removals{}, top: true}); err != nil {
			return nil, err
		}
		i.moves = append(i.moves, move{filepath.Join(outDir, overlayFile(t)), overlayFile(t)})
		in, overlay = &incoming{}, next
	}
	m := merge{from: records, to: filepath.Join(i.work, outDir, t.File()), overlay: overlay, in: in, old: old}
	removed, err := i.merge(ctx, t, m)
	i.moves = append(i.moves, move{filepath.Join(outDir, t.File()), t.File()})
	return removed, err
}

// A merge makes one file of the catalogue out of another and new records.
type merge struct {
	from, to string
	overlay  string // applied on top; "" for none
	in       *incoming
	old      *removals
	top      bool // the file is an overlay: removals are records of it
}

// merge writes the new file and returns what is removed.
func (i *ingester) merge(ctx context.Context, t *catalog.Type, c merge) (removed []catalog.Removed, err error) {
	old, err := openStored(c.from, t)
	if err != nil {
		return nil, err
	}
	defer old.close()
	overlay := &stored{typ: t}
	if c.overlay != "" {
		if overlay, err = openStored(c.overlay, t); err != nil {
			return nil, err
		}
		defer overlay.close()
	}
	w, err := catalog.Create(c.to, t)
	if err != nil {
		return nil, err
	}
	s := streams{ingester: i, typ: t, old: old, gone: c.old, in: c.in, overlay: overlay, top: c.top, choice: i.choices(t)}
	if old.file != nil && !c.top {
		s.recent = i.createRecent(t, c.from)
	}
	if err := s.writeTo(ctx, w); err != nil {
		return nil, errors.Join(err, w.Abort(), s.recent.Abort())
	}
	if !c.top {
		i.writeRecent(t, s.recent)
	}
	if err := w.Commit(); err != nil {
		return nil, err
	}
	if !c.top {
		s.counts.Kind, s.counts.Now = t.Name(), w.Rows()
		if old.file != nil {
			s.counts.Before = old.file.NumRows()
		}
		i.collector.Records(s.counts)
	}
	return s.removed, nil
}

// createRecent starts the file of the records of a kind that change, upon the one before. Nobody
// holds what accounts were once.
func (i *ingester) createRecent(t *catalog.Type, records string) *catalog.RecentWriter {
	info, err := os.Stat(records)
	if err != nil || t.Kind == fragment.KindAccount {
		return nil
	}
	old, err := catalog.OpenRecent(i.Catalog, t, math.MaxInt64)
	if err != nil {
		i.Log.Warn("records that changed last are not read", "because", err)
	}
	return catalog.CreateRecent(filepath.Join(i.work, outDir, t.RecentFile()), t, info.Size(), old)
}

// writeRecent completes the file of the records of a kind that changed; where none did, the one
// before stays. One that was not to be read goes: nobody knows whether it holds what is removed.
// Where none can be written there is none: the catalogue is whole without.
func (i *ingester) writeRecent(t *catalog.Type, w *catalog.RecentWriter) {
	m, stays := move{To: t.RecentFile()}, w.TakesOver()
	written, err := w.Commit()
	switch {
	case err != nil:
		i.Log.Warn("records that changed are not written beside the others", "because", err)
	case written:
		m.From = filepath.Join(outDir, t.RecentFile())
	case stays:
		return
	}
	i.moves = append(i.moves, m)
}

// writeRemoved writes the list of what is removed, if it is another than before. When
// nothing is any more, the file goes: the next ingest would read the old list out of it.
func (i *ingester) writeRemoved(before, now []catalog.Removed) error {
	i.removed = int64(len(now))
	if slices.Equal(before, now) {
		return nil
	}
	if len(now) == 0 { // the last one is there again
		i.moves = append(i.moves, move{To: catalog.RemovedFile})
		return nil
	}
	if err := catalog.WriteRemoved(filepath.Join(i.work, outDir), now); err != nil {
		return err
	}
	i.moves = append(i.moves, move{filepath.Join(outDir, catalog.RemovedFile), catalog.RemovedFile})
	return nil
}

// complete notes that all files are written. The quarantine comes first: nothing is lost
// if the process ends while they move.
func (i *ingester) complete() error {
	if err := i.checkBad(true); err != nil {
		return err
	}
	if err := i.quarantine.Close(); err != nil {
		return err
	}
	if i.quarantine.Count() > 0 {
		i.moves = slices.Insert(i.moves, 0, move{quarantineFile, filepath.Join(catalog.QuarantineDir, i.runName+".ndjson")})
	}
	i.stage = stageWritten
	return i.checkpoint()
}

// quarantinePath returns where the rows in quarantine are in the end.
func (i *ingester) quarantinePath() string {
	return filepath.Join(i.Catalog, catalog.QuarantineDir, i.runName+".ndjson")
}

// keepQuarantine gives the quarantine of an ingest that was stopped its place.
func (i *ingester) keepQuarantine() error {
	if err := i.quarantine.Close(); err != nil {
		return err
	}
	return i.move([]move{{quarantineFile, filepath.Join(catalog.QuarantineDir, i.runName+".ndjson")}})
}
