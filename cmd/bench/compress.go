package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"github.com/klauspost/compress/flate"
	"golang.org/x/sync/errgroup"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

const (
	// compressBatch is how many raw bytes are collected before they are compressed:
	// reading them does not count.
	compressBatch = 32 << 20
	// compressRun is how many texts a thread takes at a time: few enough that all end at
	// about the same time.
	compressRun = 32
)

// A Compressed is what compressing takes: each text in one pass, and nothing besides.
type Compressed struct {
	Texts   int64   `json:"texts"`
	Raw     int64   `json:"raw_bytes"`
	Stored  int64   `json:"stored_bytes"`
	Seconds float64 `json:"cpu_seconds"` // of all threads
}

// A CompressReport is what the peer of builds says.
type CompressReport struct {
	Level int `json:"level"`
	// Fragments compresses the text of each fragment of each resource. What it shares
	// with others by a reference or an include counts where it is stored.
	Fragments Compressed `json:"fragments"`
	// Segments compresses each stored segment once, however many fragments have it.
	Segments Compressed `json:"segments"`
}

// Compress compresses the raw bytes of the release in dir at the level of its build, on
// jobs threads, and writes what that takes to out as JSON. A build is to be compared with
// as many threads as it had itself: cores share caches, memory and their clock, so that
// one alone takes less time for the same.
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
	report := CompressReport{Level: level}
	fragments, err := newCompressor(level, jobs, &report.Fragments)
	if err != nil {
		return err
	}
	segments, err := newCompressor(level, jobs, &report.Segments)
	if err != nil {
		return err
	}
	x := extractor{fragments: fragments, segments: segments, seen: places{}}
	if err := r.Resources(ctx, x.resource); err != nil {
		return err
	}
	if err := errors.Join(fragments.work(), segments.work()); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(report)
}

// A compressor collects texts and compresses them one by one, on several threads.
type compressor struct {
	threads []compressThread
	texts   []byte
	ends    []int // of texts
	sum     *Compressed
}

// A compressThread is one thread's share of the work.
type compressThread struct {
	z       *flate.Writer // writes to n
	n       counter
	seconds float64
}

func newCompressor(level, jobs int, sum *Compressed) (*compressor, error) {
	c := &compressor{threads: make([]compressThread, jobs), sum: sum}
	for i := range c.threads {
		t := &c.threads[i]
		var err error
		if t.z, err = flate.NewWriter(&t.n, level); err != nil {
			return nil, fmt.Errorf("compression level %d: %w", level, err)
		}
	}
	return c, nil
}

// end marks the end of a text that was appended to texts.
func (c *compressor) end() error {
	c.ends = append(c.ends, len(c.texts))
	if len(c.texts) < compressBatch {
		return nil
	}
	return c.work()
}

// work compresses what was collected. A thread's time counts as long as it compresses.
func (c *compressor) work() error {
	var next atomic.Int64 // the first text that no thread has
	var g errgroup.Group
	for i := range c.threads {
		t := &c.threads[i]
		g.Go(func() error {
			took, err := threadSeconds(func() error { return c.runs(t, &next) })
			t.seconds += took
			return err
		})
	}
	err := g.Wait()
	c.count()
	c.texts, c.ends = c.texts[:0], c.ends[:0]
	return err
}

// runs compresses runs of texts on one thread until none is left.
func (c *compressor) runs(t *compressThread, next *atomic.Int64) error {
	for {
		to := int(next.Add(compressRun))
		from := to - compressRun
		if from >= len(c.ends) {
			return nil
		}
		for i := from; i < min(to, len(c.ends)); i++ {
			start := 0
			if i > 0 {
				start = c.ends[i-1]
			}
			if err := t.compress(c.texts[start:c.ends[i]]); err != nil {
				return err
			}
		}
	}
}

// compress compresses one text.
func (t *compressThread) compress(text []byte) error {
	t.z.Reset(&t.n)
	if _, err := t.z.Write(text); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	if err := t.z.Flush(); err != nil { // as segments end
		return fmt.Errorf("compress: %w", err)
	}
	return nil
}

// count adds what was collected to the sum, and what the threads took.
func (c *compressor) count() {
	s := c.sum
	s.Texts, s.Raw = s.Texts+int64(len(c.ends)), s.Raw+int64(len(c.texts))
	s.Stored, s.Seconds = 0, 0
	for i := range c.threads {
		s.Stored, s.Seconds = s.Stored+int64(c.threads[i].n), s.Seconds+c.threads[i].seconds
	}
}

// An extractor hands the texts of a release to compressors.
type extractor struct {
	fragments, segments *compressor
	seen                places
	inflater            release.Inflater
}

// resource takes the fragments of one resource.
func (x *extractor) resource(key []byte, e release.Entry, _ release.Ref) error {
	for i := range e.Len() {
		if err := x.fragment(e.Fragment(i)); err != nil {
			return fmt.Errorf("%s: %w", fragment.DescribeKey(key), err)
		}
	}
	return nil
}

func (x *extractor) fragment(f release.Fragment) error {
	start := len(x.fragments.texts)
	pieces := f.Pieces()
	var p release.Piece
	for pieces.Next(&p) {
		switch p.Op {
		case release.OpLiteral:
			x.fragments.texts = append(x.fragments.texts, p.Text()...)
		case release.OpSegment:
			if err := x.segment(&p); err != nil {
				return err
			}
		}
	}
	if pieces.Broken() {
		return errors.New("a fragment breaks the format")
	}
	if len(x.fragments.texts) == start { // nothing of its own
		return nil
	}
	return x.fragments.end()
}

// segment adds a segment to the text of its fragment and, the first time, as a text.
func (x *extractor) segment(p *release.Piece) error {
	start := len(x.fragments.texts)
	pack, _ := p.Segment.Place()
	var err error
	if x.fragments.texts, err = x.inflater.Append(x.fragments.texts, &p.Segment); err != nil {
		return fmt.Errorf("%s, offset %d: %w", pack, p.Offset, err)
	}
	if !x.seen.add(pack, p.Offset) {
		return nil
	}
	x.segments.texts = append(x.segments.texts, x.fragments.texts[start:]...)
	return x.segments.end()
}

// places is a set of offsets in packs: a bit for each byte of a pack.
type places map[string][]uint64

// add adds a place and reports whether it was new.
func (s places) add(pack string, offset int64) bool {
	bits := s[pack]
	word, bit := int(offset/64), uint64(1)<<(offset%64)
	if word >= len(bits) {
		bits = append(bits, make([]uint64, word+1-len(bits))...)
		s[pack] = bits
	}
	if bits[word]&bit != 0 {
		return false
	}
	bits[word] |= bit
	return true
}
