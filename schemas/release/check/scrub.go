package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// scrubChunk is how many bytes are read at once, a multiple of release.CheckBlock.
var scrubChunk int64 = 256 << 10 // tests lower it

// Scrub reads all files of the release, tables first, and checks every block again. It reads at most rate bytes per
// second, and bypasses the mapping so that other data stays in memory. Damage is recorded: see Reader.Damage.
// progress gets the bytes of each read. The error reports why reading failed, such as ctx.
func Scrub(ctx context.Context, r *release.Reader, rate int64, progress func(n int64)) error {
	m := r.Manifest()
	start, done := time.Now(), int64(0)
	wait := func(n int64) error { // waits until n more bytes may be read
		done += n
		progress(n)
		t := time.NewTimer(time.Until(start.Add(time.Duration(float64(done) / float64(rate) * float64(time.Second)))))
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	}
	buf := make([]byte, scrubChunk)
	for _, f := range slices.Concat(m.Tables, m.Index, m.Parts, m.Packs) { // files used by most responses come first
		err := release.Guard(func() error { return scrub(r.File(f.Name), buf, wait) })
		if err != nil && !errors.Is(err, release.ErrCorrupt) {
			return fmt.Errorf("scrub release %s: %w", m.ID, err)
		}
	}
	return nil
}

// scrub checks the blocks of one file.
func scrub(m *release.Mapping, buf []byte, wait func(n int64) error) error {
	f, err := file.Open(m.Path())
	if err != nil {
		return err
	}
	defer f.Close()
	for off, content := int64(0), int64(len(m.Content())); off < content; off += scrubChunk {
		chunk := buf[:min(scrubChunk, content-off)]
		resident := file.Resident(m.Bytes()[off:][:len(chunk)]) // other processes may need it
		n, err := f.ReadAt(chunk, off)
		block := uint64(off) / release.CheckBlock
		for b := range slices.Chunk(chunk[:n], release.CheckBlock) {
			if len(b) == release.CheckBlock || n == len(chunk) {
				_ = m.Compare(block, b) // records damage
			}
			block++
		}
		if n < len(chunk) {
			_ = m.Unreadable(uint64(off) + uint64(n)) // records it
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if !resident {
			file.DropCache(f, off, int64(n))
		}
		if err := wait(int64(n)); err != nil {
			return err
		}
	}
	return nil
}

// Sizes records files that have become shorter than their mapping as damaged. The rest of the page at a file's end
// reads as zeros, so blocks from there on are checked again. Deleted files stay intact in their mapping.
func Sizes(r *release.Reader) {
	for _, f := range r.Manifest().Files() {
		m := r.File(f.Name)
		st, err := os.Stat(m.Path())
		if err != nil || st.Size() >= int64(len(m.Bytes())) {
			continue
		}
		first := uint64(st.Size()) / release.CheckBlock
		for b := first; b*release.CheckBlock < uint64(len(m.Content())); b++ {
			m.Forget(b)
		}
		_ = m.Damaged(first, fmt.Sprintf("file is %d bytes long, the manifest has %d", st.Size(), len(m.Bytes())))
	}
}
