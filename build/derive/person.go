package derive

import (
	"slices"
	"sync"

	"reelsplice/schemas/record"
)

// personFields are the fields, of a row of credits, that are about its person. All
// kinds of rows call them alike; some lack a few.
type personFields struct {
	id, name, originalName, adult, gender, department, popularity, profile *record.Field
}

var fieldsByPlan sync.Map // *record.Schema -> *personFields

func fieldsOf(p *record.Schema) *personFields {
	if f, ok := fieldsByPlan.Load(p); ok {
		return f.(*personFields)
	}
	field := func(name string) *record.Field {
		f, _ := p.Field(name)
		return f
	}
	f, _ := fieldsByPlan.LoadOrStore(p, &personFields{
		id: field("id"), name: field("name"), originalName: field("original_name"), adult: field("adult"),
		gender: field("gender"), department: field("known_for_department"), popularity: field("popularity"),
		profile: field("profile_path"),
	})
	return f.(*personFields)
}

// personOf returns the person of a row of credits.
func personOf(r record.Record) Person {
	f := fieldsOf(r.Schema)
	p := Person{
		ID: r.Int(f.id).V, Name: r.String(f.name).V, OriginalName: r.String(f.originalName).V,
		Gender: r.Int(f.gender).V, ProfilePath: r.String(f.profile).V,
	}
	if f.adult != nil {
		p.Adult = r.Bool(f.adult).V
	}
	if f.department != nil {
		p.KnownForDepartment = r.String(f.department).V
	}
	if f.popularity != nil {
		p.Popularity = r.Float(f.popularity).V
	}
	return p
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
