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

// An unpacker uncompresses the pages of one file, never to more than they claim: the
// library's own codecs grow their buffers for as long as data comes.
type unpacker struct {
	zstd   *zstd.Decoder
	gzip   gzip.Reader
	brotli brotli.Reader
}

// unpack uncompresses src into dst and returns its length.
func (u *unpacker) unpack(codec format.CompressionCodec, dst, src []byte) (n int, err error) {
	var r interface {
		io.Reader
		Reset(src io.Reader) error
	}
	switch codec {
	case format.Snappy:
		if n, err = snappy.DecodedLen(src); err == nil && n <= len(dst) {
			_, err = snappy.Decode(dst, src)
		}
	case format.Zstd:
		if u.zstd == nil {
			if u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return 0, err
			}
		}
		out, err := u.zstd.DecodeAll(src, dst[:0:len(dst)])
		return len(out), err
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	case format.Gzip:
		r = &u.gzip
	case format.Brotli:
		r = &u.brotli
	default:
		return 0, fmt.Errorf("it is compressed with %s, want SNAPPY, ZSTD, GZIP, BROTLI or LZ4_RAW", codec)
	}
	if r != nil {
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return 0, err
		}
		n, _ = io.ReadFull(r, dst)                                    // what stopped it stops the next call
		if m, end := io.ReadFull(r, make([]byte, 1)); end != io.EOF { // to see the end
			n, err = n+m, end
		}
	}
	if n > len(dst) {
		return len(dst), errors.New("it is longer than its header claims")
	}
	return n, err
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}
