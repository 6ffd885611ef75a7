package catalog

import (
	kzstd "github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// codec compresses all columns of a file with one encoder. The library's keeps its
// encoders in a pool that may forget them, and each takes megabytes.
type codec struct {
	zstd.Codec
	enc *kzstd.Encoder
}

func newCodec() (*codec, error) {
	enc, err := kzstd.NewWriter(nil, kzstd.WithEncoderConcurrency(1), kzstd.WithEncoderLevel(kzstd.SpeedDefault),
		kzstd.WithZeroFrames(true), kzstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	return &codec{enc: enc}, nil
}

// Encode compresses src into dst, which it may replace.
func (c *codec) Encode(dst, src []byte) ([]byte, error) { return c.enc.EncodeAll(src, dst[:0]), nil }
