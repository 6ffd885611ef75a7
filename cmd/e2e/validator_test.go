package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/reelsplice/reelsplice/schemas/api"
)

// A validator validates responses against an OpenAPI document. It is for one goroutine.
type validator struct {
	doc      map[string]any
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// newValidator returns a validator of the document. A closed one refuses fields that the document does not
// name, which the document itself allows.
func newValidator(t *testing.T, isClosed bool) *validator {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(api.OpenAPI()))
	if err != nil {
		t.Fatal(err)
	}
	doc := v.(map[string]any)
	if isClosed {
		shut(at(doc, "components", "schemas"))
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(base, doc); err != nil {
		t.Fatal(err)
	}
	return &validator{doc, c, map[string]*jsonschema.Schema{}}
}

const base = "file:///openapi.json"

// shut forbids further fields in all objects that have some by name.
func shut(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			shut(below)
		}
		_, isSchema := v["type"]
		_, hasFields := v["properties"].(map[string]any)
		if isSchema && hasFields && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
	case []any:
		for _, below := range v {
			shut(below)
		}
	}
}

// at returns the value below names, nil when there is none.
func at(v any, names ...string) any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// paths returns the paths of the document, sorted.
func (v *validator) paths() []string {
	all, _ := at(v.doc, "paths").(map[string]any)
	return slices.Sorted(maps.Keys(all))
}

// has reports whether a GET of a path of the document can have an HTTP status.
func (v *validator) has(path string, status int) bool {
	return at(v.doc, "paths", path, "get", "responses", strconv.Itoa(status)) != nil
}

// path returns the path of the document that serves a request path, and whether there is one.
// Literal segments win over parameters.
func (v *validator) path(path string) (string, bool) {
	segments := strings.Split(path, "/")
	best, params := "", len(segments)+1
	for _, template := range v.paths() {
		parts := strings.Split(template, "/")
		n := 0
		fits := len(parts) == len(segments)
		for i := 0; fits && i < len(parts); i++ {
			if strings.HasPrefix(parts[i], "{") {
				n++
			} else {
				fits = parts[i] == segments[i]
			}
		}
		if fits && n < params {
			best, params = template, n
		}
	}
	return best, best != ""
}

// response validates the body that a GET of a request path, without its query, has with an HTTP status.
func (v *validator) response(path string, status int, body []byte) error {
	template, ok := v.path(path)
	if !ok {
		return fmt.Errorf("the document has no path for %s", path)
	}
	pointer := []string{"paths", template, "get", "responses", strconv.Itoa(status)}
	response := at(v.doc, pointer...)
	if ref, ok := at(response, "$ref").(string); ok {
		pointer = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		response = at(v.doc, pointer...)
	}
	if response == nil {
		return fmt.Errorf("%s has no response with status %d", template, status)
	}
	if at(response, "content") == nil {
		if len(body) > 0 {
			return fmt.Errorf("%s: status %d has no body in the document, and %d bytes", template, status, len(body))
		}
		return nil
	}
	schema, err := v.schema(append(pointer, "content", "application/json", "schema"))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// schema compiles the schema at a place of the document, once.
func (v *validator) schema(pointer []string) (*jsonschema.Schema, error) {
	var b strings.Builder
	for _, name := range pointer {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name))
	}
	if s := v.schemas[b.String()]; s != nil {
		return s, nil
	}
	s, err := v.compiler.Compile(base + "#" + b.String())
	if err != nil {
		return nil, err
	}
	v.schemas[b.String()] = s
	return s, nil
}
