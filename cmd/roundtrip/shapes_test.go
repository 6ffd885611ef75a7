package roundtrip

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"reelsplice/data/sample"
	"reelsplice/schemas/api"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/sharedtest"
	"reelsplice/serve"
)

// shapes compiles the schemas of the API's answers.
type shapes struct {
	c    *jsonschema.Compiler
	done map[string]*jsonschema.Schema
}

func loadShapes(t *testing.T) *shapes {
	t.Helper()
	dir := sharedtest.Path(t, "reference", "shapes")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no shapes in %s: %v", dir, err)
	}
	s := &shapes{c: jsonschema.NewCompiler(), done: map[string]*jsonschema.Schema{}}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.c.AddResource("file:///"+filepath.Base(name), doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return s
}

func (s *shapes) schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	if c := s.done[name]; c != nil {
		return c
	}
	c, err := s.c.Compile("file:///" + name + ".json")
	if err != nil {
		t.Fatalf("shape %s: %v", name, err)
	}
	s.done[name] = c
	return c
}

// sampleRelease builds the embedded sample and returns the ids of its movies.
func sampleRelease(t *testing.T) (*release.Reader, []string) {
	t.Helper()
	b, err := fs.ReadFile(sample.FS(), "movies.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(b)), "\n")
	dir := t.TempDir()
	r := ingestFile(t, dir, "movies.ndjson", "", rows...)
	if len(r.Unknown) > 0 || len(r.Coerced) > 0 || r.Records["movie"] != int64(len(rows)) {
		t.Errorf("ingest of the sample = %+v, want %d records, nothing unknown", r, len(rows))
	}
	var ids []string
	for _, row := range rows {
		v, err := parseJSON([]byte(row))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, fmt.Sprint(v.members["id"].scalar))
	}
	return buildCatalog(t, dir), ids
}

// appendedOnly are the sub-requests that were recorded appended and not alone, so
// that their shape has no id.
var appendedOnly = map[fragment.Sub]bool{fragment.SubTrailers: true}

// TestSampleShapes: every answer about every movie of the sample has the shape that
// the API's answers have.
func TestSampleShapes(t *testing.T) {
	s := loadShapes(t)
	rel, ids := sampleRelease(t)
	answers := map[string]int{}
	for i := range api.Operations() {
		op := &api.Operations()[i]
		if op.Method != "GET" || op.Kind != fragment.KindMovie || op.Sub == fragment.SubAccountStates ||
			!strings.HasPrefix(op.Path, "/3/movie/{movie_id}") {
			continue
		}
		shape := s.schema(t, op.Shape)
		for _, id := range ids {
			for _, query := range []string{"", "?language=de-DE"} {
				target := strings.Replace(op.Path, "{movie_id}", id, 1) + query
				a, err := serve.Inspect(rel, target)
				if err != nil || a.Status != 200 {
					t.Fatalf("GET %s: status %d, %v", target, a.Status, err)
				}
				doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Body))
				if err != nil {
					t.Fatalf("GET %s: %v", target, err)
				}
				if appendedOnly[op.Sub] {
					delete(doc.(map[string]any), "id")
				}
				if err := shape.Validate(doc); err != nil {
					t.Fatalf("GET %s: %v", target, err)
				}
				answers[op.Name]++
			}
		}
	}
	if len(answers) < 17 {
		t.Errorf("operations checked = %d, want details and its 18 sub-requests: %v", len(answers), answers)
	}
	t.Logf("%d operations, %d answers each", len(answers), 2*len(ids))
}
