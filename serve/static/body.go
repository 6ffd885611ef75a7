package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/gzip"
)

// A Body is a prepared response. It is shared by all requests: read only.
type Body struct {
	Identity []byte // JSON without blanks or a newline
	Gzip     []byte // the same as one gzip member
	ETag     []byte // W/"<32 hex digits>", the first half of the SHA-256 of Identity
}

// newBody encodes v and compresses it as well as deflate can, which is done once. v always can be
// encoded, and writing to memory cannot fail, so an error is a bug here and panics.
func newBody(v any) *Body {
	var identity, packed bytes.Buffer
	enc := json.NewEncoder(&identity)
	enc.SetEscapeHTML(false) // the API has "&" as it stands
	err := enc.Encode(v)
	identity.Truncate(max(0, identity.Len()-len("\n")))
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, writeErr := w.Write(identity.Bytes())
	if err := errors.Join(err, writeErr, w.Close()); err != nil {
		panic(fmt.Errorf("static: encode %T: %w", v, err))
	}
	sum := sha256.Sum256(identity.Bytes())
	tag := fmt.Appendf(nil, `W/"%x"`, sum[:len(sum)/2])
	return &Body{Identity: bytes.Clone(identity.Bytes()), Gzip: bytes.Clone(packed.Bytes()), ETag: tag}
}
