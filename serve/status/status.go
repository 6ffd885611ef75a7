// Package status holds the refusals of the edge: TMDB's status codes with their HTTP status, message and body.
//
// All refusals of the edge are a [Code]; no other package spells a TMDB message. Codes that only
// writing operations need are not here.
package status

import (
	"slices"
	"strconv"
)

// A Code is a TMDB status code, the number in the status_code property of a body.
type Code uint8

// The status codes of the edge. Their numbers are TMDB's.
const (
	OK               Code = 0 // refuses nothing
	AuthFailed       Code = 3
	InvalidParams    Code = 5
	InvalidKey       Code = 7
	Offline          Code = 9
	Internal         Code = 11
	InvalidDateRange Code = 20
	InvalidPage      Code = 22
	InvalidDate      Code = 23
	TooManyRequests  Code = 25
	TooManyAppends   Code = 27
	InvalidTimezone  Code = 28
	NotFound         Code = 34
	Private          Code = 39
	MethodNotAllowed Code = 42
	InvalidInput     Code = 47

	// MissingQuery is a search without query. Its number never reaches the wire: the body holds only errors.
	MissingQuery Code = 200
)

// An order is the place of success in a body; it differs from code to code.
type order uint8

const (
	first order = iota
	last
	absent
)

// A refusal is the form of a code on the wire.
type refusal struct {
	http    int
	success order // place of the property "success": false
	message string
	body    []byte // JSON
}

var refusals = render(map[Code]refusal{
	AuthFailed:       {http: 401, message: "Authentication failed: You do not have permissions to access the service."},
	InvalidParams:    {http: 422, message: "Invalid parameters: Your request parameters are incorrect."},
	InvalidKey:       {http: 401, success: last, message: "Invalid API key: You must be granted a valid key."},
	Offline:          {http: 503, message: "Service offline: This service is temporarily offline, try again later."},
	Internal:         {http: 500, message: "Internal error: Something went wrong, contact TMDB."},
	InvalidDateRange: {http: 422, success: last, message: "Invalid date range: Should be a range no longer than 14 days."},
	InvalidPage:      {http: 400, success: last, message: "Invalid page: Pages start at 1 and max at 500. They are expected to be an integer."},
	InvalidDate:      {http: 400, message: "Invalid date: Format needs to be YYYY-MM-DD."},
	TooManyRequests:  {http: 429, success: absent, message: "Your request count (#) is over the allowed limit of (40)."},
	TooManyAppends:   {http: 400, message: "Too many append to response objects: The maximum number of remote calls is 20."},
	InvalidTimezone:  {http: 400, message: "Invalid timezone: Please consult the documentation for a valid timezone."},
	NotFound:         {http: 404, message: "The resource you requested could not be found."},
	Private:          {http: 401, message: "This resource is private."},
	MethodNotAllowed: {http: 405, message: "This request method is not supported for this resource."},
	InvalidInput:     {http: 400, message: "The input is not valid."},
	MissingQuery:     {http: 422, message: "query must be provided"},
})

// render makes the bodies. No message needs escaping (a test decodes them all), and the order of the
// properties is part of the contract.
func render(table map[Code]refusal) (all [256]refusal) {
	for c, r := range table {
		const success = `"success":false`
		b := `"status_code":` + strconv.Itoa(int(c)) + `,"status_message":"` + r.message + `"`
		switch {
		case c == MissingQuery:
			b = `"errors":["` + r.message + `"]`
		case r.success == first:
			b = success + "," + b
		case r.success == last:
			b += "," + success
		}
		r.body = slices.Clip([]byte("{" + b + "}")) // so that no append of a caller writes after it
		all[c] = r
	}
	return all
}

// refusal returns the refusal of Internal for an unknown code: a wrong constant becomes a 500.
func (c Code) refusal() *refusal {
	if refusals[c].http == 0 {
		return &refusals[Internal]
	}
	return &refusals[c]
}

// HTTP returns the HTTP status of c.
func (c Code) HTTP() int { return c.refusal().http }

// Message returns the status_message of c. For [MissingQuery] it is the one entry of errors.
func (c Code) Message() string { return c.refusal().message }

// Body returns the JSON response of c. The slice is shared by all callers and must not be changed.
func (c Code) Body() []byte { return c.refusal().body }

// Error names the code, the HTTP status and the message: a Code is the error for a refused request.
func (c Code) Error() string {
	return "status " + strconv.Itoa(int(c)) + " (HTTP " + strconv.Itoa(c.HTTP()) + "): " + c.Message()
}
