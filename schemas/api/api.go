// Package api is the table of operations of the public API: paths, parameters,
// shapes of the responses, and the names that append_to_response takes. Routing,
// parameter checks, documents and tests all read this one table.
//
// Its source is openapi.yaml. Command gen makes two things of that file: the table, as Go source that
// costs nothing at start, and the OpenAPI documents; see docs/reference/openapi.md.
package api

import (
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

//go:generate go run ./gen

// An Auth is the credential of an operation. Those with a session need a bearer token (or key)
// as well.
type Auth string

// The credentials.
const (
	AuthBearer         Auth = "bearer"
	AuthSession        Auth = "session"
	AuthGuestSession   Auth = "guest_session"
	AuthSessionOrGuest Auth = "session|guest_session"
)

// A Param is a parameter in the path or in the query.
type Param struct {
	Name string
	// Integer marks path parameters that are whole numbers.
	Integer bool
	// Required marks query parameters without which the operation is refused. Path
	// parameters are always needed and never marked.
	Required bool
	// Own marks parameters that the API's documents do not list.
	Own bool
}

// An Op is the index of an operation in Operations. The numbers change whenever
// the table does: they never reach files.
type Op uint16

// NoOp stands for no operation.
const NoOp Op = 1<<16 - 1

// Operation returns the operation that o stands for, nil for NoOp and for every
// other number beyond the table. It is shared: read only.
func (o Op) Operation() *Operation {
	if int(o) >= len(operations) {
		return nil
	}
	return &operations[o]
}

// String returns the operation's name; "none" when there is none.
func (o Op) String() string {
	if op := o.Operation(); op != nil {
		return op.Name
	}
	return "none"
}

// An Operation is one method on one path.
type Operation struct {
	// Group is the heading in the public documentation, Name the operation id. The groups
	// Legacy and Extensions are those of operations that the documents do not list.
	Group, Name string
	// Method is GET, POST, PUT or DELETE. Path starts with the version and has its
	// parameters in braces: "/3/movie/{movie_id}".
	Method, Path string
	// PathParams stand in the order of the path.
	PathParams []Param
	// QueryParams are those that change the response. They lack api_key and callback, which
	// every operation takes, and those of appended sub-requests.
	QueryParams []Param
	Auth        Auth
	// Writes marks operations that change something, some GETs among them.
	Writes bool
	// Shape names the schema of the response; empty for an unknown one.
	Shape string

	// Appends is the namespace of the names that append_to_response takes here;
	// empty for operations that ignore the parameter.
	Appends string
	// Kind and Sub are those of the fragment that is the response: the kind of the resource
	// and the sub-request below it. Both are zero for lists, searches and the like. The path
	// names the resource by a number, by a text (reviews, credits, episode groups, find), or as
	// the latest one of its kind; changes of seasons and episodes by a number of their own
	// in place of that of their series.
	Kind fragment.Kind
	Sub  fragment.Sub
	// Answerer is the part of the edge that serves the operation.
	Answerer Answerer
	// Rows is the kind of the resources in a list of the whole catalogue; zero for a list of
	// several kinds, and for all other operations.
	Rows fragment.Kind
}

// An AppendName is a name, or a pattern of names, that append_to_response takes in
// one namespace.
type AppendName struct {
	Namespace string
	// Name is the path below the resource, with slashes. Patterns have parameters
	// in braces: "season/{season_number}".
	Name string
	// Params are the query parameters that change the appended object.
	Params []Param
	// Inherits is the namespace that {sub_request} at the end of a pattern takes
	// its names, parameters and shapes from; empty for all others.
	Inherits string
	// Shape names the schema of the appended object, which lacks its id.
	Shape string
	// Own marks names that the API's documents do not list.
	Own bool
	// Op is the operation that is appended to the configuration; NoOp elsewhere.
	Op Op

	// Kind and Sub are those of the appended fragment; they are zero where Op is set. Kind differs
	// from that of the namespace in patterns. Sub is zero where Inherits is set.
	Kind fragment.Kind
	Sub  fragment.Sub
}

// Pattern reports whether the name has parameters.
func (a *AppendName) Pattern() bool { return strings.Contains(a.Name, "{") }

// Operations returns the table; an Op is an index into it. It is shared: read only.
func Operations() []Operation { return operations[:] }

// Namespaces returns the namespaces of append names, in the order of the table.
func Namespaces() []string {
	var ns []string
	for i := range appendNames {
		if n := appendNames[i].Namespace; len(ns) == 0 || ns[len(ns)-1] != n {
			ns = append(ns, n)
		}
	}
	return ns
}

// AppendNames returns the names that can be appended in a namespace, patterns
// last; nil for an unknown namespace. The slice is shared: read only.
func AppendNames(namespace string) []AppendName {
	first := slices.IndexFunc(appendNames[:], func(a AppendName) bool { return a.Namespace == namespace })
	if first < 0 {
		return nil
	}
	last := first
	for last < len(appendNames) && appendNames[last].Namespace == namespace {
		last++
	}
	return appendNames[first:last:last]
}

// SubRequests returns the names of a namespace that {sub_request} stands for in a pattern that
// inherits from it: those without parameters. The slice is shared: read only.
func SubRequests(namespace string) []AppendName {
	names := AppendNames(namespace)
	for i := range names {
		if names[i].Pattern() {
			return names[:i:i]
		}
	}
	return names
}
