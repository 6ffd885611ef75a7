package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// An input is an open dump file, local or in a bucket.
type input struct {
	io.ReadCloser             // sequential access
	readerAt      io.ReaderAt // random access; nil for a pipe or the like
	size          int64       // 0 if unknown
}

// openInput opens a local file or an object.
func openInput(ctx context.Context, f File) (*input, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	if o := f.object; o != nil {
		info, err := o.bucket.Stat(ctx, o.info.Key) // the object may have changed since it was listed
		if err != nil {
			return nil, err
		}
		return &input{ReadCloser: o.bucket.NewReader(ctx, info), readerAt: o.bucket.NewReaderAt(ctx, info), size: info.Size}, nil
	}
	if object.IsURL(f.Path) {
		return nil, errors.New("is a URL: an object is opened as List returned it")
	}
	if info, err := os.Stat(f.Path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, errors.New("is a folder, want a file")
		}
		r, w := io.Pipe()
		go func() {
			osf, err := os.Open(f.Path)
			if err == nil {
				_, err = io.Copy(w, osf)
				err = errors.Join(err, osf.Close())
			}
			_ = w.CloseWithError(err) // never fails; nil means io.EOF
		}()
		stop := context.AfterFunc(ctx, func() { _ = w.CloseWithError(context.Cause(ctx)) })
		return &input{ReadCloser: &pipe{r, stop}}, nil
	}
	osf, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	info, err := osf.Stat()
	if err != nil {
		return nil, errors.Join(err, osf.Close())
	}
	return &input{ReadCloser: osf, readerAt: osf, size: info.Size()}, nil
}

// Sum returns the SHA-256 of a file in hex, or "" for a pipe, which can be read only once.
func (f File) Sum(ctx context.Context) (string, error) {
	if info, err := os.Stat(f.Path); f.object == nil && (err != nil || !info.Mode().IsRegular()) {
		return "", err
	}
	in, err := openInput(ctx, f)
	if err != nil {
		return "", err
	}
	defer in.Close()
	hash, buf := sha256.New(), make([]byte, 256<<10)
	for ctx.Err() == nil {
		n, err := in.Read(buf)
		hash.Write(buf[:n])
		if err == io.EOF {
			return hex.EncodeToString(hash.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", ctx.Err()
}

// A hashingReader hashes a file while it is read, and calls done with the SHA-256 in hex at its end.
type hashingReader struct {
	io.Reader
	hash hash.Hash
	done func(sum string)
}

func (s *hashingReader) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	s.hash.Write(b[:n])
	if err == io.EOF {
		s.done(hex.EncodeToString(s.hash.Sum(nil)))
	}
	return n, err
}

// A pipe reads a file that may block until another process writes it.
// The end of its context unblocks it.
type pipe struct {
	*io.PipeReader
	stop func() bool
}

func (p *pipe) Close() error {
	p.stop()
	return p.PipeReader.Close()
}

// inBucket is an object of an open bucket. The bucket is not closed: it holds only idle
// connections, which time out.
type inBucket struct {
	bucket object.Bucket
	info   object.Info // as it was listed
}

// maxZstdWindow is the largest accepted zstd window in bytes: zstd --ultra -22 and
// zstd --long=27 use it, and the zstd tool accepts no larger one by default.
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

// compressionOf detects the compression of a file from its first bytes.
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
		return &unpackReader{z, compression}, func() {}, unpackError(compression, err)
	case "zstd":
		// One goroutine per file: the caller reads files concurrently.
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		return &unpackReader{z, compression}, z.Close, unpackError(compression, err)
	}
	return r, func() {}, nil
}

// An unpackReader turns the errors of a decompression library into errors about the file.
type unpackReader struct {
	io.Reader
	compression string
}

func (p *unpackReader) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	return n, unpackError(p.compression, err)
}

func unpackError(compression string, err error) error {
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
