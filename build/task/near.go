package task

import (
	"slices"

	"reelsplice/build/neighbours"
	"reelsplice/build/render"
	"reelsplice/schemas/catalog"
)

// A nearby finds the recommendations and the similar titles that a record lacks. It is for one
// goroutine.
type nearby struct {
	finder *neighbours.Finder
	title  neighbours.Title
	result neighbours.Result
}

// lacking says which lists of titles a record does not have.
type lacking byte

const (
	lacksRecommendations lacking = 1 << iota
	lacksSimilar
)

// lackingOf returns what lacks a page of the base: what crawls in other languages give is
// for those.
func lackingOf[R, S any](recommendations []catalog.Page[R], similar []catalog.Page[S]) (l lacking) {
	if lacksBase(recommendations) {
		l |= lacksRecommendations
	}
	if lacksBase(similar) {
		l |= lacksSimilar
	}
	return l
}

func lacksBase[R any](pages []catalog.Page[R]) bool {
	return !slices.ContainsFunc(pages, func(p catalog.Page[R]) bool { return p.Language.V == "" })
}

// of makes a title the one at hand, by what its record lacks. read reads what it is found by,
// if that is wanted.
func (t *nearby) of(lacks lacking, read func(*neighbours.Title)) error {
	r := &t.result
	r.Recommendations, r.Similar = r.Recommendations[:0], r.Similar[:0]
	if lacks == 0 {
		return nil
	}
	read(&t.title)
	err := t.finder.Find(&t.title, r)
	if lacks&lacksRecommendations == 0 {
		r.Recommendations = r.Recommendations[:0]
	}
	if lacks&lacksSimilar == 0 {
		r.Similar = r.Similar[:0]
	}
	return err
}

// derived returns what was found, for rendering.
func (t *nearby) derived() render.TitleDerived {
	return render.TitleDerived{Recommendations: t.result.Recommendations, Similar: t.result.Similar}
}
