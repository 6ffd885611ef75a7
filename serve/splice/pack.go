package splice

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/flate"
)

// A Packer compresses bodies as a whole: those made of many small segments, which share
// no history with one another, come to less than two thirds so. It is reused and not
// safe for concurrent use.
type Packer struct {
	z   *flate.Writer
	raw []byte
	out []byte
}

// packLevel is the level at which pages are packed: of 20 rows it makes no fewer bytes
// slower, and the fastest level saves a tenth of the time for 6 % more bytes.
const packLevel = 6

// Bytes returns how long the longest body was.
func (p *Packer) Bytes() int { return cap(p.raw) }

// Write takes what the compressor gives; Packer is its sink.
func (p *Packer) Write(b []byte) (int, error) {
	p.out = append(p.out, b...)
	return len(b), nil
}

// AppendGzip appends the body of a as one gzip member of one pass. The error is that of
// Answer.AppendIdentity.
func (p *Packer) AppendGzip(dst []byte, a *Answer) ([]byte, error) {
	var err error
	if p.raw, err = a.AppendIdentity(p.raw[:0]); err != nil {
		return dst, err
	}
	if p.z == nil {
		if p.z, err = flate.NewWriter(p, packLevel); err != nil {
			return dst, err
		}
	} else {
		p.z.Reset(p)
	}
	p.out = append(slices.Grow(dst, len(p.raw)/2), header...)
	_, err = p.z.Write(p.raw)
	if err == nil {
		err = p.z.Close()
	}
	out := p.out
	p.out = nil // it belongs to the caller
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(p.raw))
	return binary.LittleEndian.AppendUint32(out, uint32(len(p.raw))), err
}
