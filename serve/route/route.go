// Package route turns the path and the query of a request into a typed Request. It
// works on bytes without a server, and allocates nothing once its tables are built
// (by Prepare or on first use, from the table of package api).
//
// # Paths
//
// A path is percent-decoded once, then dot segments are resolved, so that "%2F" is
// a slash and "%252F" is not. Repeated slashes count as one and a slash at the end
// is ignored, as the proxies in front of such services have it; ".." at the root
// stays at the root. A NUL, encoded or not, and an invalid escape are
// InvalidInput. Backslash, ";a=b" and full-width slashes are letters like any other.
//
// Words of a path win over parameters: "/3/movie/latest" is no movie. Numbers are
// decimal digits, leading zeros allowed; signs, other letters and numbers that do
// not fit are NotFound, and so is a path of more than MaxPath bytes.
//
// # Queries
//
// Names and values are percent-decoded, "+" is a blank, and an invalid escape stays as
// it is. The order of parameters is irrelevant, and unknown ones are ignored. The last of
// repeated parameters counts. An empty value counts as no value. A parameter that neither
// the operation nor its appended sub-requests take keeps its zero value, whatever the
// request has: it changes no response and causes no error.
//
// # Which error wins
//
// The path (InvalidInput, NotFound), then the method (MethodNotAllowed), then the query:
// its length (InvalidInput), append_to_response (TooManyAppends), page (InvalidPage), each
// date (InvalidDate), the window (InvalidDateRange). Whether the resource exists is for
// the caller to find out after that.
package route

import (
	"bytes"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/status"
)

// The limits of a request.
const (
	MaxPath      = 1024 // bytes of the raw path
	MaxQuery     = 4096 // bytes of the raw query
	MaxAppends   = 20   // names in append_to_response, unknown and repeated ones too
	MaxPage      = 500
	maxDays      = 14  // between start_date and end_date
	maxLanguages = 64  // in include_image_language or include_video_language
	MaxIDs       = 100 // in ids, repeated ones too
)

// A Request is a parsed path and query. It takes some 10 KB and is made to be reused: every
// Match resets it. It must not be copied.
//
// Its byte slices point into the path and the query that it was parsed from, or
// into the Request itself: they are good until the caller changes those bytes or
// parses into the Request again.
type Request struct {
	target
	Params

	// The memory of Params.
	appends [MaxAppends]Append
	images  [maxLanguages]fragment.Variant
	videos  [maxLanguages]fragment.Variant

	// scratch holds decoded text. Nothing is decoded twice and decoding
	// never lengthens, so it cannot overflow.
	scratch [MaxPath + MaxQuery]byte
	used    int // bytes used in scratch
}

// A target is what the path names.
type target struct {
	// Op is the operation; NoOp when none has this path and method.
	Op api.Op
	// Kind and Sub belong to the operation; zero if it has none.
	Kind fragment.Kind
	Sub  fragment.Sub
	// ID is the number in the path; of a series in the paths of seasons and
	// episodes. Zero where the path has none, and for a movie named by Name.
	ID fragment.ID
	// Season and Episode are the numbers below a series. In the paths of the changes
	// of a season or an episode they are zero, and ID is its own number.
	Season, Episode uint32
	// Name is the text in the path, decoded: a review's or credit's id, a time
	// window, an external id, or the IMDb id ("tt0137523") in place of a movie's
	// number. Nil where the path has none.
	Name []byte
	// Allow is the value of the Allow header; set for every known path, whatever
	// the method.
	Allow string
}

// Params are the values in the query, as far as the operation and the parts appended
// to it take them.
type Params struct {
	// Language is valid where HasLanguage is set: "xx" or "xx-YY" in any case, the first one of a
	// list. Anything else is like no language.
	Language    fragment.Variant
	HasLanguage bool
	// Page is 1 to the highest valid one; 1 when not given.
	Page uint16
	// Country, Region and WatchRegion are zero unless two letters were given.
	Country, Region, WatchRegion Country
	// Start and End are valid where HasStart and HasEnd are set. End may lie before
	// Start.
	Start, End       day.Day
	HasStart, HasEnd bool
	// IncludeAdult is set by "true" in any case.
	IncludeAdult bool
	// Fuzzy is set by "true" in any case.
	Fuzzy bool
	// Year, PrimaryYear and FirstAirYear are 0 unless a year from 1000 to 9999 was given.
	Year, PrimaryYear, FirstAirYear uint16

	// The texts, decoded; nil when not given, not nil when given without a value.
	Query, ExternalSource, SortBy, Timezone, IDs []byte
	// Raw is the whole query as it came, for Each and Lookup.
	Raw []byte

	// Appends are the sub-requests to append in the order of the request: known
	// names, each once. It is empty for operations that append nothing.
	// "account_states" is among them; the caller decides about it.
	Appends []Append
	// ImageLanguages are the items of include_image_language: bare languages and NoLanguage
	// (for "null"), ascending, each once. The region of an item is ignored, blanks
	// around it too, and so are items that are no language and those beyond
	// maxLanguages. It is empty when nothing is left or the parameter was not given.
	// VideoLanguages are the same for include_video_language.
	ImageLanguages, VideoLanguages []fragment.Variant
}

// An Append is one sub-request to append to a details response.
type Append struct {
	// Property is the name of the field in the response: the requested name, letter for
	// letter, decoded.
	Property []byte
	// Op is the operation appended to the configuration; NoOp elsewhere.
	Op api.Op
	// Kind is the kind of the details, or KindSeason or KindEpisode below a series;
	// Season and Episode are their numbers.
	Kind            fragment.Kind
	Sub             fragment.Sub
	Season, Episode uint32
}

// Reset empties q for the next request and lets go of the bytes it points to.
func (q *Request) Reset() {
	clear(q.Appends)
	q.target, q.Params = target{Op: api.NoOp}, Params{Page: 1}
	q.used = 0
}

// Parse routes a GET and parses its query: Match and ParseQuery in one.
func Parse(path, query []byte, q *Request) status.Code {
	if c := Match([]byte(get), path, q); c != status.OK {
		return c
	}
	return ParseQuery(query, q)
}

// Match resets q and fills in its target from a raw path, which starts with a slash
// and ends before the question mark.
//
// HEAD is routed as GET. OPTIONS is OK on every known path. Every other method
// is MethodNotAllowed, since the edge is read-only. So are GETs that change something in a session's name.
func Match(method, path []byte, q *Request) status.Code {
	q.Reset()
	t := load()
	if len(path) == 0 || len(path) > MaxPath || path[0] != '/' {
		return status.NotFound
	}
	clean := bytes.TrimSuffix(path[1:], []byte{'/'})
	if dirty(path) {
		var ok bool
		if clean, ok = cleanPath(q.scratch[:0], path); !ok {
			return status.InvalidInput
		}
		q.used = len(clean)
	}
	var c capture
	leaf := t.root.walk(clean, &c)
	if leaf < 0 {
		return status.NotFound
	}
	q.ID, q.Season, q.Episode, q.Name = c.id, c.season, c.episode, c.text
	read := t.reads[leaf]
	q.Allow = options
	if read != api.NoOp {
		q.Allow = get + ", " + head + ", " + options
	}
	if m := string(method); m != options && (read == api.NoOp || m != get && m != head) {
		return status.MethodNotAllowed
	}
	q.Op = read
	if op := read.Operation(); op != nil {
		q.Kind, q.Sub = op.Kind, op.Sub
	}
	return status.OK
}

const (
	get     = "GET"
	head    = "HEAD"
	options = "OPTIONS"
)
