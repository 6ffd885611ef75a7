// Package openapitest validates responses against the OpenAPI document. Tests alone import it.
package openapitest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/reelsplice/reelsplice/schemas/api"
)

// A Validator validates responses. It is for one goroutine.
type Validator struct {
	doc      map[string]any
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// New returns a validator. A closed one refuses fields that the document does not name, which the
// document itself allows.
func New(isClosed bool) (*Validator, error) { return Of(api.OpenAPI(), isClosed) }

// Of is New for the text of any document.
func Of(text []byte, isClosed bool) (*Validator, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	doc, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the document is no object")
	}
	if isClosed {
		shut(at(doc, "components", "schemas"))
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(base, doc); err != nil {
		return nil, err
	}
	return &Validator{doc, c, map[string]*jsonschema.Schema{}}, nil
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

// Paths returns the paths of the document, sorted.
func (v *Validator) Paths() []string {
	paths, _ := at(v.doc, "paths").(map[string]any)
	return slices.Sorted(maps.Keys(paths))
}

// Has reports whether a GET of a path of the document can have an HTTP status.
func (v *Validator) Has(path string, status int) bool {
	return at(v.doc, "paths", path, "get", "responses", strconv.Itoa(status)) != nil
}

// Path returns the path of the document that serves a request path, and whether there is one.
// Literal segments win over parameters.
func (v *Validator) Path(path string) (string, bool) {
	segments := strings.Split(path, "/")
	best, params := "", len(segments)+1
	for _, template := range v.Paths() {
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

// Response validates the body that a GET of a request path, without its query, has with an HTTP status.
func (v *Validator) Response(path string, status int, body []byte) error {
	template, ok := v.Path(path)
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
func (v *Validator) schema(pointer []string) (*jsonschema.Schema, error) {
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
