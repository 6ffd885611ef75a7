package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/resolve"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/provenance"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A run is the state of one ingest, which its stages share. While files are read, only the sorter changes it.
type run struct {
	Config
	rows      layout.Options // settings for reading rows
	start     time.Time
	list      *fileList
	checksums map[string]string // checksums of the files read, by path

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
	// Without a limit, garbage doubles the memory. The limit exceeds the live memory of the stages, which is a part of r.Memory.
	limit := max(3*r.Memory, 256<<20)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(min(limit, debug.SetMemoryLimit(-1))))
	unfinished := false // committed, but not all files are in place: the next ingest moves the others
	defer func() {
		if r.work != nil && !unfinished {
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
	var tooMany *tooManyBadError
	var poor *poorFitError
	switch {
	case errors.As(err, &tooMany), errors.As(err, &poor):
		return r.stop(err)
	case isFull(err):
		return Report{}, fmt.Errorf("%w; this run left nothing behind: free some space, then run it again", err)
	case err != nil:
		return Report{}, err
	}
	if err = r.work.commit(); err != nil {
		unfinished = true
		return Report{}, err
	}
	removed, err := catalog.ReadRemoved(r.Catalog)
	if err != nil {
		return Report{}, err
	}
	relations, err := report.CheckReferences(ctx, r.Catalog, removed)
	if err != nil {
		return Report{}, err
	}
	out, err := r.writeReport(report.End{References: relations})
	out.Removed = int64(len(removed))
	return out, err
}

// prepare finds the files and creates the state that the stages share.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.work, err = openWork(r.Catalog, r.start.UTC().Format("20060102T150405.000000Z")); err != nil {
		return err
	}
	r.detector.files.TempDir = r.work.path() // for unpacking
	r.detector.files.Summed = func(f source.File, sum string) { r.checksums[f.Path] = sum }
	if r.Date, err = merge.TimeOfChanges(ctx, r.Catalog, r.Date, r.start); err != nil {
		return err
	}
	if err = r.find(ctx); err != nil {
		return err
	}
	_, missing := os.Stat(filepath.Join(r.Catalog, merge.MintedFile))
	minted := missing == nil
	var ids resolve.IDCollector // collects the ids that the inputs look up
	if minted {
		ids.IDs = resolve.Superseded
	}
	for i := range r.list.inputs {
		in := &r.list.inputs[i]
		if in.imdb {
			ids.IDs |= resolve.OfIMDb
		}
		ids.IDs |= in.needs.Kinds
		ids.People = ids.People || in.needs.People
	}
	r.sorter = extsort.New(extsort.Options{Dir: r.work.path(), Memory: r.Memory})
	r.changes = extsort.New(extsort.Options{Dir: r.work.path(), Memory: r.Memory / 8})
	r.quarantine = report.NewQuarantine(r.work.quarantine())
	r.report = report.NewCollector(r.start)
	r.resolver = &resolve.Resolver{
		Catalog: r.Catalog, Dir: r.work.path(), Memory: r.Memory, Collector: ids,
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
		err := r.inParallel(ctx, func(ctx context.Context, send func(*batch) error) error {
			if turn == turnIMDb {
				t := imdbTables{r: r, send: send}
				if end < len(inputs) { // a later turn may look them up
					t.ids = r.resolver.Collector
				}
				return t.read(ctx, first, end)
			}
			d := decoder{r: r, send: send}
			for n := first; n < end; n++ {
				if err := d.file(ctx, n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := r.supersede(ctx); err != nil {
		return err
	}
	if p := &r.progress; p.rows == 0 && p.unread == len(inputs) {
		return p.noRowsError(r.list.skipped)
	}
	if r.Mode == merge.Replace { // else records that only an unread source has would be removed
		if unread := slices.Concat(r.progress.failures, r.list.silentSources(r.Sources)); len(unread) > 0 {
			return fmt.Errorf("replace: a source was not read completely, so the catalogue is unchanged: %s", unread[0])
		}
	}
	if err := r.checkBad(true); err != nil {
		return err
	}
	return r.checkFits()
}

// supersede merges the catalogue's records with minted IDs into records with the same external IDs from rows. Each becomes a row
// with its new ID, before the rows of all sources. The removal of its minted ID comes after all sources.
func (r *run) supersede(ctx context.Context) error {
	p := &r.progress
	err := r.resolver.Supersede(ctx, func(t *catalog.Type, rec record.Record, id int64) error {
		l := layout.OwnForm(t, "").Reader(r.rows)
		row := fmt.Sprintf(`{"id":%d,"_merged_into":%d}`, rec.IntNamed("id").V, id)
		removals, err := l.Records(layout.Row{JSON: row, Type: t})
		if err != nil {
			return err
		}
		removal, last := &removals[0], len(r.list.files)
		payload := record.AppendBinary(merge.Head{Number: last}.Append(nil), removal.Record)
		k := merge.Key{Kind: removal.Type.Kind, Key: removal.Key}
		if err := r.add(k, last, payload); err != nil {
			return err
		}
		*rec.IntNamed("id") = record.Number(id)
		p.merged++
		k.Seq, k.Key.Hi = p.seq, uint64(id)
		payload = record.AppendBinary(merge.Head{Number: last, Moved: true}.Append(payload[:0]), rec)
		return r.sorter.Add(0, k.Append(p.key[:0]), payload)
	})
	if p.merged > 0 && err == nil {
		r.Log.Info("records with minted ids were merged into records with TMDB's ids", "records", p.merged)
	}
	return err
}

// noRowsError returns the error of a run that read no row, because all files were damaged or left out.
func (s *progress) noRowsError(skipped []report.Skipped) error {
	switch {
	case s.failed == 0:
		return allSkippedError(skipped)
	case len(skipped) > 0:
		return fmt.Errorf("%w; %d could not be read, such as %s", allSkippedError(skipped), s.failed, s.failures[0])
	case s.failed > 1:
		return fmt.Errorf("none of %d files could be read, the first: %s", s.failed, s.failures[0])
	}
	return errors.New(s.failures[0])
}

// write merges the sorted rows with the catalogue.
func (r *run) write(ctx context.Context) error {
	sorted, err := r.sorter.Sort(ctx, 0)
	if err != nil {
		return err
	}
	m := merge.Merger{
		Catalog: r.Catalog, Out: r.work.path("new"), Mode: r.Mode, RowKinds: r.progress.rowKinds, Sources: r.list.files,
		Quarantine: r.quarantine, Report: r.report, Changes: r.changes, Time: r.Date,
	}
	if total := r.sorter.Len(); r.Writing != nil {
		m.Progress = func(read int64) { r.Writing(read, total) }
		defer func() { r.Writing(total, total) }()
	}
	if err := m.Write(ctx, sorted, r.progress.fileKinds); err != nil {
		return err
	}
	if err := r.checkBad(true); err != nil {
		return err
	}
	return r.quarantine.Close()
}

// writeDumps adds the list of ingested dumps to the new catalogue. Files that were not read sequentially, such as Parquet, are
// read again for their checksum. Unreadable files, which were reported, get none.
func (r *run) writeDumps(ctx context.Context) error {
	dumps := make([]provenance.Dump, len(r.list.inputs))
	for i := range r.list.inputs {
		f := &r.list.inputs[i].File
		sum, ok := r.checksums[f.Path]
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

// checkBad returns an error if too many rows are bad or too many values were left out. done means that all rows were read.
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

// stop ends an ingest with too many bad rows or values, or a poor fit. It moves the bad rows into the catalogue and writes a
// report.
func (r *run) stop(reason error) (Report, error) {
	err := r.quarantine.Close()
	if err == nil && r.quarantine.Count() > 0 {
		path := filepath.Join(r.Catalog, r.work.badRows)
		err = file.Move(r.work.quarantine(), path)
		if tooMany := (*tooManyBadError)(nil); errors.As(reason, &tooMany) {
			tooMany.File = path
		}
	}
	if err != nil {
		return Report{}, errors.Join(reason, err)
	}
	out, err := r.writeReport(report.End{Err: reason})
	out.Records, out.Stopped = nil, true // unchanged
	return out, errors.Join(reason, err)
}

// A workFolder holds the files of one ingest, inside the catalogue:
//
//	sort-*, ids.*   sorted rows and IDs
//	new             files of the new catalogue, under their final names
//	complete        new, renamed once all of its files are complete and synced
//
// The rename of new to complete commits. Before it, the catalogue is unchanged, and the next ingest removes the folder. After
// it, this ingest or the next one moves the files into place. The caller holds the catalogue's lock.
type workFolder struct {
	catalog string
	dir     string
	badRows string // path of the quarantine file in the catalogue
}

// workDir is the name of the folder.
const workDir = catalog.WorkDir

// openWork creates the working folder of an ingest, after completing or removing an interrupted ingest. run is the name of the
// quarantine file.
func openWork(dir, run string) (*workFolder, error) {
	w := &workFolder{catalog: dir, dir: filepath.Join(dir, workDir), badRows: filepath.Join(catalog.QuarantineDir, run+".ndjson")}
	if _, err := os.Stat(w.path(catalog.CompleteDir)); err == nil {
		if err := file.MoveAll(w.path(catalog.CompleteDir), dir); err != nil {
			return nil, err
		}
	}
	if err := w.remove(); err != nil {
		return nil, fmt.Errorf("remove files of a killed ingest: %w", err)
	}
	if err := os.MkdirAll(w.path("new", catalog.QuarantineDir), 0o700); err != nil {
		return nil, fmt.Errorf("make folder for temporary files: %w", err)
	}
	return w, nil
}

func (w *workFolder) path(elem ...string) string { return filepath.Join(w.dir, filepath.Join(elem...)) }

func (w *workFolder) remove() error { return os.RemoveAll(w.dir) }

// quarantine returns the path of the quarantine file during the ingest.
func (w *workFolder) quarantine() string { return w.path("new", w.badRows) }

// commit moves the files in new into the catalogue.
func (w *workFolder) commit() error {
	return file.ReplaceAll(w.path("new"), w.path(catalog.CompleteDir), w.catalog)
}

// A Tolerance bounds the bad rows of an ingest, or the values left out. The zero value allows any number.
type Tolerance struct {
	limited bool
	rows    int64   // absolute bound
	share   float64 // bound as a share of the rows read, 0 to 1; used if above 0
}

// fewRows is the number of rows below which a share is not meaningful.
const fewRows = 1000

// ParseTolerance parses a number such as 20, or a share of the rows such as 1% or 0.5%.
func ParseTolerance(s string) (Tolerance, error) {
	bad := fmt.Errorf("want a number or a share of the rows, such as 20 or 1%%, found %q", s)
	if text, ok := strings.CutSuffix(s, "%"); ok {
		share, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(share >= 0 && share <= 100) {
			return Tolerance{}, bad
		}
		return Tolerance{limited: true, share: share / 100}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return Tolerance{}, bad
	}
	return Tolerance{limited: true, rows: n}, nil
}

// String returns t in the form that ParseTolerance accepts.
func (t Tolerance) String() string {
	switch {
	case !t.limited:
		return "any number"
	case t.share > 0:
		return strconv.FormatFloat(t.share*100, 'f', -1, 64) + "%"
	}
	return strconv.FormatInt(t.rows, 10)
}

// allows reports whether bad is within the bound for the rows read so far. While reading continues, a share applies to at least
// fewRows rows.
func (t Tolerance) allows(bad, rows int64, done bool) bool {
	switch {
	case !t.limited:
		return true
	case t.share == 0:
		return bad <= t.rows
	case !done:
		rows = max(rows, fewRows)
	}
	return float64(bad) <= t.share*float64(rows)
}

// A tooManyBadError stops an ingest because of bad rows or values. The catalogue is unchanged.
type tooManyBadError struct {
	Bad, Rows int64
	Limit     Tolerance
	Values    bool   // Bad counts values left out
	File      string // quarantine file
}

func (e *tooManyBadError) Error() string {
	if e.Values {
		return fmt.Sprintf("%d values in %d rows did not fit their fields, more than %s: stopped, the catalogue is unchanged; the report has the first values", e.Bad, e.Rows, e.Limit)
	}
	return fmt.Sprintf("%d of %d rows failed validation, more than %s: stopped, the catalogue is unchanged; the rows are in %s", e.Bad, e.Rows, e.Limit, e.File)
}

// isFull reports whether the disk is full, or a quota or a size limit was reached.
func isFull(err error) bool {
	return slices.ContainsFunc(errsFull, func(target error) bool { return errors.Is(err, target) })
}
