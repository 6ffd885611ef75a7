package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow is the largest zstd window accepted, in bytes: zstd --ultra -22 and
// zstd --long=27 write it, and the zstd tool accepts no larger one by default.
const maxZstdWindow = 128 << 20

// A countingReader counts the bytes read from a file, for progress. The count may be
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

// compressionOf returns the compression of a file by its first bytes, whatever its name.
func compressionOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte{0x2a, 0x4d, 0x18}):
		return "zstd" // a skippable frame, with which pzstd starts files
	}
	return "none"
}

// uncompress returns the uncompressed stream of r and a function that frees it.
func uncompress(r io.Reader, compression string) (io.Reader, func(), error) {
	switch compression {
	case "gzip":
		z, err := gzip.NewReader(r)
		return &packed{z, compression}, func() {}, packedError(compression, err)
	case "zstd":
		// One goroutine a file: the caller reads files concurrently.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		return &packed{z, compression}, z.Close, packedError(compression, err)
	}
	return r, func() {}, nil
}

// A packed reader names the errors of a library that uncompresses as faults of the file.
type packed struct {
	io.Reader
	compression string
}

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	return n, packedError(p.compression, err)
}

func packedError(compression string, err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("unexpected end of %s stream", compression)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("zstd window is larger than %d bytes: compress it again with a smaller --long", maxZstdWindow)
	}
	return fmt.Errorf("corrupt %s stream: %w", compression, err)
}
