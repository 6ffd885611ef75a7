package gen

// A season is the part of one that lists have.
type season struct {
	number   int
	id       int
	episodes int
	before   int // episodes of the seasons before, season 0 aside
	out      day
	dated    bool
	average  int // thousandths
	poster   uint64
	overview uint64
	named    uint64 // seed of a name; 0: the generic one
}

// seasonsOf makes the seasons of a series in order.
func (w *world) seasonsOf(s *show) (list []season) {
	total, before := 0, 0
	next := s.out
	first := 1
	if s.specials {
		first = 0
	}
	for number := first; number <= s.seasons; number++ {
		r := w.tv.random(s.i, streamSeason+stream(number))
		one := season{
			number: number, id: int(s.i)*seasonIDs + number + 1, before: before, out: next, dated: s.dated,
			poster: r.seed(w.Has.SeasonPoster.at(s.votes)), overview: r.seed(w.Has.SeasonText.at(s.votes)), named: r.seed(80),
		}
		if r.chance(w.Series.Episodes.Any.at(s.votes)) || number == 1 {
			one.episodes = max(1, (r.logNormal(s.typical, 30)+50)/100)
		}
		one.episodes = min(one.episodes, w.Series.Episodes.Most, maxEpisodes-total)
		total += one.episodes
		if s.votes > 0 && r.chance(600) {
			one.average = w.voteAverage(&r, max(1, s.votes/8))
		}
		if number > 0 {
			before += one.episodes
			next += day(one.episodes)*s.interval + day(r.between(120, 420))
		}
		list = append(list, one)
	}
	return list
}

// airs returns when an episode airs, counted from 0.
func (s *show) airs(one *season, episode int) day { return one.out + day(episode)*s.interval }

// writeSeason writes the details of a season with its episodes.
func writeSeason(j *writer, s *show, one *season) {
	r := random{mix(j.w.tv.seed ^ uint64(one.id))}
	j.objectID("_id", &r)
	j.day("air_date", one.out, one.dated, "null")
	j.objects("episodes", one.episodes, func(n int) { writeEpisode(j, s, one, n) })
	writeSeasonName(j, one)
	writeNetworksOf(j, s)
	writeOverview(j, one.overview, 260, 50)
	j.int("id", one.id)
	writeSeasonEnd(j, one)
}

// writeSeasonSummary writes a season as the details of its series have it.
func writeSeasonSummary(j *writer, one *season) {
	j.day("air_date", one.out, one.dated, "null")
	j.int("episode_count", one.episodes)
	j.int("id", one.id)
	writeSeasonName(j, one)
	writeOverview(j, one.overview, 260, 50)
	writeSeasonEnd(j, one)
}

func writeSeasonName(j *writer, one *season) {
	if one.number == 0 {
		j.string("name", "Specials")
		return
	}
	writeNumbered(j, one.named, j.w.english, "Season", one.number)
}

// writeSeasonEnd writes the last fields of a season, in details and elsewhere.
func writeSeasonEnd(j *writer, one *season) {
	j.path("poster_path", one.poster, ".jpg")
	j.int("season_number", one.number)
	j.float("vote_average", one.average, 1000)
}

// An episode is the part of one that lists have.
type episode struct {
	number   int
	id       int
	kind     string
	name     uint64 // seeds; 0: the generic name
	overview uint64 // 0: none
	still    uint64
	runtime  int // 0: unknown
	out      day
	dated    bool
	average  int // thousandths
	votes    int
	rest     random // for what lists lack
}

// episodeOf makes the part of an episode, counted from 0, that lists have.
func (w *world) episodeOf(s *show, one *season, n int) episode {
	place := one.before + n + 1 // season 0 has the upper half of the ids
	if one.number == 0 {
		place = episodeIDs/2 + n
	}
	e := episode{number: n + 1, id: int(s.i)*episodeIDs + place, kind: "standard", out: s.airs(one, n)}
	r := random{mix(w.tv.seed+uint64(e.id)*golden) ^ golden}
	switch {
	case n == one.episodes-1 && one.number > 0:
		e.kind = "finale"
	case one.episodes > 12 && n == one.episodes/2 && r.chance(200):
		e.kind = "mid_season"
	}
	named := 960
	if s.generic {
		named = 30
	}
	e.name = r.seed(named)
	e.overview = r.seed(w.Has.EpisodeText.at(s.votes))
	e.still = r.seed(w.Has.Still.at(s.votes))
	if r.chance(w.Has.EpisodeRuntime.at(s.votes)) {
		e.runtime = max(1, r.logNormal(4000, 50)/100)
	}
	e.dated = one.dated && !r.chance(40)
	if r.chance(w.Has.EpisodeVotes.at(s.votes)) {
		e.votes = max(1, r.logNormal(100+s.votes*4, 80)/100)
		e.average = w.voteAverage(&r, e.votes)
	}
	e.rest = r
	return e
}

// writeEpisode writes an episode as the details of its season have it.
func writeEpisode(j *writer, s *show, one *season, n int) {
	e := j.w.episodeOf(s, one, n)
	writeEpisodeDate(j, &e)
	j.int("id", e.id)
	writeEpisodeTexts(j, s, &e)
	writeEpisodeEnd(j, s, one, &e)
	writeVoted(j, e.average, e.votes)
	writeEpisodeCredits(j, &e.rest, s)
}

// writeEpisodeSummary writes an episode as the details of its series have it; null where there
// is no season.
func writeEpisodeSummary(j *writer, name string, s *show, one *season, n int) {
	if one == nil {
		j.null(name)
		return
	}
	e := j.w.episodeOf(s, one, n)
	j.object(name, func() {
		j.int("id", e.id)
		writeEpisodeTexts(j, s, &e)
		writeVoted(j, e.average, e.votes)
		writeEpisodeDate(j, &e)
		writeEpisodeEnd(j, s, one, &e)
	})
}

func writeEpisodeDate(j *writer, e *episode) {
	j.day("air_date", e.out, e.dated, "null")
	j.int("episode_number", e.number)
	j.string("episode_type", e.kind)
}

func writeEpisodeTexts(j *writer, s *show, e *episode) {
	l := j.w.english
	if !s.english {
		l = s.language
	}
	writeNumbered(j, e.name, l, "Episode", e.number)
	writeOverview(j, e.overview, 220, 55)
}

func writeEpisodeEnd(j *writer, s *show, one *season, e *episode) {
	j.string("production_code", "")
	j.intIf(e.runtime > 0, "runtime", e.runtime)
	j.int("season_number", one.number)
	j.int("show_id", s.id)
	j.path("still_path", e.still, ".jpg")
}
