package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/reelsplice/reelsplice/schemas/api"
)

// A validator validates responses against an OpenAPI document. It is for one goroutine.
type validator struct {
	doc      map[string]any
	paths    []string // paths in the document, sorted
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// newValidator returns a validator of the document. A strict one refuses what the document allows for older records:
// unnamed fields, and the parts in x-older.
func newValidator(t *testing.T, ofToday bool) *validator {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(api.OpenAPI()))
	if err != nil {
		t.Fatal(err)
	}
	doc := v.(map[string]any)
	if ofToday {
		refuseOlder(t, doc)
		shut(at(doc, "components", "schemas"))
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(base, doc); err != nil {
		t.Fatal(err)
	}
	paths, _ := at(doc, "paths").(map[string]any)
	return &validator{doc, slices.Sorted(maps.Keys(paths)), c, map[string]*jsonschema.Schema{}}
}

const base = "file:///openapi.json"

// refuseOlder gives the schemas of the document the fields of their source, which has what older records lack too.
// Appended objects lack the id, and a person's creator credit, which derives from the series, lacks episode counts.
func refuseOlder(t *testing.T, doc map[string]any) {
	t.Helper()
	text, err := os.ReadFile("../../schemas/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var source map[string]any
	if err := yaml.Unmarshal(text, &source); err != nil {
		t.Fatal(err)
	}
	for name, schema := range at(doc, "components", "schemas").(map[string]any) {
		of, _ := at(source, "components", "schemas", name).(map[string]any)
		if required, ok := of["required"].([]any); ok {
			schema.(map[string]any)["required"] = slices.DeleteFunc(required, func(field any) bool {
				return field == "id" || field == "episode_count" || field == "first_credit_air_date"
			})
		}
		fields, _ := of["properties"].(map[string]any)
		for field, is := range fields {
			at(schema, "properties").(map[string]any)[field] = is
		}
	}
}

// shut forbids further fields in all objects with named ones.
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

// at returns the value below names, or nil.
func at(v any, names ...string) any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// has reports whether a GET of a path of the document can have an HTTP status.
func (v *validator) has(path string, status int) bool {
	return at(v.doc, "paths", path, "get", "responses", strconv.Itoa(status)) != nil
}

// path returns the path of the document that serves a request path, and whether there is one. Literal segments take
// precedence over parameters.
func (v *validator) path(path string) (string, bool) {
	segments := strings.Split(path, "/")
	best, params := "", len(segments)+1
	for _, template := range v.paths {
		if strings.Count(template, "/") != len(segments)-1 {
			continue
		}
		parts := strings.Split(template, "/")
		n := 0
		fits := true
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

// response validates the body of a GET of a request path, without its query, with an HTTP status.
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
	key := strings.Join(pointer, "/")
	if s := v.schemas[key]; s != nil {
		return s, nil
	}
	var b strings.Builder
	for _, name := range pointer {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name))
	}
	s, err := v.compiler.Compile(base + "#" + b.String())
	v.schemas[key] = s
	return s, err
}
