// Package api is the table of operations of the public API: paths, parameters, schemas of responses, and the names
// accepted by append_to_response. Routing, parameter checks, documents and tests all use this table.
//
// Its source is openapi.yaml. Command gen derives two things from it: the table, as Go source that costs nothing at
// start, and the OpenAPI documents; see docs/reference/openapi.md.
package api

import (
	"bytes"
	_ "embed"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

//go:generate go run ./gen

// A Param is a parameter in the path or in the query.
type Param struct {
	Name string
	// Integer marks path parameters with integer values.
	Integer bool
	// Required marks mandatory query parameters. Path parameters are always mandatory and never marked.
	Required bool
	// Own marks parameters that are absent from the API's documents.
	Own bool
}

// An Op is an index into Operations. The numbers change with the table: they are never stored in files.
type Op uint16

// NoOp means no operation.
const NoOp Op = 1<<16 - 1

// Operation returns the operation with index o; nil for NoOp and all other numbers beyond the table. It is shared and
// read-only.
func (o Op) Operation() *Operation {
	if int(o) >= len(operations) {
		return nil
	}
	return &operations[o]
}

// String returns the operation's name; "none" for no operation.
func (o Op) String() string {
	if op := o.Operation(); op != nil {
		return op.Name
	}
	return "none"
}

// An Operation is one method on one path.
type Operation struct {
	// Group is the heading in the public documentation, Name the operation ID. Groups Legacy and Extensions contain
	// operations that are absent from the documents.
	Group, Name string
	// Method is GET, POST, PUT or DELETE. Path starts with the version and has its
	// parameters in braces: "/3/movie/{movie_id}".
	Method, Path string
	// PathParams are in the order of the path.
	PathParams []Param
	// QueryParams are the parameters that change the response, without api_key and callback, which every operation
	// accepts, and without parameters of appended sub-requests.
	QueryParams []Param
	// Session marks operations that need a session besides a bearer token (or key).
	Session bool
	// Writes marks operations that change data, including some GETs.
	Writes bool
	// Shape names the schema of the response; empty if it is unknown.
	Shape string

	// Appends is the namespace of the names accepted by append_to_response; empty for operations that ignore the
	// parameter.
	Appends string
	// Kind and Sub identify the fragment of the response: the kind of the resource and the sub-request below it. Both
	// are zero for lists, searches and similar operations. The path identifies the resource by a number, by a text
	// (reviews, credits, episode groups, find), or as the latest one of its kind. Changes of seasons and episodes use
	// their own ID instead of the series' ID.
	Kind fragment.Kind
	Sub  fragment.Sub
	// Answerer is the part of the edge that serves the operation.
	Answerer Answerer
	// Rows is the kind of the resources in a list of the whole catalogue; zero for a list of several kinds, and for
	// all other operations.
	Rows fragment.Kind
}

// An AppendName is a name, or a pattern of names, that append_to_response accepts in one namespace.
type AppendName struct {
	Namespace string
	// Name is the path below the resource, with slashes. Patterns have parameters in braces:
	// "season/{season_number}".
	Name string
	// Params are the query parameters that change the appended object.
	Params []Param
	// Inherits is the namespace with the names, parameters and schemas for {sub_request} at the end of a pattern;
	// empty for all others.
	Inherits string
	// Shape names the schema of the appended object, which has no id.
	Shape string
	// Own marks names that are absent from the API's documents.
	Own bool
	// Op is the operation appended to the configuration; otherwise NoOp.
	Op Op

	// Kind and Sub identify the appended fragment; both are zero if Op is set. In patterns, Kind differs from the
	// namespace's kind. Sub is zero if Inherits is set.
	Kind fragment.Kind
	Sub  fragment.Sub
}

// Pattern reports whether the name has parameters.
func (a *AppendName) Pattern() bool { return strings.Contains(a.Name, "{") }

// Operations returns the table; an Op is an index into it. It is shared and read-only.
func Operations() []Operation { return operations[:] }

// Namespaces returns the namespaces of append names, in table order.
func Namespaces() []string {
	var ns []string
	for i := range appendNames {
		if n := appendNames[i].Namespace; len(ns) == 0 || ns[len(ns)-1] != n {
			ns = append(ns, n)
		}
	}
	return ns
}

// AppendNames returns the names of a namespace, patterns last; nil for an unknown namespace. The slice is shared and
// read-only.
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

// SubRequests returns the names for {sub_request} in a pattern that inherits from a namespace: all names without
// parameters. The slice is shared and read-only.
func SubRequests(namespace string) []AppendName {
	names := AppendNames(namespace)
	for i := range names {
		if names[i].Pattern() {
			return names[:i:i]
		}
	}
	return names
}

// An Answerer is the part of the edge that serves an operation. Package serve/edge dispatches on it with a table.
// Numbers change with the list: they are never stored in files.
type Answerer uint8

// The answerers. From AnswerPopular to AnswerChanges, they list resources of the whole catalogue, of kind
// Operation.Rows.
const (
	AnswerNothing      Answerer = iota // the operation changes something
	AnswerDetails                      // a resource with its appended objects, or one of its sub-requests
	AnswerLatest                       // the latest resource of a kind
	AnswerOwnChanges                   // the changes of a season or an episode, by its own ID
	AnswerFind                         // the resources that have an external ID
	AnswerCredit                       // a person's part in a title
	AnswerBatch                        // several resources of a kind
	AnswerPopular                      //
	AnswerTopRated                     //
	AnswerNowPlaying                   //
	AnswerUpcoming                     //
	AnswerAiringToday                  //
	AnswerOnTheAir                     //
	AnswerTrending                     //
	AnswerDiscover                     //
	AnswerGenreMovies                  //
	AnswerSearch                       //
	AnswerChanges                      //
	AnswerList                         // a user's list
	AnswerListItem                     // whether a title is on such a list
	AnswerStates                       // a session's marks and ratings of one title
	AnswerAccount                      // the account of a session
	AnswerAccountLists                 // the lists of an account
	AnswerShelf                        // an account's marked or rated titles
	AnswerGuestShelf                   // a guest's rated titles
	AnswerStatic                       // facts such as configuration and genres
	AnswerValidKey                     // whether the credential is valid
	AnswerRequestToken                 //
	AnswerGuestSession                 //
)

// Version returns the API version of the operation, 3 or 4.
func (o *Operation) Version() int { return int(o.Path[len("/")] - '0') }

//go:embed openapi-3.1.json.gz
var packed []byte

//go:embed openapi-3.0.json.gz
var packed30 []byte

// OpenAPIGzip returns the document, OpenAPI 3.1 as JSON, as one gzip member. It is shared and read-only.
func OpenAPIGzip() []byte { return packed }

// OpenAPI returns the document, OpenAPI 3.1 as JSON. It is shared and read-only.
func OpenAPI() []byte { return document() }

// OpenAPI30 returns the document as OpenAPI 3.0, for tools without 3.1. It is more permissive where 3.0 cannot
// express a limit. It is shared and read-only.
func OpenAPI30() []byte { return document30() }

var (
	document   = sync.OnceValue(func() []byte { return unpack(packed) })
	document30 = sync.OnceValue(func() []byte { return unpack(packed30) })
)

// unpack inflates an embedded document; a test verifies that it can.
func unpack(gz []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return text
}
