package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/status"
)

// TestOpenAPI walks the table of operations: the document has exactly the edge's operations, and their responses
// about everything in the sample validate: 200 with exactly the fields of current responses, 304 and errors.
func TestOpenAPI(t *testing.T) {
	skipLarge(t)
	v := newValidator(t, true)
	e, rel := sampleEdge(t)
	if r := &sampleWorld.report; r.Quarantined > 0 || len(r.Unknown) > 0 || len(r.Coerced) > 0 || len(r.Dropped) > 0 {
		t.Errorf("ingest of the sample: quarantined %q, unknown %v, coerced %v, dropped %v, want none", r.Bad, r.Unknown, r.Coerced, r.Dropped)
	}
	if log, err := catalog.OpenChanges(filepath.Join(sampleWorld.dir(), "catalog")); log != nil || err != nil {
		t.Errorf("the catalogue of a first ingest has a log of changes: %v", err)
	}
	p := samplePlaces(t, rel)
	p.addAccount(t, e)
	w := openAPIWalk{v: v, e: e, session: e.issue(t, auth.KindSession, "1"), user: e.issue(t, auth.KindToken, "1")}
	served := 0
	for i := range api.Operations() {
		op := &api.Operations()[i]
		if op.Method != "GET" || op.Answerer == api.AnswerNothing {
			if path, ok := v.path(op.Path); ok && path == op.Path && op.Method == "GET" {
				t.Errorf("the document has %s, which the edge refuses", op.Name)
			}
			continue
		}
		served++
		t.Run(op.Name, func(t *testing.T) { w.operation(t, op, targets(op, p)) })
	}
	if n := len(v.paths); n != served {
		t.Errorf("the document has %d paths, the edge serves %d operations", n, served)
	}
	if w.planted < 4*served {
		t.Errorf("%d values of a wrong type were planted, want 4 an operation", w.planted)
	}
	t.Logf("%d responses of %d operations, %d planted values", w.responses, served, w.planted)
}

// An openAPIWalk validates responses of one edge.
type openAPIWalk struct {
	v             *validator
	e             *testEdge
	session, user string // credentials of an account, of version 3 and 4
	responses     int
	planted       int
}

func (w *openAPIWalk) operation(t *testing.T, op *api.Operation, all []string) {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("the sample has nothing to ask for")
	}
	for i := 0; i < len(all); i += sharedtest.Rounds(4, 1) {
		w.ask(t, op, all[i], 200, nil)
		if op.Appends != "" && op.Answerer != api.AnswerBatch {
			w.appended(t, op, all[i])
		}
	}
	first := all[0]
	if op.Appends != "" {
		w.ask(t, op, withParam([]string{first}, "append_to_response", strings.Repeat("credits,", maxAppends+1))[0], 400, nil)
	}
	ok := w.ask(t, op, first, 200, nil)
	w.plant(t, first, ok.body)
	if etag := ok.etag; etag != "" {
		w.ask(t, op, first, 304, func(rq *edge.Request) { rq.IfNoneMatch = []byte(etag) })
	} else if w.v.has(op.Path, 304) {
		t.Errorf("GET %s has no ETag; the document has 304", first)
	}
	w.ask(t, op, first, 401, func(rq *edge.Request) { rq.Authorization = nil })
	if slices.ContainsFunc(op.QueryParams, func(p api.Param) bool { return p.Name == "page" }) {
		w.ask(t, op, withParam([]string{first}, "page", "501")[0], 400, nil)
	}
	if slices.ContainsFunc(op.QueryParams, func(p api.Param) bool { return p.Name == "start_date" }) {
		path, _, _ := strings.Cut(first, "?")
		w.ask(t, op, path+"?start_date=2024-01-01&end_date=2024-03-01", 422, nil)
		w.ask(t, op, path+"?start_date=yesterday", 400, nil)
	}
	if slices.ContainsFunc(op.QueryParams, func(p api.Param) bool { return p.Required }) && op.Answerer != api.AnswerListItem {
		w.ask(t, op, op.Path, w.without(op), nil) // the required parameter is missing
	}
	if op.Answerer == api.AnswerDetails && len(op.PathParams) > 0 {
		at := strings.LastIndexByte(first, '/') // the ID, or a sub-path of an existing resource
		if op.Path[strings.LastIndexByte(op.Path, '/')+1] == '{' {
			w.ask(t, op, first[:at]+"/4294967295", 404, nil)
		}
	}
}

// appended requests target with everything appended. A missing resource may lack season 1 or its episode 1.
func (w *openAPIWalk) appended(t *testing.T, op *api.Operation, target string) {
	t.Helper()
	for names := range slices.Chunk(appendedTo(op.Appends), maxAppends) {
		full := withParam([]string{target}, "append_to_response", strings.Join(names, ","))[0]
		var doc map[string]any
		if err := json.Unmarshal([]byte(w.ask(t, op, full, 200, nil).body), &doc); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if _, ok := doc[name]; !ok && !strings.HasPrefix(name, "season/1") && !strings.HasPrefix(name, "episode/1") {
				t.Errorf("GET %s: %s is not appended", full, name)
			}
		}
	}
}

// plant requires the validation to find a wrong type in each field of a response.
func (w *openAPIWalk) plant(t *testing.T, target, body string) {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	path, _, _ := strings.Cut(target, "?")
	object, root := doc, doc
	if rows, ok := doc.([]any); ok {
		object = rows[0]
	}
	fields, ok := object.(map[string]any)
	if !ok { // a list of texts
		fields, root = map[string]any{"": nil}, nil
	}
	for name, value := range fields {
		fields[name] = unlike(value)
		planted := root
		if root == nil {
			planted = []any{1.5}
		}
		text, err := json.Marshal(planted)
		if err != nil {
			t.Fatal(err)
		}
		if w.v.response(path, 200, text) == nil {
			t.Errorf("GET %s: with %v in the field %q the response is valid", target, fields[name], name)
		}
		fields[name] = value
		w.planted++
	}
}

// unlike returns a value of a type that no field with this value has.
func unlike(value any) any {
	switch value.(type) {
	case string, float64:
		return []any{1.5}
	case nil:
		return true
	}
	return "planted"
}

// without is the status of an operation without its required parameter.
func (w *openAPIWalk) without(op *api.Operation) int {
	if op.Answerer == api.AnswerBatch {
		return 404
	}
	return 422
}

// ask requests target and validates the response.
func (w *openAPIWalk) ask(t *testing.T, op *api.Operation, target string, want int, change func(*edge.Request)) reply {
	t.Helper()
	full := target
	if op.Session && op.Version() == 3 {
		full = withParam([]string{target}, "session_id", w.session)[0]
	}
	a := w.e.do(full, func(rq *edge.Request) {
		if op.Version() == 4 {
			rq.Authorization = []byte("Bearer " + w.user)
		}
		if change != nil {
			change(rq)
		}
	})
	w.responses++
	path, _, _ := strings.Cut(target, "?")
	if a.status != want {
		t.Errorf("GET %s: status %d: %.200s; want %d", target, a.status, a.body, want)
	} else if err := w.v.response(path, a.status, []byte(a.body)); err != nil {
		t.Errorf("GET %s: %v", target, err)
	}
	return a
}

// TestOpenAPIErrors checks the examples of errors: each is the body of an error response of the edge, and none is
// missing.
func TestOpenAPIErrors(t *testing.T) {
	var doc struct {
		Components struct {
			Responses map[string]struct {
				Content map[string]struct {
					Examples map[string]struct{ Value any }
				}
			}
		}
	}
	if err := json.Unmarshal(api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	got, want := map[string]any{}, map[string]any{}
	for _, r := range doc.Components.Responses {
		for name, example := range r.Content["application/json"].Examples {
			got[name] = example.Value
		}
	}
	for c := status.Code(1); c < 255; c++ {
		if c.HTTP() == status.Internal.HTTP() && c != status.Internal || c == status.MethodNotAllowed { // no code, or of a method that no path has
			continue
		}
		name := fmt.Sprintf("code_%d", c)
		if c == status.MissingQuery {
			name = "missing_query"
		}
		var body any
		if err := json.Unmarshal(c.Body(), &body); err != nil {
			t.Fatal(err)
		}
		want[name] = body
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("examples of errors (-the edge +the document):\n%s", d)
	}
}

// addAccount adds an account of the sample, a guest and a list.
func (p places) addAccount(t *testing.T, e *testEdge) {
	t.Helper()
	p.add("account_id", 1)
	p.add("account_object_id", "5f0000000000000000000001")
	p.add("guest_session_id", e.issue(t, auth.KindGuest, "5a3b1f0e7c9d4e2f8a6b0c1d2e3f4a5b"))
	p.add("list_id", 1)
}

// targets returns every request of an operation: without a language, and in German.
func targets(op *api.Operation, p places) []string {
	paths := p.paths(op.Path)
	for _, q := range op.QueryParams {
		if values := required[q.Name]; q.Required && values != nil {
			paths = withParam(paths, q.Name, values...)
		}
		if q.Name == "page" && op.Kind == 0 { // lists of the whole catalogue
			paths = withParam(paths, q.Name, "1", "2", "500")
		}
	}
	if !slices.ContainsFunc(op.QueryParams, func(q api.Param) bool { return q.Name == "language" }) {
		return paths
	}
	var out []string
	for _, path := range paths {
		out = append(append(out, path), withParam([]string{path}, "language", "de-DE")...)
	}
	return out
}

// required are values of required parameters.
var required = map[string][]string{
	"media_id": {"62"}, "media_type": {"movie"},
	"query": {"the", "a", "star+wars", "1917", "nolan", "%E5%8D%83", "matr", "xyzzy"},
	"ids":   {"550,13,1399,287,999999999"},
}

// withParam returns each path with each value of a parameter.
func withParam(paths []string, name string, values ...string) []string {
	var out []string
	for _, path := range paths {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		for _, v := range values {
			out = append(out, path+mark+name+"="+v)
		}
	}
	return out
}

// maxAppends is the limit of names in append_to_response.
const maxAppends = 20

// appendedTo returns the names that can be appended in a namespace without a session. Patterns get season and episode
// 1.
func appendedTo(namespace string) []string { return appendedOf(api.AppendNames(namespace)) }

func appendedOf(names []api.AppendName) []string {
	var out []string
	for i := range names {
		a := &names[i]
		name := strings.NewReplacer("{season_number}", "1", "{episode_number}", "1").Replace(a.Name)
		if prefix, found := strings.CutSuffix(name, "{sub_request}"); found {
			for _, below := range appendedOf(api.SubRequests(a.Inherits)) {
				out = append(out, prefix+below)
			}
		} else if a.Sub != fragment.SubAccountStates && a.Shape != "" {
			out = append(out, name)
		}
	}
	return out
}
