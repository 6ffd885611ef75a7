package gen

// appendSeason appends the details of a season with its episodes.
func (w *world) appendSeason(b []byte, s *show, one *season) []byte {
	r := random{mix(w.tv.seed ^ uint64(one.id))}
	b = append(b, `{"_id":`...)
	b = appendObjectID(b, &r)
	b = append(b, `,"air_date":`...)
	b = appendSeasonDay(b, one)
	b = append(b, `,"episodes":[`...)
	for n := range one.episodes {
		if n > 0 {
			b = append(b, ',')
		}
		e := w.episodeOf(s, one, n)
		b = w.appendEpisode(b, s, one, &e)
	}
	b = append(b, `],"name":"`...)
	b = w.appendSeasonName(b, one)
	b = append(b, `","networks":[`...)
	b = w.appendNetworkRef(b, s)
	b = append(b, `],"overview":"`...)
	b = w.appendSeasonOverview(b, one)
	b = append(b, `","id":`...)
	b = appendInt(b, one.id)
	b = append(b, `,"poster_path":`...)
	b = appendPathOf(b, one.poster, ".jpg")
	b = append(b, `,"season_number":`...)
	b = appendInt(b, int64(one.number))
	b = append(b, `,"vote_average":`...)
	return append(appendFixed(b, one.average, 3), '}')
}

// An episode is what lists say of one.
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
	rest     random // for what lists do not say
}

// episodeOf makes what lists say of an episode, counted from 0.
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
	e.overview = r.seed(1000 - int(noEpisodeText.at(s.votes)))
	e.still = r.seed(1000 - int(noStill.at(s.votes)))
	if !r.chance(int(noEpisodeRuntime.at(s.votes))) {
		e.runtime = max(1, r.logNormal(4000, 50)/100)
	}
	e.dated = one.dated && !r.chance(40)
	if !r.chance(int(noEpisodeVotes.at(s.votes))) {
		e.votes = max(1, r.logNormal(100+s.votes*4, 80)/100)
		e.average = r.voteAverage(e.votes)
	}
	e.rest = r
	return e
}

// appendEpisodeName appends the name of an episode.
func (w *world) appendEpisodeName(b []byte, s *show, e *episode) []byte {
	if e.name == 0 {
		return appendInt(append(b, "Episode "...), int64(e.number))
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

func (e *episode) appendDay(b []byte) []byte {
	if !e.dated {
		return append(b, "null"...)
	}
	return append(appendDate(append(b, '"'), e.out), '"')
}

func (e *episode) appendRuntime(b []byte) []byte {
	if e.runtime == 0 {
		return append(b, "null"...)
	}
	return appendInt(b, e.runtime)
}

// appendEpisode appends an episode as the details of its season have it.
func (w *world) appendEpisode(b []byte, s *show, one *season, e *episode) []byte {
	b = append(b, `{"air_date":`...)
	b = e.appendDay(b)
	b = append(b, `,"episode_number":`...)
	b = appendInt(b, int64(e.number))
	b = append(append(b, `,"episode_type":"`...), e.kind...)
	b = append(b, `","id":`...)
	b = appendInt(b, e.id)
	b = append(b, `,"name":"`...)
	b = w.appendEpisodeName(b, s, e)
	b = append(b, `","overview":"`...)
	b = w.appendEpisodeOverview(b, e)
	b = append(b, `","production_code":"","runtime":`...)
	b = e.appendRuntime(b)
	b = append(b, `,"season_number":`...)
	b = appendInt(b, int64(one.number))
	b = append(b, `,"show_id":`...)
	b = appendInt(b, s.id)
	b = append(b, `,"still_path":`...)
	b = appendPathOf(b, e.still, ".jpg")
	b = append(b, `,"vote_average":`...)
	b = appendFixed(b, e.average, 3)
	b = append(b, `,"vote_count":`...)
	b = appendInt(b, e.votes)
	b = append(b, `,"crew":[`...)
	b = w.appendEpisodeCrew(b, s, &e.rest)
	b = append(b, `],"guest_stars":[`...)
	b = w.appendGuests(b, s, &e.rest)
	return append(b, "]}"...)
}

// appendEpisodeSummary appends an episode as the details of its series have it; null
// where there is no season.
func (w *world) appendEpisodeSummary(b []byte, s *show, one *season, n int) []byte {
	if one == nil {
		return append(b, "null"...)
	}
	e := w.episodeOf(s, one, n)
	b = append(b, `{"id":`...)
	b = appendInt(b, e.id)
	b = append(b, `,"name":"`...)
	b = w.appendEpisodeName(b, s, &e)
	b = append(b, `","overview":"`...)
	b = w.appendEpisodeOverview(b, &e)
	b = append(b, `","vote_average":`...)
	b = appendFixed(b, e.average, 3)
	b = append(b, `,"vote_count":`...)
	b = appendInt(b, e.votes)
	b = append(b, `,"air_date":`...)
	b = e.appendDay(b)
	b = append(b, `,"episode_number":`...)
	b = appendInt(b, int64(e.number))
	b = append(append(b, `,"episode_type":"`...), e.kind...)
	b = append(b, `","production_code":"","runtime":`...)
	b = e.appendRuntime(b)
	b = append(b, `,"season_number":`...)
	b = appendInt(b, int64(one.number))
	b = append(b, `,"show_id":`...)
	b = appendInt(b, s.id)
	b = append(b, `,"still_path":`...)
	return append(appendPathOf(b, e.still, ".jpg"), '}')
}

// kept is the permille of episodes of which, in series that have them at all, crew and
// guests are known.
const kept = 880

func (w *world) appendEpisodeCrew(b []byte, s *show, r *random) []byte {
	if w.people.n == 0 || !s.guests || !r.chance(kept) {
		return b
	}
	for n := range episodeCrew.of(r, s.votes) {
		if n > 0 {
			b = append(b, ',')
		}
		j, ok := w.firstJob(n % 2) // direction and writing
		if n > 1 || !ok {
			j = w.jobOf(r, n)
		}
		b = append(append(b, `{"department":"`...), j.department.name...)
		b = append(append(b, `","job":"`...), j.name...)
		b = append(b, `","credit_id":`...)
		b = append(appendObjectID(b, r), ',')
		b = w.appendCredited(b, w.credited(r, j.department))
		b[len(b)-1] = '}' // in place of a comma
	}
	return b
}

func (w *world) appendGuests(b []byte, s *show, r *random) []byte {
	if w.people.n == 0 || !s.guests || !r.chance(kept) {
		return b
	}
	for n := range guestCount.of(r, s.votes) {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"character":"`...)
		b = w.appendCharacter(b, r)
		b = append(b, `","credit_id":`...)
		b = appendObjectID(b, r)
		b = append(b, `,"order":`...)
		b = append(appendInt(b, int64(500+n)), ',')
		b = w.appendCredited(b, w.credited(r, &w.departments[acting]))
		b[len(b)-1] = '}' // in place of a comma
	}
	return b
}
