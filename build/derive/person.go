package derive

import (
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
)

// personOf returns the person of a row of credits.
func personOf(c *catalog.Credited) Person {
	return Person{
		ID: c.ID.V, Name: c.Name.V, OriginalName: c.OriginalName.V, Adult: c.Adult.V, Gender: c.Gender.V,
		KnownForDepartment: c.KnownForDepartment.V, Popularity: c.Popularity.V, ProfilePath: c.ProfilePath.V,
	}
}

// maxKnownFor is the most titles that known_for has.
const maxKnownFor = 3

// KnownFor returns the titles that a person is best known for: those with the most
// votes, and of those with as many the most popular, among the credits of the person's
// department, or of all when there are none.
func KnownFor(department string, credits []Credit) []Title {
	own := func(c *Credit) bool { return c.Department == department }
	if !slices.ContainsFunc(credits, func(c Credit) bool { return own(&c) }) {
		own = func(*Credit) bool { return true }
	}
	var best []Title
	for i := range credits {
		t := credits[i].Title
		if !own(&credits[i]) || slices.ContainsFunc(best, func(b Title) bool { return b.Kind == t.Kind && b.ID == t.ID }) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, t, func(a, b Title) int { return a.compareVotes(&b) })
		if at < maxKnownFor {
			best = slices.Insert(best, at, t)
			best = best[:min(len(best), maxKnownFor)]
		}
	}
	return best
}

// Department returns the department in which most of the credits are, the first of
// several; "" without any.
func Department(credits []Credit) string {
	counts := map[string]int{}
	best := ""
	for i := range credits {
		counts[credits[i].Department]++
	}
	for i := range credits {
		if d := credits[i].Department; counts[d] > counts[best] {
			best = d
		}
	}
	return best
}
