package api

import (
	"bytes"
	_ "embed"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

//go:embed openapi-3.1.json.gz
var packed []byte

//go:embed openapi-3.0.json.gz
var packed30 []byte

// OpenAPIGzip returns the document, OpenAPI 3.1 as JSON, as one gzip member. It is shared and read-only.
func OpenAPIGzip() []byte { return packed }

// OpenAPI returns the document, OpenAPI 3.1 as JSON. It is shared and read-only.
func OpenAPI() []byte { return document() }

// OpenAPI30 returns the document as OpenAPI 3.0, for tools without 3.1. It is more permissive where 3.0 cannot
// express a limit. It is shared and read-only.
func OpenAPI30() []byte { return document30() }

var (
	document   = sync.OnceValue(func() []byte { return unpack(packed) })
	document30 = sync.OnceValue(func() []byte { return unpack(packed30) })
)

// unpack inflates an embedded document; a test verifies that it can.
func unpack(gz []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return text
}
