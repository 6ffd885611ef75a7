package gen

import (
	"bytes"
	"context"
	"fmt"
	"sync"

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
// after another, which both formats allow.
type block struct {
	number int64
	rows   int64
	bytes  int64 // before compression
	raw    []byte
	stored []byte
	ready  chan struct{} // closed once stored is complete
}

// spare are blocks whose buffers can be used again.
var spare = sync.Pool{New: func() any { return new(block) }}

// A compressor compresses blocks, at the fastest level.
type compressor struct {
	kind Compression
	zstd *zstd.Encoder
	gzip *gzip.Writer
}

func newCompressor(kind Compression) (*compressor, error) {
	c := &compressor{kind: kind}
	var err error
	switch kind {
	case Zstd:
		c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	case Gzip:
		c.gzip, err = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	}
	return c, err
}

// compress sets b.stored.
func (c *compressor) compress(b *block) error {
	switch c.kind {
	case Zstd:
		b.stored = c.zstd.EncodeAll(b.raw, b.stored[:0])
	case Gzip:
		out := bytes.NewBuffer(b.stored[:0])
		c.gzip.Reset(out)
		if _, err := c.gzip.Write(b.raw); err != nil {
			return fmt.Errorf("compress: %w", err)
		}
		if err := c.gzip.Close(); err != nil {
			return fmt.Errorf("compress: %w", err)
		}
		b.stored = out.Bytes()
	default:
		b.raw, b.stored = b.stored, b.raw
	}
	return nil
}

// blocks makes all records of a part on several goroutines and hands the blocks to
// write in order. At most three blocks a job are in memory.
func blocks(ctx context.Context, jobs int, c Compression, p part, write func(*block) error) error {
	g, ctx := errgroup.WithContext(ctx)
	todo, inOrder := make(chan *block, jobs), make(chan *block, jobs)
	g.Go(func() error {
		defer close(todo)
		defer close(inOrder)
		for n := range int64((p.n + p.block - 1) / p.block) {
			b := spare.Get().(*block)
			b.number, b.ready = n, make(chan struct{})
			for _, queue := range []chan<- *block{inOrder, todo} {
				select {
				case queue <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range jobs {
		g.Go(func() error {
			z, err := newCompressor(c)
			if err != nil {
				return err
			}
			for b := range todo {
				p.fill(b)
				if err := z.compress(b); err != nil {
					return err
				}
				close(b.ready)
			}
			return nil
		})
	}
	g.Go(func() error {
		for b := range inOrder {
			select {
			case <-b.ready:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := write(b); err != nil {
				return err
			}
			spare.Put(b)
		}
		return nil
	})
	return g.Wait()
}

// fill makes the records of b.
func (p *part) fill(b *block) {
	from := uint64(b.number) * p.block
	to := min(from+p.block, p.n)
	j := writer{b.raw[:0]}
	for i := from; i < to; i++ {
		p.writeLine(&j, i)
	}
	b.raw = j.b
	b.rows, b.bytes = int64(to-from), int64(len(b.raw))
}

// writeLine writes record i, and a line end behind it.
func (p *part) writeLine(j *writer, i uint64) {
	j.object("", func() { p.write(p.world, j, i) })
	j.b = append(j.b, '\n')
}
