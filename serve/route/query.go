package route

import (
	"bytes"
	"iter"
	"slices"

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

const paramCount = param(len(params))

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

// paramSetOf returns the parameters in params with a field in Params.
func paramSetOf(params []api.Param) paramSet {
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

// ParseQuery sets q's Params from a raw query, once, for the operation that Match found. For NoOp
// they are empty. After a refusal they are invalid.
func ParseQuery(query []byte, q *Request) status.Code {
	if q.Op == api.NoOp || len(query) == 0 {
		return status.OK
	}
	if len(query) > MaxQuery {
		return status.InvalidInput
	}
	q.Raw = query
	info := &load().ops[q.Op]
	r := reader{query: query, q: q, accepted: info.params}
	end := 0
	for pair := range bytes.SplitSeq(query, []byte{'&'}) {
		end += len(pair)
		name, value, _ := bytes.Cut(pair, []byte{'='})
		p, ok := paramsByName[string(name)]
		if !ok && len(name) <= 3*maxName && bytes.IndexByte(name, '%') >= 0 {
			var buf [3 * maxName]byte
			p, ok = paramsByName[string(appendDecoded(buf[:0], name))]
		}
		if ok {
			r.present |= 1 << p
			r.spans[p] = span{uint16(end - len(value)), uint16(end)}
		}
		end += len("&")
	}
	if r.present == 0 {
		return status.OK
	}
	if info.names != nil {
		// The details of keywords do not list the parameter.
		r.accepted |= 1 << paramAppend
		if c := r.appends(info.names); c != status.OK {
			return c
		}
	}
	if b := r.text(paramPage); len(b) > 0 {
		v, ok := parseUint(b)
		if !ok || v < 1 || v > maxPage {
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
	for p := firstPlain; p < paramCount; p++ {
		if r.present&r.accepted&(1<<p) != 0 {
			params[p].read(q, r.text(p))
		}
	}
	return status.OK
}

// A reader interprets one query of at most MaxQuery bytes.
type reader struct {
	query    []byte
	q        *Request
	accepted paramSet         // by the operation or an appended sub-request; the others are ignored
	present  paramSet         // in the query
	spans    [paramCount]span // the last value of each present one
}

// text returns the decoded value of a parameter, or nil if it is absent or not accepted. Each
// parameter is read once, so that scratch is long enough for all of them.
func (r *reader) text(p param) []byte {
	if r.present&r.accepted&(1<<p) == 0 {
		return nil
	}
	raw := r.query[r.spans[p].from:r.spans[p].to]
	if bytes.IndexByte(raw, '%') < 0 && bytes.IndexByte(raw, '+') < 0 {
		return raw
	}
	q := r.q
	out := appendDecoded(q.scratch[q.scratchLen:q.scratchLen], raw)
	q.scratchLen += len(out)
	return out
}

// appends reads append_to_response: known names, each once. Spaces around a name do not belong to it: many programs
// write one after each comma. "season/1" and "season/01" are two names: the response has a field for each. It adds the
// parameters of the appended sub-requests to r.accepted.
func (r *reader) appends(ns *namespace) status.Code {
	r.q.Appends = r.q.appends[:0]
	q, n := r.q, 0
next:
	for name := range bytes.SplitSeq(r.text(paramAppend), []byte{','}) {
		if name = bytes.Trim(name, " "); len(name) == 0 {
			continue
		}
		if n++; n > maxAppends {
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
		r.accepted |= info.params
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

// Each yields the decoded names and values of a raw query in its order, without empty pairs. A
// pair is valid until the next one.
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
// reports whether it is there. It is for parameters without a field in Params, and for
// use before the path is routed. Case matters in the name; the last of
// repeated parameters counts.
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

// appendDecoded appends b percent-decoded, with "+" as a space.
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

// A Country is an ISO 3166-1 code of two capital letters; the zero Country is empty.
type Country [2]byte

// String returns the code, empty for none.
func (c Country) String() string {
	if c == (Country{}) {
		return ""
	}
	return string(c[:])
}

// ParseCountry reads two letters in any case; anything else gives the zero Country.
func ParseCountry(b []byte) Country {
	if len(b) != 2 || !isLetter(b[0]) || !isLetter(b[1]) {
		return Country{}
	}
	return Country{b[0] &^ 0x20, b[1] &^ 0x20}
}

// parseLanguage reads "xx" or "xx-YY" in any case.
func parseLanguage(b []byte) (fragment.Variant, bool) {
	if (len(b) != 2 && len(b) != 5) || !isLetter(b[0]) || !isLetter(b[1]) {
		return fragment.Base, false
	}
	lang := [2]byte{b[0] | 0x20, b[1] | 0x20}
	if len(b) == 2 {
		return fragment.Language(lang[:], nil), true
	}
	region := ParseCountry(b[3:])
	if b[2] != '-' || region == (Country{}) {
		return fragment.Base, false
	}
	return fragment.Language(lang[:], region[:]), true
}

// readLanguage reads the first language of a list.
func readLanguage(q *Request, list []byte) {
	for item := range bytes.SplitSeq(list, []byte{','}) {
		if q.Language, q.HasLanguage = parseLanguage(item); q.HasLanguage {
			return
		}
	}
}

// ParseYear reads a year from 1000 to 9999; 0 for anything else.
func ParseYear(b []byte) uint16 {
	v, ok := parseUint(b)
	if !ok || v < 1000 || v > 9999 {
		return 0
	}
	return uint16(v)
}

// parseLanguages inserts the items of a comma list into dst, up to its capacity,
// and returns it; see Params.ImageLanguages.
func parseLanguages(dst []fragment.Variant, list []byte) []fragment.Variant {
	for item := range bytes.SplitSeq(list, []byte{','}) {
		if item = bytes.Trim(item, " "); len(item) == 0 {
			continue
		}
		v, ok := parseLanguage(item)
		if bytes.EqualFold(item, []byte("null")) {
			v, ok = fragment.NoLanguage, true
		}
		if ok {
			dst = insertLanguage(dst, v.Bare())
		}
	}
	return dst
}

// readImageLanguages reads languages of images. Those without a language are null in some data and xx in other.
func readImageLanguages(q *Request, list []byte) {
	q.ImageLanguages = parseLanguages(q.images[:0], list)
	if _, ok := slices.BinarySearch(q.ImageLanguages, fragment.NoLanguage); ok {
		q.ImageLanguages = insertLanguage(q.ImageLanguages, fragment.Language("xx", ""))
	}
}

// insertLanguage inserts a language into an ordered list, unless it is there or there is no room.
func insertLanguage(dst []fragment.Variant, v fragment.Variant) []fragment.Variant {
	if i, found := slices.BinarySearch(dst, v); !found && len(dst) < cap(dst) {
		return slices.Insert(dst, i, v)
	}
	return dst
}

// IsTrue reports whether b is "true" in any case.
func IsTrue(b []byte) bool { return bytes.EqualFold(b, []byte("true")) }

func isLetter(ch byte) bool { return 'a' <= ch|0x20 && ch|0x20 <= 'z' }
