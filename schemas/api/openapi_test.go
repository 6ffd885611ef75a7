package api

import (
	"bytes"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// load reads a document with a library of others, and validates it.
func load(t *testing.T, text []byte, version string) *openapi3.T {
	t.Helper()
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(loader.Context); err != nil {
		t.Fatal(err)
	}
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

// TestRefusesBroken checks that the validation finds what is wrong.
func TestRefusesBroken(t *testing.T) {
	for _, change := range [][2]string{
		{`"type":"boolean"`, `"type":"bool"`},
		{`#/components/schemas/MovieCredits"`, `#/components/schemas/NoSuch"`},
		{`"in":"path"`, `"in":"road"`},
	} {
		text := bytes.Replace(OpenAPI(), []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(text, OpenAPI()) {
			t.Fatalf("the document has no %s", change[0])
		}
		loader := openapi3.NewLoader()
		doc, err := loader.LoadFromData(text)
		if err == nil {
			err = doc.Validate(loader.Context)
		}
		if err == nil {
			t.Errorf("with %s in place of %s the document is valid", change[1], change[0])
		}
	}
}
