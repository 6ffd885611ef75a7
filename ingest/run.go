package ingest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/ingest/crosswalk"
	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/journal"
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

	list       *input.List
	journal    *journal.Journal // nil until the files are listed
	sorter     *extsort.Sorter
	quarantine *quarantine.Writer
	resolver   *crosswalk.Resolver
	sort       *pipeline.Sorter
}

// ingest runs the stages that the journal does not have yet.
func (r *run) ingest(ctx context.Context) (Report, error) {
	if err := r.prepare(ctx); err != nil {
		return Report{}, err
	}
	p := &r.journal.Progress
	defer func() { _ = r.sorter.Close() }()   // its rows are all read by then
	defer func() { _ = r.resolver.Close() }() // temporary files
	for p.Stage < journal.Written {
		step := r.read
		if p.Stage == journal.Sorted {
			step = r.write
		}
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	if err := r.journal.Move(p.Moves...); err != nil {
		return Report{}, err
	}
	report, err := r.report(ctx)
	if err != nil {
		return Report{}, err
	}
	return report, errors.Join(r.journal.Remove(), os.RemoveAll(filepath.Join(r.Catalog, journal.ReplayDir)))
}

// prepare lists the files and finds out where to begin: at the start, or where an ingest of the
// same plan was killed.
func (r *run) prepare(ctx context.Context) error {
	var err error
	if r.list, err = input.Find(ctx, r.options); err != nil {
		return err
	}
	plan, err := r.plan()
	if err != nil {
		return err
	}
	j, err := journal.Resume(r.Catalog, plan, r.Restart, r.Log)
	if err != nil {
		return err
	}
	if j != nil {
		if err = r.open(j); err == nil {
			r.Log.Info("going on with an ingest that was interrupted", "rows", j.Progress.Rows)
			return nil
		}
		r.Log.Warn("an interrupted ingest cannot go on: it starts anew", "reason", err)
	}
	if j, err = journal.New(r.Catalog, plan, r.Log); err != nil {
		return err
	}
	return r.open(j)
}

// plan describes the ingest for its journal.
func (r *run) plan() (journal.Plan, error) {
	p := journal.Plan{
		Run: runName(r.start), Start: r.start,
		Flags: journal.Flags{
			Layout: r.Layout, Kind: r.Kind, Language: r.Language, Overlay: r.Overlay, Update: r.Update, Replay: r.Replay,
			MaxBad: r.MaxBad.String(), Memory: r.Memory, Limits: r.Limits,
		},
	}
	for n := range r.list.Inputs {
		in := &r.list.Inputs[n]
		p.Inputs = append(p.Inputs, journal.File{
			Path: in.Path, Kind: in.Kind, Layout: in.Layout, Number: in.Number, Bytes: in.Bytes, Modified: in.Modified,
		})
	}
	if r.Precedence != nil {
		p.Order = r.Precedence.Files
	}
	var err error
	p.Mappings, err = journal.FilesAt(r.Mappings...)
	return p, err
}

// runName names the quarantine file of one ingest.
func runName(t time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	return t.UTC().Format("20060102T150405Z-") + hex.EncodeToString(b[:])
}

// open opens the files of an ingest where its journal stands.
func (r *run) open(j *journal.Journal) error {
	p := &j.Progress
	r.journal, r.start = j, j.Plan.Start
	sorter, err := extsort.Resume(extsort.Options{Dir: j.Path(journal.RunsDir), Memory: r.Memory}, p.Runs)
	if err != nil {
		return err
	}
	r.sorter = sorter
	bad := j.Path(journal.QuarantineFile)
	if _, err := os.Stat(bad); err != nil && p.Stage == journal.Written {
		bad = j.QuarantinePath() // it has its place already
	}
	if r.quarantine, err = quarantine.Resume(bad, p.Quarantine); err != nil {
		return err
	}
	p.Report.Begin(r.start)
	minted := crosswalk.HasMinted(r.Catalog)
	r.resolver = &crosswalk.Resolver{
		Catalog: r.Catalog, Dir: j.Path(""), Memory: r.Memory, Noter: crosswalk.NoterFor(r.list, minted), Merges: minted && !r.Overlay, State: &p.IDs,
	}
	r.sort = &pipeline.Sorter{
		Rows: sorter, Memory: r.Memory, Journal: j, Quarantine: r.quarantine, MaxBad: r.MaxBad, Resolver: r.resolver, List: r.list,
		Progress: r.Progress, Log: r.Log,
	}
	return nil
}

// read sorts the rows of all inputs.
func (r *run) read(ctx context.Context) error {
	var err error
	if r.options.Rows.Names, err = crosswalk.Names(ctx, r.Catalog, r.list, r.options); err != nil {
		return err
	}
	p := &r.journal.Progress
	all := pipeline.Pipeline{List: r.list, Options: r.options, Dir: r.journal.Path(""), Memory: r.Memory, Resolver: r.resolver, Sorter: r.sort}
	if err := all.Read(ctx, p.At); err != nil {
		return err
	}
	if err := r.supersede(ctx); err != nil {
		return err
	}
	if err := r.nothing(); err != nil {
		return err
	}
	if err := r.sort.CheckBad(true); err != nil {
		return err
	}
	p.Stage = journal.Sorted
	if len(r.sorter.Runs()) == 0 {
		return nil // rows in memory take no time to read again
	}
	if err := r.sorter.Flush(); err != nil {
		return err
	}
	return r.sort.Save()
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
	if n := r.journal.Progress.IDs.Merged; n > 0 && err == nil {
		r.Log.Info("records with minted ids were merged into those with ids of TMDB's", "records", n)
	}
	return err
}

// nothing is the error of a run whose files were all damaged or left out, before a row of any of
// them was read.
func (r *run) nothing() error {
	p, n := &r.journal.Progress, int64(len(r.list.Inputs))
	failed := p.Files.Failed
	switch {
	case p.Rows > 0 || failed+int64(len(p.Files.Skipped)) < n:
		return nil
	case failed > 1 && failed == n:
		return fmt.Errorf("none of %d files could be read, the first: %s", failed, p.Files.Failures[0])
	case failed > 0:
		return errors.New(p.Files.Failures[0])
	}
	return input.NoneTaken(slices.Concat(r.list.Skipped, p.Files.Skipped))
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
	p := &r.journal.Progress
	m := merge.Merger{
		Catalog: r.Catalog, Out: r.journal.Path(journal.OutDir), Overlay: r.Overlay, Update: r.Update, Sources: r.list, Precedence: r.Precedence,
		Quarantine: r.quarantine, Report: &p.Report,
	}
	if p.Moves, err = m.Write(ctx, merge.NewRows(it, progress), p.Files.Kinds); err != nil {
		return err
	}
	if err := r.sort.CheckBad(true); err != nil {
		return err
	}
	if err := r.quarantine.Close(); err != nil {
		return err
	}
	if r.quarantine.Count() > 0 { // first: nothing is lost if the process ends while the others move
		p.Moves = slices.Insert(p.Moves, 0, r.journal.KeepQuarantine())
	}
	p.Stage = journal.Written
	return r.sort.Save()
}

// fail ends an ingest. Bad rows that stopped it are kept, with a report. After other errors its
// work stays if the next ingest can go on there.
func (r *run) fail(err error) (Report, error) {
	var bad *TooManyBadError
	if errors.As(err, &bad) {
		report, err := r.stopped(bad)
		return report, errors.Join(bad, err)
	}
	if r.journal == nil {
		return Report{}, err
	}
	lost := errors.Is(err, extsort.ErrDamaged)
	if goesOn := r.journal.CanGoOn(); goesOn && !lost {
		return Report{}, r.leftover(err, goesOn)
	}
	err = r.leftover(err, false)
	if r.quarantine != nil {
		_ = r.quarantine.Close()
	}
	return Report{}, errors.Join(err, r.journal.Remove())
}

// leftover adds to the error of a full disk the size of the run's files, and how to go on.
func (r *run) leftover(err error, goesOn bool) error {
	if !quarantine.IsFull(err) {
		return err
	}
	if !goesOn {
		return fmt.Errorf("%w; nothing of this run is left: make room, then start it again", err)
	}
	return fmt.Errorf("%w; %s keeps %.1f MiB, from which the same command goes on: make room and start it again, or with --restart to begin anew; "+
		"remove that folder to give the run up", err, r.journal.Path(""), float64(r.journal.Size())/(1<<20))
}

// stopped ends an ingest with too many bad rows: these are kept, and a report is written.
func (r *run) stopped(bad *TooManyBadError) (Report, error) {
	if err := r.quarantine.Close(); err != nil {
		return Report{}, err
	}
	if err := r.journal.Move(r.journal.KeepQuarantine()); err != nil {
		return Report{}, err
	}
	bad.File = r.journal.QuarantinePath()
	out, err := r.writeReport(report.End{Err: bad})
	out.Records, out.Stopped = nil, true // the catalogue is as it was
	return out, errors.Join(err, r.journal.Remove())
}
