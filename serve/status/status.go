// Package status holds the one table from a TMDB status code to its HTTP status, message and body.
//
// Everything the edge refuses is expressed as a [Code]; no other package spells a TMDB message.
package status

import (
	"slices"
	"strconv"
)

// Code is a TMDB status code, the number in the status_code property of a body.
// Codes from 200 up never reach the wire: they stand for responses that carry no status_code.
type Code uint8

// The status codes of TMDB. Their numbers are TMDB's and never change.
const (
	Success             Code = 1
	InvalidService      Code = 2
	AuthFailed          Code = 3
	InvalidFormat       Code = 4
	InvalidParams       Code = 5
	InvalidID           Code = 6
	InvalidKey          Code = 7
	Duplicate           Code = 8
	Offline             Code = 9
	SuspendedKey        Code = 10
	Internal            Code = 11
	Updated             Code = 12
	Deleted             Code = 13
	AuthRefused         Code = 14
	Failed              Code = 15
	DeviceDenied        Code = 16
	SessionDenied       Code = 17
	ValidationFailed    Code = 18
	InvalidAccept       Code = 19
	InvalidDateRange    Code = 20
	EntryNotFound       Code = 21
	InvalidPage         Code = 22
	InvalidDate         Code = 23
	Timeout             Code = 24
	TooManyRequests     Code = 25
	MissingLogin        Code = 26
	TooManyAppends      Code = 27
	InvalidTimezone     Code = 28
	Unconfirmed         Code = 29
	InvalidLogin        Code = 30
	AccountDisabled     Code = 31
	EmailNotVerified    Code = 32
	InvalidRequestToken Code = 33
	NotFound            Code = 34
	InvalidToken        Code = 35
	NoWritePermission   Code = 36
	SessionNotFound     Code = 37
	NotOwner            Code = 38
	Private             Code = 39
	NothingToUpdate     Code = 40
	TokenNotApproved    Code = 41
	MethodNotAllowed    Code = 42
	BackendUnreachable  Code = 43
	UnusableID          Code = 44
	UserSuspended       Code = 45
	Maintenance         Code = 46
	InvalidInput        Code = 47

	// MissingQuery is a search without query: HTTP 422 and a body that holds only errors.
	MissingQuery Code = 200
)

// HTTP returns the HTTP status of c.
func (c Code) HTTP() int { return int(c.row().http) }

// Message returns the status_message of c. For [MissingQuery] it is the one entry of errors.
func (c Code) Message() string { return c.row().message }

// Body returns the JSON response of c. The slice is shared by all callers and must not be changed.
func (c Code) Body() []byte {
	if c == MissingQuery {
		return missingQueryBody
	}
	return bodies[c.known()]
}

// known maps a code outside the table to Internal, so that a wrong constant
// becomes an honest 500 instead of an empty response.
func (c Code) known() Code {
	if int(c) >= len(table) || table[c].http == 0 {
		return Internal
	}
	return c
}

func (c Code) row() *row {
	if c == MissingQuery {
		return &missingQuery
	}
	return &table[c.known()]
}

// success is the value of the success property. EntryNotFound is a 200 that did nothing it was asked to do.
func (c Code) success() bool { return table[c].http < 300 && c != EntryNotFound }

// AppendTooManyRequests appends the body of TooManyRequests in the form recorded in 2017, with the
// caller's count and limit; Body keeps the placeholder of the published table.
func AppendTooManyRequests(dst []byte, count, limit int) []byte {
	dst = append(dst, `{"status_code":25,"status_message":"Your request count (`...)
	dst = strconv.AppendInt(dst, int64(count), 10)
	dst = append(dst, `) is over the allowed limit of `...)
	dst = strconv.AppendInt(dst, int64(limit), 10)
	return append(dst, `."}`...)
}

// An Error makes a handler respond with a status code instead of data.
type Error struct {
	Code  Code
	Allow string // value of the Allow header, for MethodNotAllowed
	Cause error  // for the log, never for the client; may be nil
}

// Error names the code, the HTTP status, the message and the cause.
func (e *Error) Error() string {
	s := "status " + strconv.Itoa(int(e.Code)) + " (HTTP " + strconv.Itoa(e.Code.HTTP()) + "): " + e.Code.Message()
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// bodies is filled once and never changed after.
var bodies = renderAll()

var missingQueryBody = []byte(`{"errors":["` + missingQuery.message + `"]}`)

func renderAll() [len(table)][]byte {
	var out [len(table)][]byte
	for i := range table {
		if table[i].http != 0 {
			out[i] = render(Code(i))
		}
	}
	return out
}

// render joins the properties by hand: no message needs escaping (a test decodes them all),
// and the key order is part of the contract.
func render(c Code) []byte {
	r := &table[c]
	b := []byte{'{'}
	for i, k := range r.keys.names() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `"`+k+`":`...)
		switch k {
		case "status_code":
			b = strconv.AppendInt(b, int64(c), 10)
		case "status_message":
			b = append(b, `"`+r.message+`"`...)
		case "success":
			b = strconv.AppendBool(b, c.success())
		case "failure":
			b = append(b, "true"...)
		case "errors":
			b = append(b, "[]"...) // the reasons are the caller's; nothing this server serves has any
		}
	}
	// Clipped, so that an append by a caller cannot write behind the shared body.
	return slices.Clip(append(b, '}'))
}
