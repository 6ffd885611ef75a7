package task

import (
	"context"
	"errors"
	"os"

	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/delta"
)

// A deltas task writes, beside the releases in a bucket, how files of the release follow from files of the
// previous one: an edge that has those pulls the difference. Releases in a folder have no such task.
type deltas struct {
	b    *Build
	next *release.Reader
	// pairs are files to write deltas of.
	pairs []delta.Pair
}

func deltaTasks(b *Build) (int, error) {
	if !b.Plan.Deltas || b.Plan.Previous == "" {
		return 0, nil
	}
	done, err := b.Read("changelog")
	if err != nil || done[0].Unchanged {
		return 0, err
	}
	return b.Plan.Compares, nil
}

func openDeltas(b *Build) (_ tasks, err error) {
	t := &deltas{b: b}
	if t.next, err = b.preview("index", "tables", "accounts", "changelog"); err != nil {
		return nil, err
	}
	err = release.Guard(func() error {
		t.pairs = delta.Pairs(t.next, b.previous)
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *deltas) close() error { return t.next.Close() }

func (t *deltas) files(int) (inputs, outputs []string) {
	return append(tableDoneNames(t.b), work.RecordName("changelog", 0)), nil
}

// deltaBytes is the name of the count of bytes of deltas.
const deltaBytes = "delta_bytes"

func (t *deltas) run(ctx context.Context, i int, d *Done) error {
	for k := i; k < len(t.pairs); k += t.b.Plan.Compares {
		n, err := t.write(ctx, t.pairs[k])
		if err != nil {
			return err
		}
		d.Counts[deltaBytes] += n
	}
	return nil
}

// write writes a delta.
func (t *deltas) write(ctx context.Context, p delta.Pair) (n int64, err error) {
	made, closeMade, err := whole(t.b.Folder.Released, p.New)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, closeMade()) }()
	from, closeFrom, err := whole(t.b.previousFiles, p.Old)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, closeFrom()) }()
	return delta.Write(ctx, t.b.deltas, t.b.temp(), p.New, made, p.Old, from)
}

// whole opens all of a file.
func whole(from release.Source, f release.File) (*os.File, func() error, error) {
	b, err := from(f)
	if err != nil {
		return nil, nil, err
	}
	if b.Fill == nil {
		return b.Handle, b.Handle.Close, nil
	}
	if err := b.Fill(0, f.Size); err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return b.Handle, b.Close, nil
}
