package catalog

import (
	kzstd "github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// codec compresses all columns of a file with the same few encoders. The library's keeps
// its encoders in a pool that may forget them, and each takes megabytes.
type codec struct {
	zstd.Codec
	enc *kzstd.Encoder
}

// newCodec returns a codec for so many users at once.
func newCodec(users int) (*codec, error) {
	enc, err := kzstd.NewWriter(nil, kzstd.WithEncoderConcurrency(users), kzstd.WithEncoderLevel(kzstd.SpeedDefault),
		kzstd.WithZeroFrames(true), kzstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	return &codec{enc: enc}, nil
}

// Encode compresses src into dst, which it may replace.
func (c *codec) Encode(dst, src []byte) ([]byte, error) { return c.enc.EncodeAll(src, dst[:0]), nil }
