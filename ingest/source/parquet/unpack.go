package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

var errPageSize = errors.New("it is longer than its header claims")

// An unpacker uncompresses the pages of one file, never to more than they claim: the
// library's own codecs grow their buffers for as long as data comes.
type unpacker struct {
	zstd   *zstd.Decoder
	gzip   gzip.Reader
	brotli brotli.Reader
	src    bytes.Reader
}

// unpack uncompresses src into dst and returns its length.
func (u *unpacker) unpack(codec format.CompressionCodec, dst, src []byte) (n int, err error) {
	u.src.Reset(src)
	switch codec {
	case format.Snappy:
		if n, err = snappy.DecodedLen(src); err != nil {
			return 0, err
		}
		if n > len(dst) {
			return 0, errPageSize
		}
		_, err = snappy.Decode(dst, src)
		return n, err
	case format.Zstd:
		return u.unzstd(dst, src)
	case format.Gzip:
		return u.readWhole(&u.gzip, dst)
	case format.Brotli:
		return u.readWhole(&u.brotli, dst)
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	}
	return 0, fmt.Errorf("it is compressed with %s, want SNAPPY, ZSTD, GZIP, BROTLI or LZ4_RAW", codec)
}

func (u *unpacker) unzstd(dst, src []byte) (int, error) {
	if u.zstd == nil {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return 0, err
		}
		u.zstd = z
	}
	out, err := u.zstd.DecodeAll(src, dst[:0:len(dst)])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errPageSize
	}
	return len(out), err
}

// A resetReader is a reader of gzip or brotli.
type resetReader interface {
	io.Reader
	Reset(src io.Reader) error
}

// readWhole reads src through r to its end into dst, which must be long enough.
func (u *unpacker) readWhole(r resetReader, dst []byte) (n int, err error) {
	if err := r.Reset(&u.src); err != nil {
		return 0, err
	}
	for n < len(dst) {
		m, err := r.Read(dst[n:])
		n += m
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	var more [1]byte
	if m, err := io.ReadFull(r, more[:]); m > 0 {
		return n, errPageSize
	} else if err != io.EOF {
		return n, err
	}
	return n, nil
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}
