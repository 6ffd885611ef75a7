package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/api/openapitest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

var update = flag.Bool("update", false, "write relaxed.tsv anew")

// A recording is a recorded response.
type recording struct {
	file, path string
	status     int
	body       []byte
}

// elsewhere are recorded paths that the API no longer has, and those that a source does not tell,
// with a path of the same shape.
var elsewhere = map[string]string{
	"/3/tv/{series_id}/season/{season_number}/changes":                          "/3/tv/season/{season_id}/changes",
	"/3/tv/{series_id}/season/{season_number}/episode/{episode_number}/changes": "/3/tv/episode/{episode_id}/changes",
	"(unknown)":                   "/3/search/movie",
	"/3/search/{type} (no query)": "/3/search/movie",
	"/3/{any}":                    "/3/movie/{movie_id}",
}

// recordings returns all recorded responses. It skips the test where there are none.
func recordings(t *testing.T) (all []recording) {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "recorded", "SOURCES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		c := strings.Split(s.Text(), "\t")
		status, err := strconv.Atoi(c[5])
		if err != nil || c[3] != "GET" {
			continue // the heading
		}
		body, err := os.ReadFile(sharedtest.Path(t, "recorded", filepath.FromSlash(c[0])))
		if err != nil {
			t.Fatal(err)
		}
		path, _, _ := strings.Cut(c[4], "?")
		if other, ok := elsewhere[path]; ok {
			path = other
		}
		all = append(all, recording{c[0], path, status, body})
	}
	if len(all) < 735 {
		t.Errorf("%d recordings, want 735 or more", len(all))
	}
	return all
}

// differences reads testdata/differs.tsv: recordings with a field that neither the API nor the edge serves in
// that form, and the reason. Test suites wrote something else there, or the API did once.
func differences(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/differs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		c := strings.Split(line, "\t")
		if len(c) != 3 || c[2] == "" {
			t.Fatalf("testdata/differs.tsv line %d: want file, field and reason, not %q", i+2, line)
		}
		all[c[0]+" "+c[1]] = c[2]
	}
	return all
}

// validate validates all recordings against the document that relaxed gives.
func validate(t *testing.T, all []recording, relaxed map[string][]relaxation) map[string][]*jsonschema.ValidationError {
	t.Helper()
	doc, err := generate(relaxed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	v, err := openapitest.Of(text, false)
	if err != nil {
		t.Fatal(err)
	}
	wrong := map[string][]*jsonschema.ValidationError{}
	for _, r := range all {
		err := v.Response(r.path, r.status, r.body)
		var invalid *jsonschema.ValidationError
		switch {
		case errors.As(err, &invalid):
			wrong[r.file] = leaves(invalid)
		case err != nil:
			t.Errorf("%s: %v", r.file, err)
		}
	}
	return wrong
}

// leaves returns the errors that have no cause, of unions those of the member that is nearest.
func leaves(e *jsonschema.ValidationError) (all []*jsonschema.ValidationError) {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	if _, ok := e.ErrorKind.(*kind.AnyOf); ok {
		return nearest(e)
	}
	for _, c := range e.Causes {
		all = append(all, leaves(c)...)
	}
	return all
}

// nearest returns the errors of the member of a union with the fewest missing fields, among those that
// are of the same media_type and no null.
func nearest(e *jsonschema.ValidationError) (best []*jsonschema.ValidationError) {
	least := -1
	for _, c := range e.Causes {
		below := leaves(c)
		missing := 0
		for _, l := range below {
			switch k := l.ErrorKind.(type) {
			case *kind.Required:
				missing += len(k.Missing)
			case *kind.Const:
				missing += 1000
			case *kind.Type:
				if slices.Equal(k.Want, []string{null}) {
					missing += 1000
				}
			}
		}
		if least < 0 || missing < least {
			least, best = missing, below
		}
	}
	return best
}

// relaxationOf returns the relaxations that an error asks for, none for an error that is no absence and no null.
func relaxationOf(e *jsonschema.ValidationError) (shape string, all []relaxation) {
	_, pointer, ok := strings.Cut(e.SchemaURL, "#/components/schemas/")
	if !ok {
		return "", nil
	}
	steps := strings.Split(pointer, "/")
	shape = steps[0]
	var path []string
	for i := 1; i < len(steps); i++ {
		switch steps[i] {
		case "properties":
			i++
			path = append(path, steps[i])
		case "items":
			path = append(path, "[]")
		default:
			return "", nil
		}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			all = append(all, relaxation{strings.Join(append(slices.Clip(path), name), "."), absent})
		}
	case *kind.Type:
		if k.Got == null && len(path) > 0 {
			all = append(all, relaxation{strings.Join(path, "."), null})
		}
	}
	return shape, all
}

// derive returns the relaxations that all recordings need together, as the text of relaxed.tsv.
func derive(t *testing.T, all []recording) string {
	t.Helper()
	rows := map[string]bool{}
	for {
		relaxed, err := relaxations(relaxedFile(rows))
		if err != nil {
			t.Fatal(err)
		}
		before := len(rows)
		for _, errs := range validate(t, all, relaxed) {
			for _, e := range errs {
				shape, more := relaxationOf(e)
				for _, r := range more {
					rows[shape+"\t"+r.path+"\t"+r.maybe] = true
				}
			}
		}
		if len(rows) == before {
			return relaxedFile(rows)
		}
	}
}

// relaxedFile returns the text of relaxed.tsv.
func relaxedFile(rows map[string]bool) string {
	return relaxedHead + "\n" + strings.Join(slices.Sorted(maps.Keys(rows)), "\n") + "\n"
}

// TestRelaxed derives relaxed.tsv from the recordings.
func TestRelaxed(t *testing.T) {
	if !*update {
		sharedtest.Long(t) // TestRecorded finds what is missing; this finds what is too much as well
	}
	want := derive(t, recordings(t))
	if *update {
		if err := os.WriteFile("relaxed.tsv", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != relaxedText {
		t.Error("relaxed.tsv is not what the recordings need: run go test ./schemas/api/openapi -run TestRelaxed -update and go generate ./schemas/api")
	}
}

// TestRecorded validates every recorded response.
func TestRecorded(t *testing.T) {
	relaxed, err := relaxations(relaxedText)
	if err != nil {
		t.Fatal(err)
	}
	differs, seen := differences(t), map[string]bool{}
	for file, errs := range validate(t, recordings(t), relaxed) {
		for _, e := range errs {
			key := file + " " + place(e)
			if !seen[key] && differs[key] == "" {
				t.Errorf("%s: %v", key, e)
			}
			seen[key] = true
		}
	}
	for key := range differs {
		if !seen[key] {
			t.Errorf("%s is valid: take it out of testdata/differs.tsv", key)
		}
	}
}

// place returns where in a response an error is, with [] for the items of lists.
func place(e *jsonschema.ValidationError) string {
	steps := slices.Clone(e.InstanceLocation)
	for i := range steps {
		if _, err := strconv.Atoi(steps[i]); err == nil {
			steps[i] = "[]"
		}
	}
	return strings.Join(steps, ".")
}

// TestRecorded30 validates recorded responses against the document of OpenAPI 3.0, with a library of others.
func TestRecorded30(t *testing.T) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(api.OpenAPI30())
	if err != nil {
		t.Fatal(err)
	}
	v, err := openapitest.New(false)
	if err != nil {
		t.Fatal(err)
	}
	differs := map[string]bool{}
	for key := range differences(t) {
		file, _, _ := strings.Cut(key, " ")
		differs[file] = true
	}
	all, n, unknown := recordings(t), 0, 0
	for i := 0; i < len(all); i += sharedtest.Rounds(5, 1) {
		r := all[i]
		path, _ := v.Path(r.path)
		schema := doc.Paths.Value(path).Get.Responses.Status(r.status).Value.Content["application/json"].Schema.Value
		var value any
		if err := json.Unmarshal(r.body, &value); err != nil {
			t.Fatal(err)
		}
		err := schema.VisitJSON(value)
		if err != nil && strings.Contains(err.Error(), `does not contain the discriminator property "media_type"`) {
			err = nil // rows of 2022 and before lack it in places; the library needs it to choose among kinds
			unknown++
		}
		if (err != nil) != differs[r.file] {
			t.Errorf("%s: %.300v; listed in testdata/differs.tsv: %t", r.file, err, differs[r.file])
		}
		n++
	}
	if unknown > 8 {
		t.Errorf("%d of %d responses have a row without media_type, want 8 or fewer", unknown, n)
	}
}
