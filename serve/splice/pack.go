package splice

import (
	"bytes"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
)

// A Packer compresses bodies as a whole. Many small segments have no common history, so a
// body of them takes less than two thirds this way. It is reused and not safe for
// concurrent use.
type Packer struct {
	z   *gzip.Writer // nil before the first use
	raw []byte
}

// packLevel is the level at which pages are compressed: for 20 rows higher levels make no fewer bytes,
// and the fastest level saves a tenth of the time for 6 % more bytes.
const packLevel = 6

// Bytes returns the capacity for bodies in bytes.
func (p *Packer) Bytes() int { return cap(p.raw) }

// AppendGzip appends the body of a as one gzip member, compressed as a whole. Its errors are
// Answer.AppendIdentity's.
func (p *Packer) AppendGzip(dst []byte, a *Answer) (_ []byte, err error) {
	if p.raw, err = a.AppendIdentity(p.raw[:0]); err != nil {
		return dst, err
	}
	if p.z == nil {
		if p.z, err = gzip.NewWriterLevel(nil, packLevel); err != nil {
			return dst, err
		}
	}
	out := bytes.NewBuffer(slices.Grow(dst, len(p.raw)/2))
	p.z.Reset(out)
	p.z.ModTime = time.Unix(0, 0) // no time
	if _, err = p.z.Write(p.raw); err == nil {
		err = p.z.Close()
	}
	return out.Bytes(), err
}
