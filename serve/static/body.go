package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/gzip"
)

// A Body is a prepared response. It is shared by all requests: read only.
type Body struct {
	Identity []byte // facts are JSON without blanks or a newline
	Gzip     []byte // the same as one gzip member
	ETag     []byte // W/"<32 hex digits>", the first half of the SHA-256 of Identity
}

// newBody encodes v, which always can be encoded: an error is a bug here and panics.
func newBody(v any) *Body {
	var identity bytes.Buffer
	enc := json.NewEncoder(&identity)
	enc.SetEscapeHTML(false) // the API has "&" as it stands
	err := enc.Encode(v)
	identity.Truncate(max(0, identity.Len()-len("\n")))
	if err != nil {
		panic(fmt.Errorf("static: encode %T: %w", v, err))
	}
	return BodyOf(bytes.Clone(identity.Bytes()), nil)
}

// BodyOf returns the body of its identity form. packed is that as one gzip member, nil to compress it
// here, as well as deflate can.
func BodyOf(identity, packed []byte) *Body {
	if packed == nil {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a level that there is
		_, _ = w.Write(identity)                                // a Buffer takes all
		_ = w.Close()
		packed = bytes.Clone(out.Bytes())
	}
	sum := sha256.Sum256(identity)
	return &Body{Identity: identity, Gzip: packed, ETag: fmt.Appendf(nil, `W/"%x"`, sum[:len(sum)/2])}
}
