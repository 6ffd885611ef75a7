package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"

	"github.com/klauspost/compress/flate"
	"golang.org/x/sync/errgroup"

	"reelsplice/cmd/bench/host"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// compressBatch is how many raw bytes are collected before they are compressed: reading
// them does not count.
const compressBatch = 32 << 20

// compressAlone compresses the segments of the release in dir once, in one pass and alone,
// at the level of its build. It returns the CPU seconds of all threads. There are as many
// as the build has by default: cores share caches, memory and their clock, so that one
// alone is faster.
func compressAlone(ctx context.Context, dir string) (seconds float64, err error) {
	r, err := release.Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	level, err := strconv.Atoi(r.Manifest().Params["level"])
	if err != nil {
		return 0, fmt.Errorf("the level of the release in %s: %w", dir, err)
	}
	c := compressor{level: level, jobs: runtime.NumCPU(), seen: map[place]bool{}}
	if err := r.Resources(ctx, c.resource); err != nil {
		return 0, err
	}
	if err := c.work(); err != nil {
		return 0, err
	}
	return c.seconds, nil
}

// A place is where a segment lies.
type place struct {
	pack   string // name of the file
	offset int64
}

// A compressor collects texts and compresses them one by one, on several threads.
type compressor struct {
	level    int
	jobs     int
	texts    []byte
	ends     []int // of texts
	seen     map[place]bool
	inflater release.Inflater
	seconds  float64 // CPU time so far
}

// resource collects the segments of one resource that no other had.
func (c *compressor) resource(key []byte, e release.Entry, _ release.Ref) error {
	for i := range e.Len() {
		pieces := e.Fragment(i).Pieces()
		var p release.Piece
		for pieces.Next(&p) {
			if p.Op != release.OpSegment {
				continue
			}
			pack, off := p.Segment.Place()
			if at := (place{pack, off}); !c.seen[at] {
				c.seen[at] = true
				if err := c.segment(&p); err != nil {
					return fmt.Errorf("%s: %w", fragment.DescribeKey(key), err)
				}
			}
		}
		if pieces.Broken() {
			return fmt.Errorf("%s: a fragment breaks the format", fragment.DescribeKey(key))
		}
	}
	return nil
}

func (c *compressor) segment(p *release.Piece) (err error) {
	if c.texts, err = c.inflater.Append(c.texts, &p.Segment); err != nil {
		pack, off := p.Segment.Place()
		return fmt.Errorf("%s, offset %d: %w", pack, off, err)
	}
	c.ends = append(c.ends, len(c.texts))
	if len(c.texts) < compressBatch {
		return nil
	}
	return c.work()
}

// work compresses what was collected. Thread i takes every jobs-th text from i on.
func (c *compressor) work() error {
	seconds := make([]float64, c.jobs)
	var g errgroup.Group
	for i := range seconds {
		g.Go(func() (err error) {
			seconds[i], err = host.ThreadSeconds(func() error { return c.thread(i) })
			return err
		})
	}
	err := g.Wait()
	for _, s := range seconds {
		c.seconds += s
	}
	c.texts, c.ends = c.texts[:0], c.ends[:0]
	return err
}

func (c *compressor) thread(first int) error {
	z, err := flate.NewWriter(io.Discard, c.level)
	if err != nil {
		return fmt.Errorf("compression level %d: %w", c.level, err)
	}
	for i := first; i < len(c.ends); i += c.jobs {
		start := 0
		if i > 0 {
			start = c.ends[i-1]
		}
		z.Reset(io.Discard)
		_, err := z.Write(c.texts[start:c.ends[i]])
		if err = errors.Join(err, z.Flush()); err != nil { // flushed as segments end
			return fmt.Errorf("compress: %w", err)
		}
	}
	return nil
}
