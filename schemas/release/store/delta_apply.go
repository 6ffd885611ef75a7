package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// ErrInvalidDelta matches errors about a delta that is malformed, or of other files.
var ErrInvalidDelta = errors.New("delta is invalid")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidDelta, fmt.Sprintf(format, args...))
}

// ApplyDelta writes the file new, made from the file old and a delta. It writes new.Size bytes at most. Without an
// error, they have the SHA-256 of new.
func ApplyDelta(w io.Writer, newFile release.File, delta io.Reader, oldFile release.File, old io.ReaderAt) error {
	head := make([]byte, deltaHeaderLen)
	if _, err := io.ReadFull(delta, head); err != nil {
		return invalid("read header: %v", err)
	}
	rest, ok := bytes.CutPrefix(head, []byte(deltaMagic))
	if !ok {
		return invalid("it starts with % x", head[:len(deltaMagic)])
	}
	for _, f := range []release.File{newFile, oldFile} {
		if sha, size := hex.EncodeToString(rest[:32]), binary.LittleEndian.Uint64(rest[32:]); sha != f.SHA256 || size != uint64(f.Size) {
			return invalid("it is about a file of %d bytes with SHA-256 %s, not about %s", size, sha, f.Name)
		}
		rest = rest[40:]
	}
	z, err := zstd.NewReader(delta, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer z.Close()
	sha := sha256.New()
	if err := newDecoder(z, io.MultiWriter(w, sha), old, oldFile.Size, newFile.Size).run(); err != nil {
		return err
	}
	if got := hex.EncodeToString(sha.Sum(nil)); got != newFile.SHA256 {
		return invalid("it makes a file with SHA-256 %s, not %s", got, newFile.SHA256)
	}
	return nil
}

// A decoder follows the instructions of a delta.
type decoder struct {
	in      *bufio.Reader
	old     io.ReaderAt
	oldSize int64
	out     io.Writer
	size    int64 // of the new file
	done    int64
	after   int64 // end, in old, of the last copy
	buf     []byte
}

func newDecoder(in io.Reader, out io.Writer, old io.ReaderAt, oldSize, size int64) *decoder {
	return &decoder{in: bufio.NewReaderSize(in, 64<<10), old: old, oldSize: oldSize, out: out, size: size, buf: make([]byte, 64<<10)}
}

// run follows all instructions.
func (d *decoder) run() error {
	for d.done < d.size {
		fresh, err := binary.ReadUvarint(d.in)
		if err != nil {
			return invalid("read instruction at byte %d of the file: %v", d.done, err)
		}
		copied, err := binary.ReadUvarint(d.in)
		if err != nil {
			return invalid("read instruction at byte %d of the file: %v", d.done, err)
		}
		left := uint64(d.size - d.done)
		if fresh > left || copied > left-fresh || fresh+copied == 0 {
			return invalid("instruction of %d and %d bytes at byte %d of a file of %d", fresh, copied, d.done, d.size)
		}
		if err := d.follow(int64(fresh), int64(copied)); err != nil {
			return err
		}
	}
	if _, err := d.in.ReadByte(); err != io.EOF {
		return invalid("it goes on after the end of the file")
	}
	return nil
}

// follow follows one instruction.
func (d *decoder) follow(fresh, copied int64) error {
	from := int64(0)
	if copied > 0 {
		move, err := binary.ReadVarint(d.in)
		if err != nil {
			return invalid("read instruction at byte %d of the file: %v", d.done, err)
		}
		from = d.after + fresh + move
		if from < 0 || from > d.oldSize || copied > d.oldSize-from {
			return invalid("copy of %d bytes at %d of a file of %d", copied, from, d.oldSize)
		}
		d.after = from + copied
	}
	if n, err := d.copy(d.in, fresh); err != nil || n < fresh {
		return d.failed(err, "its bytes end at byte %d of the file", d.done+n)
	}
	if n, err := d.copy(io.NewSectionReader(d.old, from, copied), copied); err != nil || n < copied {
		return d.failed(err, "the old file ends at byte %d", from+n)
	}
	d.done += fresh + copied
	return nil
}

// copy copies n bytes of r to the new file.
func (d *decoder) copy(r io.Reader, n int64) (int64, error) {
	return io.CopyBuffer(d.out, io.LimitReader(r, n), d.buf)
}

// failed returns err, or else that the delta is invalid.
func (d *decoder) failed(err error, format string, args ...any) error {
	if err != nil {
		return fmt.Errorf("apply delta: %w", err)
	}
	return invalid(format, args...)
}
