package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/gzip"
)

// A Body is a prepared response. It is shared by all requests: read only.
type Body struct {
	Identity []byte // JSON without blanks or a newline
	Gzip     []byte // the same as one gzip member
	ETag     []byte // W/"<32 hex digits>", the first half of the SHA-256 of Identity
}

// newBody encodes v and compresses it as well as deflate can, which is done once.
func newBody(v any) *Body {
	identity := encode(v)
	sum := sha256.Sum256(identity)
	tag := append([]byte(`W/"`), hex.EncodeToString(sum[:len(sum)/2])...)
	return &Body{Identity: identity, Gzip: compress(identity), ETag: append(tag, '"')}
}

// encode returns v as JSON in the way of the API: no blanks, "&" as it stands. What
// this package encodes always can be, so an error is a bug here and panics.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Errorf("static: encode %T: %w", v, err))
	}
	return bytes.Clone(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// compress returns b as one gzip member. Writing to memory cannot fail.
func compress(b []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(fmt.Errorf("static: compress: %w", err))
	}
	if _, err := w.Write(b); err != nil {
		panic(fmt.Errorf("static: compress: %w", err))
	}
	if err := w.Close(); err != nil {
		panic(fmt.Errorf("static: compress: %w", err))
	}
	return bytes.Clone(out.Bytes())
}
