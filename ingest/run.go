package ingest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/ingest/crosswalk"
	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/pipeline"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A run is one ingest: its stages, and the files that they share.
type run struct {
	Config
	options *input.Options
	start   time.Time

	work       *workFolder
	list       *input.List
	sorter     *extsort.Sorter
	quarantine *quarantine.Writer
	report     *report.Collector
	resolver   *crosswalk.Resolver
	sort       *pipeline.Sorter
}

// ingest reads the sources, and makes the new catalogue.
func (r *run) ingest(ctx context.Context) (_ Report, err error) {
	if r.work, err = openWork(r.Catalog, runName(r.start)); err != nil {
		return Report{}, err
	}
	begun := false // to change the catalogue: the next ingest ends it
	defer func() {
		if !begun {
			err = errors.Join(err, r.work.remove())
		}
	}()
	if r.list, err = input.Find(ctx, r.options); err != nil {
		return Report{}, err
	}
	r.open()
	defer func() { _ = errors.Join(r.sorter.Close(), r.resolver.Close(), r.quarantine.Close()) }() // temporary files
	if err = r.read(ctx); err == nil {
		err = r.write(ctx)
	}
	var bad *TooManyBadError
	switch {
	case errors.As(err, &bad):
		return r.stopped(bad)
	case quarantine.IsFull(err):
		return Report{}, fmt.Errorf("%w; nothing of this run is left: make room, then start it again", err)
	case err != nil:
		return Report{}, err
	}
	if err = r.work.commit(); err != nil {
		begun = true
		return Report{}, err
	}
	return r.complete(ctx)
}

// runName names the quarantine file of one ingest.
func runName(t time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	return t.UTC().Format("20060102T150405Z-") + hex.EncodeToString(b[:])
}

// open makes what the stages share.
func (r *run) open() {
	r.sorter = extsort.New(extsort.Options{Dir: r.work.path(), Memory: r.Memory})
	r.quarantine = quarantine.New(r.work.quarantine())
	r.report = report.NewCollector(r.start)
	minted := merge.HasMinted(r.Catalog)
	r.resolver = &crosswalk.Resolver{
		Catalog: r.Catalog, Dir: r.work.path(), Memory: r.Memory, Noter: crosswalk.NoterFor(r.list, minted), Merges: minted && !r.Overlay,
	}
	r.sort = &pipeline.Sorter{
		Rows: r.sorter, Quarantine: r.quarantine, Report: r.report, MaxBad: r.MaxBad, MaxValues: r.MaxBadValues, Resolver: r.resolver, List: r.list, Progress: r.Progress, Log: r.Log,
	}
}

// read sorts the rows of all inputs.
func (r *run) read(ctx context.Context) error {
	var err error
	if r.options.Rows.Names, err = crosswalk.Names(ctx, r.Catalog, r.list, r.options); err != nil {
		return err
	}
	all := pipeline.Pipeline{List: r.list, Options: r.options, Dir: r.work.path(), Memory: r.Memory, Resolver: r.resolver, Sorter: r.sort}
	if err := all.Read(ctx); err != nil {
		return err
	}
	if err := r.supersede(ctx); err != nil {
		return err
	}
	if err := r.nothing(); err != nil {
		return err
	}
	return r.sort.CheckBad(true)
}

// supersede merges the catalogue's records with minted ids into those that the rows gave the same
// external ids.
func (r *run) supersede(ctx context.Context) error {
	err := r.resolver.Supersede(ctx, func(t *catalog.Type, rec record.Record, id int64) error {
		l, err := layout.New(layout.TMDB, r.options.Rows)
		if err != nil {
			return err
		}
		row := fmt.Sprintf(`{"id":%d,"_merged_into":%d}`, rec.IntNamed("id").V, id)
		gone, err := l.Records(layout.Row{JSON: row, Type: t})
		if err != nil {
			return err
		}
		return r.sort.AddMoved(rec, id, &gone[0])
	})
	if n := r.sort.Merged; n > 0 && err == nil {
		r.Log.Info("records with minted ids were merged into those with ids of TMDB's", "records", n)
	}
	return err
}

// nothing is the error of a run whose files were all damaged or left out, before a row of any of
// them was read.
func (r *run) nothing() error {
	p, skipped := r.sort, slices.Concat(r.list.Skipped, r.sort.Skipped)
	switch {
	case p.Read > 0 || p.Failed+int64(len(p.Skipped)) < int64(len(r.list.Inputs)):
		return nil
	case p.Failed == 0:
		return input.NoneTaken(skipped)
	case len(skipped) > 0:
		return fmt.Errorf("%w; %d could not be read, such as %s", input.NoneTaken(skipped), p.Failed, p.Failures[0])
	case p.Failed > 1:
		return fmt.Errorf("none of %d files could be read, the first: %s", p.Failed, p.Failures[0])
	}
	return errors.New(p.Failures[0])
}

// write merges the sorted rows with the catalogue.
func (r *run) write(ctx context.Context) error {
	it, err := r.sorter.Sort(ctx, 0)
	if err != nil {
		return err
	}
	var progress func(read int64)
	if total := r.sorter.Len(); r.Writing != nil {
		progress = func(read int64) { r.Writing(read, total) }
		defer func() { r.Writing(total, total) }()
	}
	m := merge.Merger{
		Catalog: r.Catalog, Out: r.work.path("new"), Overlay: r.Overlay, Update: r.Update, Sources: r.list, Precedence: r.Precedence,
		Quarantine: r.quarantine, Report: r.report,
	}
	if err := m.Write(ctx, merge.NewRows(it, progress), r.sort.Kinds); err != nil {
		return err
	}
	if err := r.sort.CheckBad(true); err != nil {
		return err
	}
	return r.quarantine.Close()
}

// stopped ends an ingest with too many bad rows or values: the rows are kept, and a report is written.
func (r *run) stopped(bad *TooManyBadError) (Report, error) {
	err := r.quarantine.Close()
	if err == nil && r.quarantine.Count() > 0 {
		bad.File, err = r.work.keepQuarantine()
	}
	if err != nil {
		return Report{}, errors.Join(bad, err)
	}
	out, err := r.writeReport(report.End{Err: bad})
	out.Records, out.Stopped = nil, true // the catalogue is as it was
	return out, errors.Join(bad, err)
}
