package api

import (
	"bytes"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// load reads a document with a library of others, and validates it.
func load(t *testing.T, text []byte, version string) *openapi3.T {
	t.Helper()
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(text)
	sharedtest.NoError(t, err)
	sharedtest.NoError(t, doc.Validate(loader.Context))
	if doc.OpenAPI != version {
		t.Errorf("openapi = %q, want %q", doc.OpenAPI, version)
	}
	return doc
}

func TestDocuments(t *testing.T) {
	load(t, OpenAPI(), "3.1.0")
	load(t, OpenAPI30(), "3.0.3")
	if !bytes.Equal(unpack(OpenAPIGzip()), OpenAPI()) {
		t.Error("Gzip and OpenAPI differ")
	}
}
