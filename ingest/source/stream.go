package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow is the largest zstd window accepted, in bytes: what zstd --ultra -22
// and zstd --long=27 make, and what the zstd tool itself accepts by default.
const maxZstdWindow = 128 << 20

// A countingReader counts what was read from a file, for progress. The count may be
// read from another goroutine.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// compressionOf returns the compression of a file by its first bytes: its name does not count.
func compressionOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}):
		return "zstd" // a skippable frame, as pzstd puts in front
	}
	return "none"
}

// uncompress returns the uncompressed stream of br and a function that frees it.
func uncompress(br *bufio.Reader, compression string) (io.Reader, func(), error) {
	switch compression {
	case "gzip":
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, gzipError(err)
		}
		z.Multistream(false)
		return &gzipReader{br: br, z: z}, func() {}, nil
	case "zstd":
		// One goroutine a file: files are read side by side by the caller.
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, nil, zstdError(err)
		}
		return zstdReader{z}, z.Close, nil
	}
	return br, func() {}, nil
}

// A gzipReader reads gzip members one after another. It goes from member to member
// itself so that bytes behind the last one are told apart from a member cut short.
type gzipReader struct {
	br *bufio.Reader
	z  *gzip.Reader
}

func (g *gzipReader) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != io.EOF {
		return n, gzipError(err)
	}
	if err := g.skipPadding(); err != nil {
		return n, err
	}
	head, err := g.br.Peek(2)
	switch {
	case err != nil && err != io.EOF:
		return n, err
	case len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b:
		return n, errors.New("trailing garbage after the gzip stream")
	}
	if err := g.z.Reset(g.br); err != nil {
		return n, gzipError(err)
	}
	g.z.Multistream(false)
	return n, nil
}

// skipPadding passes the zeros behind the last member, as gzip does: they fill the last
// block of a tape or device. It returns io.EOF behind them.
func (g *gzipReader) skipPadding() error {
	for padded := false; ; padded = true {
		b, err := g.br.ReadByte()
		switch {
		case err != nil:
			return err
		case b != 0 && padded:
			return errors.New("trailing garbage after the gzip stream")
		case b != 0:
			return g.br.UnreadByte()
		}
	}
}

// gzipError names an error of package gzip as a fault of the file.
func gzipError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return errors.New("unexpected end of gzip stream")
	case errors.Is(err, gzip.ErrChecksum):
		return errors.New("corrupt gzip stream: checksum or length does not match")
	case errors.Is(err, gzip.ErrHeader):
		return errors.New("corrupt gzip stream: bad member header")
	}
	return fmt.Errorf("corrupt gzip stream: %w", err)
}

type zstdReader struct{ z *zstd.Decoder }

func (z zstdReader) Read(p []byte) (int, error) {
	n, err := z.z.Read(p)
	return n, zstdError(err)
}

// zstdError names an error of package zstd as a fault of the file.
func zstdError(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("unexpected end of zstd stream")
	case errors.Is(err, zstd.ErrMagicMismatch):
		return errors.New("trailing garbage after the zstd stream")
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("zstd window is larger than %d bytes: compress it again with a smaller --long", maxZstdWindow)
	}
	return fmt.Errorf("corrupt zstd stream: %w", err)
}
