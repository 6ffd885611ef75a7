package neighbours

import "reelsplice/schemas/catalog"

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
	for i := range m.Genres {
		t.Genres = append(t.Genres, m.Genres[i].ID.V)
	}
	if m.Keywords != nil {
		for i := range m.Keywords.Keywords {
			t.Keywords = append(t.Keywords, m.Keywords.Keywords[i].ID.V)
		}
	}
	if m.Credits != nil {
		for i := range first(m.Credits.Cast) {
			t.People = append(t.People, m.Credits.Cast[i].ID.V)
		}
		t.addCrew(m.Credits.Crew)
	}
}

// OfSeries sets t to what neighbours are found by of a series, in t's memory.
func (t *Title) OfSeries(s *catalog.TV) {
	t.reset()
	t.ID, t.Adult = s.ID.V, s.Adult.V
	t.Votes, t.Popularity = s.VoteCount.V, s.Popularity.V
	for i := range s.Genres {
		t.Genres = append(t.Genres, s.Genres[i].ID.V)
	}
	if s.Keywords != nil {
		for i := range s.Keywords.Results {
			t.Keywords = append(t.Keywords, s.Keywords.Results[i].ID.V)
		}
	}
	for i := range s.CreatedBy {
		t.People = append(t.People, s.CreatedBy[i].ID.V)
	}
	switch {
	case s.Credits != nil:
		for i := range first(s.Credits.Cast) {
			t.People = append(t.People, s.Credits.Cast[i].ID.V)
		}
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
	for i := range first(c.Cast) {
		t.People = append(t.People, c.Cast[i].ID.V)
	}
	for i := range c.Crew {
		for k := range c.Crew[i].Jobs {
			if keyJobs[c.Crew[i].Jobs[k].Job.V] {
				t.People = append(t.People, c.Crew[i].ID.V)
			}
		}
	}
}

// first returns the top-billed of a cast, which is in order of billing.
func first[C any](cast []C) []C { return cast[:min(len(cast), maxCast)] }
