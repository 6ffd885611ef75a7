package splice

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/flate"
)

// A Deflater makes deflate blocks. It is reused and not safe for concurrent use.
type Deflater struct {
	level int
	z     *flate.Writer
	out   []byte // of the Append under way
}

// NewDeflater returns a Deflater of a level of package flate.
func NewDeflater(level int) *Deflater { return &Deflater{level: level} }

// Write takes the output of the compressor.
func (d *Deflater) Write(b []byte) (int, error) {
	d.out = append(d.out, b...)
	return len(b), nil
}

// Append appends raw as deflate blocks, the last of which ends the stream if final is set.
func (d *Deflater) Append(dst, raw []byte, final bool) (out []byte, err error) {
	if d.z == nil {
		if d.z, err = flate.NewWriter(d, d.level); err != nil {
			return dst, err
		}
	} else {
		d.z.Reset(d)
	}
	d.out = dst
	defer func() { d.out = nil }() // it belongs to the caller
	if _, err = d.z.Write(raw); err == nil {
		if final {
			err = d.z.Close()
		} else {
			err = d.z.Flush()
		}
	}
	return d.out, err
}

// A Packer compresses bodies as a whole: those made of many small segments, which share
// no history with one another, come to less than two thirds so. It is reused and not
// safe for concurrent use.
type Packer struct {
	z   Deflater
	raw []byte
}

// packLevel is the level at which pages are compressed: for 20 rows higher levels make no fewer bytes,
// and the fastest level saves a tenth of the time for 6 % more bytes.
const packLevel = 6

// Bytes returns the capacity for bodies in bytes, that of the longest one.
func (p *Packer) Bytes() int { return cap(p.raw) }

// AppendGzip appends the body of a as one gzip member of one pass. The error is that of
// Answer.AppendIdentity.
func (p *Packer) AppendGzip(dst []byte, a *Answer) ([]byte, error) {
	var err error
	if p.raw, err = a.AppendIdentity(p.raw[:0]); err != nil {
		return dst, err
	}
	p.z.level = packLevel
	out, err := p.z.Append(append(slices.Grow(dst, len(p.raw)/2), header...), p.raw, true /* final */)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(p.raw))
	return binary.LittleEndian.AppendUint32(out, uint32(len(p.raw))), err
}
