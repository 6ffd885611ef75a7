// Package pipeline turns the rows of files into sorted records. Three steps work side by side:
//
//	decode  one goroutine reads files and cuts them into batches of rows
//	map     one goroutine a core makes records of the rows of a batch
//	sort    one goroutine takes the batches in the order of the reading and sorts their records
//
// So the result does not depend on the number of cores. Files are read in turns, see input.Turn: a
// turn begins when all rows of the turns before are sorted.
package pipeline

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/ingest/crosswalk"
	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/report"
)

const (
	batchBytes = 256 << 10 // of rows in a batch, about
	batchRows  = 4096      // at most
)

// A Pipeline reads the inputs of an ingest.
type Pipeline struct {
	List     *input.List
	Options  *input.Options
	Dir      string // for temporary files
	Memory   int64  // of joining IMDb's tables
	Resolver *crosswalk.Resolver
	Sorter   *Sorter
}

// A step is a batch on its way from decode to sort.
type step interface {
	// records makes the batch's records.
	records(p *Pipeline) (*records, error)
}

// Read reads the inputs.
func (p *Pipeline) Read(ctx context.Context) error {
	for n := 0; n < len(p.List.Inputs); {
		turn, end := p.List.Inputs[n].Turn(), n+1
		for end < len(p.List.Inputs) && p.List.Inputs[end].Turn() == turn {
			end++
		}
		ids, err := p.Resolver.Enter(ctx, turn)
		if err != nil {
			return err
		}
		p.Options.Rows.IDs = ids
		if err := p.turn(ctx, turn, n, end); err != nil {
			return err
		}
		n = end
	}
	return nil
}

// turn reads the inputs from first on before end.
func (p *Pipeline) turn(ctx context.Context, turn input.Turn, first, end int) error {
	return p.run(ctx, func(ctx context.Context, send func(step) error) error {
		if turn == input.TurnIMDb {
			t := tables{p: p, send: send, inputs: map[int]int{}}
			if end < len(p.List.Inputs) { // else nobody looks them up
				t.note = p.Resolver.Noter
			}
			return t.read(ctx, first, end)
		}
		d := decoder{p: p, send: func(b *rows) error { return send(b) }}
		for n := first; n < end; n++ {
			if err := d.file(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// records returns a batch without any records yet.
func (p *Pipeline) records(m mark) *records {
	return &records{mark: m, tally: report.NewTally()}
}

// A job is a step and, once done is closed, its records: closing it hands out over from the mapper
// to sort.
type job struct {
	step step
	out  *records
	done chan struct{}
}

// run runs decode, which sends batches, with the other steps beside it.
//
// Every job goes to both channels: sort takes jobs from order, so in that of the reading, whichever
// mapper is done first. The capacity of order bounds the batches in memory. When one of the goroutines
// fails, ctx ends the waits of the others: a job that no mapper finishes never closes done.
func (p *Pipeline) run(ctx context.Context, decode func(ctx context.Context, send func(step) error) error) error {
	g, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	work, order := make(chan *job), make(chan *job, 2*workers)
	g.Go(func() error {
		defer close(work)
		defer close(order)
		return decode(ctx, func(s step) error {
			j := &job{step: s, done: make(chan struct{})}
			for _, to := range []chan<- *job{order, work} {
				select {
				case to <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	for range workers {
		g.Go(func() error {
			for j := range work {
				var err error
				if j.out, err = j.step.records(p); err != nil {
					return err
				}
				close(j.done)
			}
			return p.Resolver.Err()
		})
	}
	g.Go(func() error {
		for j := range order {
			select {
			case <-j.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := p.Sorter.take(j.out); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}
