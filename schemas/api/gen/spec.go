package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A spec is the parsed and validated openapi.yaml.
type spec struct {
	text       object
	operations []*operation
	namespaces []namespace // by kind
}

// An operation is one method on one path. The head of openapi.yaml documents its fields.
type operation struct {
	path, method, name string
	text               object      // as written
	params             []parameter // path parameters first
	response           any         // the name of a schema, a schema, or nil
	session, writes    bool
	kind               fragment.Kind // with sub; zero if the response is not a fragment
	sub                fragment.Sub
	answerer           string // empty if the edge rejects the operation
	rows               fragment.Kind
	namespace          string
}

// A parameter is a parameter of an operation.
type parameter struct {
	text     any    // as written, or a reference
	full     object // as written
	in, name string
}

// A namespace contains the names that can be appended to the details of one kind, or to the configuration.
type namespace struct {
	name  string
	op    *operation
	names []appendName // patterns last
}

// An appendName is a name that can be appended.
type appendName struct {
	name     string
	op       *operation
	inherits string // namespace of the names that follow, if any
	own      bool
}

// read parses a specification. An error names the operation and the field.
func read(text []byte) (*spec, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	if len(file.Content) == 0 {
		return nil, errors.New("the file is empty")
	}
	root, shared := file.Content[0], map[*yaml.Node]string{}
	if all := child(root, "components", "parameters"); all != nil {
		for i := 0; i+1 < len(all.Content); i += 2 {
			shared[all.Content[i+1]] = all.Content[i].Value
		}
	}
	v, err := decode(root, shared)
	if err != nil {
		return nil, err
	}
	s := &spec{}
	s.text, _ = v.(object)
	for _, path := range s.text.below("paths") {
		methods, _ := path.value.(object)
		for _, method := range methods {
			op := &operation{path: path.name, method: strings.ToUpper(method.name)}
			op.text, _ = method.value.(object)
			if err := s.parseOperation(op); err != nil {
				return nil, fmt.Errorf("%s %s: %w", op.method, op.path, err)
			}
			s.operations = append(s.operations, op)
		}
	}
	return s, s.collectAppendNames()
}

// operationFields are the names that an operation may have.
var operationFields = []string{
	"tags", "operationId", "summary", "description", "deprecated", "parameters", "x-response", "x-auth", "x-writes",
	"x-fragment", "x-answerer", "x-rows", "x-namespace", "x-append", "x-own",
}

// parseOperation parses the fields of an operation.
func (s *spec) parseOperation(op *operation) error {
	for _, f := range op.text {
		if !slices.Contains(operationFields, f.name) {
			return fmt.Errorf("unknown field %q, want one of %s", f.name, strings.Join(operationFields, ", "))
		}
	}
	op.name, op.response, op.namespace = op.text.text("operationId"), op.text.get("x-response"), op.text.text("x-namespace")
	if op.name == "" || len(op.text.items("tags")) == 0 {
		return errors.New("want an operationId and a tag")
	}
	for _, v := range op.text.items("parameters") {
		text, _ := v.(object)
		full := text
		if ref := text.text("$ref"); ref != "" {
			full = s.text.below("components").below("parameters").below(strings.TrimPrefix(ref, "#/components/parameters/"))
		}
		p := parameter{text: text, full: full, in: full.text("in"), name: full.text("name")}
		if p.name == "" || p.in != "path" && p.in != "query" || (p.in == "path") != strings.Contains(op.path, "{"+p.name+"}") {
			return fmt.Errorf("parameter %q in %q: want a name of the path, or one in query", p.name, p.in)
		}
		op.params = append(op.params, p)
	}
	switch auth := op.text.text("x-auth"); auth {
	case "":
	case "session", "guest_session", "session|guest_session":
		op.session = true
	default:
		return fmt.Errorf("unknown x-auth %q, want session, guest_session or session|guest_session", auth)
	}
	op.writes = op.method != "GET" || op.text.get("x-writes") == true
	if f := op.text.text("x-fragment"); f != "" {
		kind, sub, _ := strings.Cut(f, "/")
		var isKind, isSub bool
		op.kind, isKind = kindOf(kind)
		op.sub, isSub = fragment.ParseSub(sub)
		if sub == "" {
			op.sub, isSub = fragment.SubDetails, true
		}
		if !isKind || !isSub {
			return fmt.Errorf("x-fragment %q: want a kind and a sub-request of package fragment: schemas/fragment/sub.go", f)
		}
		op.answerer = "Details"
	}
	if rows := op.text.text("x-rows"); rows != "" {
		var ok bool
		if op.rows, ok = kindOf(rows); !ok {
			return fmt.Errorf("x-rows %q: want a kind of package fragment", rows)
		}
	}
	if a := op.text.text("x-answerer"); a != "" {
		op.answerer = a
	}
	switch {
	case op.answerer == "" && !op.writes:
		return errors.New("no answerer serves it: give it x-answerer, or x-fragment")
	case op.answerer != "" && (op.text.text("summary") == "" || op.response == nil):
		return errors.New("want a summary and x-response")
	}
	if name, ok := op.response.(string); ok && s.text.below("components").below("schemas").get(name) == nil {
		return fmt.Errorf("x-response %q: want a schema of components", name)
	}
	return nil
}

// collectAppendNames fills the namespaces.
func (s *spec) collectAppendNames() error {
	for _, op := range s.operations {
		if op.namespace != "" && s.namespaceOf(op.namespace) == nil {
			s.namespaces = append(s.namespaces, namespace{name: op.namespace, op: op})
		}
	}
	slices.SortStableFunc(s.namespaces, func(a, b namespace) int { return int(a.op.kind-1) - int(b.op.kind-1) })
	for _, op := range s.operations {
		for _, v := range op.text.items("x-append") {
			ns := s.namespaceOf(fmt.Sprint(v))
			if ns == nil || op.sub > fragment.SubDetails && op.kind != ns.op.kind {
				return fmt.Errorf("operation %s: x-append %v: want the x-namespace of an operation, of the same kind", op.name, v)
			}
			name, isBelow := strings.CutPrefix(op.path, ns.op.path+"/")
			switch {
			case isBelow:
			case op.sub > fragment.SubDetails:
				name = op.sub.Name()
			default:
				return fmt.Errorf("operation %s: x-append %v: want a path below %s", op.name, v, ns.op.path)
			}
			ns.names = append(ns.names, appendName{name: name, op: op, own: op.kind == 0 || op.sub >= fragment.SubOwn})
			if op.namespace != "" {
				ns.names = append(ns.names, appendName{name: name + "/{sub_request}", op: op, inherits: op.namespace})
			}
		}
	}
	for _, ns := range s.namespaces {
		slices.SortStableFunc(ns.names, func(a, b appendName) int { return strings.Count(a.name, "{") - strings.Count(b.name, "{") })
	}
	return nil
}

// namespaceOf returns the namespace with a name, or nil.
func (s *spec) namespaceOf(name string) *namespace {
	for i := range s.namespaces {
		if s.namespaces[i].name == name {
			return &s.namespaces[i]
		}
	}
	return nil
}

// appendedParams returns the parameters that change the object when the operation is appended. Appended changes are not
// paged.
func (op *operation) appendedParams() []parameter {
	return slices.DeleteFunc(slices.Clone(op.params), func(p parameter) bool {
		return p.in == "path" || p.name == "page" && op.sub == fragment.SubChanges
	})
}

// kindOf returns the kind with a name.
func kindOf(name string) (fragment.Kind, bool) {
	for k := fragment.KindMovie; k <= fragment.KindFind; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}
