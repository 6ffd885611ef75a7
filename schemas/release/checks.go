package release

import (
	"bufio"
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync/atomic"
)

// The file checks has a CRC-32C for each block of all other binary files, so that a Reader
// can check the blocks that it hands out, each when it is used for the first time. A second
// level over the first is checked when the release is opened: a release of 54 GB has 54 MB
// of the first level and 53 KB of the second.

const (
	checksFile = "checks"

	// checkBlock is the length of a block: a page of memory, so that a check reads no more
	// from a disk than its reader does.
	checkBlock = 4096
	// checkLen is the length of the CRC of a block.
	checkLen = 4
)

// What the counts of the header of checks are.
const (
	checksBlocks = 0 // blocks of all files
	checksTop    = 1 // CRC-32C of the second level
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blocksOf returns how many blocks n bytes have.
func blocksOf[T int | int64 | uint64](n T) T { return (n + checkBlock - 1) / checkBlock }

// blockOf returns block b of data, the last of which may be shorter.
func blockOf(data []byte, b uint64) []byte {
	return data[b*checkBlock : min((b+1)*checkBlock, uint64(len(data)))]
}

// blockSums computes the CRCs of the blocks of what is written to it.
type blockSums struct {
	sums []byte
	crc  uint32
	n    int // bytes of the open block
}

// Write never fails.
func (s *blockSums) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		k := min(len(rest), checkBlock-s.n)
		s.crc = crc32.Update(s.crc, castagnoli, rest[:k])
		if s.n += k; s.n == checkBlock {
			s.end()
		}
		rest = rest[k:]
	}
	return len(b), nil
}

func (s *blockSums) end() {
	s.sums = le.AppendUint32(s.sums, s.crc)
	s.crc, s.n = 0, 0
}

// close ends the last block, and returns the CRCs.
func (s *blockSums) close() []byte {
	if s.n > 0 {
		s.end()
	}
	return s.sums
}

// A summedFile is what the manifest and checks say of a file.
type summedFile struct {
	File
	blocks []byte // the CRCs of its blocks
}

// writeChecks writes checks for the files that m lists, and lists it.
func (w *Writer) writeChecks(ctx context.Context, m *Manifest, of map[string][]byte) (err error) {
	f, err := os.Create(filepath.Join(w.tmp, checksFile))
	if err != nil {
		return err
	}
	defer closeInto(f, &err)
	blocks := uint64(0)
	for i := range m.Files {
		if n := blocksOf(m.Files[i].Size) * checkLen; int64(len(of[m.Files[i].Name])) != n {
			return fmt.Errorf("%s has %d bytes of block checksums, want %d", m.Files[i].Name, len(of[m.Files[i].Name]), n)
		}
		blocks += uint64(blocksOf(m.Files[i].Size))
	}
	out := bufio.NewWriterSize(f, 256<<10)
	if _, err := out.Write(make([]byte, headerLen)); err != nil { // filled in below
		return err
	}
	var tops blockSums
	for i := range m.Files {
		b := of[m.Files[i].Name]
		_, _ = tops.Write(b) // never fails
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	second := tops.close()
	if _, err := out.Write(second); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	h := header{magic: checksMagic, length: headerLen + checkLen*blocks + uint64(len(second))}
	h.counts[checksBlocks], h.counts[checksTop] = blocks, uint64(crc32.Checksum(second, castagnoli))
	if _, err := f.WriteAt(h.appendTo(nil), 0); err != nil {
		return err
	}
	if err := w.disk.sync(f); err != nil {
		return err
	}
	sum, err := hashFile(ctx, f.Name(), nil)
	m.Files = append(m.Files, sum.File)
	return err
}

// A mapping is a mapped file, and which of its blocks have been checked.
type mapping struct {
	r    *Reader
	name string
	data []byte
	// seen has a bit for each block that was checked, or that is not to be.
	seen  []atomic.Uint64
	first uint64 // number of its first block among those of all files
}

func newMapping(r *Reader, name string, data []byte) *mapping {
	return &mapping{r: r, name: name, data: data, seen: make([]atomic.Uint64, (blocksOf(len(data))+63)/64)}
}

// trust takes all blocks for checked.
func (m *mapping) trust() {
	for i := range m.seen {
		m.seen[i].Store(^uint64(0))
	}
}

// check checks the blocks that n > 0 bytes from off on lie in, those that have not been checked.
// It panics with a *CorruptError, which Guard returns.
func (m *mapping) check(off, n uint64) {
	// Fast path: they lie in one block, and that has been checked.
	if b := off / checkBlock; off+n > (b+1)*checkBlock || m.seen[b/64].Load()>>(b%64)&1 == 0 {
		m.checkAll(off, n)
	}
}

// checkAll is check of any number of blocks.
func (m *mapping) checkAll(off, n uint64) {
	end := off + n
	for b := off / checkBlock; b*checkBlock < end; b++ {
		switch seen := m.seen[b/64].Load(); {
		case seen == ^uint64(0):
			b |= 63 // Fast path: all of the word have been checked.
		case seen>>(b%64)&1 == 0:
			m.checkBlock(b)
		}
	}
}

// checkBlock checks a block.
func (m *mapping) checkBlock(b uint64) {
	if err := m.compare(b, blockOf(m.data, b)); err != nil {
		panic(err)
	}
}

// compare compares block b, as it was read, with its CRC.
func (m *mapping) compare(b uint64, block []byte) *CorruptError {
	got, want := crc32.Checksum(block, castagnoli), m.r.checks.sum(m.first+b)
	if got == want {
		m.seen[b/64].Or(1 << (b % 64))
		return nil
	}
	return m.damaged(b, fmt.Sprintf("CRC-32C of %d bytes is %08x, %s says %08x", len(block), got, checksFile, want))
}

// damaged notes that a block is damaged, which is checked again from here on.
func (m *mapping) damaged(b uint64, what string) *CorruptError {
	m.forget(b)
	err := &CorruptError{File: m.name, Off: int64(b * checkBlock), What: what}
	m.r.damage.note(b, err)
	return err
}

// forget has a block checked again, unless nothing of the release is.
func (m *mapping) forget(b uint64) {
	if m.r.checks != nil {
		m.seen[b/64].And(^uint64(1 << (b % 64)))
	}
}

// unreadable notes that the file cannot be read at an offset.
func (m *mapping) unreadable(off uint64) *CorruptError {
	return m.damaged(off/checkBlock, "it cannot be read: the file has become shorter, or its disk fails")
}

// checks is the file of that name, as a Reader has it.
type checks struct {
	*mapping
	sums, tops []byte // the two levels
	seenSums   []atomic.Uint64
}

// sum returns the CRC of a block by its number among those of all files.
func (c *checks) sum(i uint64) uint32 {
	b := i * checkLen / checkBlock
	if c.seenSums[b/64].Load()>>(b%64)&1 == 0 {
		if err := c.compareSums(b, blockOf(c.sums, b)); err != nil {
			panic(err)
		}
	}
	return le.Uint32(c.sums[checkLen*i:])
}

// compareSums compares block b of the first level, as it was read, with the second.
func (c *checks) compareSums(b uint64, block []byte) *CorruptError {
	got, want := crc32.Checksum(block, castagnoli), le.Uint32(c.tops[checkLen*b:])
	if got == want {
		c.seenSums[b/64].Or(1 << (b % 64))
		return nil
	}
	c.seenSums[b/64].And(^uint64(1 << (b % 64)))
	err := &CorruptError{File: checksFile, Off: int64(headerLen + b*checkBlock), What: fmt.Sprintf("CRC-32C of %d bytes is %08x, the second level says %08x", len(block), got, want)}
	c.r.damage.note(b, err)
	return err
}

// of returns the CRCs of the blocks of a file.
func (c *checks) of(m *mapping) []byte {
	n := uint64(blocksOf(len(m.data)))
	for i := range n {
		c.sum(m.first + i)
	}
	return c.sums[checkLen*m.first:][:checkLen*n]
}

// addChecks reads the header of checks. Unless the Reader trusts its files, it checks the
// second level, and the blocks of the other files when they are used.
func (r *Reader) addChecks(trust bool) error {
	m := r.files[checksFile]
	h, err := parseHeader(checksFile, m.data, checksMagic, r.manifest.FormatVersion)
	if err != nil {
		return err
	}
	blocks := uint64(0)
	for _, f := range r.manifest.Files {
		if f.Name != checksFile {
			r.files[f.Name].first = blocks
			blocks += uint64(blocksOf(f.Size))
		}
	}
	tops := blocksOf(checkLen * blocks)
	if want := headerLen + checkLen*(blocks+tops); h.counts[checksBlocks] != blocks || uint64(len(m.data)) != want {
		return corrupt(checksFile, headerCounts+8*checksBlocks, "%d blocks in %d bytes, the files have %d, which need %d",
			h.counts[checksBlocks], len(m.data), blocks, want)
	}
	end := headerLen + checkLen*blocks
	c := &checks{mapping: m, sums: m.data[headerLen:end], tops: m.data[end:], seenSums: make([]atomic.Uint64, (tops+63)/64)}
	m.trust() // its blocks are those of the first level
	r.heads[checksFile], r.sums = h, c
	if trust {
		return nil
	}
	if got := crc32.Checksum(c.tops, castagnoli); uint64(got) != h.counts[checksTop] {
		return corrupt(checksFile, int64(end), "CRC-32C of the second level is %08x, the header says %08x", got, h.counts[checksTop])
	}
	r.checks = c
	return nil
}
