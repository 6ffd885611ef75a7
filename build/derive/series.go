package derive

import (
	"cmp"
	"math"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Series collects the credits of one series, season by season.
type Series struct {
	tv       *catalog.TV // nil for the credits of one season alone
	credits  map[creditKey]*entry
	order    []*entry
	episodes int64   // in regular seasons
	seasons  []int64 // regular ones
	first    string  // air date of the first regular episode
}

// creditKey identifies a credit of a series: by its id, or by all fields without one.
type creditKey struct {
	id             string
	role           role
	person         int64
	character, job string
}

// An entry is an unfinished credit.
type entry struct {
	Credit
	specials int64 // the part of EpisodeCount in season 0
	whole    int   // length of Seasons when its last one was counted as a whole
}

// NewSeries returns an empty Series. tv is nil when it collects the credits of a single season.
func NewSeries(tv *catalog.TV) *Series {
	return &Series{tv: tv, credits: map[creditKey]*entry{}}
}

// TVTitle returns the fields of a series that lists have.
func TVTitle(t *catalog.TV) Title {
	return Title{
		Kind: fragment.KindTV, ID: t.ID.V, Popularity: t.Popularity.V, Votes: max(0, t.VoteCount.V), Date: t.FirstAirDate.V,
		Adult: t.Adult.V,
	}
}

// A Broadcast has the fields of an episode that credits need, from its own record or its season's.
type Broadcast struct {
	Number     int64
	AirDate    string
	Crew       []catalog.EpisodeCrew
	GuestStars []catalog.GuestStar
}

// IsNumber reports whether n is a valid number of an episode or a season. An episode or a season without one has no
// path, and nothing may refer to it.
func IsNumber(n record.Int) bool { return n.Set && n.V >= 0 && n.V <= math.MaxUint32 }

// Broadcasts returns the numbered episodes of a season, each once, by number. records are the episodes' own records,
// which take precedence over the season's rows.
func Broadcasts(s *catalog.Season, records []*catalog.Episode) []Broadcast {
	var out []Broadcast
	seen := map[int64]bool{}
	for _, e := range records { // records have numbers, because their key needs one
		b := Broadcast{e.EpisodeNumber.V, e.AirDate.V, e.Crew, e.GuestStars}
		if c := e.Credits; c != nil && b.Crew == nil && b.GuestStars == nil {
			b.Crew, b.GuestStars = c.Crew, c.GuestStars
		}
		if b.Crew == nil && b.GuestStars == nil && slices.ContainsFunc(s.Episodes, func(e catalog.SeasonEpisode) bool { return e.EpisodeNumber.V == b.Number }) {
			continue // the record has other sub-requests only
		}
		seen[b.Number] = true
		out = append(out, b)
	}
	for i := range s.Episodes {
		e := &s.Episodes[i]
		if n := e.EpisodeNumber; IsNumber(n) && !seen[n.V] {
			seen[n.V] = true
			out = append(out, Broadcast{n.V, e.AirDate.V, e.Crew, e.GuestStars})
		}
	}
	slices.SortStableFunc(out, func(a, b Broadcast) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// Season adds a season with its episodes. Seasons come in the order of their numbers.
func (c *Series) Season(number int64, s *catalog.Season, episodes []Broadcast) {
	start := ""
	if len(episodes) > 0 {
		start = episodes[0].AirDate
	}
	if number > 0 { // specials do not count for regulars
		c.seasons = append(c.seasons, number)
		c.episodes += int64(len(episodes))
		c.first = earlier(c.first, start)
	}
	if s.Credits != nil { // credits of the whole season
		c.each(s.Credits, func(e *entry) {
			if n := len(e.Seasons); n > 0 && e.Seasons[n-1] == number {
				return // the same credit twice
			}
			e.add(number, int64(len(episodes)), start)
			e.whole = len(e.Seasons)
		})
	}
	for i := range episodes {
		b := &episodes[i]
		episode := [2]int64{number, b.Number}
		count := func(e *entry) {
			if n := len(e.Episodes); n > 0 && e.Episodes[n-1] == episode {
				return // the same credit twice
			}
			e.Episodes = append(e.Episodes, episode)
			if n := len(e.Seasons); n == 0 || n != e.whole || e.Seasons[n-1] != number { // not counted with its season
				e.add(number, 1, b.AirDate)
			}
		}
		for j := range b.GuestStars {
			r := &b.GuestStars[j]
			c.withEntry(castCredit(&r.Credited, r.CreditID, r.Character, r.Order), count)
		}
		for j := range b.Crew {
			r := &b.Crew[j]
			c.withEntry(crewCredit(&r.Credited, r.CreditID, r.Department, r.Job), count)
		}
	}
	if s.AggregateCredits != nil {
		c.eachAggregate(s.AggregateCredits, func(e *entry, count int64) {
			if n := len(e.Seasons); n == 0 || e.Seasons[n-1] != number {
				e.add(number, count, start)
			}
		})
	}
}

// each calls fn with the entry of each credit of a season or a series.
func (c *Series) each(credits *catalog.TVCredits, fn func(*entry)) {
	for i := range credits.Cast {
		r := &credits.Cast[i]
		c.withEntry(castCredit(&r.Credited, r.CreditID, r.Character, r.Order), func(e *entry) {
			e.Order = min(e.Order, r.Order.V)
			fn(e)
		})
	}
	for i := range credits.Crew {
		r := &credits.Crew[i]
		c.withEntry(crewCredit(&r.Credited, r.CreditID, r.Department, r.Job), fn)
	}
}

// withEntry calls fn with the credit's entry, creating it if needed. Credits without a person ID are ignored.
func (c *Series) withEntry(credit Credit, fn func(*entry)) {
	if credit.Person.ID < 1 {
		return
	}
	k := creditKey{id: credit.ID, role: credit.Role, person: credit.Person.ID}
	if k.id == "" {
		k.character, k.job = credit.Character, credit.Job
	}
	e := c.credits[k]
	if e == nil {
		e = &entry{Credit: credit}
		c.credits[k] = e
		c.order = append(c.order, e)
	}
	fn(e)
}

// add counts episodes of a season.
func (e *entry) add(season, episodes int64, date string) {
	e.EpisodeCount += episodes
	if season == 0 {
		e.specials += episodes
	}
	e.FirstAirDate = earlier(e.FirstAirDate, date)
	if n := len(e.Seasons); n == 0 || e.Seasons[n-1] != season {
		e.Seasons = append(e.Seasons, season)
	}
}

// earlier returns the earlier of two dates; "" is unknown.
func earlier(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// creator is the department and the job of a series' creators.
const creator = "Creator"

// eachAggregate calls count with the entry and the episode count of each aggregate credit of a dump.
func (c *Series) eachAggregate(a *catalog.AggregateCredits, count func(e *entry, episodes int64)) {
	for i := range a.Cast {
		p := &a.Cast[i]
		for j := range p.Roles {
			r := &p.Roles[j]
			c.withEntry(castCredit(&p.Credited, r.CreditID, r.Character, p.Order), func(e *entry) { count(e, r.EpisodeCount.V) })
		}
	}
	for i := range a.Crew {
		p := &a.Crew[i]
		for j := range p.Jobs {
			r := &p.Jobs[j]
			c.withEntry(crewCredit(&p.Credited, r.CreditID, p.Department, r.Job), func(e *entry) { count(e, r.EpisodeCount.V) })
		}
	}
}

// Credits ends the collection and returns each credit once, in order of first appearance. It adds the credits of the
// series itself: regulars that no season lists, creators, and aggregate credits of a dump, whose counts take
// precedence.
func (c *Series) Credits() []Credit {
	var title Title
	if c.tv != nil {
		title = TVTitle(c.tv)
		if c.tv.Credits != nil {
			episodes := c.tv.NumberOfEpisodes.V
			if episodes <= 0 { // not given
				episodes = c.episodes
			}
			c.each(c.tv.Credits, func(e *entry) {
				if e.EpisodeCount > e.specials {
					return // counted appearances take precedence
				}
				// A credit that is in no regular season covers all of them.
				e.EpisodeCount += episodes
				e.Seasons = slices.Concat(e.Seasons, c.seasons) // it may be in a season without episodes
				slices.Sort(e.Seasons)
				e.Seasons = slices.Compact(e.Seasons)
				e.FirstAirDate = earlier(e.FirstAirDate, earlier(c.tv.FirstAirDate.V, c.first))
			})
		}
		for i := range c.tv.CreatedBy {
			r := &c.tv.CreatedBy[i]
			person := Person{ID: r.ID.V, Name: r.Name.V, OriginalName: r.OriginalName.V, Gender: r.Gender.V, ProfilePath: r.ProfilePath.V}
			c.withEntry(Credit{ID: r.CreditID.V, Role: Creator, Person: person, Department: creator, Job: creator}, func(*entry) {})
		}
		if c.tv.AggregateCredits != nil {
			c.eachAggregate(c.tv.AggregateCredits, func(e *entry, count int64) { e.EpisodeCount = count })
		}
	}
	out := make([]Credit, 0, len(c.order))
	for _, e := range c.order {
		e.Title = title
		out = append(out, e.Credit)
	}
	return out
}

// Aggregate returns the aggregate form of credits: each person once, the most frequent first; nil if there is nothing
// to count.
func Aggregate(credits []Credit) *catalog.AggregateCredits {
	out := &catalog.AggregateCredits{Cast: []catalog.AggregateCast{}, Crew: []catalog.AggregateCrew{}}
	type member struct {
		person     int64
		department string
	}
	cast, crew := map[int64]int{}, map[member]int{}
	for i := range credits {
		switch c := &credits[i]; c.Role {
		case Cast:
			k, ok := cast[c.Person.ID]
			if !ok {
				k = len(out.Cast)
				cast[c.Person.ID] = k
				object, person := c.Person.row()
				out.Cast = append(out.Cast, catalog.AggregateCast{
					Object: object, Credited: person, TotalEpisodeCount: record.Number(0), Order: record.Number(c.Order),
				})
			}
			row := &out.Cast[k]
			row.Order.V = min(row.Order.V, c.Order)
			row.TotalEpisodeCount.V += c.EpisodeCount
			row.Roles = append(row.Roles, catalog.AggregateRole{
				CreditID: record.Text(c.ID), Character: record.Text(c.Character), EpisodeCount: record.Number(c.EpisodeCount),
			})
			slices.SortStableFunc(row.Roles, func(a, b catalog.AggregateRole) int { return cmp.Compare(b.EpisodeCount.V, a.EpisodeCount.V) })
		case Crew:
			key := member{c.Person.ID, c.Department}
			k, ok := crew[key]
			if !ok {
				k = len(out.Crew)
				crew[key] = k
				object, person := c.Person.row()
				out.Crew = append(out.Crew, catalog.AggregateCrew{
					Object: object, Credited: person, Department: record.Text(c.Department), TotalEpisodeCount: record.Number(0),
				})
			}
			row := &out.Crew[k]
			row.TotalEpisodeCount.V += c.EpisodeCount
			row.Jobs = append(row.Jobs, catalog.AggregateJob{
				CreditID: record.Text(c.ID), Job: record.Text(c.Job), EpisodeCount: record.Number(c.EpisodeCount),
			})
			slices.SortStableFunc(row.Jobs, func(a, b catalog.AggregateJob) int { return cmp.Compare(b.EpisodeCount.V, a.EpisodeCount.V) })
		}
	}
	slices.SortStableFunc(out.Cast, func(a, b catalog.AggregateCast) int {
		return cmp.Or(cmp.Compare(b.TotalEpisodeCount.V, a.TotalEpisodeCount.V), cmp.Compare(a.Order.V, b.Order.V), cmp.Compare(a.ID.V, b.ID.V))
	})
	slices.SortStableFunc(out.Crew, func(a, b catalog.AggregateCrew) int {
		return cmp.Or(cmp.Compare(a.Department.V, b.Department.V), cmp.Compare(b.TotalEpisodeCount.V, a.TotalEpisodeCount.V), cmp.Compare(a.ID.V, b.ID.V))
	})
	if len(out.Cast)+len(out.Crew) == 0 {
		return nil
	}
	return out
}

// row returns the person's fields of a credit row. An unknown profile or department is null.
func (p *Person) row() (o record.Object, row catalog.Credited) {
	row = catalog.Credited{
		Adult: record.Bool{V: p.Adult, Set: true}, Gender: record.Number(p.Gender), ID: record.Number(p.ID),
		Name: record.Text(p.Name), OriginalName: record.Text(p.OriginalName), Popularity: record.Float{V: p.Popularity, Set: true},
	}
	if p.KnownForDepartment != "" {
		row.KnownForDepartment = record.Text(p.KnownForDepartment)
	} else {
		o.Unusual = "known_for_department"
	}
	if p.ProfilePath != "" {
		row.ProfilePath = record.Text(p.ProfilePath)
	}
	return o, row
}

// SeasonAggregate returns the aggregate credits of one season: regulars, guests and crew. If the season names no
// regulars, the regulars of the series count for every episode, unless episodes name them. It returns nil if there is
// nothing to count.
func SeasonAggregate(s *catalog.Season, tv *catalog.TV, episodes []Broadcast) *catalog.AggregateCredits {
	const season = 1 // any one
	c := NewSeries(nil)
	c.Season(season, s, episodes)
	if credits := Regulars(s, tv, episodes); credits != nil && s.Credits == nil {
		c.each(credits, func(e *entry) {
			if e.EpisodeCount == 0 {
				e.EpisodeCount = int64(len(episodes))
			}
		})
	}
	return Aggregate(c.Credits())
}

// Regulars returns the credits of a whole season: its own, else its aggregate credits, else the credits of its
// series. Specials have no regulars from the series. Credits and guests of single episodes are left out. It returns
// nil without regulars.
func Regulars(s *catalog.Season, tv *catalog.TV, episodes []Broadcast) *catalog.TVCredits {
	var out *catalog.TVCredits
	switch {
	case s.Credits != nil:
		return s.Credits
	case s.AggregateCredits != nil:
		out = singlesOf(episodes).regulars(s.AggregateCredits)
	case tv != nil && tv.Credits != nil && s.SeasonNumber.V > 0:
		s := singlesOf(episodes)
		out = &catalog.TVCredits{
			Cast: slices.DeleteFunc(slices.Clone(tv.Credits.Cast), func(c catalog.TVCastCredit) bool { return s.credits[c.CreditID.V] || s.guests[c.ID.V] }),
			Crew: slices.DeleteFunc(slices.Clone(tv.Credits.Crew), func(c catalog.CrewCredit) bool { return s.credits[c.CreditID.V] }),
		}
	}
	if out == nil || len(out.Cast)+len(out.Crew) == 0 {
		return nil
	}
	return out
}

// singles are the credits of a season's single episodes.
type singles struct {
	credits map[string]bool // by id
	guests  map[int64]bool  // by person
}

func singlesOf(episodes []Broadcast) singles {
	s := singles{map[string]bool{}, map[int64]bool{}}
	for i := range episodes {
		for j := range episodes[i].GuestStars {
			g := &episodes[i].GuestStars[j]
			s.credits[g.CreditID.V], s.guests[g.ID.V] = true, true
		}
		for j := range episodes[i].Crew {
			s.credits[episodes[i].Crew[j].CreditID.V] = true
		}
	}
	delete(s.credits, "")
	return s
}

// regulars returns the credits of regulars, who are credited for all episodes of a season: the highest episode count in
// the aggregate credits, without the singles.
func (s singles) regulars(a *catalog.AggregateCredits) *catalog.TVCredits {
	c, highest := NewSeries(nil), int64(0)
	c.eachAggregate(a, func(e *entry, count int64) {
		e.EpisodeCount = count
		if !s.credits[e.ID] {
			highest = max(highest, count)
		}
	})
	out := &catalog.TVCredits{Cast: []catalog.TVCastCredit{}, Crew: []catalog.CrewCredit{}}
	for _, e := range c.order {
		switch {
		case s.credits[e.ID] || e.EpisodeCount != highest || e.Role == Cast && s.guests[e.Person.ID]:
		case e.Role == Cast:
			object, person := e.Person.row()
			out.Cast = append(out.Cast, catalog.TVCastCredit{
				Object: object, Credited: person,
				Character: record.Text(e.Character), CreditID: record.Text(e.ID), Order: record.Number(e.Order),
			})
		default:
			object, person := e.Person.row()
			out.Crew = append(out.Crew, catalog.CrewCredit{
				Object: object, Credited: person,
				CreditID: record.Text(e.ID), Department: record.Text(e.Department), Job: record.Text(e.Job),
			})
		}
	}
	slices.SortStableFunc(out.Cast, func(a, b catalog.TVCastCredit) int { return cmp.Compare(a.Order.V, b.Order.V) })
	return out
}
