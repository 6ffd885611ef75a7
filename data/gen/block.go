package gen

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"
)

// A Compression is how the files of a dump are compressed.
type Compression string

// The compressions.
const (
	Zstd Compression = "zstd"
	Gzip Compression = "gzip"
	None Compression = "none"
)

// Compressions returns the names of all.
func Compressions() []string { return []string{string(Zstd), string(Gzip), string(None)} }

// ext returns the end of file names, "" for no compression that there is.
func (c Compression) ext() string {
	switch c {
	case Zstd:
		return ".ndjson.zst"
	case Gzip:
		return ".ndjson.gz"
	case None:
		return ".ndjson"
	}
	return ""
}

// A block is some records in a row: JSON, compressed by itself. Files are blocks one
// after another, which both formats allow. Its buffers are used again for the next ones.
type block struct {
	rows     int64
	raw      []byte // JSON
	stored   []byte // as it lies in the file
	compress func(dst, src []byte) ([]byte, error)
}

// newCompress returns a function that appends src, compressed at the fastest level, to dst.
func newCompress(c Compression) (func(dst, src []byte) ([]byte, error), error) {
	switch c {
	case Zstd:
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			return nil, err
		}
		return func(dst, src []byte) ([]byte, error) { return z.EncodeAll(src, dst), nil }, nil
	case Gzip:
		z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			return nil, err
		}
		return func(dst, src []byte) ([]byte, error) {
			out := bytes.NewBuffer(dst)
			z.Reset(out)
			_, err := z.Write(src)
			err = errors.Join(err, z.Close())
			return out.Bytes(), err
		}, nil
	}
	return func(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }, nil
}

// newBlocks returns the blocks that are in memory: two a job.
func newBlocks(jobs int, c Compression) ([]block, error) {
	blocks := make([]block, 2*jobs)
	for i := range blocks {
		var err error
		if blocks[i].compress, err = newCompress(c); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// blocks makes all records of a part, a batch of blocks at a time, and hands the blocks to
// write in order.
func blocks(ctx context.Context, batch []block, p part, write func(*block) error) error {
	for from := uint64(0); from < p.n; {
		var g errgroup.Group
		g.SetLimit(len(batch) / 2)
		full := batch[:0]
		for ; len(full) < len(batch) && from < p.n; from += p.block {
			full = batch[:len(full)+1]
			b, from := &full[len(full)-1], from
			g.Go(func() error { return b.fill(&p, from) })
		}
		if err := g.Wait(); err != nil {
			return fmt.Errorf("compress: %w", err)
		}
		for i := range full {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := write(&full[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill makes the records of a part from a record on.
func (b *block) fill(p *part, from uint64) (err error) {
	to := min(from+p.block, p.n)
	j := writer{b.raw[:0]}
	for i := from; i < to; i++ {
		p.writeLine(&j, i)
	}
	b.rows, b.raw = int64(to-from), j.b
	b.stored, err = b.compress(b.stored[:0], b.raw)
	return err
}

// writeLine writes record i, and a line end behind it.
func (p *part) writeLine(j *writer, i uint64) {
	j.object("", func() { p.write(p.world, j, i) })
	j.b = append(j.b, '\n')
}
