package derive

import (
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
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
	add := func(credit Credit) {
		if credit.Person.ID >= 1 {
			credit.Title = title
			out = append(out, credit)
		}
	}
	for i := range c.Cast {
		r := &c.Cast[i]
		add(castCredit(&r.Credited, r.CreditID, r.Character, r.Order))
	}
	for i := range c.Crew {
		r := &c.Crew[i]
		add(crewCredit(&r.Credited, r.CreditID, r.Department, r.Job))
	}
	return out
}

// castCredit returns the credit of a row of a cast, in the department and the job of all of them.
func castCredit(c *catalog.Credited, id, character record.String, order record.Int) Credit {
	return Credit{
		ID: id.V, Role: Cast, Person: personOf(c), Character: character.V, Order: order.V, Department: "Acting", Job: "Actor",
	}
}

// crewCredit returns the credit of a row of a crew.
func crewCredit(c *catalog.Credited, id, department, job record.String) Credit {
	return Credit{ID: id.V, Role: Crew, Person: personOf(c), Department: department.V, Job: job.V}
}
