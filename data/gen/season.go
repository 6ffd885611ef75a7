package gen

import "strconv"

// writeSeason writes the details of a season with its episodes.
func writeSeason(w *world, j *writer, s *show, one *season) {
	r := random{mix(w.tv.seed ^ uint64(one.id))}
	j.objectID("_id", &r)
	j.day("air_date", one.out, one.dated, "null")
	j.list("episodes", func() {
		for n := range one.episodes {
			e := w.episodeOf(s, one, n)
			j.object("", func() { writeEpisode(w, j, s, one, &e) })
		}
	})
	j.text("name", func() { j.b = w.appendSeasonName(j.b, one) })
	j.list("networks", func() { writeCompanyRef(w, j, "", w.networks, s.network) })
	j.text("overview", func() { j.b = w.appendSeasonOverview(j.b, one) })
	j.int("id", one.id)
	writeSeasonEnd(w, j, one)
}

// writeSeasonSummary writes a season as the details of its series have it.
func writeSeasonSummary(w *world, j *writer, one *season) {
	j.day("air_date", one.out, one.dated, "null")
	j.int("episode_count", int64(one.episodes))
	j.int("id", one.id)
	j.text("name", func() { j.b = w.appendSeasonName(j.b, one) })
	j.text("overview", func() { j.b = w.appendSeasonOverview(j.b, one) })
	writeSeasonEnd(w, j, one)
}

// writeSeasonEnd writes the last fields of a season, in details and elsewhere.
func writeSeasonEnd(w *world, j *writer, one *season) {
	j.path("poster_path", one.poster, ".jpg")
	j.int("season_number", int64(one.number))
	j.fixed("vote_average", one.average, 3)
}

// An episode is the part of one that lists have.
type episode struct {
	number   int
	id       int64
	kind     string
	name     uint64 // seeds; 0: the generic name
	overview uint64 // 0: none
	still    uint64
	runtime  int64 // 0: unknown
	out      day
	dated    bool
	average  int64 // thousandths
	votes    int64
	rest     random // for what lists lack
}

// episodeOf makes the part of an episode, counted from 0, that lists have.
func (w *world) episodeOf(s *show, one *season, n int) episode {
	e := episode{number: n + 1, kind: "standard", out: s.airs(one, n)}
	place := int64(one.before + n + 1) // season 0 has the upper half of the ids
	if one.number == 0 {
		place = episodeIDs/2 + int64(n)
	}
	e.id = int64(s.i)*episodeIDs + place
	r := random{mix(w.tv.seed+uint64(e.id)*golden) ^ golden}
	switch {
	case n == one.episodes-1 && one.number > 0:
		e.kind = "finale"
	case one.episodes > 12 && n == one.episodes/2 && r.chance(200):
		e.kind = "mid_season"
	}
	if !s.generic && !r.chance(40) || s.generic && r.chance(30) {
		e.name = r.next() | 1
	}
	e.overview = r.seed(1000 - int(figures().Lack.EpisodeText.at(s.votes)))
	e.still = r.seed(1000 - int(figures().Lack.Still.at(s.votes)))
	if !r.chance(int(figures().Lack.EpisodeRuntime.at(s.votes))) {
		e.runtime = max(1, r.logNormal(4000, 50)/100)
	}
	e.dated = one.dated && !r.chance(40)
	if !r.chance(int(figures().Lack.EpisodeVotes.at(s.votes))) {
		e.votes = max(1, r.logNormal(100+s.votes*4, 80)/100)
		e.average = r.voteAverage(e.votes)
	}
	e.rest = r
	return e
}

// appendEpisodeName appends the name of an episode.
func (w *world) appendEpisodeName(b []byte, s *show, e *episode) []byte {
	if e.name == 0 {
		return strconv.AppendInt(append(b, "Episode "...), int64(e.number), 10)
	}
	r := random{e.name}
	l := w.words.languages[0]
	if !s.english {
		l = s.language
	}
	return w.words.appendTitle(b, &r, l)
}

// appendEpisodeOverview appends the text of an episode.
func (w *world) appendEpisodeOverview(b []byte, e *episode) []byte {
	if e.overview == 0 {
		return b
	}
	r := random{e.overview}
	return w.words.appendText(b, &r, w.words.languages[0], int(r.logNormal(220, 55)))
}

// writeEpisode writes an episode as the details of its season have it.
func writeEpisode(w *world, j *writer, s *show, one *season, e *episode) {
	e.writeAired(j)
	j.int("id", e.id)
	writeEpisodeTexts(w, j, s, e)
	writeEpisodeEnd(w, j, s, one, e)
	e.writeVotes(j)
	j.list("crew", func() { writeEpisodeCrew(w, j, s, &e.rest) })
	j.list("guest_stars", func() { writeGuests(w, j, s, &e.rest) })
}

// writeEpisodeSummary writes an episode as the details of its series have it; null where
// there is no season.
func writeEpisodeSummary(w *world, j *writer, name string, s *show, one *season, n int) {
	if one == nil {
		j.null(name)
		return
	}
	e := w.episodeOf(s, one, n)
	j.object(name, func() {
		j.int("id", e.id)
		writeEpisodeTexts(w, j, s, &e)
		e.writeVotes(j)
		e.writeAired(j)
		writeEpisodeEnd(w, j, s, one, &e)
	})
}

func (e *episode) writeAired(j *writer) {
	j.day("air_date", e.out, e.dated, "null")
	j.int("episode_number", int64(e.number))
	j.string("episode_type", e.kind)
}

func (e *episode) writeVotes(j *writer) {
	j.fixed("vote_average", e.average, 3)
	j.int("vote_count", e.votes)
}

func writeEpisodeTexts(w *world, j *writer, s *show, e *episode) {
	j.text("name", func() { j.b = w.appendEpisodeName(j.b, s, e) })
	j.text("overview", func() { j.b = w.appendEpisodeOverview(j.b, e) })
}

func writeEpisodeEnd(w *world, j *writer, s *show, one *season, e *episode) {
	j.string("production_code", "")
	if e.runtime == 0 {
		j.null("runtime")
	} else {
		j.int("runtime", e.runtime)
	}
	j.int("season_number", int64(one.number))
	j.int("show_id", s.id)
	j.path("still_path", e.still, ".jpg")
}
