package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// shapes compiles the schemas of openapi.yaml: what the API's responses of today have, without what older
// records may lack.
type shapes struct {
	c       *jsonschema.Compiler
	done    map[string]*jsonschema.Schema
	needsID map[string]bool // shapes that have an id
}

func loadShapes(t *testing.T) *shapes {
	t.Helper()
	text, err := os.ReadFile("../../schemas/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s := &shapes{jsonschema.NewCompiler(), map[string]*jsonschema.Schema{}, map[string]bool{}}
	for name, shape := range at(doc, "components", "schemas").(map[string]any) {
		required, _ := at(shape, "required").([]any)
		s.needsID[name] = slices.Contains(required, any("id"))
		shut(shape)
	}
	if err := s.c.AddResource(base, doc); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shapes) schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	if c := s.done[name]; c != nil {
		return c
	}
	c, err := s.c.Compile(base + "#/components/schemas/" + name)
	if err != nil {
		t.Fatalf("shape %s: %v", name, err)
	}
	s.done[name] = c
	return c
}

// appendedOnly are the sub-requests that were recorded appended and not alone, so
// that their shape has no id.
var appendedOnly = map[fragment.Sub]bool{fragment.SubTrailers: true}

// withoutCreators takes the rows of creators out of a person's crew: no recording of
// 2022 to 2025 has the episodes of one, and the shape was made without any.
func withoutCreators(doc any) {
	m, _ := doc.(map[string]any)
	crew, ok := m["crew"].([]any)
	if !ok {
		return
	}
	m["crew"] = slices.DeleteFunc(crew, func(row any) bool {
		r, _ := row.(map[string]any)
		_, counted := r["episode_count"]
		return r["job"] == "Creator" && !counted
	})
}

// complaints collects what is wrong with many responses; it reports the first ones.
type complaints struct {
	n, all int
	first  []string
}

func (c *complaints) add(format string, args ...any) {
	if c.n++; c.n <= 3 {
		c.first = append(c.first, fmt.Sprintf(format, args...))
	}
}

func (c *complaints) report(t *testing.T) {
	t.Helper()
	if c.n > 0 {
		t.Errorf("%d of %d responses are wrong:\n%s", c.n, c.all, strings.Join(c.first, "\n"))
	}
}

// TestShapes walks the table of operations: each GET is served, and then its responses
// about everything in the sample have the shape that the API's responses have, or it is
// listed with its reason in testdata/unserved.tsv.
func TestShapes(t *testing.T) {
	skipLarge(t)
	s := loadShapes(t)
	e, rel := sampleEdge(t)
	if r := &sampleWorld.report; r.Quarantined > 0 || len(r.Unknown) > 0 || len(r.Coerced) > 0 || len(r.Dropped) > 0 {
		t.Errorf("ingest of the sample: quarantined %q, unknown %v, coerced %v, dropped %v, want none", r.Bad, r.Unknown, r.Coerced, r.Dropped)
	}
	p := samplePlaces(t, rel)
	session := e.issue(t, auth.KindSession, "1")
	users := map[api.Auth]string{
		api.AuthSession: session, api.AuthSessionOrGuest: session, api.AuthGuestSession: e.token, v4: e.issue(t, auth.KindToken, "1"),
	}
	p.addAccount(t, e)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		t.Logf("%s: %d", name, len(p[name]))
	}
	unserved := loadUnserved(t)
	responses := 0
	for i := range api.Operations() {
		op := &api.Operations()[i]
		if op.Method != "GET" {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			if u, ok := unserved[op.Name]; ok {
				checkUnserved(t, e, op, p, u)
				return
			}
			c := complaints{}
			as := op.Auth
			if strings.HasPrefix(op.Path, "/4/account") {
				as = v4
			}
			for i, target := range targets(op, p) {
				if i%4 > 0 && !sharedtest.IsLong() {
					continue
				}
				c.all++
				s.check(t, e, op, users[as], target, &c)
			}
			if c.all == 0 {
				t.Errorf("%s: the sample has nothing to ask for", op.Path)
			}
			c.report(t)
			responses += c.all
		})
	}
	t.Logf("%d responses", responses)
}

// addAccount adds an account of the sample, a guest and a list.
func (p places) addAccount(t *testing.T, e *testEdge) {
	t.Helper()
	p.add("account_id", 1)
	p.add("account_object_id", "5f0000000000000000000001")
	p.add("guest_session_id", e.issue(t, auth.KindGuest, "5a3b1f0e7c9d4e2f8a6b0c1d2e3f4a5b"))
	p.add("list_id", 1)
}

// v4 stands for the token of a user, which accounts of version 4 ask for.
const v4 api.Auth = "user"

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

// required are values of parameters that operations cannot do without.
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

// check asks for target and validates the response.
// user is a session or the token of a user, "" for neither.
func (s *shapes) check(t *testing.T, e *testEdge, op *api.Operation, user, target string, c *complaints) {
	t.Helper()
	var a reply
	switch {
	case user == "":
		a = e.get(target)
	case strings.HasPrefix(op.Path, "/4/"):
		a = e.as(user, target)
	default:
		a = e.get(withParam([]string{target}, "session_id", user)[0])
	}
	if a.status != 200 {
		c.add("GET %s: status %d: %s", target, a.status, a.body)
		return
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
	if err != nil {
		c.add("GET %s: %v", target, err)
		return
	}
	if op.Shape == "" {
		return
	}
	if appendedOnly[op.Sub] {
		delete(doc.(map[string]any), "id")
	}
	withoutCreators(doc)
	if err := s.schema(t, op.Shape).Validate(doc); err != nil {
		c.add("GET %s: %v", target, err)
	}
}

// unserved is why, and with which status, an operation is not served.
type unserved struct {
	status, reason string
}

// loadUnserved reads testdata/unserved.tsv: operation, status, reason.
func loadUnserved(t *testing.T) map[string]unserved {
	t.Helper()
	out := map[string]unserved{}
	for _, c := range readTSV(t, "unserved.tsv", 3) {
		if !slices.ContainsFunc(api.Operations(), func(op api.Operation) bool { return op.Name == c[0] && op.Method == "GET" }) {
			t.Errorf("testdata/unserved.tsv: %s is no GET of the table", c[0])
		}
		out[c[0]] = unserved{c[1], c[2]}
	}
	return out
}

// checkUnserved asks once, with any values for parameters.
func checkUnserved(t *testing.T, e *testEdge, op *api.Operation, p places, u unserved) {
	t.Helper()
	target := op.Path
	if paths := p.paths(op.Path); len(paths) > 0 {
		target = paths[0]
	}
	for strings.Contains(target, "{") {
		from, to := strings.IndexByte(target, '{'), strings.IndexByte(target, '}')
		target = target[:from] + map[bool]string{true: "day", false: "1"}[target[from:to] == "{time_window"] + target[to+1:]
	}
	for i, q := range op.QueryParams {
		if q.Required {
			target += map[bool]string{true: "?", false: "&"}[i == 0] + q.Name + "=1"
		}
	}
	if a := e.get(target); fmt.Sprint(a.status) != u.status {
		t.Errorf("GET %s: status %d: %.200s; testdata/unserved.tsv has %s: %s", target, a.status, a.body, u.status, u.reason)
	}
}

// maxAppends is how many names append_to_response takes.
const maxAppends = 20

// TestShapesAppended: details with everything appended have the shape of the details,
// and every appended object has its own.
func TestShapesAppended(t *testing.T) {
	skipLarge(t)
	s := loadShapes(t)
	e, rel := sampleEdge(t)
	p := samplePlaces(t, rel)
	for i := range api.Operations() {
		op := &api.Operations()[i]
		if op.Method != "GET" || op.Appends == "" || !strings.HasSuffix(op.Path, "}") {
			continue
		}
		t.Run(op.Appends, func(t *testing.T) {
			c := complaints{}
			for i, target := range targets(op, p) {
				if i%4 == 0 || sharedtest.IsLong() {
					s.checkAppended(t, e, op, target, &c)
				}
			}
			if c.all == 0 {
				t.Error("the sample has nothing to ask for")
			}
			c.report(t)
			t.Logf("%d responses", c.all)
		})
	}
}

// An appended is a name as it is asked for, and what is known of it.
type appended struct {
	name string
	of   *api.AppendName
}

// appendedTo returns the names that can be appended in a namespace without a session,
// patterns filled with season and episode 1 where they have them.
func appendedTo(namespace string) []appended {
	return appendedOf(api.AppendNames(namespace))
}

func appendedOf(names []api.AppendName) []appended {
	var out []appended
	for i := range names {
		a := &names[i]
		name := strings.NewReplacer("{season_number}", "1", "{episode_number}", "1").Replace(a.Name)
		if prefix, found := strings.CutSuffix(name, "{sub_request}"); found {
			for _, below := range appendedOf(api.SubRequests(a.Inherits)) {
				out = append(out, appended{prefix + below.name, below.of})
			}
		} else if a.Sub != fragment.SubAccountStates && a.Shape != "" {
			out = append(out, appended{name, a})
		}
	}
	return out
}

// checkAppended asks for target with all names appended, as many at once as can be.
func (s *shapes) checkAppended(t *testing.T, e *testEdge, op *api.Operation, target string, c *complaints) {
	t.Helper()
	mark := "?"
	if strings.Contains(target, "?") {
		mark = "&"
	}
	for batch := range slices.Chunk(appendedTo(op.Appends), maxAppends) {
		names := make([]string, len(batch))
		for i, a := range batch {
			names[i] = a.name
		}
		full := target + mark + "append_to_response=" + strings.Join(names, ",")
		c.all++
		a := e.get(full)
		if a.status != 200 {
			c.add("GET %s: status %d: %s", full, a.status, a.body)
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
		if err != nil {
			c.add("GET %s: %v", full, err)
			continue
		}
		members := doc.(map[string]any)
		for _, a := range batch {
			if err := s.checkPart(t, a, members); err != nil {
				c.add("GET %s: %s: %v", full, a.name, err)
			}
			delete(members, a.name)
		}
		if err := s.schema(t, op.Shape).Validate(doc); err != nil {
			c.add("GET %s: %v", full, err)
		}
	}
}

// checkPart validates one appended object. What is appended lacks the id that the
// sub-request has alone; seasons and episodes keep theirs, since it is their own.
func (s *shapes) checkPart(t *testing.T, a appended, doc map[string]any) error {
	t.Helper()
	part, ok := doc[a.name].(map[string]any)
	if !ok {
		if strings.HasPrefix(a.name, "season/1") && s.lacksSeason(doc, a.name) ||
			strings.HasPrefix(a.name, "episode/1") && lacksEpisode(doc) {
			return nil
		}
		return fmt.Errorf("is not appended")
	}
	if _, has := part["id"]; has && a.of.Sub != fragment.SubDetails {
		return fmt.Errorf("has an id, want none")
	} else if !has && s.needsID[a.of.Shape] {
		part["id"] = json.Number("1")
	}
	withoutCreators(part)
	return s.schema(t, a.of.Shape).Validate(part)
}

// lacksSeason reports whether a series has no season 1, or that season no episode 1:
// what does not exist is left out.
func (s *shapes) lacksSeason(doc map[string]any, name string) bool {
	seasons, _ := doc["seasons"].([]any)
	for _, season := range seasons {
		if m, _ := season.(map[string]any); m["season_number"] == json.Number("1") {
			return strings.Contains(name, "/episode/1") && m["episode_count"] == json.Number("0")
		}
	}
	return true
}

// lacksEpisode reports whether a season has no episode 1.
func lacksEpisode(season map[string]any) bool {
	episodes, _ := season["episodes"].([]any)
	return !slices.ContainsFunc(episodes, func(episode any) bool {
		m, _ := episode.(map[string]any)
		return m["episode_number"] == json.Number("1")
	})
}
