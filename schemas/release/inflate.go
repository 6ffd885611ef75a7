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
	in  bytes.Reader
	z   io.ReadCloser
	buf []byte // of WriteTo
}

// Bytes is about how much memory an Inflater holds that was used: window, tables, buffer.
func (i *Inflater) Bytes() int {
	if i.z == nil {
		return 0
	}
	return 48<<10 + cap(i.buf)
}

// start makes i ready to read a segment.
func (i *Inflater) start(s *Segment) error {
	s.Check()
	i.in.Reset(s.Stored)
	if i.z == nil {
		i.z = flate.NewReader(&i.in)
	} else if err := i.z.(flate.Resetter).Reset(&i.in, nil); err != nil {
		return fmt.Errorf("inflate segment: %w", err)
	}
	if uint64(s.RawLen) > MaxInflation*uint64(len(s.Stored)) {
		return fmt.Errorf("%w: segment of %d bytes says it inflates to %d", ErrCorrupt, len(s.Stored), s.RawLen)
	}
	return nil
}

// pieceLen is how many raw bytes WriteTo holds at a time.
const pieceLen = 16 << 10

// WriteTo writes the raw bytes of one segment to w, piece by piece. The error is that of
// Append, or w's. Upon an error some bytes may have been written.
func (i *Inflater) WriteTo(w io.Writer, s *Segment) error {
	if err := i.start(s); err != nil {
		return err
	}
	if i.buf == nil {
		i.buf = make([]byte, pieceLen)
	}
	var crc uint32
	for left := int(s.RawLen); left > 0; {
		piece := i.buf[:min(left, pieceLen)]
		if _, err := io.ReadFull(i.z, piece); err != nil {
			return fmt.Errorf("%w: inflate segment: %w", ErrCorrupt, noEOF(err))
		}
		crc = crc32.Update(crc, crc32.IEEETable, piece)
		left -= len(piece)
		if left == 0 && crc != s.CRC { // before the last piece, so that the body is not whole
			return errSegmentCRC
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// Append appends the raw bytes of one segment. The error matches ErrCorrupt when it does
// not hold what its release says; dst is as it was then.
func (i *Inflater) Append(dst []byte, s *Segment) ([]byte, error) {
	if err := i.start(s); err != nil {
		return dst, err
	}
	n := len(dst)
	dst = append(dst, make([]byte, s.RawLen)...)
	// A segment has no final block, so reading exactly its length is the only end.
	if _, err := io.ReadFull(i.z, dst[n:]); err != nil {
		return dst[:n], fmt.Errorf("%w: inflate segment: %w", ErrCorrupt, noEOF(err))
	}
	if crc32.ChecksumIEEE(dst[n:]) != s.CRC {
		return dst[:n], errSegmentCRC
	}
	return dst, nil
}

var errSegmentCRC = fmt.Errorf("%w: segment has another CRC than its release says", ErrCorrupt)

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
