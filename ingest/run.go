package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/resolve"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/provenance"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A run is one ingest. Its stages share it. While files are read, only sort changes it.
type run struct {
	Config
	rows  layout.Options // settings for reading rows
	start time.Time
	list  *fileList
	sums  map[string]string // checksums of the files read, by path

	detector   detector
	work       *workFolder // nil for an explanation
	sorter     *extsort.Sorter
	changes    *extsort.Sorter
	quarantine *report.Quarantine
	report     *report.Collector
	resolver   *resolve.Resolver
	fits       fits
	progress   progress
}

// progress counts the rows and files read so far.
type progress struct {
	rows, leftOut int64 // rows, and values left out
	bytes         int64 // size of files read completely
	merged        int64 // records with minted IDs merged into others
	failed        int64 // files
	failures      []string
	unread        int             // files that failed, or were left out during reading
	fileKinds     map[string]bool // kinds of records, from file names
	rowKinds      layout.KindSet  // see merge.Merger

	seq uint64 // sequence number of the last sorted row
	key []byte // key of that row
}

// ingest reads the sources and makes the new catalogue.
func (r *run) ingest(ctx context.Context) (_ Report, err error) {
	// Without a limit, garbage takes as much again as live memory. The limit is above what stages hold, which are parts of Memory.
	limit := max(3*r.Memory, 256<<20)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(min(limit, debug.SetMemoryLimit(-1))))
	begun := false // committed, but not installed completely: the next ingest does that
	defer func() {
		if r.work != nil && !begun {
			err = errors.Join(err, r.work.remove())
		}
	}()
	defer r.release()
	if err = r.prepare(ctx); err != nil {
		return Report{}, err
	}
	if err = r.read(ctx); err == nil {
		err = r.write(ctx)
	}
	if err == nil {
		err = r.writeDumps(ctx)
	}
	var bad *tooManyBadError
	var poor *poorFitError
	switch {
	case errors.As(err, &bad), errors.As(err, &poor):
		return r.stopped(err)
	case isFull(err):
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

// prepare finds the files and creates the state that the stages share.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.work, err = openWork(r.Catalog, r.start.UTC().Format("20060102T150405.000000Z")); err != nil {
		return err
	}
	r.detector.files.TempDir = r.work.path() // for unpacking
	r.detector.files.Summed = func(f source.File, sum string) { r.sums[f.Path] = sum }
	if r.Date, err = merge.TimeOfChanges(ctx, r.Catalog, r.Date, r.start); err != nil {
		return err
	}
	if err = r.find(ctx); err != nil {
		return err
	}
	minted := merge.HasMinted(r.Catalog)
	r.sorter = extsort.New(extsort.Options{Dir: r.work.path(), Memory: r.Memory})
	r.changes = extsort.New(extsort.Options{Dir: r.work.path(), Memory: r.Memory / 8})
	r.quarantine = report.NewQuarantine(r.work.quarantine())
	r.report = report.NewCollector(r.start)
	r.resolver = &resolve.Resolver{
		Catalog: r.Catalog, Dir: r.work.path(), Memory: r.Memory, Collector: r.list.collector(minted),
		Merges: minted && r.Mode != merge.Overlay, Replaces: r.Mode == merge.Replace,
	}
	r.progress = progress{fileKinds: map[string]bool{}}
	return nil
}

// release closes the temporary files.
func (r *run) release() {
	if r.sorter != nil {
		_ = errors.Join(r.sorter.Close(), r.changes.Close(), r.resolver.Close(), r.quarantine.Close())
	}
}

// read sorts the rows of all files, turn by turn.
func (r *run) read(ctx context.Context) (err error) {
	if r.rows.Names, err = r.names(ctx); err != nil {
		return err
	}
	inputs := r.list.inputs
	for first, end := 0, 0; first < len(inputs); first = end {
		turn := inputs[first].turn()
		for end < len(inputs) && inputs[end].turn() == turn {
			end++
		}
		if turn >= turnPeople {
			if r.rows.IDs, err = r.resolver.Table(ctx); err != nil {
				return err
			}
		}
		if err := r.readTurn(ctx, turn, first, end); err != nil {
			return err
		}
	}
	if err := r.supersede(ctx); err != nil {
		return err
	}
	if s := &r.progress; s.rows == 0 && s.unread == len(inputs) {
		return s.nothing(r.list.skipped)
	}
	if r.Mode == merge.Replace {
		if err := r.checkWhole(); err != nil {
			return err
		}
	}
	if err := r.checkBad(true); err != nil {
		return err
	}
	return r.checkFits()
}

// supersede merges the catalogue's records with minted IDs into records that rows gave the same external IDs.
func (r *run) supersede(ctx context.Context) error {
	err := r.resolver.Supersede(ctx, func(t *catalog.Type, rec record.Record, id int64) error {
		l := layout.OwnForm(t, "").Reader(r.rows)
		row := fmt.Sprintf(`{"id":%d,"_merged_into":%d}`, rec.IntNamed("id").V, id)
		gone, err := l.Records(layout.Row{JSON: row, Type: t})
		if err != nil {
			return err
		}
		return r.addMoved(rec, id, &gone[0])
	})
	if n := r.progress.merged; n > 0 && err == nil {
		r.Log.Info("records with minted ids were merged into those with ids of TMDB's", "records", n)
	}
	return err
}

// nothing returns the error of a run in which no row was read, because all files were damaged or left out.
func (s *progress) nothing(skipped []report.Skipped) error {
	switch {
	case s.failed == 0:
		return noneTaken(skipped)
	case len(skipped) > 0:
		return fmt.Errorf("%w; %d could not be read, such as %s", noneTaken(skipped), s.failed, s.failures[0])
	case s.failed > 1:
		return fmt.Errorf("none of %d files could be read, the first: %s", s.failed, s.failures[0])
	}
	return errors.New(s.failures[0])
}

// write merges the sorted rows with the catalogue.
func (r *run) write(ctx context.Context) error {
	it, err := r.sorter.Sort(ctx, 0)
	if err != nil {
		return err
	}
	m := merge.Merger{
		Catalog: r.Catalog, Out: r.work.path("new"), Mode: r.Mode, RowKinds: r.progress.rowKinds, Sources: r.list.all,
		Quarantine: r.quarantine, Report: r.report, Changes: r.changes, Time: r.Date,
	}
	if total := r.sorter.Len(); r.Writing != nil {
		m.Progress = func(read int64) { r.Writing(read, total) }
		defer func() { r.Writing(total, total) }()
	}
	if err := m.Write(ctx, it, r.progress.fileKinds); err != nil {
		return err
	}
	if err := r.checkBad(true); err != nil {
		return err
	}
	return r.quarantine.Close()
}

// writeDumps adds the list of ingested dumps to the new catalogue. Files that were not read sequentially, such as Parquet, are
// read again for their hash. Unreadable files, already reported, have none.
func (r *run) writeDumps(ctx context.Context) error {
	dumps := make([]provenance.Dump, len(r.list.inputs))
	for i := range r.list.inputs {
		f := &r.list.inputs[i].File
		sum, ok := r.sums[f.Path]
		if !ok {
			sum, _ = f.Sum(ctx)
		}
		dumps[i] = provenance.Dump{Name: f.Name, Bytes: f.Bytes, SHA256: sum}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	before, err := provenance.Read(r.Catalog)
	if err != nil {
		r.Log.Warn("cannot read the catalogue's list of dumps", "reason", err)
	}
	return provenance.Of(dumps, before).Write(r.work.path("new"))
}

// checkWhole returns an error if a source was not read completely, because records that it lacks would be removed.
func (r *run) checkWhole() error {
	why := append(r.progress.failures, r.list.silent(r.Sources)...)
	if len(why) == 0 {
		return nil
	}
	return fmt.Errorf("replace: a source was not read as a whole, so the catalogue stays as it was: %s", why[0])
}

// checkBad stops the ingest if there are too many bad rows, or values left out. done reports that all rows were read.
func (r *run) checkBad(done bool) error {
	s := &r.progress
	if n := r.quarantine.Count(); !r.MaxBad.allows(n, s.rows, done) {
		return &tooManyBadError{Bad: n, Rows: s.rows, Limit: r.MaxBad}
	}
	if !r.MaxBadValues.allows(s.leftOut, s.rows, done) {
		return &tooManyBadError{Bad: s.leftOut, Rows: s.rows, Limit: r.MaxBadValues, Values: true}
	}
	return nil
}

// stopped ends an ingest with too many bad rows or values, or a poor fit. It keeps the bad rows and writes a report.
func (r *run) stopped(why error) (Report, error) {
	err := r.quarantine.Close()
	if err == nil && r.quarantine.Count() > 0 {
		var file string
		file, err = r.work.keepQuarantine()
		if bad := (*tooManyBadError)(nil); errors.As(why, &bad) {
			bad.File = file
		}
	}
	if err != nil {
		return Report{}, errors.Join(why, err)
	}
	out, err := r.writeReport(report.End{Err: why})
	out.Records, out.Stopped = nil, true // unchanged
	return out, errors.Join(why, err)
}
