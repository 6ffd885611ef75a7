package render

import (
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// Base gives a record of a kind what only crawls in other languages gave of fields
// that depend on the language, as if en-US had no text. Whoever computes anything from
// a record does so behind it, or misses what such crawls say. A second call does nothing.
func Base(k fragment.Kind, rec record.Record) {
	if m := models()[k]; m != nil {
		m.fillBase(rec)
	}
}

// CompleteEpisode gives an episode of which no details answer was given what such an
// answer would have: the API's empty values, and the generic name.
func CompleteEpisode(e *catalog.Episode) {
	rec := record.Of(e)
	Base(fragment.KindEpisode, rec)
	models()[fragment.KindEpisode].complete(rec)
}
