package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// A delta describes a file by how it differs from another, so that whoever has the other moves less.
//
// It is a header and a zstd frame. The header has a magic, and SHA-256 and length of both files. The frame has
// instructions, each three varints and bytes: how many bytes follow, how many come from the old file
// after them, and how far from the end of the last copy plus the bytes those begin (signed); then the bytes.
//
// Blocks of the old file at multiples of the block length are found anywhere in the new one by a rolling hash, and
// matches grow to both sides. After a difference the same distance is tried first, so that fields
// of fixed length that differ cost little more than their bytes.
//
// encodeDelta reads both files as mapped memory and holds up to 48 MiB of its own. ApplyDelta holds up to 17 MiB.

const (
	deltaMagic     = "\xd5rsdel1\n"
	deltaHeaderLen = len(deltaMagic) + 2*(32+8)

	// minBlock is the length of blocks; of a large file they are longer, so that there are maxBlocks at most.
	minBlock = 32
	// minCopy is the fewest bytes worth a copy at the distance of the last one.
	minCopy = 8
	// resync is how far after a difference the distance of the last copy is tried.
	resync = 64
	// window is how far back zstd looks, and the memory of a decoder.
	window = 8 << 20
)

var maxBlocks = 4 << 20 // tests lower it

// encodeDelta writes the delta that makes the file new from the file old. Both are in memory, as mapped files are.
func encodeDelta(w io.Writer, newFile release.File, newData []byte, oldFile release.File, oldData []byte) error {
	head := []byte(deltaMagic)
	for _, f := range []struct {
		release.File
		data []byte
	}{{newFile, newData}, {oldFile, oldData}} {
		sha, err := hex.DecodeString(f.SHA256)
		if err != nil || len(sha) != 32 || f.Size != int64(len(f.data)) {
			return fmt.Errorf("encode delta: %s: want its SHA-256 and its %d bytes", f.Name, f.Size)
		}
		head = append(head, sha...)
		head = binary.LittleEndian.AppendUint64(head, uint64(f.Size))
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(z, 64<<10)
	e := encoder{new: newData, old: oldData, out: out, blocks: index(oldData)}
	if err := e.run(); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return z.Close()
}

// An encoder finds what new has of old.
type encoder struct {
	new, old []byte
	blocks   blocks
	out      *bufio.Writer
	done     int // bytes of new that instructions make
	after    int // end, in old, of the last copy
	scratch  []byte
}

// run writes the instructions.
func (e *encoder) run() error {
	size := e.blocks.size
	for at := 0; ; {
		from, to, n := e.next(at, size)
		if n == 0 {
			break
		}
		if err := e.instruction(from, to, n); err != nil {
			return err
		}
		at = to + n
	}
	return e.instruction(0, len(e.new), 0)
}

// next returns the next match from at on: n bytes of old at from are those of new at to; n is 0 after the last one.
func (e *encoder) next(at, size int) (from, to, n int) {
	from, to, n = e.again(at)
	last := len(e.new) - size
	if n >= size || at > last {
		return from, to, n
	}
	if n > 0 {
		last = min(last, to) // a short match counts unless a block is found before it
	}
	for h := e.blocks.hash(e.new[at:]); ; at++ {
		if off, ok := e.blocks.find(h, e.old, e.new[at:at+size]); ok {
			from, to = e.back(off, at)
			return from, to, (at - to) + size + common(e.old[off+size:], e.new[at+size:])
		}
		if at >= last {
			return from, to, n
		}
		h = e.blocks.roll(h, e.new[at], e.new[at+size])
	}
}

// again looks for a match at the distance of the last copy, which ended at, or shortly after it.
func (e *encoder) again(at int) (from, to, n int) {
	for to = at; to < min(at+resync, len(e.new)-minCopy); to++ {
		from = e.after + to - e.done
		if from+minCopy > len(e.old) {
			break
		}
		if binary.LittleEndian.Uint64(e.old[from:]) == binary.LittleEndian.Uint64(e.new[to:]) {
			return from, to, common(e.old[from:], e.new[to:])
		}
	}
	return 0, 0, 0
}

// back extends a match to the bytes before it, as far as no instruction makes them.
func (e *encoder) back(from, to int) (int, int) {
	for from > 0 && to > e.done && e.old[from-1] == e.new[to-1] {
		from, to = from-1, to-1
	}
	return from, to
}

// instruction writes the bytes of new up to to, and a copy of n bytes of old at from.
func (e *encoder) instruction(from, to, n int) error {
	fresh := e.new[e.done:to]
	if len(fresh)+n == 0 {
		return nil
	}
	b := binary.AppendUvarint(e.scratch[:0], uint64(len(fresh)))
	b = binary.AppendUvarint(b, uint64(n))
	if n > 0 {
		b = binary.AppendVarint(b, int64(from-e.after-len(fresh)))
		e.after = from + n
	}
	e.scratch, e.done = b, to+n
	if _, err := e.out.Write(b); err != nil {
		return err
	}
	_, err := e.out.Write(fresh)
	return err
}

// common returns how many bytes a and b have in common from their start.
func common(a, b []byte) (n int) {
	for len(a)-n >= 8 && len(b)-n >= 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
		n += 8
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// blocks finds blocks of a file by their content. Of equal ones it has the first.
type blocks struct {
	size   int      // bytes of a block
	shift  int      // of a hash, to a slot
	slots  []uint32 // number of a block plus 1; 0 is none
	filter []uint64 // a bit for each slot of eight times as many, which stays in a processor's cache
	out    uint64   // prime to the power of size: what a byte that leaves the window counts
}

const prime = 0x9E3779B185EBCA87

// index returns the blocks of a file.
func index(data []byte) blocks {
	b := blocks{size: minBlock, out: 1}
	for len(data)/b.size > maxBlocks {
		b.size *= 2
	}
	for range b.size {
		b.out *= prime
	}
	n := len(data) / b.size
	log := max(bits.Len(uint(n))+1, 6) // of the slots: less than a half of them is in use
	b.shift = 64 - log
	b.slots = make([]uint32, 1<<log)
	b.filter = make([]uint64, len(b.slots)/8)
	for i := range n {
		block := data[i*b.size : (i+1)*b.size]
		h := b.hash(block)
		slot, free := b.slot(h, data, block)
		if !free {
			continue
		}
		b.slots[slot] = uint32(i + 1)
		f := mix(h) >> (b.shift - 3)
		b.filter[f/64] |= 1 << (f % 64)
	}
	return b
}

// hash returns the hash of the block that data starts with.
func (b *blocks) hash(data []byte) (h uint64) {
	for _, c := range data[:b.size] {
		h = h*prime + uint64(c) + 1
	}
	return h
}

// roll returns the hash of the block one byte further on.
func (b *blocks) roll(h uint64, leaves, enters byte) uint64 {
	return h*prime + uint64(enters) + 1 - b.out*(uint64(leaves)+1)
}

// mix spreads a hash over its high bits.
func mix(h uint64) uint64 {
	h ^= h >> 32
	return h * prime
}

// maxProbes bounds the slots that are looked at for one hash.
const maxProbes = 8

// slot returns the slot for a block of a hash, and whether it is free: else it has an equal block, or there is no room.
func (b *blocks) slot(h uint64, data, block []byte) (slot uint64, free bool) {
	slot = mix(h) >> b.shift
	for range maxProbes {
		i := b.slots[slot]
		if i == 0 {
			return slot, true
		}
		if bytes.Equal(data[int(i-1)*b.size:int(i)*b.size], block) {
			return slot, false
		}
		slot = (slot + 1) % uint64(len(b.slots))
	}
	return slot, false
}

// find returns the offset in data of a block of that hash and content.
func (b *blocks) find(h uint64, data, block []byte) (off int, ok bool) {
	m := mix(h)
	if f := m >> (b.shift - 3); b.filter[f/64]>>(f%64)&1 == 0 {
		return 0, false
	}
	slot := m >> b.shift
	for range maxProbes {
		i := int(b.slots[slot])
		if i == 0 {
			return 0, false
		}
		if off = (i - 1) * b.size; bytes.Equal(data[off:off+b.size], block) {
			return off, true
		}
		slot = (slot + 1) % uint64(len(b.slots))
	}
	return 0, false
}
