package route

import (
	"bytes"
	"iter"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/status"
)

// A param is a query parameter that has a field in Params: its place in params.
type param uint8

// The parameters that can be refused. They are read before all others, in this order.
const (
	paramAppend param = iota
	paramPage
	paramStart
	paramEnd
	firstPlain // this and later parameters cannot be refused
)

// params are the parameters. Those from firstPlain on have a reader of their values.
var params = [...]struct {
	name string
	read func(q *Request, value []byte)
}{
	paramAppend: {"append_to_response", nil},
	paramPage:   {"page", nil},
	paramStart:  {"start_date", nil},
	paramEnd:    {"end_date", nil},
	{"country", func(q *Request, v []byte) { q.Country = ParseCountry(v) }},
	{"external_source", func(q *Request, v []byte) { q.ExternalSource = v }},
	{"first_air_date_year", func(q *Request, v []byte) { q.FirstAirYear = ParseYear(v) }},
	{"fuzzy", func(q *Request, v []byte) { q.Fuzzy = IsTrue(v) }},
	{"ids", func(q *Request, v []byte) { q.IDs = v }},
	{"include_adult", func(q *Request, v []byte) { q.IncludeAdult = IsTrue(v) }},
	{"include_image_language", readImageLanguages},
	{"include_video_language", func(q *Request, v []byte) { q.VideoLanguages = parseLanguages(q.videos[:0], v) }},
	{"language", readLanguage},
	{"primary_release_year", func(q *Request, v []byte) { q.PrimaryYear = ParseYear(v) }},
	{"query", func(q *Request, v []byte) { q.Query = v }},
	{"region", func(q *Request, v []byte) { q.Region = ParseCountry(v) }},
	{"sort_by", func(q *Request, v []byte) { q.SortBy = v }},
	{"timezone", func(q *Request, v []byte) { q.Timezone = v }},
	{"watch_region", func(q *Request, v []byte) { q.WatchRegion = ParseCountry(v) }},
	{"year", func(q *Request, v []byte) { q.Year = ParseYear(v) }},
}

const paramUnknown = param(len(params))

var paramsByName = func() map[string]param {
	all := map[string]param{}
	for p := range params {
		all[params[p].name] = param(p)
	}
	return all
}()

// maxName is longer than every name of a parameter.
const maxName = 32

// A paramSet is a set of parameters, one bit each.
type paramSet uint32

// setOf returns the parameters in params with a field in Params.
func setOf(params []api.Param) paramSet {
	var s paramSet
	for _, p := range params {
		if i, ok := paramsByName[p.Name]; ok {
			s |= 1 << i
		}
	}
	return s
}

// A span is a value's place in the query.
type span struct{ from, to uint16 }

// ParseQuery fills in q's Params and lists from a raw query, once, for the operation that
// Match found; for NoOp they are empty. When it refuses, they are not to be used.
func ParseQuery(query []byte, q *Request) status.Code {
	if q.Op == api.NoOp || len(query) == 0 {
		return status.OK
	}
	if len(query) > MaxQuery {
		return status.InvalidInput
	}
	q.Raw = query
	info := &load().ops[q.Op]
	r := reader{query: query, q: q, takes: info.takes}
	end := 0
	for pair := range bytes.SplitSeq(query, []byte{'&'}) {
		end += len(pair)
		name, value, _ := bytes.Cut(pair, []byte{'='})
		if p := nameParam(name); p != paramUnknown {
			r.given |= 1 << p
			r.at[p] = span{uint16(end - len(value)), uint16(end)}
		}
		end += len("&")
	}
	if r.given == 0 {
		return status.OK
	}
	if info.names != nil {
		// The details of keywords do not list the parameter.
		r.takes |= 1 << paramAppend
		if c := r.appends(info.names); c != status.OK {
			return c
		}
	}
	if b := r.text(paramPage); len(b) > 0 {
		v, ok := parseUint(b)
		if !ok || v < 1 || v > MaxPage {
			return status.InvalidPage
		}
		q.Page = uint16(v)
	}
	if b := r.text(paramStart); len(b) > 0 {
		if q.Start, q.HasStart = day.Parse(b); !q.HasStart {
			return status.InvalidDate
		}
	}
	if b := r.text(paramEnd); len(b) > 0 {
		if q.End, q.HasEnd = day.Parse(b); !q.HasEnd {
			return status.InvalidDate
		}
	}
	if q.HasStart && q.HasEnd && q.End-q.Start > maxDays {
		return status.InvalidDateRange
	}
	for p := firstPlain; p < paramUnknown; p++ {
		if r.given&r.takes&(1<<p) != 0 {
			params[p].read(q, r.text(p))
		}
	}
	return status.OK
}

// nameParam returns the parameter of a raw name, paramUnknown for any other.
func nameParam(name []byte) param {
	p, ok := paramsByName[string(name)]
	if !ok && len(name) <= 3*maxName && bytes.IndexByte(name, '%') >= 0 {
		var buf [3 * maxName]byte
		p, ok = paramsByName[string(appendDecoded(buf[:0], name))]
	}
	if !ok {
		return paramUnknown
	}
	return p
}

// A reader interprets one query of at most MaxQuery bytes.
type reader struct {
	query []byte
	q     *Request
	// takes are the parameters that matter; the others are as if not given.
	takes paramSet
	// given are the parameters in the query, and at the place of the last one of
	// each name.
	given paramSet
	at    [paramUnknown]span
}

// text returns a parameter's value, decoded, and nil when it was not given. Each
// parameter is read once, so that scratch is long enough for all of them.
func (r *reader) text(p param) []byte {
	if r.given&r.takes&(1<<p) == 0 {
		return nil
	}
	raw := r.query[r.at[p].from:r.at[p].to]
	if bytes.IndexByte(raw, '%') < 0 && bytes.IndexByte(raw, '+') < 0 {
		return raw
	}
	q := r.q
	out := appendDecoded(q.scratch[q.used:q.used], raw)
	q.used += len(out)
	return out
}

// appends reads append_to_response: known names, each once. Blanks around a name do not belong to it: many programs
// write one after each comma. "season/1" and "season/01" are two names: the response has a field for each. What the
// appended sub-requests take is added to r.takes.
func (r *reader) appends(ns *namespace) status.Code {
	r.q.Appends = r.q.appends[:0]
	q, n := r.q, 0
next:
	for name := range bytes.SplitSeq(r.text(paramAppend), []byte{','}) {
		if name = bytes.Trim(name, " "); len(name) == 0 {
			continue
		}
		if n++; n > MaxAppends {
			q.Appends = nil
			return status.TooManyAppends
		}
		var c capture
		leaf := ns.root.walk(name, &c)
		if leaf < 0 {
			continue
		}
		for i := range q.Appends {
			if bytes.Equal(q.Appends[i].Property, name) {
				continue next
			}
		}
		info := &ns.names[leaf]
		r.takes |= info.takes
		if q.Kind == fragment.KindSeason && info.kind == fragment.KindEpisode {
			c.season = q.Season // "episode/1" leaves it to the path
		}
		q.Appends = append(q.Appends, Append{
			Property: name,
			Op:       info.op,
			Kind:     info.kind, Sub: info.sub,
			Season: c.season, Episode: c.episode,
		})
	}
	return status.OK
}

// Each yields the names and values of a raw query in its order, decoded; empty pairs are
// left out. What it yields is valid until the next pair.
func Each(query []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		var buf []byte
		for pair := range bytes.SplitSeq(query, []byte{'&'}) {
			if len(pair) == 0 {
				continue
			}
			key, value, _ := bytes.Cut(pair, []byte{'='})
			buf = appendDecoded(buf[:0], key)
			n := len(buf)
			buf = appendDecoded(buf, value)
			if !yield(buf[:n:n], buf[n:]) {
				return
			}
		}
	}
}

// Lookup appends to dst the decoded value of a parameter in a raw query, and
// reports whether it was given. It is for parameters without a field in Params, and for
// use before the path is routed. The name matches letter for
// letter; the last of repeated parameters counts.
func Lookup(dst, query []byte, name string) ([]byte, bool) {
	from, found := len(dst), false
	for pair := range bytes.SplitSeq(query, []byte{'&'}) {
		if key, value, _ := bytes.Cut(pair, []byte{'='}); equalDecoded(key, name) {
			dst, found = appendDecoded(dst[:from], value), true
		}
	}
	return dst, found
}

// Omit appends a raw query to dst without the pairs of a parameter, named as for Lookup, and
// reports whether there was one. The result is equivalent for readers that ignore the parameter.
func Omit(dst, query []byte, name string) ([]byte, bool) {
	from, found := len(dst), false
	for pair := range bytes.SplitSeq(query, []byte{'&'}) {
		if key, _, _ := bytes.Cut(pair, []byte{'='}); equalDecoded(key, name) {
			found = true
			continue
		}
		if len(dst) > from {
			dst = append(dst, '&')
		}
		dst = append(dst, pair...)
	}
	return dst, found
}

// equalDecoded reports whether a raw name is name once it is decoded.
func equalDecoded(raw []byte, name string) bool {
	for ; len(raw) > 0 && len(name) > 0; name = name[1:] {
		ch, n := decodeByte(raw)
		if ch != name[0] {
			return false
		}
		raw = raw[n:]
	}
	return len(raw) == 0 && len(name) == 0
}

// appendDecoded appends b percent-decoded, with "+" as a blank.
func appendDecoded(dst, b []byte) []byte {
	for len(b) > 0 {
		ch, n := decodeByte(b)
		dst = append(dst, ch)
		b = b[n:]
	}
	return dst
}

// decodeByte decodes the first byte of b, which is not empty, and returns how many
// bytes it took. An invalid escape stands for itself.
func decodeByte(b []byte) (ch byte, n int) {
	switch b[0] {
	case '+':
		return ' ', 1
	case '%':
		if ch, ok := unhex(b[1:]); ok {
			return ch, 3
		}
	}
	return b[0], 1
}
