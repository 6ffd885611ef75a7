package release

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"reelsplice/schemas/fragment"
)

// spillPairs is how many pairs of a partition stay in memory before they go to its
// file: 256 partitions of 16-byte pairs make 16 MiB.
const spillPairs = 4096

// home returns the ideal slot of a hash among n: its high bits, scaled.
func home(hash, n uint64) uint64 {
	hi, _ := bits.Mul64(hash, n)
	return hi
}

// slotOf returns the slot of the block at off whose key has that hash. The tag is the
// low end of the hash, which has no share in the ideal slot.
func slotOf(hash, off uint64) uint64 { return hash<<slotOffBits | off/blockAlign }

// slotRef is the inverse of slotOf as far as the block is concerned.
func slotRef(slot uint64) Ref { return Ref((slot & (1<<slotOffBits - 1)) * blockAlign) }

// An indexWriter collects the keys of a release, by the top byte of their hash, and
// writes the index. Of 256 partitions it has two in memory at a time: one that is sorted, and
// one that is written.
type indexWriter struct {
	dir   string // of the release in the making
	parts [256]partition
	keys  uint64
}

// A pair is a key's hash and the offset of its block.
type pair struct{ hash, off uint64 }

// A partition is the pairs of one top byte; the first `spilled` of them in a file.
type partition struct {
	pairs   []pair
	spilled int
}

func (w *indexWriter) add(hash, off uint64) error {
	p := &w.parts[hash>>56]
	p.pairs = append(p.pairs, pair{hash, off})
	w.keys++
	if len(p.pairs) < spillPairs {
		return nil
	}
	return w.spill(p, w.path(hash>>56))
}

func (w *indexWriter) path(part uint64) string {
	return filepath.Join(w.dir, fmt.Sprintf(".keys-%02x", part))
}

// spill moves the pairs of p from memory to the end of its file.
func (w *indexWriter) spill(p *partition, path string) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer closeInto(f, &err)
	buf := make([]byte, 0, 16*len(p.pairs))
	for _, v := range p.pairs {
		buf = le.AppendUint64(le.AppendUint64(buf, v.hash), v.off)
	}
	p.spilled += len(p.pairs)
	p.pairs = p.pairs[:0]
	_, err = f.Write(buf)
	return err
}

// load returns the pairs of a partition in the order of the index, and removes its file.
func (w *indexWriter) load(part uint64) ([]pair, error) {
	p := &w.parts[part]
	pairs := make([]pair, 0, p.spilled+len(p.pairs))
	if p.spilled > 0 {
		data, err := os.ReadFile(w.path(part))
		if err != nil {
			return nil, err
		}
		if len(data) != 16*p.spilled {
			return nil, fmt.Errorf("%q has %d bytes, %d were written", w.path(part), len(data), 16*p.spilled)
		}
		for ; len(data) > 0; data = data[16:] {
			pairs = append(pairs, pair{le.Uint64(data), le.Uint64(data[8:])})
		}
		if err := os.Remove(w.path(part)); err != nil {
			return nil, err
		}
	}
	pairs = append(pairs, p.pairs...)
	*p = partition{}
	return sortPairs(pairs), nil
}

// sortPairs returns pairs whose hashes have the same top byte in the order of the index. The
// bits below are spread evenly: by as many of them as there are pairs, hardly any share a place.
func sortPairs(pairs []pair) []pair {
	width := bits.Len(uint(len(pairs)))
	bucket := func(p pair) uint64 { return p.hash << 8 >> (64 - width) }
	ends := make([]int, 1<<width+1)
	for _, p := range pairs {
		ends[bucket(p)+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	out := make([]pair, len(pairs))
	for _, p := range pairs {
		at := &ends[bucket(p)] // where the bucket ends, once all are placed
		out[*at] = p
		*at++
	}
	start := 0
	for _, end := range ends[:1<<width] {
		if end-start > 1 {
			slices.SortFunc(out[start:end], comparePairs)
		}
		start = end
	}
	return out
}

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.off, b.off))
}

// write writes the index beside the directory, which is complete, and finds keys that
// are there twice.
func (w *indexWriter) write(ctx context.Context, d disk) (err error) {
	f, err := os.Create(filepath.Join(w.dir, indexFile))
	if err != nil {
		return err
	}
	defer closeInto(f, &err)
	dir, err := os.Open(filepath.Join(w.dir, directoryFile))
	if err != nil {
		return err
	}
	defer dir.Close()
	out := bufio.NewWriterSize(f, 256<<10)
	if _, err := out.Write(make([]byte, headerLen)); err != nil {
		return err
	}
	s := &slotWriter{out: out, homes: max(1, (5*w.keys+2)/3)}
	if err := w.eachPartition(ctx, dir, s.putAll); err != nil {
		return err
	}
	if err := errors.Join(s.fill(s.homes), out.Flush()); err != nil {
		return err
	}
	h := header{magic: indexMagic, length: headerLen + slotLen*s.next}
	h.counts[indexSlots], h.counts[indexKeys] = s.next, w.keys
	h.counts[indexHomes], h.counts[indexReach] = s.homes, s.reach
	if _, err := f.WriteAt(h.appendTo(nil), 0); err != nil {
		return err
	}
	return d.sync(f)
}

// eachPartition calls fn with the pairs of one partition after the other. Meanwhile the next
// one is sorted, and looked through for keys that are there twice.
func (w *indexWriter) eachPartition(ctx context.Context, dir io.ReaderAt, fn func([]pair) error) error {
	g, ctx := errgroup.WithContext(ctx)
	sorted := make(chan []pair)
	g.Go(func() error {
		defer close(sorted)
		for part := range uint64(len(w.parts)) {
			pairs, err := w.load(part)
			if err == nil {
				err = checkDuplicates(dir, pairs)
			}
			if err != nil {
				return err
			}
			select {
			case sorted <- pairs:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	g.Go(func() error {
		for pairs := range sorted {
			if err := fn(pairs); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// A slotWriter writes slots from the first to the last.
type slotWriter struct {
	out   *bufio.Writer
	homes uint64
	next  uint64 // first slot not written
	reach uint64
}

func (s *slotWriter) putAll(pairs []pair) error {
	for _, p := range pairs {
		if err := s.put(p); err != nil {
			return err
		}
	}
	return nil
}

// put writes the slot of p, whose hash is not below the one before.
func (s *slotWriter) put(p pair) error {
	ideal := home(p.hash, s.homes)
	if err := s.fill(ideal); err != nil {
		return err
	}
	s.reach = max(s.reach, s.next-ideal)
	s.next++
	_, err := s.out.Write(le.AppendUint64(s.out.AvailableBuffer(), slotOf(p.hash, p.off)))
	return err
}

// fill writes empty slots up to, but without, the slot n.
func (s *slotWriter) fill(n uint64) error {
	for ; s.next < n; s.next++ {
		if _, err := s.out.Write(make([]byte, slotLen)); err != nil {
			return err
		}
	}
	return nil
}

// checkDuplicates finds equal keys among pairs, which are sorted.
func checkDuplicates(dir io.ReaderAt, pairs []pair) error {
	for i := range pairs {
		for k := i + 1; k < len(pairs) && pairs[k].hash == pairs[i].hash; k++ {
			a, err := keyAt(dir, pairs[i].off)
			if err != nil {
				return err
			}
			b, err := keyAt(dir, pairs[k].off)
			if err != nil {
				return err
			}
			if bytes.Equal(a, b) {
				return fmt.Errorf("two resources or aliases have the key of %s", fragment.DescribeKey(a))
			}
		}
	}
	return nil
}

// keyAt reads the key of the block at off.
func keyAt(dir io.ReaderAt, off uint64) ([]byte, error) {
	b := make([]byte, blockKey+fragment.MaxKeyLen)
	n, err := dir.ReadAt(b, int64(off))
	if end := blockKey + int(b[blockKeyLen]); n < end {
		return nil, fmt.Errorf("read key at %d of the directory: %w", off, err)
	}
	return b[blockKey:][:b[blockKeyLen]], nil
}
