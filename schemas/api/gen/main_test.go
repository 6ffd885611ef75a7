package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
)

// source returns the text of openapi.yaml.
func source(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../openapi.yaml")
	sharedtest.NoError(t, err)
	return string(text)
}

// TestKept checks that the generated files are those of openapi.yaml.
func TestKept(t *testing.T) {
	files, err := generate([]byte(source(t)))
	sharedtest.NoError(t, err)
	for name, got := range files {
		want, err := os.ReadFile(filepath.Join("..", name))
		sharedtest.NoError(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what openapi.yaml makes: run go generate ./schemas/api", name)
		}
	}
}

// TestRefusals: a mistake in the file is an error that names the operation.
func TestRefusals(t *testing.T) {
	text := source(t)
	for _, c := range []struct{ old, other, want string }{
		{"x-auth: session\n", "x-auth: cookie\n", `unknown x-auth "cookie"`},
		{"x-answerer: Popular\n", "x-answer: Popular\n", `/popular: unknown field "x-answer"`},
		{"      x-answerer: Discover\n", "", "GET /3/discover/movie: no answerer serves it"},
		{"x-fragment: movie/credits\n", "x-fragment: movie/watch_providers\n", `GET /3/movie/{movie_id}/credits: x-fragment "movie/watch_providers"`},
		{"x-rows: movie\n", "x-rows: film\n", `x-rows "film"`},
		{"x-response: MovieCredits\n", "x-response: NoSuch\n", `x-response "NoSuch"`},
		{"      x-response: MovieCredits\n", "", "want a summary and x-response"},
		{"x-append: [movie]\n", "x-append: [film]\n", "operation movieAccountStates: x-append film"},
		{"x-append: [movie]\n", "x-append: [tv]\n", "operation movieAccountStates: x-append tv"},
		{"x-append: [configuration]\n", "x-append: [movie]\n", "want a path below /3/movie/{movie_id}"},
		{"parameters: [*movie_id, *country]", "parameters: [*series_id, *country]", `alternative_titles: parameter "series_id" in "path"`},
		{"      operationId: movieCredits\n", "", "want an operationId"},
		{"      operationId: movieCredits\n", "      operationId: a\n      operationId: b\n", "operationId is there twice"},
		{text, "", "the file is empty"},
		{"paths:\n", "paths: [\n", "yaml: "},
	} {
		changed := strings.Replace(text, c.old, c.other, 1)
		if changed == text {
			t.Errorf("openapi.yaml has no %q", c.old)
		}
		if _, err := generate([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %q: %v, want an error with %q", c.other, err, c.want)
		}
	}
}

// TestValues compares the values of parameters with those that the edge takes.
func TestValues(t *testing.T) {
	s, err := read([]byte(source(t)))
	sharedtest.NoError(t, err)
	check := func(name, parameter string, want list) {
		t.Helper()
		i := slices.IndexFunc(s.operations, func(op *operation) bool { return op.name == name })
		for _, p := range s.operations[i].params {
			if p.name == parameter {
				if d := cmp.Diff(want, p.full.below("schema").items("enum")); d != "" {
					t.Errorf("values of %s of %s in openapi.yaml (-the edge +the file):\n%s", parameter, name, d)
				}
				return
			}
		}
		t.Errorf("%s has no %s", name, parameter)
	}
	for name, kind := range map[string]fragment.Kind{"discoverMovie": fragment.KindMovie, "discoverTv": fragment.KindTV} {
		var want list
		for _, c := range tables.Columns(kind) {
			for _, s := range c.SortBy {
				if slices.Contains(s.Kinds, kind) {
					want = append(want, s.Name+".asc", s.Name+".desc")
				}
			}
		}
		check(name, "sort_by", want)
	}
	var orders, sources list
	for _, s := range accounts.SortNames {
		orders = append(orders, s.Name+".asc", s.Name+".desc")
	}
	check("v4ListDetails", "sort_by", orders)
	for source := fragment.SourceIMDb; source.Name() != ""; source++ {
		sources = append(sources, source.Name())
	}
	check("findById", "external_source", sources)
}

// TestAppended: an appended object lacks the ID that a response of its own has, unless it is one of a season or an
// episode, and what older records lack is not required.
func TestAppended(t *testing.T) {
	s, err := read([]byte(source(t)))
	sharedtest.NoError(t, err)
	schemas := s.document().below("components").below("schemas")
	requires := func(schema, name string) bool {
		return slices.Contains(schemas.below(schema).items("required"), any(name))
	}
	if requires("MovieCredits", "id") || !requires("MovieCredits", "cast") || !requires("SeasonDetails", "id") || requires("MovieDetails", "softcore") {
		t.Error("an ID of an appended object or a field of today is required, or one that all have is not")
	}
}

// TestDowngrade checks what 3.0 says in another way.
func TestDowngrade(t *testing.T) {
	ref := object{{"$ref", "#/x"}}
	for _, c := range []struct {
		name       string
		from, want object
	}{
		{"null", object{{"type", list{"string", "null"}}}, object{{"type", "string"}, {"nullable", true}}},
		{"several types", object{{"type", list{"string", "integer"}}}, object{{"anyOf", list{object{{"type", "string"}}, object{{"type", "integer"}}}}}},
		{"a constant", object{{"const", false}}, object{{"enum", list{false}}}},
		{"a reference or null", object{{"anyOf", list{ref, object{{"type", "null"}}}}}, object{{"nullable", true}, {"allOf", list{ref}}}},
		{"patterns", object{{"patternProperties", object{{"^a", ref}, {"^b", ref}}}}, object{{"additionalProperties", true}}},
		{"a map", object{{"propertyNames", object{{"pattern", "^a"}}}, {"additionalProperties", ref}}, object{{"additionalProperties", ref}}},
	} {
		got, err := json.Marshal(downgraded(c.from))
		sharedtest.NoError(t, err)
		want, err := json.Marshal(c.want)
		sharedtest.NoError(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}
