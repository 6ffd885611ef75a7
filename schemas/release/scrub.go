package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// scrubChunk is how many bytes are read at once, a multiple of checkBlock.
const scrubChunk = 256 << 10

// Scrub reads all files of the release and checks every block, also those that were checked
// before, tables first. It reads at most rate bytes a second, and not through the mapping,
// so that it drives little out of memory. Damage is noted: see Reader.Damage. The error is
// about what kept it from reading, such as ctx.
func (r *Reader) Scrub(ctx context.Context, rate int64) error {
	m := r.manifest
	s := scrubber{r: r, rate: rate, start: time.Now(), buf: make([]byte, scrubChunk)}
	for _, f := range slices.Concat(m.Tables, m.Index, m.Parts, m.Packs) { // what more responses depend on comes first
		if err := Guard(func() error { return s.file(ctx, r.files[f.Name]) }); err != nil && !errors.Is(err, ErrCorrupt) {
			return fmt.Errorf("scrub release %s: %w", r.manifest.ID, err)
		}
	}
	return nil
}

// Scrubbed returns how many bytes all calls of Scrub have read so far.
func (r *Reader) Scrubbed() int64 { return r.scrubbed.Load() }

type scrubber struct {
	r     *Reader
	rate  int64
	start time.Time
	done  int64 // bytes
	buf   []byte
}

// file checks the blocks of one file.
func (s *scrubber) file(ctx context.Context, m *mapping) error {
	f, err := file.Open(m.path)
	if err != nil {
		return err
	}
	defer f.Close()
	for off, content := int64(0), int64(len(m.data)); off < content; off += scrubChunk {
		chunk := s.buf[:min(scrubChunk, content-off)]
		stays := file.Resident(m.all[off:][:len(chunk)]) // others may want it
		n, err := f.ReadAt(chunk, off)
		for b := range uint64(blocksOf(n)) {
			if block := blockOf(chunk, b); (b+1)*checkBlock <= uint64(n) || n == len(chunk) {
				_ = m.compare(uint64(off)/checkBlock+b, block) // notes what is wrong
			}
		}
		if n < len(chunk) {
			_ = m.unreadable(uint64(off) + uint64(n)) // notes it
			if !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
		if !stays {
			file.DropCache(f, off, int64(n))
		}
		if err := s.wait(ctx, int64(n)); err != nil {
			return err
		}
	}
	return nil
}

// wait waits until n more bytes may have been read.
func (s *scrubber) wait(ctx context.Context, n int64) error {
	s.done += n
	s.r.scrubbed.Add(n)
	t := time.NewTimer(time.Until(s.start.Add(time.Duration(float64(s.done) / float64(s.rate) * float64(time.Second)))))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// CheckSizes looks for files that have become shorter than they are mapped, and notes them
// as damaged. What is left of a page that a file ends in reads as zeros, so blocks from there
// on are checked again. Files that are gone stay as they are in their mapping.
func (r *Reader) CheckSizes() {
	for _, m := range r.files {
		st, err := os.Stat(m.path)
		if err != nil || st.Size() >= int64(len(m.all)) {
			continue
		}
		first := uint64(st.Size()) / checkBlock
		for b := first; b < uint64(blocksOf(len(m.data))); b++ {
			m.forget(b)
		}
		_ = m.damaged(first, fmt.Sprintf("file is %d bytes long, the manifest has %d", st.Size(), len(m.all)))
	}
}
