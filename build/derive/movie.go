package derive

import (
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// MovieTitle returns a movie as lists have it.
func MovieTitle(m *catalog.Movie) Title {
	return Title{
		Kind: fragment.KindMovie, ID: m.ID.V, Popularity: m.Popularity.V, Votes: max(0, m.VoteCount.V), Date: m.ReleaseDate.V,
		Adult: m.Adult.V,
	}
}

// MovieCredits returns the credits of a movie. Rows without the id of a person are of
// no one.
func MovieCredits(m *catalog.Movie) []Credit {
	c := m.Credits
	if c == nil {
		return nil
	}
	title := MovieTitle(m)
	out := make([]Credit, 0, len(c.Cast)+len(c.Crew))
	for i := range c.Cast {
		r := &c.Cast[i]
		if r.ID.V < 1 {
			continue
		}
		out = append(out, Credit{
			ID: r.CreditID.V, Role: Cast, Title: title, Character: r.Character.V, Order: r.Order.V,
			Department: acting, Job: actor,
			Person: personOf(record.Of(r)),
		})
	}
	for i := range c.Crew {
		if r := &c.Crew[i]; r.ID.V >= 1 {
			out = append(out, crewCredit(title, r))
		}
	}
	return out
}

// The values of the cast in the fields of the crew.
const (
	acting = "Acting"
	actor  = "Actor"
)

func crewCredit(title Title, r *catalog.CrewCredit) Credit {
	return Credit{
		ID: r.CreditID.V, Role: Crew, Title: title, Department: r.Department.V, Job: r.Job.V,
		Person: personOf(record.Of(r)),
	}
}
