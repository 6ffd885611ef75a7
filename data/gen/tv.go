package gen

import "strconv"

// A show is the part of a series that lists have, and its division into seasons.
type show struct {
	title
	seasons  int // without season 0
	specials bool
	typical  int64  // episodes of a season, in hundredths
	network  uint64 // record
	interval day    // between episodes
	generic  bool   // most episodes have no names
	guests   bool   // somebody keeps guest stars and crews
}

// maxEpisodes is how many the longest series has.
const maxEpisodes = 3677

// Ids of seasons and episodes leave room for as many as a series may have.
const (
	seasonIDs  = 128
	episodeIDs = 8192
)

// showOf makes the part of series i that lists have.
func (w *world) showOf(i uint64) show {
	t, r := w.titleOf(w.tv, i, &w.ofTV)
	s := show{title: t}
	if earliest := makeDay(1950, 0); s.out < earliest {
		s.out = earliest + s.out%(70*365)
	}
	s.seasons = figures().Series.Seasons.of(&r, s.votes)
	s.specials = r.chance(int(figures().Has.Specials.at(s.votes)))
	s.typical = r.logNormal(figures().Series.Episodes.Median.at(s.votes), figures().Series.Episodes.Sigma.at(s.votes))
	if r.chance(30) { // daily
		s.typical *= int64(r.between(6, 16))
	}
	s.network = w.networks.ranked(crowd(&r, w.networks.n))
	s.interval = 7
	if s.typical > 6000 || r.chance(60) {
		s.interval = 1
	}
	s.generic = r.chance(int(figures().Has.GenericNames.at(s.votes)))
	s.guests = r.chance(int(figures().Has.Guests.at(s.votes)))
	if int64(s.seasons)*s.typical > 300*100 { // of the long ones, few do
		s.guests = s.guests && r.chance(250)
	}
	return s
}

// A season is the part of one that lists have.
type season struct {
	number   int
	id       int64
	episodes int
	before   int // episodes of the seasons before, season 0 aside
	out      day
	dated    bool
	average  int64 // thousandths
	poster   uint64
	overview uint64
	named    uint64 // seed of a name; 0: the generic one
}

// seasonsOf makes the seasons of a series in order. It appends to list.
func (w *world) seasonsOf(s *show, list []season) []season {
	total, before := 0, 0
	next := s.out
	first := 1
	if s.specials {
		first = 0
	}
	for number := first; number <= s.seasons; number++ {
		r := w.tv.random(s.i, streamSeason+stream(number))
		one := season{number: number, id: int64(s.i)*seasonIDs + int64(number) + 1, before: before, out: next, dated: s.dated}
		if r.chance(int(figures().Series.Episodes.Any.at(s.votes))) || number == 1 {
			one.episodes = max(1, int(r.logNormal(s.typical, 30)+50)/100)
		}
		one.episodes = min(one.episodes, figures().Series.Episodes.Most, maxEpisodes-total)
		total += one.episodes
		if s.votes > 0 && r.chance(600) {
			one.average = r.voteAverage(max(1, s.votes/8))
		}
		one.poster = r.seed(1000 - int(figures().Lack.SeasonPoster.at(s.votes)))
		one.overview = r.seed(1000 - int(figures().Lack.SeasonText.at(s.votes)))
		one.named = r.seed(80)
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

// appendSeasonName appends the name of a season.
func (w *world) appendSeasonName(b []byte, one *season) []byte {
	switch {
	case one.number == 0:
		return append(b, "Specials"...)
	case one.named != 0:
		r := random{one.named}
		return w.words.appendTitle(b, &r, w.words.languages[0])
	}
	return strconv.AppendInt(append(b, "Season "...), int64(one.number), 10)
}

// appendSeasonOverview appends the text of a season.
func (w *world) appendSeasonOverview(b []byte, one *season) []byte {
	if one.overview == 0 {
		return b
	}
	r := random{one.overview}
	return w.words.appendText(b, &r, w.words.languages[0], int(r.logNormal(260, 50)))
}

// writeTV writes the record of series i, its seasons appended.
func writeTV(w *world, j *writer, i uint64) {
	s := w.showOf(i)
	seasons := w.seasonsOf(&s, nil)
	r := w.tv.random(i, streamDetails)
	last := &seasons[len(seasons)-1]
	ended := !s.dated || s.airs(last, last.episodes) < today-400
	j.bool("adult", s.adult)
	j.path("backdrop_path", s.backdrop, ".jpg")
	j.list("created_by", func() { writeCreators(w, j, &r, s.votes) })
	j.list("episode_run_time", func() {
		if r.chance(300) {
			j.int("", int64(5*r.between(2, 14)))
		}
	})
	j.day("first_air_date", s.out, s.dated, `""`)
	j.list("genres", func() { w.ofTV.genres.write(j, s.genres.all()) })
	j.homepage("homepage", &r, int(figures().Has.Homepage.at(s.votes))+150)
	j.int("id", s.id)
	j.bool("in_production", !ended)
	j.list("languages", func() { j.string("", s.language.code) })
	writeAired(w, j, &s, seasons)
	j.list("networks", func() { writeCompanyRef(w, j, "", w.networks, s.network) })
	j.int("number_of_episodes", int64(last.before+last.episodes))
	j.int("number_of_seasons", int64(s.seasons))
	j.list("origin_country", func() { j.string("", w.words.countries[s.country].code) })
	writeTitle(w, j, "original_name", &s.title)
	j.fixed("popularity", s.popularity, 4)
	j.path("poster_path", s.poster, ".jpg")
	j.list("production_companies", func() { writeCompanies(w, j, &r, s.votes) })
	j.list("production_countries", func() { writeCountries(w, j, &r, s.country) })
	j.list("seasons", func() {
		for n := range seasons {
			j.object("", func() { writeSeasonSummary(w, j, &seasons[n]) })
		}
	})
	j.bool("softcore", false)
	j.list("spoken_languages", func() { writeSpoken(w, j, &r, s.language) })
	j.string("status", r.tvStatus(ended))
	writeTagline(w, j, &r, int(figures().Has.Tagline.at(s.votes))/2)
	j.string("type", pick(&r, showTypes))
	j.fixed("vote_average", s.average, 3)
	j.int("vote_count", s.votes)
	writeTVParts(w, j, &s)
	for n := range seasons {
		j.object(seasonNames[seasons[n].number], func() { writeSeason(w, j, &s, &seasons[n]) })
	}
}

// seasonNames are the names of appended seasons, by number.
var seasonNames = makeSeasonNames()

func makeSeasonNames() (names [seasonIDs]string) {
	for n := range names {
		names[n] = "season/" + strconv.Itoa(n)
	}
	return names
}

var showTypes = []string{"Scripted", "Scripted", "Scripted", "Scripted", "Scripted", "Scripted", "Reality", "Documentary", "Miniseries", "Talk Show", "News"}

func (r *random) tvStatus(ended bool) string {
	switch {
	case !ended:
		return "Returning Series"
	case r.chance(80):
		return "Canceled"
	}
	return "Ended"
}

// writeAired writes the fields last_air_date, last_episode_to_air, name and
// next_episode_to_air.
func writeAired(w *world, j *writer, s *show, seasons []season) {
	var last, next *season
	var lastEpisode, nextEpisode int
	for n := range seasons {
		one := &seasons[n]
		if one.number == 0 || one.episodes == 0 || !one.dated {
			continue
		}
		aired := 0
		if one.out <= today {
			aired = min(one.episodes, int((today-one.out)/s.interval)+1)
		}
		if aired > 0 {
			last, lastEpisode = one, aired-1
		}
		if aired < one.episodes && next == nil {
			next, nextEpisode = one, aired
		}
	}
	if last == nil {
		j.null("last_air_date")
	} else {
		j.day("last_air_date", s.airs(last, lastEpisode), true, "")
	}
	writeEpisodeSummary(w, j, "last_episode_to_air", s, last, lastEpisode)
	j.text("name", func() { j.b = w.appendEnglishTitle(j.b, &s.title) })
	writeEpisodeSummary(w, j, "next_episode_to_air", s, next, nextEpisode)
}

// writeCreators writes the people who created a series.
func writeCreators(w *world, j *writer, r *random, votes int64) {
	if w.people.n == 0 || !r.chance(int(figures().Has.Tagline.at(votes))) {
		return
	}
	for range 1 + r.front(4) {
		i := w.credited(r, &w.departments[acting+2]) // writers
		p := w.personOf(i)
		j.object("", func() {
			j.int("id", w.people.id(i))
			j.objectID("credit_id", r)
			j.text("name", func() { j.b = p.appendName(j.b) })
			j.text("original_name", func() { j.b = p.appendOwnName(j.b) })
			j.int("gender", int64(p.gender))
			j.path("profile_path", p.profile, ".jpg")
		})
	}
}

// writeTVParts writes the responses to sub-requests but for seasons.
func writeTVParts(w *world, j *writer, s *show) {
	own := w.localeOf(s.language)
	r := w.tv.random(s.i, streamLists)
	cast, crew := w.tv.random(s.i, streamCast), w.tv.random(s.i, streamCrew)
	j.object("alternative_titles", func() {
		j.list("results", func() { writeAlternativeTitles(w, j, &r, s.votes*3) })
	})
	j.object("content_ratings", func() { j.list("results", func() { writeContentRatings(w, j, &r, s) }) })
	j.object("credits", func() {
		j.list("cast", func() { writeCast(w, j, &cast, s.votes/16, false /* castIDs */) })
		j.list("crew", func() { writeCrew(w, j, &crew, s.votes/8) })
	})
	j.object("external_ids", func() { writeTVExternalIDs(w, j, &r, s.votes) })
	images := w.tv.random(s.i, streamImages)
	j.object("images", func() { writeImages(w, j, &images, &s.title, own) })
	j.object("keywords", func() {
		j.list("results", func() { writeKeywords(w, j, &r, s.votes, false /* idFirst */) })
	})
	if s.votes >= recommendFrom {
		j.object("recommendations", func() { writeRecommendations(w, j, &r, w.tv, s.i, writeTVRow) })
	}
	j.object("reviews", func() { writeReviews(w, j, &r, s.votes/4, s.out) })
	translations := w.tv.random(s.i, streamTranslations)
	j.object("translations", func() {
		j.list("translations", func() { writeTVTranslations(w, j, &translations, s, own) })
	})
	videos := w.tv.random(s.i, streamVideos)
	j.object("videos", func() { writeVideos(w, j, &videos, s.votes/2, s.out, own) })
	j.object("watch/providers", func() {
		j.object("results", func() { writeOffers(w, j, &r, "tv", s.id, s.votes) })
	})
}

// writeContentRatings writes age ratings by country.
func writeContentRatings(w *world, j *writer, r *random, s *show) {
	var have seen[int]
	for range figures().Series.Ratings.of(r, s.votes) {
		i := s.country
		if have.n > 0 {
			i = w.words.countryOf.pick(r)
		}
		list := w.ofTV.ratings[w.words.countries[i].code]
		if len(list) == 0 || !have.add(i) {
			continue
		}
		j.object("", func() {
			j.list("descriptors", func() {})
			j.string("iso_3166_1", w.words.countries[i].code)
			j.string("rating", pick(r, list))
		})
	}
}

func writeTVExternalIDs(w *world, j *writer, r *random, votes int64) {
	j.imdb("imdb_id", "tt", r.seed(1000-2*int(figures().Lack.IMDb.at(votes)))%38_000_000)
	j.null("freebase_mid")
	j.null("freebase_id")
	if r.chance(int(min(950, 450+votes))) {
		j.int("tvdb_id", int64(r.between(70_000, 460_000)))
	} else {
		j.null("tvdb_id")
	}
	j.null("tvrage_id")
	j.wikidata("wikidata_id", r, int(figures().Has.Wikidata.at(votes)))
	for _, name := range titleAccounts {
		j.account(name, r, int(figures().Has.Homepage.at(votes))/2)
	}
}

// writeTVTranslations writes translations, English first.
func writeTVTranslations(w *world, j *writer, r *random, s *show, own *locale) {
	w.eachTranslation(j, r, s.votes, own, func(l *locale, english bool) {
		writeName(w, j, "name", r, &s.title, l, english, l != own, 500)
		writeOverview(w, j, r, &s.title, l, english, int(figures().Has.TranslatedOverview.at(s.votes))-100)
		j.homepage("homepage", r, 20)
		writeTranslatedTagline(w, j, r, l, english, int(figures().Has.Tagline.at(s.votes))/6)
	})
}

// writeTVRow writes series i as lists have it.
func writeTVRow(w *world, j *writer, i uint64) {
	s := w.showOf(i)
	writeRow(w, j, &s.title, "tv", "name", &w.ofTV.genres)
	j.day("first_air_date", s.out, s.dated, `""`)
	j.bool("softcore", false)
	j.fixed("vote_average", s.average, 3)
	j.int("vote_count", s.votes)
	j.list("origin_country", func() { j.string("", w.words.countries[s.country].code) })
}
