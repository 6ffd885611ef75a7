package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/api"
)

// TestKeptDocuments checks that the documents in the project are what gen writes today.
func TestKeptDocuments(t *testing.T) {
	files, err := documents()
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range files {
		want, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the table of operations makes: run go generate ./schemas/api", name)
		}
	}
}

// made returns the document as tests read it.
func made(t *testing.T) map[string]any {
	t.Helper()
	doc, err := generate(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWords checks that the words name nothing that is gone.
func TestWords(t *testing.T) {
	operations, names := map[string]bool{}, map[string]bool{"movie_id?": true}
	for _, op := range api.Operations() {
		operations[op.Name] = true
		for in, params := range map[string][]api.Param{"path": op.PathParams, "query": op.QueryParams} {
			for _, p := range params {
				names[p.Name], names[op.Name+"/"+p.Name], names[in+"/"+p.Name] = true, true, true
			}
		}
	}
	for _, ns := range api.Namespaces() {
		for _, a := range api.AppendNames(ns) {
			for _, p := range a.Params {
				names[p.Name] = true
			}
		}
	}
	for _, words := range []map[string]string{summaries, notes} {
		for name := range words {
			if !operations[name] {
				t.Errorf("words.go describes %s, which is no operation", name)
			}
		}
	}
	for name := range params {
		if !names[name] {
			t.Errorf("params.go describes %s, which is no parameter", name)
		}
	}
	used := map[string]bool{}
	for _, schema := range made(t)["components"].(map[string]any)["schemas"].(map[string]any) {
		fields, _ := schema.(map[string]any)["properties"].(map[string]any)
		for _, described := range append(slices.Collect(maps.Values(fields)), schema) {
			d, _ := described.(map[string]any)["description"].(string)
			used[d] = true
		}
	}
	for place, d := range descriptions {
		if !used[d] {
			t.Errorf("words.go describes %s, which the document lacks", place)
		}
	}
}

// TestMarks checks that all that is our own is marked, and nothing else is.
func TestMarks(t *testing.T) {
	doc := made(t)
	shared := doc["components"].(map[string]any)["parameters"].(map[string]any)
	want, got := []string{"X-Reelsplice-Release", "X-Reelsplice-Data-Since", "Surrogate-Key"}, []string{}
	for name, header := range doc["components"].(map[string]any)["headers"].(map[string]any) {
		if header.(map[string]any)[mark] == true {
			got = append(got, name)
		}
	}
	for _, op := range api.Operations() {
		item, ok := doc["paths"].(map[string]any)[op.Path].(map[string]any)
		if !ok || op.Method != "GET" || op.Answerer == api.AnswerNothing {
			continue
		}
		o := item["get"].(map[string]any)
		if op.Group == "Extensions" {
			want = append(want, op.Name)
		}
		if o[mark] == true {
			got = append(got, op.Name)
		}
		takes := map[string]bool{}
		for _, p := range op.QueryParams {
			takes[p.Name] = true
			switch {
			case p.Own:
				want = append(want, op.Name+" "+p.Name)
			case p.Name == "language", p.Name == "page", p.Name == "append_to_response" && op.Appends != "configuration":
				want = append(want, op.Name+" more of "+p.Name)
			}
		}
		if op.Appends == "configuration" {
			want = append(want, op.Name+" append_to_response")
		}
		list, _ := o["parameters"].([]any)
		for _, p := range list {
			m := p.(map[string]any)
			if ref, ok := m["$ref"].(string); ok {
				m = shared[strings.TrimPrefix(ref, "#/components/parameters/")].(map[string]any)
			}
			name := m["name"].(string)
			switch about := m[mark].(type) {
			case bool:
				got = append(got, op.Name+" "+name)
			case string:
				if takes[name] && strings.HasSuffix(about, ".") { // the others are of what can be appended
					got = append(got, op.Name+" more of "+name)
				}
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("marked are (-want +got):\n%s", d)
	}
	if len(want) < 20 {
		t.Errorf("only %d things are our own", len(want))
	}
}

// TestOwnAppendNames: the mark of append_to_response is for all of its names, so that no namespace may have both.
func TestOwnAppendNames(t *testing.T) {
	for _, ns := range api.Namespaces() {
		own := map[bool]bool{}
		for _, n := range appendedNames(ns) {
			own[n.own] = true
		}
		if len(own) > 1 {
			t.Errorf("%s has names of our own and others: let appendParameter name those of our own", ns)
		}
	}
}

// TestAppended checks the fields that append_to_response adds.
func TestAppended(t *testing.T) {
	schemas := made(t)["components"].(map[string]any)["schemas"].(map[string]any)
	for shape, namespace := range map[string]string{
		"MovieDetails": "movie", "TVDetails": "tv", "SeasonDetails": "season", "EpisodeDetails": "episode", "PersonDetails": "person",
		"CollectionDetails": "collection", "CompanyDetails": "company", "NetworkDetails": "network", "KeywordDetails": "keyword",
		"ConfigurationDetails": "configuration",
	} {
		schema := schemas[shape].(map[string]any)
		fields, _ := schema["properties"].(map[string]any)
		patterns, _ := schema["patternProperties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, n := range appendedNames(namespace) {
			field, ok := fields[n.name].(map[string]any)
			if n.pattern != "" {
				field, ok = patterns["^"+n.pattern+"$"].(map[string]any)
			}
			if !ok || field["$ref"] != "#/components/schemas/"+n.shape {
				t.Errorf("%s: field %s is %v, want a reference to %s", shape, n.name, field, n.shape)
			}
			if slices.Contains(required, any(n.name)) {
				t.Errorf("%s requires %s, which is there only when it is appended", shape, n.name)
			}
		}
	}
	if n := len(appendedNames("tv")); n < 30 {
		t.Errorf("series have %d names to append: are those of seasons and episodes missing?", n)
	}
}

func TestRelaxationsRefused(t *testing.T) {
	for _, row := range []string{"MovieDetails\tid", "MovieDetails\tid\tgone", "MovieDetails\tno_such\tabsent", "MovieDetails\tgenres.[].no_such\tnull"} {
		relaxed, err := relaxations(relaxedHead + "\n" + row + "\n")
		if err == nil {
			_, err = generate(relaxed)
		}
		if err == nil || !strings.Contains(err.Error(), "relaxed.tsv") {
			t.Errorf("row %q: %v, want an error about relaxed.tsv", row, err)
		}
	}
}

// TestDowngrade checks what 3.0 says in another way.
func TestDowngrade(t *testing.T) {
	ref := object{{"$ref", "#/x"}}
	for _, c := range []struct {
		name       string
		from, want object
	}{
		{"null", object{{"type", list{"string", null}}}, object{{"type", "string"}, {"nullable", true}}},
		{"several types", object{{"type", list{"string", "integer"}}}, object{{"anyOf", list{object{{"type", "string"}}, object{{"type", "integer"}}}}}},
		{"a constant", object{{"const", false}}, object{{"enum", list{false}}}},
		{"a reference or null", object{{"anyOf", list{ref, object{{"type", null}}}}}, object{{"nullable", true}, {"allOf", list{ref}}}},
		{"patterns", object{{"patternProperties", object{{"^a", ref}, {"^b", ref}}}}, object{{"additionalProperties", true}}},
		{"a map", object{{"propertyNames", object{{"pattern", "^a"}}}, {"additionalProperties", ref}}, object{{"additionalProperties", ref}}},
	} {
		got, err := encode(downgraded(c.from))
		if err != nil {
			t.Fatal(err)
		}
		want, err := encode(c.want)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}
