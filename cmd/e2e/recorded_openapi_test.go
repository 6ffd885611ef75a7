package e2e

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// elsewhere maps recorded paths that the API dropped, or that a source lacks, to paths of the same shape.
var elsewhere = map[string]string{
	"/3/tv/{series_id}/season/{season_number}/changes":                          "/3/tv/season/{season_id}/changes",
	"/3/tv/{series_id}/season/{season_number}/episode/{episode_number}/changes": "/3/tv/episode/{episode_id}/changes",
	"(unknown)":                   "/3/search/movie",
	"/3/search/{type} (no query)": "/3/search/movie",
	"/3/{any}":                    "/3/movie/{movie_id}",
}

// TestRecordedOpenAPI validates every recorded response, and every fifth one against the document of OpenAPI 3.0, with a
// library of others. testdata/differs.tsv lists recordings with fields in a form that neither the API nor the edge serves,
// and the reasons: test suites wrote something else, or the API did once.
func TestRecordedOpenAPI(t *testing.T) {
	v := newValidator(t, false)
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI30())
	if err != nil {
		t.Fatal(err)
	}
	differs := map[string]bool{}
	for _, c := range readTSV(t, "differs.tsv", 3) {
		differs[c[0]] = true
	}
	all, unknown := allRecordings(t), 0
	for i, r := range all {
		path, _, _ := strings.Cut(r.request, "?")
		path = cmp.Or(elsewhere[path], path)
		status, err := strconv.Atoi(r.status)
		if err != nil {
			t.Fatalf("%s: status %q", r.file, r.status)
		}
		body := r.body(t)
		if err := v.response(path, status, body); (err != nil) != differs[r.file] {
			t.Errorf("%s: %v; listed in testdata/differs.tsv: %t; what older records lack takes x-older in schemas/api/openapi.yaml", r.file, err, differs[r.file])
		}
		if i%sharedtest.Rounds(5, 1) != 0 {
			continue
		}
		template, _ := v.path(path)
		schema := doc.Paths.Value(template).Get.Responses.Status(status).Value.Content["application/json"].Schema.Value
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			t.Fatal(err)
		}
		err = schema.VisitJSON(value)
		if err != nil && strings.Contains(err.Error(), `does not contain the discriminator property "media_type"`) {
			err = nil // some rows of 2022 and before lack it; the library needs it to choose among kinds
			unknown++
		}
		if (err != nil) != differs[r.file] {
			t.Errorf("%s, OpenAPI 3.0: %.300v; listed in testdata/differs.tsv: %t", r.file, err, differs[r.file])
		}
	}
	if len(all) < 735 || unknown > 8 {
		t.Errorf("%d recordings, %d with a row without media_type; want 735 or more, and 8 or fewer", len(all), unknown)
	}
}
