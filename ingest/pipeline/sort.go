package pipeline

import (
	"errors"
	"log/slog"

	"github.com/reelsplice/reelsplice/ingest/crosswalk"
	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/quarantine"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// maxNamed is how many files are named in the log, and in lists of messages.
const maxNamed = 20

// A Sorter takes the records of batches in the order of the reading: records are sorted, bad rows
// go to quarantine, and the report counts both. It is for one goroutine at a time.
type Sorter struct {
	Rows       *extsort.Sorter
	Quarantine *quarantine.Writer
	Report     *report.Collector
	MaxBad     quarantine.Tolerance // of rows
	MaxValues  quarantine.Tolerance // of values that are left out
	Resolver   *crosswalk.Resolver
	List       *input.List
	Progress   func(done, total int64) // gets bytes of all inputs; nil for none
	Log        *slog.Logger

	// What was read so far.
	Read     int64            // rows
	LeftOut  int64            // values
	Merged   int64            // records with minted ids, into others
	Failed   int64            // files
	Failures []string         // of the first
	Skipped  []report.Skipped // files that were left out while they were read
	Kinds    map[string]bool  // of records, by the files' names

	seq   uint64 // of the last sorted row
	done  int64  // bytes of the files that were read
	key   []byte
	named map[string]bool // layouts whose files were named in the log
}

// take takes a batch.
func (s *Sorter) take(r *records) error {
	if r.first {
		s.begin(r.file)
	}
	if err := s.Resolver.Note(r.ids); err != nil {
		return err
	}
	for _, rec := range r.list {
		if err := s.add(rec.key, rec.number, r.payloads[rec.from:rec.to]); err != nil {
			return err
		}
	}
	for _, e := range r.bad {
		if err := s.Quarantine.Add(e); err != nil {
			return err
		}
	}
	s.Report.Of(r.file.Number).Merge(r.tally)
	s.Read += r.rows
	s.LeftOut += r.tally.ValuesLeftOut()
	if r.end != nil {
		s.finish(r)
	}
	s.progress(r)
	return s.CheckBad(false)
}

// add sorts a row of a source. Seq makes keys unique and counts in the order of the reading: the
// catalogue is the same however rows are spread over runs.
func (s *Sorter) add(k merge.Key, number int, payload []byte) error {
	s.seq++
	k.Seq = merge.Seq(number, s.seq)
	s.key = k.Append(s.key[:0])
	return s.Rows.Add(0, s.key, payload)
}

// AddMoved sorts a record that the catalogue has under a minted id, as the weakest source, under
// the id that it was merged into, and gone, the removal of the minted id, behind all sources.
func (s *Sorter) AddMoved(r record.Record, id int64, gone *layout.Record) error {
	kind, behind := gone.Type.Kind, len(s.List.Names)
	payload := record.AppendBinary(merge.Head{Number: behind}.Append(nil), gone.Record)
	if err := s.add(merge.Key{Kind: kind, Key: gone.Key}, behind, payload); err != nil {
		return err
	}
	*r.IntNamed("id") = record.Number(id)
	s.Merged++
	k := merge.Key{Kind: kind, Key: gone.Key, Seq: s.seq}
	k.Key.Hi = uint64(id)
	payload = record.AppendBinary(merge.Head{Number: behind, Moved: true}.Append(payload[:0]), r)
	return s.Rows.Add(0, k.Append(s.key[:0]), payload)
}

// begin opens the tally of a file.
func (s *Sorter) begin(f *file) {
	if s.named == nil {
		s.named = map[string]bool{}
	}
	if len(s.List.Inputs) <= maxNamed || !s.named[f.Layout] { // of many, the first of each layout
		s.Log.Info("reading", "file", f.found.Name, "layout", f.Layout, "format", f.found.Format.String())
		if f.Lacks != "" {
			s.Log.Warn(f.Lacks, "file", f.found.Name)
		}
	}
	s.named[f.Layout] = true
	kind := f.found.Kind
	if namesTables(f) {
		kind = ""
	}
	s.Report.BeginFile(f.Number, report.File{
		Name: f.found.Name, Kind: kind, Layout: f.Layout, Format: f.found.Format.String(), Compression: f.found.Compression.String(),
		Bytes: f.found.Bytes,
	})
}

// namesTables reports whether a file's name is that of a table, and so of no kind.
func namesTables(f *file) bool { return layout.IsMapped(f.Layout) || f.Layout == input.IMDb }

// finish notes that a file was read.
func (s *Sorter) finish(r *records) {
	f := r.file
	t := s.Report.Of(f.Number)
	t.Rows.Blank += r.end.blank
	switch {
	case r.end.failure != nil:
		t.Fail(r.end.failure.Error())
		if s.Failed++; len(s.Failures) < maxNamed {
			s.Failures = append(s.Failures, t.Failure)
		}
	case r.end.skipped != "":
		s.Skipped = append(s.Skipped, report.Skipped{Name: f.Name, Reason: r.end.skipped})
	case !namesTables(f):
		if s.Kinds == nil {
			s.Kinds = map[string]bool{}
		}
		s.Kinds[f.found.Kind] = true
	}
	s.done += f.found.Bytes
	if !r.joined {
		s.Report.EndFile(f.Number)
	}
}

func (s *Sorter) progress(r *records) {
	if s.Progress == nil {
		return
	}
	now := s.done
	if r.end == nil {
		now += r.consumed
	}
	s.Progress(now, s.List.Bytes)
}

// CheckBad stops the ingest when more rows did not validate, or more values were left out, than are tolerated.
// done reports that all rows were read.
func (s *Sorter) CheckBad(done bool) error {
	if err := s.MaxBad.Check(s.Quarantine.Count(), s.Read, done); err != nil {
		return err
	}
	err := s.MaxValues.Check(s.LeftOut, s.Read, done)
	var many *quarantine.TooManyError
	if errors.As(err, &many) {
		many.Values = true
	}
	return err
}
