package render

import (
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Version changes whenever equal inputs render as other fragments: with this package, with package
// derive, and with the reference data. TestVersion of package build pins it.
const Version = 1

// Rendering completes a record, and a build that reuses a resource needs the record complete as
// well: tables and other resources read it. Each of these functions changes nothing if called again.

// Base gives a record of a kind what only crawls in other languages gave of fields
// that depend on the language, as if en-US had no text. Whoever computes anything from
// a record does so behind it, or misses what such crawls say.
func Base(k fragment.Kind, rec record.Record) {
	if m := models()[k]; m != nil {
		m.fillBase(rec)
	}
}

// BasePerson is Base for a person. Credits of crawls in other languages do not stand in for
// derived ones, which have every language.
func BasePerson(p *catalog.Person, derived bool) {
	given := *p
	Base(fragment.KindPerson, record.Of(p))
	if derived {
		p.CombinedCredits, p.MovieCredits, p.TVCredits = given.CombinedCredits, given.MovieCredits, given.TVCredits
	}
}

// Complete gives a record without a details answer what such an answer would have: the API's empty
// values, and generic names. It begins with Base.
func Complete(k fragment.Kind, rec record.Record) {
	Base(k, rec)
	models()[k].complete(rec)
}

// CompleteTV is Complete for a series, with what others have of it.
func CompleteTV(t *catalog.TV, d TVDerived) {
	rec := record.Of(t)
	Base(fragment.KindTV, rec)
	if !models()[fragment.KindTV].isDetails(rec) {
		deriveSeasons(t, d)
	}
	Complete(fragment.KindTV, rec)
}

// CompleteSeason is Complete for a season, with what others have of it.
func CompleteSeason(s *catalog.Season, d SeasonDerived) {
	rec := record.Of(s)
	Base(fragment.KindSeason, rec)
	if !models()[fragment.KindSeason].isDetails(rec) {
		deriveSeason(s, d)
	}
	Complete(fragment.KindSeason, rec)
}
