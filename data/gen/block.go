package gen

import (
	"bytes"
	"context"
	"fmt"
	"io"

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

// extensions are the ends of file names.
var extensions = map[Compression]string{Zstd: ".ndjson.zst", Gzip: ".ndjson.gz", None: ".ndjson"}

// A compressor is what the packages of the compressions have in common.
type compressor interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// newCompressor returns one of the fastest level; nil for None.
func newCompressor(c Compression) (compressor, error) {
	switch c {
	case Zstd:
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	case Gzip:
		return gzip.NewWriterLevel(nil, gzip.BestSpeed)
	}
	return nil, nil
}

// A block is some records in a row: JSON, compressed by itself. Files are blocks one
// after another, which both formats allow. Its buffers are used again for the next ones.
type block struct {
	writer            // of JSON
	rows       int64  // in it
	stored     []byte // as it lies in the file
	compressed bytes.Buffer
	compressor compressor
}

// newBlocks returns the blocks that are in memory: two a job.
func newBlocks(w *world, jobs int, c Compression) (blocks []block, err error) {
	blocks = make([]block, 2*jobs)
	for i := range blocks {
		blocks[i].w = w
		if blocks[i].compressor, err = newCompressor(c); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// makeBlocks makes all records of a population, a batch of blocks at a time, and hands the
// blocks to write in order.
func makeBlocks(ctx context.Context, batch []block, p *population, write func(*block) error) error {
	for from := uint64(0); from < p.n; {
		var g errgroup.Group
		g.SetLimit(len(batch) / 2)
		full := batch[:0]
		for ; len(full) < len(batch) && from < p.n; from += p.block {
			full = batch[:len(full)+1]
			b, from := &full[len(full)-1], from
			g.Go(func() error { return b.fill(p, from) })
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

// fill makes the records of a population from a record on.
func (b *block) fill(p *population, from uint64) error {
	to := min(from+p.block, p.n)
	b.rows, b.b = int64(to-from), b.b[:0]
	for i := from; i < to; i++ {
		writeLine(&b.writer, p, i)
	}
	if b.compressor == nil {
		b.stored = b.b
		return nil
	}
	b.compressed.Reset()
	b.compressor.Reset(&b.compressed)
	if _, err := b.compressor.Write(b.b); err != nil {
		return err
	}
	err := b.compressor.Close()
	b.stored = b.compressed.Bytes()
	return err
}

// writeLine writes record i, and a line end behind it.
func writeLine(j *writer, p *population, i uint64) {
	j.object("", func() { p.write(j, i) })
	j.b = append(j.b, '\n')
}
