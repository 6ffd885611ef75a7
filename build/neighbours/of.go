package neighbours

import (
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// maxCast is how many of the cast count: those who are billed first.
const maxCast = 10

// keyJobs are the jobs that shape a title most.
var keyJobs = map[string]bool{
	"Director": true, "Co-Director": true, "Creator": true,
	"Writer": true, "Screenplay": true, "Story": true, "Novel": true, "Characters": true, "Comic Book": true,
}

// OfMovie sets t to what neighbours are found by of a movie, in t's memory.
func (t *Title) OfMovie(m *catalog.Movie) {
	t.reset()
	t.ID, t.Adult = m.ID.V, m.Adult.V
	t.Votes, t.Popularity = m.VoteCount.V, m.Popularity.V
	if m.BelongsToCollection != nil {
		t.Collection = m.BelongsToCollection.ID.V
	}
	t.Genres = appendIDs(t.Genres, m.Genres)
	if m.Keywords != nil {
		t.Keywords = appendIDs(t.Keywords, m.Keywords.Keywords)
	}
	if m.Credits != nil {
		t.People = appendIDs(t.People, first(m.Credits.Cast))
		t.addCrew(m.Credits.Crew)
	}
}

// OfSeries sets t to what neighbours are found by of a series, in t's memory.
func (t *Title) OfSeries(s *catalog.TV) {
	t.reset()
	t.ID, t.Adult = s.ID.V, s.Adult.V
	t.Votes, t.Popularity = s.VoteCount.V, s.Popularity.V
	t.Genres = appendIDs(t.Genres, s.Genres)
	if s.Keywords != nil {
		t.Keywords = appendIDs(t.Keywords, s.Keywords.Results)
	}
	t.People = appendIDs(t.People, s.CreatedBy)
	switch {
	case s.Credits != nil:
		t.People = appendIDs(t.People, first(s.Credits.Cast))
		t.addCrew(s.Credits.Crew)
	case s.AggregateCredits != nil:
		t.addAggregate(s.AggregateCredits)
	}
}

func (t *Title) reset() {
	*t = Title{Genres: t.Genres[:0], Keywords: t.Keywords[:0], People: t.People[:0]}
}

func (t *Title) addCrew(crew []catalog.CrewCredit) {
	for i := range crew {
		if keyJobs[crew[i].Job.V] {
			t.People = append(t.People, crew[i].ID.V)
		}
	}
}

func (t *Title) addAggregate(c *catalog.AggregateCredits) {
	t.People = appendIDs(t.People, first(c.Cast))
	for i := range c.Crew {
		for k := range c.Crew[i].Jobs {
			if keyJobs[c.Crew[i].Jobs[k].Job.V] {
				t.People = append(t.People, c.Crew[i].ID.V)
			}
		}
	}
}

// appendIDs appends the ids of rows, which all have a field "id".
func appendIDs[T any](dst []int64, rows []T) []int64 {
	id, _ := record.SchemaOf[T]().Field("id")
	for i := range rows {
		dst = append(dst, record.Of(&rows[i]).Int(id).V)
	}
	return dst
}

// first returns the top-billed of a cast, which is in order of billing.
func first[C any](cast []C) []C { return cast[:min(len(cast), maxCast)] }
