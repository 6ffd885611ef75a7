// Package variant picks, for one part of an answer, the stored fragment that the
// request's parameters ask for: the language, the page, the languages of images and
// videos, the country of alternative titles, the days of changes. Where no fragment
// is stored for a combination, it names the one to filter, and how.
package variant

import (
	"slices"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/serve/route"
)

// A Choice is what answers one part.
type Choice struct {
	Fragment release.Fragment
	// Page is what a PageMark stands for.
	Page uint16
	// Filter thins out the rows of Fragment unless it is zero.
	Filter Filter
	// Titles is the kind of titles that are taken from a filmography; 0 for all of Fragment.
	Titles fragment.Kind
	// Given means that the resource itself has the fragment, which is no default.
	Given bool
}

// Chain is the variants in which a text is looked for, in order. It ends with Base,
// which every stored sub-request has.
type Chain struct {
	list [4]fragment.Variant
	n    int
}

func (c *Chain) add(v fragment.Variant) {
	c.list[c.n] = v
	c.n++
}

// Variants returns the variants in order.
func (c *Chain) Variants() []fragment.Variant { return c.list[:c.n] }

var english = fragment.Language("en", "")

// TextChain returns the chain of a request's language. English, the language of the
// base, has no untranslated form: en-GB falls back to en-US.
func TextChain(p *route.Params) Chain {
	var c Chain
	if v := p.Language; p.HasLanguage && v != english && v != fragment.Language("en", "US") {
		c.add(v)
		if v.Bare() != english {
			c.add(v.OfAnyRegion())
			c.add(fragment.Untranslated)
		}
	}
	c.add(fragment.Base)
	return c
}

// NameChain returns the chain for fragments that other resources share by
// reference: the language with its region, without it, and Base.
func NameChain(p *route.Params) Chain {
	var c Chain
	if p.HasLanguage {
		c.add(p.Language)
		c.add(p.Language.Bare())
	}
	c.add(fragment.Base)
	return c
}

// Canonical returns the sub-request that answers an old name.
func Canonical(s fragment.Sub) fragment.Sub {
	switch s {
	case fragment.SubCasts:
		return fragment.SubCredits
	case fragment.SubSimilarMovies:
		return fragment.SubSimilar
	}
	return s
}

// Pick returns what answers sub-request s of resource e, which is of kind k; false when
// e stores nothing of it, in any variant.
func Pick(e release.Entry, k fragment.Kind, s fragment.Sub, q *route.Request) (Choice, bool) {
	switch rowsOf(k, s) {
	case byImageLanguage:
		languages := imageSet(k, q)
		return pickRows(e, s, fragment.Base, &languages, byImageLanguage)
	case byVideoLanguage:
		return pickVideos(e, q)
	case byCountryCode:
		c, ok := pickText(e, k, s, q)
		c.Filter = byCountry(q.Country)
		return c, ok
	case byTime:
		c, ok := pickText(e, k, s, q)
		c.Filter = byDay(&q.Params)
		return c, ok
	}
	if kind := titlesOf(k, s); kind != 0 {
		return pickCredits(e, s, kind, q)
	}
	if s == fragment.SubImages {
		f, ok := e.Find(fragment.Address{Sub: s}) // groups of languages are no translations
		return Choice{Fragment: f}, ok
	}
	return pickText(e, k, s, q)
}

// titlesOf returns the kind of the titles in a list of a person's credits; 0 for other lists.
func titlesOf(k fragment.Kind, s fragment.Sub) fragment.Kind {
	switch {
	case k != fragment.KindPerson:
	case s == fragment.SubMovieCredits:
		return fragment.KindMovie
	case s == fragment.SubTVCredits:
		return fragment.KindTV
	}
	return 0
}

// pickCredits picks the credits of a person in titles of one kind: those that the person has, else
// a part of all derived ones, which are the same in all languages but for the rows of the titles.
func pickCredits(e release.Entry, s fragment.Sub, kind fragment.Kind, q *route.Request) (Choice, bool) {
	if c, ok := pickText(e, fragment.KindPerson, s, q); ok {
		return c, true
	}
	all, ok := e.Find(fragment.Address{Sub: fragment.SubCombinedCredits})
	return Choice{Fragment: all, Titles: kind}, ok
}

// PickDefault returns what e, the resource of defaults of kind k, has for sub-request s.
// Defaults have one form for all languages.
func PickDefault(e release.Entry, k fragment.Kind, s fragment.Sub, q *route.Request) (Choice, bool) {
	f, ok := e.Find(fragment.Address{Sub: s})
	_, shown := pageOf(k, s, q)
	return Choice{Fragment: f, Page: shown}, ok
}

// rowsOf returns the criterion by which the rows of a sub-request are chosen. The images of people,
// companies and networks take no language, not even that of the details they are
// appended to.
func rowsOf(k fragment.Kind, s fragment.Sub) by {
	switch s {
	case fragment.SubImages:
		switch k {
		case fragment.KindMovie, fragment.KindTV, fragment.KindSeason, fragment.KindEpisode, fragment.KindCollection:
			return byImageLanguage
		}
	case fragment.SubVideos:
		return byVideoLanguage
	case fragment.SubAlternativeTitles:
		if k == fragment.KindMovie { // those of series take no country
			return byCountryCode
		}
	case fragment.SubChanges:
		return byTime
	}
	return byNothing
}

// pickText walks the chain of languages; in each language, a page that is not
// stored is answered by the tail.
func pickText(e release.Entry, k fragment.Kind, s fragment.Sub, q *route.Request) (Choice, bool) {
	chain := TextChain(&q.Params)
	stored, shown := pageOf(k, s, q)
	if s == fragment.SubMovies && k == fragment.KindKeyword && q.IncludeAdult {
		if c, ok := pickPage(e, s, fragment.All, stored, shown); ok {
			return c, true
		}
	}
	for _, v := range chain.Variants() {
		if c, ok := pickPage(e, s, v, stored, shown); ok {
			return c, true
		}
	}
	return Choice{}, false
}

// pickPage returns a page in one variant, or its tail.
func pickPage(e release.Entry, s fragment.Sub, v fragment.Variant, stored, shown uint16) (Choice, bool) {
	if stored != 0 {
		if f, ok := e.Find(fragment.Address{Sub: s, Page: stored, Variant: v}); ok {
			return Choice{Fragment: f, Page: shown}, true
		}
	}
	f, ok := e.Find(fragment.Address{Sub: s, Variant: v})
	return Choice{Fragment: f, Page: shown}, ok
}

// pageOf returns the page of a sub-request to look for, 0 for one that has none, and the page
// that the response names. Two lists ignore the requested page: the movies of a company are
// always the first one, and the tagged images of a person are named page 0.
func pageOf(k fragment.Kind, s fragment.Sub, q *route.Request) (stored, shown uint16) {
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

// set is the languages that rows may have; all is set when any will do.
type set struct {
	list    [route.MaxLanguages + 1]fragment.Variant // ascending
	n       int
	all     bool
	own     fragment.Variant   // the one language of the request, Base for none
	include []fragment.Variant // the others
}

func (s *set) add(v fragment.Variant) {
	if i, found := slices.BinarySearch(s.list[:s.n], v); !found {
		copy(s.list[i+1:s.n+1], s.list[i:s.n])
		s.list[i] = v
		s.n++
	}
}

// imageSet returns the languages of images: the request's own and those that
// include_image_language adds; all when the request names none. The language alone does
// not choose among the images of an episode, which hardly ever have one.
func imageSet(k fragment.Kind, q *route.Request) set {
	s := set{all: len(q.ImageLanguages()) == 0 && (!q.HasLanguage || k == fragment.KindEpisode)}
	fillSet(&s, q, q.ImageLanguages())
	return s
}

func fillSet(s *set, q *route.Request, include []fragment.Variant) {
	if q.HasLanguage {
		s.own = q.Language.Bare()
		s.add(s.own)
	}
	s.include = include
	for _, v := range include {
		s.add(v)
	}
}

// pickVideos is pickRows with English as the language of a request without one.
func pickVideos(e release.Entry, q *route.Request) (Choice, bool) {
	s := &set{}
	fillSet(s, q, q.VideoLanguages())
	if s.n == 0 {
		s.own = english
		s.add(english)
	}
	from := fragment.All
	if _, ok := e.Find(fragment.Address{Sub: fragment.SubVideos, Variant: from}); !ok {
		from = fragment.Base
	}
	return pickRows(e, fragment.SubVideos, from, s, byVideoLanguage)
}

// pickRows returns the rows of the languages in s. One language, or all, is stored
// as it is asked for; other combinations are filtered out of the fragment of all.
// Languages without a row do not count, so that equal answers are equal choices.
func pickRows(e release.Entry, sub fragment.Sub, from fragment.Variant, s *set, rows by) (Choice, bool) {
	whole, ok := e.Find(fragment.Address{Sub: sub, Variant: from})
	if !ok || s.all {
		return Choice{Fragment: whole}, ok
	}
	stored := 0
	var last release.Fragment
	for _, v := range s.list[:s.n] {
		if one, ok := e.Find(fragment.Address{Sub: sub, Variant: v}); ok {
			stored++
			last = one
		}
	}
	switch stored {
	case 0:
		return Choice{}, false
	case 1:
		return Choice{Fragment: last}, true
	case groups(e, sub):
		return Choice{Fragment: whole}, true
	}
	return Choice{Fragment: whole, Filter: Filter{by: rows, own: s.own, include: s.include}}, true
}

// groups counts the languages that rows of a sub-request have.
func groups(e release.Entry, sub fragment.Sub) int {
	n := 0
	for i := range e.Len() {
		a := e.Address(i)
		if a.Sub == sub && a.Variant != fragment.Base && a.Variant != fragment.All {
			n++
		}
	}
	return n
}
