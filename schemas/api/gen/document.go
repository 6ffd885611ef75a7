package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// mark is the field that marks extensions of the API, with the value true. For a parameter with additional values it
// contains a sentence.
const mark = "x-reelsplice-extension"

// document returns the OpenAPI 3.1 document: the operations served by the edge, with the responses and parameters
// derived from their fields.
func (s *spec) document() object {
	paths := object{}
	for _, op := range s.operations {
		if op.method != "GET" || op.answerer == "" {
			continue
		}
		o := object{}
		for _, f := range op.text {
			if f.name != "parameters" && (f.name == "x-own" || !strings.HasPrefix(f.name, "x-")) {
				o = append(o, f)
			}
		}
		if all := s.parameters(op); len(all) > 0 {
			o = append(o, field{"parameters", all})
		}
		paths = append(paths, field{op.path, object{{"get", append(o, field{"responses", s.responses(op)})}}})
	}
	components := object{}
	for _, name := range []string{"schemas", "responses", "parameters", "headers", "securitySchemes"} {
		components = append(components, field{name, s.text.below("components").below(name)})
	}
	components = components.with("schemas", s.schemas())
	doc := object{}
	for _, name := range []string{"openapi", "info", "servers", "security", "tags"} {
		doc = append(doc, field{name, s.text.get(name)})
	}
	doc = append(doc, field{"paths", paths}, field{"components", components})
	return rewritten(doc, func(o object) object {
		for i := range o {
			if o[i].name == "x-own" {
				o[i].name = mark
			}
		}
		return o
	}).(object)
}

// rewritten returns a value with each of its objects rewritten, inner ones first. rewrite may change its argument.
func rewritten(v any, rewrite func(o object) object) any {
	switch v := v.(type) {
	case object:
		out := slices.Clone(v)
		for i := range out {
			out[i].value = rewritten(out[i].value, rewrite)
		}
		return rewrite(out)
	case list:
		out := slices.Clone(v)
		for i := range out {
			out[i] = rewritten(out[i], rewrite)
		}
		return out
	}
	return v
}

// parameters returns the parameters of an operation, including those for its appended objects.
func (s *spec) parameters(op *operation) (all list) {
	var seen []parameter
	add := func(params []parameter) {
		for _, p := range params {
			if !slices.ContainsFunc(seen, func(s parameter) bool { return s.name == p.name && s.in == p.in }) {
				seen, all = append(seen, p), append(all, p.text)
			}
		}
	}
	add(op.params)
	if op.namespace == "" {
		return all
	}
	all = append(all, s.appendParameter(op.namespace))
	for _, a := range s.namespaceOf(op.namespace).names {
		if a.inherits == "" {
			add(a.op.appendedParams())
		}
	}
	return all
}

// A concreteName is an append name with {sub_request} spelled out.
type concreteName struct {
	name    string
	pattern string // for names with numbers
	op      *operation
	own     bool
}

// concreteNames returns all names of a namespace.
func (s *spec) concreteNames(namespace string) (names []concreteName) {
	for _, a := range s.namespaceOf(namespace).names {
		if a.inherits == "" {
			names = append(names, concreteName{name: a.name, op: a.op, own: a.own})
		} else {
			for _, b := range s.namespaceOf(a.inherits).names {
				if !strings.Contains(b.name, "{") {
					names = append(names, concreteName{name: strings.TrimSuffix(a.name, "{sub_request}") + b.name, op: b.op, own: b.own})
				}
			}
		}
	}
	for i, n := range names {
		if strings.Contains(n.name, "{") {
			names[i].pattern = strings.NewReplacer("{season_number}", "[0-9]+", "{episode_number}", "[0-9]+").Replace(n.name)
		}
	}
	return names
}

// patternNotes describe the names with numbers, by namespace.
var patternNotes = map[string]string{
	"tv":     " Seasons and episodes are `season/N`, `season/N/credits`, `season/N/episode/M` and so on.",
	"season": " Episodes are `episode/M`, `episode/M/images` and so on.",
}

// appendParameter returns append_to_response of a namespace. An edge accepts 20 names.
func (s *spec) appendParameter(namespace string) object {
	own, all := true, list{}
	var patterns []string
	for _, n := range s.concreteNames(namespace) {
		own = own && n.own
		if n.pattern == "" {
			all, n.pattern = append(all, n.name), n.name
		}
		patterns = append(patterns, n.pattern)
	}
	item := object{{"type", "string"}}
	if len(all) == len(patterns) {
		item = append(item, field{"enum", all})
	} else {
		item = append(item, field{"pattern", "^(" + strings.Join(patterns, "|") + ")$"})
	}
	o := object{
		{"name", "append_to_response"},
		{"in", "query"},
		{"description", "Names of sub-requests to append, with commas between, 20 at most. Unknown names are left out." + patternNotes[namespace]},
		{"style", "form"},
		{"explode", false},
		{"schema", object{{"type", "array"}, {"items", item}, {"maxItems", 20}}},
	}
	if own {
		o = o.with("x-own", true)
	}
	return o
}

// responses returns the responses of an operation. A response issued for a single client has no ETag.
func (s *spec) responses(op *operation) object {
	headers := object{{"Cache-Control", refTo("headers", "Cache-Control")}}
	with := func(names ...string) {
		for _, name := range names {
			headers = append(headers, field{name, refTo("headers", name)})
		}
	}
	isAny := func(answerers ...string) bool { return slices.Contains(answerers, op.answerer) }
	isIssued := isAny("ValidKey", "RequestToken", "GuestSession")
	if !isIssued {
		with("ETag", "X-Reelsplice-Release", "Surrogate-Key")
	}
	if isAny("RequestToken") {
		with("Authentication-Callback")
	}
	if op.name == "configurationDetails" {
		with("X-Reelsplice-Data-Since")
	}
	schema := op.response
	if name, ok := schema.(string); ok {
		schema = refTo("schemas", name)
	}
	all := object{{"200", object{
		{"description", "The response."},
		{"headers", headers},
		{"content", object{{"application/json", object{{"schema", schema}}}}},
	}}}
	takesDates := slices.ContainsFunc(s.parameters(op), func(v any) bool { return strings.HasSuffix(v.(object).text("$ref"), ".start_date") })
	for _, e := range []struct {
		http   int
		name   string
		unless bool
	}{
		{304, "NotModified", isIssued},
		{400, "BadRequest", false},
		{401, "Unauthorized", false},
		{404, "NotFound", !strings.Contains(op.path, "{") && !isAny("Latest", "Batch")},
		{422, "Unprocessable", !takesDates && !isAny("Find", "Batch", "Search") && op.name != "v4ListDetails"},
		{429, "TooManyRequests", false},
		{500, "InternalError", false},
		{503, "Unavailable", false},
	} {
		if !e.unless {
			all = append(all, field{strconv.Itoa(e.http), refTo("responses", e.name)})
		}
	}
	return all
}

// schemas returns the schemas of the document. They allow fields of older records, make the id optional where an
// object can be appended, and have fields for the objects that can be appended to them.
func (s *spec) schemas() object {
	isAppended := map[any]bool{} // seasons and episodes keep their id, which is their own
	for _, ns := range s.namespaces {
		for _, a := range ns.names {
			isAppended[a.op.response] = isAppended[a.op.response] || a.op.sub != fragment.SubDetails
		}
	}
	all := slices.Clone(s.text.below("components").below("schemas"))
	for i, f := range all {
		schema, _ := f.value.(object)
		required, optional := schema.items("required"), []any{}
		fields := slices.Clone(schema.below("properties"))
		for j, p := range fields {
			value, _ := p.value.(object)
			older, isList := value.get("x-older").(list)
			if !isList {
				older = list{value.get("x-older")}
			}
			value = value.without("x-older")
			if slices.Contains(older, any("absent")) {
				optional = append(optional, p.name)
			}
			if slices.Contains(older, any("null")) {
				value = orNull(value)
			}
			if p.name == "id" && isAppended[f.name] {
				optional = append(optional, p.name)
				value = value.with("description", "absent where the object is appended")
			}
			fields[j].value = value
		}
		if fields != nil {
			schema = schema.with("properties", fields)
		}
		if len(optional) > 0 && required != nil {
			schema = schema.with("required", slices.DeleteFunc(slices.Clone(required), func(v any) bool { return slices.Contains(optional, v) }))
		}
		all[i].value = schema
	}
	for _, ns := range s.namespaces {
		name := fmt.Sprint(ns.op.response)
		schema := all.below(name)
		fields, patterns := schema.below("properties"), object{}
		for _, n := range s.concreteNames(ns.name) {
			ref := refTo("schemas", fmt.Sprint(n.op.response))
			if n.pattern == "" {
				fields = fields.with(n.name, ref)
			} else {
				patterns = append(patterns, field{"^" + n.pattern + "$", ref})
			}
		}
		schema = schema.with("properties", fields)
		if len(patterns) > 0 {
			schema = append(schema, field{"patternProperties", patterns})
		}
		all = all.with(name, schema)
	}
	return all
}

// orNull returns a schema that also allows null.
func orNull(schema object) object {
	switch t := schema.get("type").(type) {
	case string:
		return schema.with("type", list{t, "null"})
	case list:
		return schema.with("type", append(slices.Clone(t), "null"))
	}
	return object{{"anyOf", list{schema, object{{"type", "null"}}}}}
}

// downgrade returns the document as OpenAPI 3.0, for tools without 3.1. It describes the same responses, or more
// where 3.0 cannot express them: fields whose name is a pattern become arbitrary additional fields.
func downgrade(doc object) object {
	info := doc.below("info").without("summary").with("license",
		object{{"name", "Apache License 2.0"}, {"url", "https://www.apache.org/licenses/LICENSE-2.0"}})
	return downgraded(doc).(object).with("openapi", "3.0.3").with("info", info)
}

// downgraded converts a value of the document and all values below it.
func downgraded(v any) any {
	return rewritten(v, func(o object) object {
		for i, f := range o {
			switch f.name {
			case "const":
				o[i] = field{"enum", list{f.value}}
			case "patternProperties":
				o[i] = field{"additionalProperties", true}
			}
		}
		return nullable(o.without("propertyNames"))
	})
}

// nullable replaces the type null with nullable.
func nullable(o object) object {
	isNull := func(v any) bool {
		member, _ := v.(object)
		return v == "null" || member.get("type") == "null"
	}
	if types, ok := o.get("type").(list); ok {
		rest := slices.DeleteFunc(slices.Clone(types), isNull)
		if len(rest) == 1 {
			o = o.with("type", rest[0])
		} else {
			var each list
			for _, t := range rest {
				each = append(each, object{{"type", t}})
			}
			o = o.without("type").with("anyOf", each)
		}
		if len(rest) < len(types) {
			o = o.with("nullable", true)
		}
	}
	if choices, ok := o.get("anyOf").(list); ok {
		if rest := slices.DeleteFunc(slices.Clone(choices), isNull); len(rest) < len(choices) {
			o = o.with("nullable", true).with("anyOf", rest)
			if len(rest) == 1 {
				o = o.without("anyOf").with("allOf", rest)
			}
		}
	}
	return o
}
