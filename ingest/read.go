package ingest

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/ingest/resolve"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Files are read in turns. Within one, three steps work side by side:
//
//	decode  one goroutine reads files and cuts them into batches of rows
//	map     one goroutine a core makes records of the rows of a batch
//	sort    one goroutine takes the batches in the order of the reading and sorts their records
//
// So the result does not depend on the number of cores. A turn begins when all rows of the turns before are sorted.

const (
	batchBytes = 256 << 10 // of rows in a batch, about
	batchRows  = 4096      // at most
)

// A batch is some rows of one file on their way from decode to sort. Decode fills it and owns it until it is sent; then
// one mapper does, and closing done hands it to sort.
type batch struct {
	in       *input // shared by the batches of the file: it does not change
	first    bool   // batch of the file
	joined   bool   // the file is read together with others, which may still find fault with its rows
	consumed int64  // bytes of the file so far
	end      *end   // of the file, with its last batch

	rows []row
	text string // of all rows: one string, so that records may keep parts of it without a copy each
	raw  []byte // of rows whose text differs from the dump

	out  *mapped // of the rows; made by a mapper, or by the joiner of IMDb's tables
	done chan struct{}
}

// An end is how the reading of a file ended.
type end struct {
	failure error  // damage: the rows before it are good
	skipped string // why the rest of the file is left out
	blank   int64  // rows without any value in the file
}

// readTurn reads the inputs from first on before end.
func (r *run) readTurn(ctx context.Context, turn turn, first, end int) error {
	return r.inParallel(ctx, func(ctx context.Context, send func(*batch) error) error {
		if turn == turnIMDb {
			t := tables{r: r, send: send, inputs: map[int]int{}}
			if end < len(r.list.inputs) { // else nobody looks them up
				t.note = r.resolver.Noter
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
}

// inParallel runs decode, which sends batches, with the other steps beside it.
//
// Every batch goes to both channels: sort takes batches from order, so in that of the reading, whichever
// mapper is done first. The capacity of order bounds the batches in memory. When one of the goroutines
// fails, ctx ends the waits of the others: a batch that no mapper finishes never closes done.
func (r *run) inParallel(ctx context.Context, decode func(ctx context.Context, send func(*batch) error) error) error {
	g, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	work, order := make(chan *batch), make(chan *batch, 2*workers)
	g.Go(func() error {
		defer close(work)
		defer close(order)
		return decode(ctx, func(b *batch) error {
			b.done = make(chan struct{})
			for _, to := range []chan<- *batch{order, work} {
				select {
				case to <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	for range workers {
		g.Go(func() error {
			for b := range work {
				if b.out == nil {
					if err := b.makeRecords(r); err != nil {
						return err
					}
				}
				close(b.done)
			}
			return r.resolver.Err()
		})
	}
	g.Go(func() error {
		for b := range order {
			select {
			case <-b.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := r.take(b); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// maxNamed is how many files are named in the log, and in lists of messages.
const maxNamed = 20

// take takes a batch: its records are sorted, bad rows go to quarantine, and the report counts both.
func (r *run) take(b *batch) error {
	in, s := b.in, &r.so
	if b.first {
		if len(r.list.inputs) <= maxNamed || !s.named[in.layout] { // of many, the first of each layout
			r.Log.Info("reading", "file", in.Name, "layout", in.layout, "format", in.Format.String())
			if in.lacks != "" {
				r.Log.Warn(in.lacks, "file", in.Name)
			}
		}
		s.named[in.layout] = true
		kind := in.Kind
		if in.ofTables() {
			kind = ""
		}
		r.report.BeginFile(in.number, report.File{
			Name: in.Name, Kind: kind, Layout: in.layout, Format: in.Format.String(), Compression: in.Compression, Bytes: in.Bytes,
		})
	}
	if err := r.resolver.Note(b.out.ids); err != nil {
		return err
	}
	for _, rec := range b.out.list {
		if err := r.add(rec.key, rec.number, b.out.payloads[rec.from:rec.to]); err != nil {
			return err
		}
	}
	for _, bad := range b.out.bad {
		if err := r.quarantine.Add(bad); err != nil {
			return err
		}
	}
	t := r.report.Of(in.number)
	t.Merge(b.out.tally)
	s.rows += int64(len(b.rows))
	s.leftOut += b.out.tally.ValuesLeftOut()
	read := s.bytes + b.consumed
	if b.end != nil {
		t.Rows.Blank += b.end.blank
		switch {
		case b.end.failure != nil:
			t.Fail(b.end.failure.Error())
			s.unread++
			if s.failed++; len(s.failures) < maxNamed {
				s.failures = append(s.failures, t.Failure)
			}
		case b.end.skipped != "":
			s.unread++
			r.list.skip(in.Name, b.end.skipped)
		case !in.ofTables():
			s.kinds[in.Kind] = true
		}
		s.bytes += in.Bytes
		read = s.bytes
		if !b.joined {
			r.report.EndFile(in.number)
		}
	}
	if r.Progress != nil {
		r.Progress(read, r.list.bytes)
	}
	return r.checkBad(false)
}

// add sorts a row of a source. Seq makes keys unique and counts in the order of the reading: the
// catalogue is the same however rows are spread over runs.
func (r *run) add(k merge.Key, number int, payload []byte) error {
	r.so.seq++
	k.Seq = merge.Seq(number, r.so.seq)
	r.so.key = k.Append(r.so.key[:0])
	return r.sorter.Add(0, r.so.key, payload)
}

// addMoved sorts a record that the catalogue has under a minted id, as the weakest source, under
// the id that it was merged into, and gone, the removal of the minted id, behind all sources.
func (r *run) addMoved(rec record.Record, id int64, gone *layout.Record) error {
	kind, behind := gone.Type.Kind, len(r.list.sources)
	payload := record.AppendBinary(merge.Head{Number: behind}.Append(nil), gone.Record)
	if err := r.add(merge.Key{Kind: kind, Key: gone.Key}, behind, payload); err != nil {
		return err
	}
	*rec.IntNamed("id") = record.Number(id)
	r.so.merged++
	k := merge.Key{Kind: kind, Key: gone.Key, Seq: r.so.seq}
	k.Key.Hi = uint64(id)
	payload = record.AppendBinary(merge.Head{Number: behind, Moved: true}.Append(payload[:0]), rec)
	return r.sorter.Add(0, k.Append(r.so.key[:0]), payload)
}

// noter returns the Noter that the inputs of the run need. minted reports whether the catalogue
// has minted ids, which may be superseded.
func (l *fileList) noter(minted bool) (n resolve.Noter) {
	if minted {
		n.IDs = resolve.Superseded
	}
	for k := range l.inputs {
		in := &l.inputs[k]
		if in.layout == imdbLayout {
			n.IDs |= resolve.OfIMDb
		}
		n.IDs |= in.needs.Kinds
		n.People = n.People || in.needs.People
	}
	return n
}
