package release

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

// MaxInflation is how many raw bytes a byte of deflate can stand for: 258 for each
// two bits. A segment that says more is damaged, and no memory is set aside for it.
const MaxInflation = 4 * 258

// An Inflater inflates single segments. The zero value is ready; it is for one goroutine.
type Inflater struct {
	in bytes.Reader
	z  io.ReadCloser
}

// Append appends the raw bytes of one segment. The error matches ErrCorrupt when it does
// not hold what its release says; dst is as it was then.
func (i *Inflater) Append(dst []byte, s *Segment) ([]byte, error) {
	s.Check()
	i.in.Reset(s.Stored)
	if i.z == nil {
		i.z = flate.NewReader(&i.in)
	} else if err := i.z.(flate.Resetter).Reset(&i.in, nil); err != nil {
		return dst, fmt.Errorf("inflate segment: %w", err)
	}
	if uint64(s.RawLen) > MaxInflation*uint64(len(s.Stored)) {
		return dst, fmt.Errorf("%w: segment of %d bytes says it inflates to %d", ErrCorrupt, len(s.Stored), s.RawLen)
	}
	n := len(dst)
	dst = append(dst, make([]byte, s.RawLen)...)
	// A segment has no final block, so reading exactly its length is the only end.
	if _, err := io.ReadFull(i.z, dst[n:]); err != nil {
		return dst[:n], fmt.Errorf("%w: inflate segment: %w", ErrCorrupt, noEOF(err))
	}
	if crc32.ChecksumIEEE(dst[n:]) != s.CRC {
		return dst[:n], fmt.Errorf("%w: segment has another CRC than its release says", ErrCorrupt)
	}
	return dst, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
