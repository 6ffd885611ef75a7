// Package variant picks the stored fragment for one part of a response by the request's parameters:
// the language, the page, the languages of images and videos, the country of alternative titles,
// the days of changes. If no fragment is stored for a combination, it returns another one and a filter.
package variant

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/route"
)

// A Choice is the content of one part of a response.
type Choice struct {
	Fragment release.Fragment
	// Page replaces a page mark.
	Page uint16
	// ID replaces an ID mark: the resource's ID if the response is one of its sub-requests, else 0.
	ID uint64
	// Filter selects rows of Fragment unless it is zero.
	Filter Filter
	// Titles is the kind of titles to take from a filmography; 0 for all of Fragment.
	Titles fragment.Kind
	// Stored means that the resource itself has the fragment, which is no default.
	Stored bool
}

var english = fragment.Language("en", "")

// FindShared returns the fragment of a sub-request that other resources share by reference: in the
// language with its region, without it, or in Base.
func FindShared(e release.Entry, s fragment.Sub, p *route.Params) (f release.Fragment, ok bool) {
	if p.HasLanguage {
		if f, ok = e.Find(fragment.Address{Sub: s, Variant: p.Language}); ok {
			return f, true
		}
		if f, ok = e.Find(fragment.Address{Sub: s, Variant: p.Language.Bare()}); ok {
			return f, true
		}
	}
	return e.Find(fragment.Address{Sub: s})
}

// Pick returns the choice for sub-request s of resource e, which is of kind k. It returns false if e has no
// fragment of it, in any variant.
func Pick(e release.Entry, k fragment.Kind, s fragment.Sub, q *route.Request) (c Choice, ok bool) {
	language := fragment.Base
	if q.HasLanguage {
		language = q.Language.Bare()
	}
	switch s {
	case fragment.SubImages:
		l := languages{language, q.ImageLanguages, fragment.NoLanguage}
		if k == fragment.KindPerson || k == fragment.KindCompany || k == fragment.KindNetwork {
			l = languages{} // these take none, even if the details they are appended to have one
		}
		c.Fragment, ok = e.Find(fragment.Address{Sub: s}) // groups of languages are no translations
		// The language alone does not select images of an episode, which rarely have one.
		if len(l.include) > 0 || l.requested != fragment.Base && k != fragment.KindEpisode {
			ok = ok && c.pickRows(e, s, l, byImageLanguage)
		}
		return c, ok
	case fragment.SubVideos:
		l := languages{language, q.VideoLanguages, english} // a video without the field is English, as in package render
		if l.requested == fragment.Base && len(l.include) == 0 {
			l.requested = english // the language of a request without one
		}
		if c.Fragment, ok = e.Find(fragment.Address{Sub: s, Variant: fragment.All}); !ok {
			c.Fragment, ok = e.Find(fragment.Address{Sub: s})
		}
		ok = ok && c.pickRows(e, s, l, byVideoLanguage)
		return c, ok
	}
	c.Fragment, c.Page, ok = pickText(e, k, s, q)
	switch {
	case s == fragment.SubChanges:
		c.Filter = dayFilter(&q.Params)
	case s == fragment.SubAlternativeTitles && k == fragment.KindMovie: // the titles of series take no country
		c.Filter = countryFilter(&q.Params)
	case !ok && k == fragment.KindPerson && (s == fragment.SubMovieCredits || s == fragment.SubTVCredits):
		// A part of all derived credits. Only their rows of titles depend on the language.
		if c.Titles = fragment.KindMovie; s == fragment.SubTVCredits {
			c.Titles = fragment.KindTV
		}
		c.Fragment, ok = e.Find(fragment.Address{Sub: fragment.SubCombinedCredits})
	}
	return c, ok
}

// PickDefault returns the choice for sub-request s from e, the resource of defaults of kind k.
// Defaults have one form for all languages.
func PickDefault(e release.Entry, k fragment.Kind, s fragment.Sub, q *route.Request) (Choice, bool) {
	f, ok := e.Find(fragment.Address{Sub: s})
	_, page := pageOf(k, s, q)
	return Choice{Fragment: f, Page: page}, ok
}

// pickText returns the fragment of the first variant that has the page, or the tail in place of a page that is not
// stored. The last variant is Base, which every stored sub-request has. English, the language of the base, has no
// untranslated form: en-GB falls back to en-US.
func pickText(e release.Entry, k fragment.Kind, s fragment.Sub, q *route.Request) (f release.Fragment, page uint16, ok bool) {
	storedPage, page := pageOf(k, s, q)
	var buf [5]fragment.Variant
	chain := buf[:0]
	if s == fragment.SubMovies && k == fragment.KindKeyword && q.IncludeAdult {
		chain = append(chain, fragment.All)
	}
	if v := q.Language; q.HasLanguage && v != english && v != fragment.Language("en", "US") {
		chain = append(chain, v)
		if v.Bare() != english {
			chain = append(chain, v.OfAnyRegion(), fragment.Untranslated)
		}
	}
	for _, v := range append(chain, fragment.Base) {
		if storedPage != 0 {
			if f, ok = e.Find(fragment.Address{Sub: s, Page: storedPage, Variant: v}); ok {
				return f, page, true
			}
		}
		if f, ok = e.Find(fragment.Address{Sub: s, Variant: v}); ok {
			return f, page, true
		}
	}
	return f, 0, false
}

// pageOf returns the page of a sub-request to look up, 0 for a sub-request without pages, and the page
// that the response names. Two lists ignore the requested page: the movies of a company are
// always the first one, and the tagged images of a person are named page 0.
func pageOf(k fragment.Kind, s fragment.Sub, q *route.Request) (storedPage, page uint16) {
	switch s {
	case fragment.SubLists, fragment.SubRecommendations, fragment.SubReviews, fragment.SubSimilar:
		return q.Page, q.Page
	case fragment.SubMovies:
		if k == fragment.KindCompany {
			return 1, 1
		}
		return q.Page, q.Page
	case fragment.SubTaggedImages:
		return 1, 0
	}
	return 0, 0
}

// languages are the languages of the rows to choose.
type languages struct {
	requested fragment.Variant   // language of the request, Base for none
	include   []fragment.Variant // languages that a parameter adds, each once; the request owns them
	unnamed   fragment.Variant   // language of rows without one
}

// pickRows replaces c.Fragment, all rows of a sub-request, by the rows of the languages in l, and reports whether there
// are any. The rows of one language are stored as a fragment; other combinations are selected by a filter. Languages
// without a row do not count, so that equal responses are equal choices.
func (c *Choice) pickRows(e release.Entry, sub fragment.Sub, l languages, cr criterion) bool {
	count := 0
	var rows release.Fragment
	find := func(v fragment.Variant) {
		if f, ok := e.Find(fragment.Address{Sub: sub, Variant: v}); ok {
			count++
			rows = f
		}
	}
	if l.requested != fragment.Base && !slices.Contains(l.include, l.requested) {
		find(l.requested)
	}
	for _, v := range l.include {
		find(v)
	}
	switch count {
	case 0:
		return false
	case 1:
		c.Fragment = rows
	case storedLanguages(e, sub): // all rows
	default:
		c.Filter = Filter{criterion: cr, languages: l}
	}
	return true
}

// storedLanguages counts the languages that rows of a sub-request have.
func storedLanguages(e release.Entry, sub fragment.Sub) int {
	n := 0
	for i := range e.Len() {
		a := e.Address(i)
		if a.Sub == sub && a.Variant != fragment.Base && a.Variant != fragment.All {
			n++
		}
	}
	return n
}

// A criterion is the field of rows that a Filter reads.
type criterion uint8

const (
	byNothing criterion = iota
	byImageLanguage
	byVideoLanguage
	byCountryCode
	byTime
)

// A Filter keeps some rows of a fragment's arrays. The zero Filter keeps all. It does not filter unknown arrays.
type Filter struct {
	criterion criterion
	languages               // for images and videos
	params    *route.Params // for countries and days
}

// IsZero reports whether f keeps every row.
func (f *Filter) IsZero() bool { return f.criterion == byNothing }

// countryFilter keeps the rows of a request's country; without one, all.
func countryFilter(p *route.Params) Filter {
	if p.Country == (route.Country{}) {
		return Filter{}
	}
	return Filter{criterion: byCountryCode, params: p}
}

// dayFilter keeps the changes within the days of a request; without days, all.
func dayFilter(p *route.Params) Filter {
	if !p.HasStart && !p.HasEnd {
		return Filter{}
	}
	return Filter{criterion: byTime, params: p}
}

// Append appends raw, the text of a segment, without the rows that f excludes. raw is JSON of the
// builder: fields of one object, with or without its braces. The error names the first other byte.
func (f *Filter) Append(dst, raw []byte) ([]byte, error) {
	switch f.criterion {
	case byNothing:
		return append(dst, raw...), nil
	case byTime:
		return appendFields(dst, raw, f.filters, f.keepChange)
	}
	return appendFields(dst, raw, f.filters, f.keepRow)
}

// filters reports whether f filters the array in a field. The name is in quotes.
func (f *Filter) filters(name []byte) bool {
	switch f.criterion {
	case byImageLanguage:
		switch string(name) {
		case `"backdrops"`, `"logos"`, `"posters"`, `"stills"`:
			return true
		}
	case byVideoLanguage:
		return string(name) == `"results"`
	case byCountryCode:
		return string(name) == `"titles"`
	case byTime:
		return string(name) == `"changes"`
	}
	return false
}

// keepRow keeps a row of one of the languages or of the country.
func (f *Filter) keepRow(dst, row []byte) ([]byte, bool, error) {
	keep := false
	switch f.criterion {
	case byCountryCode:
		v := field(row, "iso_3166_1")
		keep = len(v) == 4 && string(v[1:3]) == string(f.params.Country[:])
	case byImageLanguage, byVideoLanguage:
		language := f.unnamed
		if v := field(row, "iso_639_1"); len(v) == 4 && v[0] == '"' {
			if l := fragment.Language(v[1:3], nil); l != fragment.Base {
				language = l
			}
		}
		keep = language == f.requested || slices.Contains(f.include, language)
	}
	if !keep {
		return dst, false, nil
	}
	return append(dst, row...), true, nil
}

// keepChange keeps a key's items within the days, and the key if any are left.
func (f *Filter) keepChange(dst, row []byte) ([]byte, bool, error) {
	keep := false
	isItems := func(name []byte) bool { return string(name) == `"items"` }
	dst, err := appendFields(dst, row, isItems, func(dst, item []byte) ([]byte, bool, error) {
		day, ok := day.Parse(bytes.Trim(field(item, "time"), `"`))
		if p := f.params; ok && (p.HasStart && day < p.Start || p.HasEnd && day > p.End) {
			return dst, false, nil
		}
		keep = true
		return append(dst, item...), true, nil
	})
	return dst, keep, err
}

// field returns the value of a field of an object, nil for none.
func field(object []byte, name string) []byte {
	v, _ := fragment.Field(object[1:], name)
	return v
}

// A keeper appends the part of a row to keep, and reports whether there is any.
type keeper func(dst, row []byte) ([]byte, bool, error)

// appendFields copies fields of an object. It passes the rows of the arrays that filters selects to keep.
func appendFields(dst, raw []byte, filters func(name []byte) bool, keep keeper) ([]byte, error) {
	for i := 0; i < len(raw); {
		if c := raw[i]; c == ',' || c == '{' || c == '}' {
			dst = append(dst, c)
			i++
			continue
		}
		colon, end := fragment.FieldEnd(raw, i)
		value := colon + 1
		switch {
		case colon < 0:
			return dst, fmt.Errorf("byte %d: field without a name", i)
		case end < 0:
			return dst, fmt.Errorf("byte %d: unterminated value", value)
		}
		if raw[value] != '[' || !filters(raw[i:colon]) {
			dst = append(dst, raw[i:end]...)
			i = end
			continue
		}
		dst = append(dst, raw[i:value+1]...)
		var err error
		if dst, err = appendRows(dst, raw[value+1:end-1], keep); err != nil {
			return dst, fmt.Errorf("byte %d: %w", value, err)
		}
		dst = append(dst, ']')
		i = end
	}
	return dst, nil
}

// appendRows appends the kept rows, with commas between them.
func appendRows(dst, rows []byte, keep keeper) ([]byte, error) {
	rowCount := 0
	for i := 0; i < len(rows); i++ {
		end := fragment.ValueEnd(rows, i)
		if end < 0 {
			return dst, fmt.Errorf("row at byte %d: no end", i)
		}
		n := len(dst)
		if rowCount > 0 {
			dst = append(dst, ',')
		}
		out, ok, err := keep(dst, rows[i:end])
		if err != nil {
			return dst[:n], fmt.Errorf("row at byte %d: %w", i, err)
		}
		if ok {
			dst, rowCount = out, rowCount+1
		} else {
			dst = dst[:n]
		}
		i = end // at the comma
	}
	return dst, nil
}
