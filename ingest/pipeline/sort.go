package pipeline

import (
	"log/slog"

	"github.com/reelsplice/reelsplice/ingest/crosswalk"
	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/journal"
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
// go to quarantine, and the journal moves on. It is for one goroutine at a time.
type Sorter struct {
	Rows       *extsort.Sorter
	Memory     int64 // of Rows
	Journal    *journal.Journal
	Quarantine *quarantine.Writer
	MaxBad     quarantine.Tolerance
	Resolver   *crosswalk.Resolver
	List       *input.List
	Progress   func(done, total int64) // gets bytes of all inputs; nil for none
	Log        *slog.Logger

	done  int64 // bytes of the files that were read
	key   []byte
	named map[string]bool // layouts whose files were named in the log
}

// take takes a batch. makeRoom, which may save the journal, comes before any row of the batch is
// counted or sorted. So a saved journal never counts rows that are in no run.
func (s *Sorter) take(r *records) error {
	if r.first {
		s.begin(r.file)
	}
	if err := s.makeRoom(r); err != nil {
		return err
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
	p := &s.Journal.Progress
	r.tally.Elapsed = r.elapsed
	p.Report.Of(r.file.Number).Merge(r.tally)
	p.Rows += r.rows
	if r.end != nil {
		s.finish(r)
	}
	if r.at != nil {
		p.At = *r.at
	}
	s.progress(r)
	return s.CheckBad(false)
}

// add sorts a row of a source. Seq makes keys unique and counts in the order of the reading: the
// catalogue is the same however rows are spread over runs.
func (s *Sorter) add(k merge.Key, number int, payload []byte) error {
	s.Journal.Progress.Seq++
	k.Seq = merge.Seq(number, s.Journal.Progress.Seq)
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
	s.Journal.Progress.IDs.Merged++
	k := merge.Key{Kind: kind, Key: gone.Key, Seq: s.Journal.Progress.Seq}
	k.Key.Hi = uint64(id)
	payload = record.AppendBinary(merge.Head{Number: behind, Moved: true}.Append(payload[:0]), r)
	return s.Rows.Add(0, k.Append(s.key[:0]), payload)
}

// makeRoom sees to it that the records of a batch fit into memory: where they do not, or when
// those in memory have been there for long, these go to disk, and the journal is saved.
func (s *Sorter) makeRoom(r *records) error {
	held, used := s.Rows.Held()
	const entryBytes = 3 * 48 // of a record beside its payload, while a list of them grows
	need := used + int64(len(r.payloads)) + int64(len(r.list))*entryBytes + int64(held)*entryBytes/3
	if held == 0 || need <= s.Memory && !s.Journal.Due() {
		return nil
	}
	if err := s.Rows.Flush(); err != nil {
		return err
	}
	if r.partial {
		s.Journal.Delay() // or every batch from now on would make a run of its own
		return nil
	}
	return s.Save()
}

// Save writes the journal. Records in memory are not part of it.
func (s *Sorter) Save() error {
	p := &s.Journal.Progress
	var err error
	if p.Quarantine, err = s.Quarantine.State(); err != nil {
		return err
	}
	if err := s.Resolver.Flush(); err != nil {
		return err
	}
	p.Runs = s.Rows.Runs()
	return s.Journal.Save()
}

// begin opens the tally of a file.
func (s *Sorter) begin(f *file) {
	p := &s.Journal.Progress
	if s.named == nil {
		s.named = map[string]bool{}
		for n := range p.At.Input {
			s.done += s.List.Inputs[n].Bytes
		}
	}
	if len(s.List.Inputs) <= maxNamed || !s.named[f.Layout] { // of many, the first of each layout
		s.Log.Info("reading", "file", f.found.Name, "layout", f.Layout, "format", f.found.Format.String())
	}
	s.named[f.Layout] = true
	kind := f.found.Kind
	if namesTables(f) {
		kind = ""
	}
	p.Report.BeginFile(f.Number, report.File{
		Name: f.found.Name, Kind: kind, Layout: f.Layout, Format: f.found.Format.String(), Compression: f.found.Compression.String(),
		Bytes: f.found.Bytes, Modified: f.found.Modified,
	})
}

// namesTables reports whether a file's name is that of a table, and so of no kind.
func namesTables(f *file) bool { return layout.IsMapped(f.Layout) || f.Layout == input.IMDb }

// finish notes that a file was read.
func (s *Sorter) finish(r *records) {
	p, f := &s.Journal.Progress, r.file
	t := p.Report.Of(f.Number)
	t.Rows.Blank += r.end.blank
	switch {
	case r.end.failure != nil:
		t.Failure = r.end.failure.Error()
		if p.Files.Failed++; len(p.Files.Failures) < maxNamed {
			p.Files.Failures = append(p.Files.Failures, t.Failure)
		}
	case r.end.skipped != "":
		p.Files.Skipped = append(p.Files.Skipped, report.Skipped{Name: f.Name, Reason: r.end.skipped})
	case !namesTables(f):
		if p.Files.Kinds == nil {
			p.Files.Kinds = map[string]bool{}
		}
		p.Files.Kinds[f.found.Kind] = true
	}
	s.done += f.found.Bytes
	if !r.partial { // else the other files of the step may still find fault with its rows
		p.Report.EndFile(f.Number)
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

// CheckBad stops the ingest when more rows did not validate than are tolerated. done reports that
// all rows were read.
func (s *Sorter) CheckBad(done bool) error {
	return s.MaxBad.Check(s.Quarantine.Count(), s.Journal.Progress.Rows, done)
}
