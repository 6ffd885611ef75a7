package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/api/facts"
)

// A document is the OpenAPI document while it is made.
type document struct {
	shapes *shapes
	uses   map[string]int    // parameters, by their text, with how many operations have them
	shared map[string]object // those that several have
	paths  object
	tags   list
}

// generate returns the document. Its schemas allow what relaxed has beside the shapes.
func generate(relaxed map[string][]relaxation) (object, error) {
	d := &document{shapes: newShapes(relaxed), uses: map[string]int{}, shared: map[string]object{}}
	for i := range api.Operations() {
		all, err := parameters(&api.Operations()[i])
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			d.uses[text(p)]++
		}
	}
	for i := range api.Operations() {
		op := &api.Operations()[i]
		if !served(op) {
			continue
		}
		if err := d.operation(op); err != nil {
			return nil, fmt.Errorf("operation %s: %w", op.Name, err)
		}
	}
	for _, name := range []string{"Legacy", "Extensions"} {
		d.tag(name)
	}
	components, err := d.components()
	if err != nil {
		return nil, err
	}
	return object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "reelsplice"},
			{"summary", "A movie database API that you host yourself"},
			{"description", description},
			{"version", "3"},
			{"license", object{{"name", "Apache License 2.0"}, {"identifier", "Apache-2.0"}}},
		}},
		{"servers", list{object{{"url", "/"}}}},
		{"security", list{object{{"bearer", list{}}}, object{{"api_key", list{}}}}},
		{"tags", d.tags},
		{"paths", d.paths},
		{"components", components},
	}, nil
}

// served reports whether the edge serves an operation: it refuses those that write.
func served(op *api.Operation) bool { return op.Method == "GET" && op.Answerer != api.AnswerNothing }

// tag adds a tag, unless there is one.
func (d *document) tag(name string) {
	if slices.ContainsFunc(d.tags, func(t any) bool { return t.(object).get("name") == name }) {
		return
	}
	t := object{{"name", name}}
	if about := tags[name]; about != "" {
		t.set("description", about)
	}
	d.tags = append(d.tags, t)
}

// operation adds an operation.
func (d *document) operation(op *api.Operation) error {
	short, err := summary(op)
	if err != nil {
		return err
	}
	own, isLegacy := op.Group == "Extensions", strings.HasPrefix(op.Name, "legacy")
	groups := list{op.Group}
	if isLegacy && op.Group != "Legacy" {
		groups = append(groups, "Legacy")
	}
	if op.Group != "Legacy" && op.Group != "Extensions" {
		d.tag(op.Group) // the others are the last
	}
	o := object{{"tags", groups}, {"operationId", op.Name}, {"summary", short}}
	if note := notes[op.Name]; note != "" {
		o.set("description", note)
	}
	if isLegacy {
		o.set("deprecated", true)
	}
	if own {
		o.set(mark, true)
	}
	all, err := parameters(op)
	if err != nil {
		return err
	}
	for i, p := range all {
		all[i] = d.share(p)
	}
	if len(all) > 0 {
		o.set("parameters", all)
	}
	schema, err := d.response(op)
	if err != nil {
		return err
	}
	o.set("responses", responses(op, schema))
	d.paths.set(op.Path, object{{"get", o}})
	return nil
}

// parameters returns the parameters of an operation: its own, and those of what can be appended.
// An operation that the edge refuses has none.
func parameters(op *api.Operation) (all []object, err error) {
	if !served(op) {
		return nil, nil
	}
	add := func(params []api.Param, in string) error {
		for i := range params {
			p := &params[i]
			if p.Name == "append_to_response" || slices.ContainsFunc(all, func(o object) bool { return o.get("name") == p.Name && o.get("in") == in }) {
				continue
			}
			o, err := parameter(op, p, in)
			if err != nil {
				return err
			}
			all = append(all, o)
		}
		return nil
	}
	if err := add(op.PathParams, "path"); err != nil {
		return nil, err
	}
	if err := add(op.QueryParams, "query"); err != nil {
		return nil, err
	}
	if op.Appends != "" {
		all = append(all, appendParameter(op))
		for _, n := range api.AppendNames(op.Appends) {
			if err := add(n.Params, "query"); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// share returns a reference to a shared parameter, or the parameter where no other operation has it or its name
// is taken by another.
func (d *document) share(o object) object {
	if d.uses[text(o)] < 2 || o.get("name") == "append_to_response" {
		return o
	}
	name := fmt.Sprint(o.get("in"), ".", o.get("name")) // no name of a schema, which generators would take for the same type
	have, ok := d.shared[name]
	if !ok {
		d.shared[name], have = o, o
	}
	if text(have) != text(o) {
		return o
	}
	return refTo("parameters", name)
}

// text returns an object as text, to compare it.
func text(o object) string { return fmt.Sprint(o) }

// unnamed are the schemas of responses that the facts have no shape of, by operation.
func (d *document) unnamed(op *api.Operation) (object, error) {
	switch op.Answerer {
	case api.AnswerBatch:
		details := map[string]string{"batchMovies": "MovieDetails", "batchSeries": "TVDetails", "batchPeople": "PersonDetails"}[op.Name]
		ref, err := d.shapes.ref(details)
		if err != nil {
			return nil, err
		}
		missing := object{{"anyOf", list{object{{"type", "integer"}}, object{{"type", "string"}}}}}
		name := strings.TrimSuffix(details, "Details") + "Batch"
		d.shapes.made[name] = object{
			{"description", "Details of the resources that were found, in the order of the request."},
			{"type", "object"},
			{"properties", object{
				{"results", object{{"type", "array"}, {"items", ref}}},
				{"not_found", object{{"type", "array"}, {"items", missing}, {"description", "IDs without a resource"}}},
			}},
			{"required", list{"results", "not_found"}},
		}
		return refTo("schemas", name), nil
	case api.AnswerStatic:
		switch op.Name {
		case "legacyJobList":
			jobs, err := d.shapes.ref("ConfigurationJobs")
			return object{{"type", "object"}, {"properties", object{{"jobs", jobs}}}, {"required", list{"jobs"}}}, err
		case "legacyTimezonesList":
			zones := object{{"type", "array"}, {"items", object{{"type", "string"}}}}
			return object{{"type", "array"}, {"items", object{
				{"description", "One country with its time zones."}, {"type", "object"}, {"additionalProperties", zones},
			}}}, nil
		}
	}
	return nil, fmt.Errorf("the response has no shape: add one to gen/document.go")
}

// response returns the schema of an operation's response.
func (d *document) response(op *api.Operation) (object, error) {
	switch {
	case op.Shape == "":
		return d.unnamed(op)
	case op.Appends != "":
		return d.shapes.details(op.Shape, op.Appends)
	}
	return d.shapes.ref(op.Shape)
}

// An errorResponse is a shared response with the codes that it can have.
type errorResponse struct {
	name, description string
	http              int
	codes             []int // status codes; missingQuery for a search without query
	headers           []string
}

const missingQuery = -1

// ownHeaders are the headers of responses from a release that the API does not have.
var ownHeaders = []string{"X-Reelsplice-Release", "Surrogate-Key"}

var errorResponses = []errorResponse{
	{"BadRequest", "A parameter is malformed or out of its limits.", 400, []int{22, 23, 27, 28, 47}, nil},
	{"Unauthorized", "The credential, or the session, is missing or not accepted.", 401, []int{7, 3, 39}, []string{"WWW-Authenticate"}},
	{"NotFound", "There is no such resource.", 404, []int{34}, ownHeaders},
	{"Unprocessable", "The parameters are refused together, or a required one is missing.", 422, []int{5, 20, missingQuery}, nil},
	{"TooManyRequests", "The client has too many connections open.", 429, []int{25}, []string{"Retry-After"}},
	{"InternalError", "Something went wrong in the edge.", 500, []int{11}, nil},
	{"Unavailable", "The edge has no release yet, or no memory left for the response.", 503, []int{9}, []string{"Retry-After"}},
}

// issues reports whether the response is issued for one client, without an ETag.
func issues(op *api.Operation) bool {
	return op.Answerer == api.AnswerValidKey || op.Answerer == api.AnswerRequestToken || op.Answerer == api.AnswerGuestSession
}

// headers returns references to shared headers.
func headers(names ...string) (all object) {
	for _, name := range names {
		all.set(name, refTo("headers", name))
	}
	return all
}

// responses returns the responses of an operation.
func responses(op *api.Operation, schema object) object {
	names := []string{"Cache-Control"}
	if !issues(op) {
		names = append(append(names, "ETag"), ownHeaders...)
	}
	if op.Answerer == api.AnswerRequestToken {
		names = append(names, "Authentication-Callback")
	}
	if op.Name == "configurationDetails" {
		names = append(names, "X-Reelsplice-Data-Since")
	}
	all := object{{"200", object{
		{"description", "The response."},
		{"headers", headers(names...)},
		{"content", object{{"application/json", object{{"schema", schema}}}}},
	}}}
	if !issues(op) {
		all.set("304", refTo("responses", "NotModified"))
	}
	for _, e := range errorResponses {
		if e.http == 404 && len(op.PathParams) == 0 && op.Answerer != api.AnswerLatest && op.Answerer != api.AnswerBatch ||
			e.http == 422 && !refuses(op) {
			continue
		}
		all.set(strconv.Itoa(e.http), refTo("responses", e.name))
	}
	return all
}

// refuses reports whether an operation has parameters that are refused with 422.
func refuses(op *api.Operation) bool {
	switch op.Answerer {
	case api.AnswerFind, api.AnswerBatch, api.AnswerSearch, api.AnswerChanges, api.AnswerOwnChanges:
		return true
	case api.AnswerList:
		return op.Version() == 4
	}
	takes := func(p api.Param) bool { return p.Name == "start_date" }
	return slices.ContainsFunc(op.QueryParams, takes) ||
		slices.ContainsFunc(api.AppendNames(op.Appends), func(n api.AppendName) bool { return slices.ContainsFunc(n.Params, takes) })
}

// components returns what operations refer to.
func (d *document) components() (object, error) {
	if err := d.shapes.add("Error"); err != nil {
		return nil, err
	}
	schemas, parameters := object{}, object{}
	for _, name := range slices.Sorted(maps.Keys(d.shapes.made)) {
		schemas = append(schemas, field{name, d.shapes.made[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(d.shared)) {
		parameters = append(parameters, field{name, d.shared[name]})
	}
	codes, err := facts.Rows("status-codes.tsv", 6)
	if err != nil {
		return nil, err
	}
	errors := object{{"NotModified", object{
		{"description", "The response has the ETag that `If-None-Match` names."},
		{"headers", headers(append([]string{"Cache-Control", "ETag"}, ownHeaders...)...)},
	}}}
	for _, e := range errorResponses {
		o, err := e.render(codes)
		if err != nil {
			return nil, err
		}
		errors = append(errors, field{e.name, o})
	}
	word := object{{"type", "string"}}
	return object{
		{"schemas", schemas},
		{"responses", errors},
		{"parameters", parameters},
		{"headers", object{
			{"Cache-Control", object{{"description", "How long caches may keep the response, and which."}, {"schema", word}}},
			{"ETag", object{{"description", "Changes with the response. It is weak: `W/\"...\"`."}, {"schema", word}}},
			{"Authentication-Callback", object{{"description", "Where a user approves the token."}, {"schema", word}}},
			{"Retry-After", object{{"description", "Seconds to wait."}, {"schema", object{{"type", "integer"}}}}},
			{"WWW-Authenticate", object{{"description", "The scheme of the credential."}, {"schema", word}}},
			{"X-Reelsplice-Release", object{{"description", "ID of the release that the response is from."}, {"schema", word}, {mark, true}}},
			{"X-Reelsplice-Data-Since", object{
				{"description", "The oldest day on which data of the release was fetched, where one is known."},
				{"schema", object{{"type", "string"}, {"format", "date"}}},
				{mark, true},
			}},
			{"Surrogate-Key", object{{"description", "Names by which caches can purge the response, with blanks between."}, {"schema", word}, {mark, true}}},
		}},
		{"securitySchemes", object{
			{"bearer", object{{"type", "http"}, {"scheme", "bearer"}, {"description", "A token, as `token issue` prints it."}}},
			{"api_key", object{{"type", "apiKey"}, {"in", "query"}, {"name", "api_key"}, {"description", "The same token. An edge may refuse tokens in queries."}}},
		}},
	}, nil
}

// render returns the shared response, with the body of each of its codes as an example.
func (e *errorResponse) render(codes [][]string) (object, error) {
	examples := object{}
	for _, code := range e.codes {
		if code == missingQuery {
			examples = append(examples, field{"missing_query", object{{"value", object{{"errors", list{"query must be provided"}}}}}})
			continue
		}
		i := slices.IndexFunc(codes, func(row []string) bool { return row[0] == strconv.Itoa(code) })
		if i < 0 || codes[i][1] != strconv.Itoa(e.http) {
			return nil, fmt.Errorf("status-codes.tsv has no code %d with HTTP status %d", code, e.http)
		}
		body := object{}
		for name := range strings.SplitSeq(codes[i][4], ",") {
			switch name {
			case "success":
				body = append(body, field{name, false})
			case "status_code":
				body = append(body, field{name, code})
			case "status_message":
				body = append(body, field{name, codes[i][2]})
			}
		}
		examples = append(examples, field{"code_" + strconv.Itoa(code), object{{"value", body}}})
	}
	o := object{{"description", e.description}}
	if len(e.headers) > 0 {
		o.set("headers", headers(e.headers...))
	}
	o.set("content", object{{"application/json", object{{"schema", refTo("schemas", "Error")}, {"examples", examples}}}})
	return o, nil
}
