package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// A Compressed is the cost of compressing each segment of a release once, in one pass and
// alone.
type Compressed struct {
	Level   int     `json:"level"`
	Texts   int64   `json:"texts"`
	Raw     int64   `json:"raw_bytes"`
	Stored  int64   `json:"stored_bytes"`
	Seconds float64 `json:"cpu_seconds"` // of all threads
}

// Compress compresses the segments of the release in dir at the level of its build, on jobs
// threads, and writes the cost to out as JSON. A build is compared with as many threads as
// it had: cores share caches, memory and their clock, so that one alone is faster.
func Compress(ctx context.Context, dir string, jobs int, out io.Writer) (err error) {
	if jobs < 1 {
		return fmt.Errorf("jobs %d: want 1 or more", jobs)
	}
	r, err := release.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	level, err := strconv.Atoi(r.Manifest().Params["level"])
	if err != nil {
		return fmt.Errorf("the level of the release in %s: %w", dir, err)
	}
	c := compressor{jobs: jobs, seen: map[place]bool{}, sum: Compressed{Level: level}}
	if err := r.Resources(ctx, c.resource); err != nil {
		return err
	}
	if err := c.work(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(c.sum)
}

// A place is where a segment lies.
type place struct {
	pack   string // name of the file
	offset int64
}

// A compressor collects texts and compresses them one by one, on several threads.
type compressor struct {
	jobs     int
	texts    []byte
	ends     []int // of texts
	seen     map[place]bool
	inflater release.Inflater
	sum      Compressed
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
	sums := make([]Compressed, c.jobs)
	var g errgroup.Group
	for i := range sums {
		g.Go(func() (err error) {
			sums[i].Seconds, err = host.ThreadSeconds(func() error { return c.thread(i, &sums[i].Stored) })
			return err
		})
	}
	err := g.Wait()
	for _, s := range sums {
		c.sum.Stored, c.sum.Seconds = c.sum.Stored+s.Stored, c.sum.Seconds+s.Seconds
	}
	c.sum.Texts, c.sum.Raw = c.sum.Texts+int64(len(c.ends)), c.sum.Raw+int64(len(c.texts))
	c.texts, c.ends = c.texts[:0], c.ends[:0]
	return err
}

func (c *compressor) thread(first int, stored *int64) error {
	var n Counter
	z, err := flate.NewWriter(&n, c.sum.Level)
	if err != nil {
		return fmt.Errorf("compression level %d: %w", c.sum.Level, err)
	}
	for i := first; i < len(c.ends); i += c.jobs {
		start := 0
		if i > 0 {
			start = c.ends[i-1]
		}
		z.Reset(&n)
		_, err := z.Write(c.texts[start:c.ends[i]])
		if err = errors.Join(err, z.Flush()); err != nil { // flushed as segments end
			return fmt.Errorf("compress: %w", err)
		}
	}
	*stored = int64(n)
	return nil
}

// A Counter counts what is written to it.
type Counter int64

var _ io.Writer = (*Counter)(nil)

// Write counts p.
func (c *Counter) Write(p []byte) (int, error) {
	*c += Counter(len(p))
	return len(p), nil
}
