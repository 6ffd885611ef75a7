package gen

import (
	"strconv"

	"github.com/reelsplice/reelsplice/data/reference"
)

// A show is the part of a series that lists have, and its division into seasons.
type show struct {
	title
	seasons  int // without season 0
	specials bool
	typical  int    // episodes of a season, in hundredths
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
	t, r := w.titleOf(w.tv, i)
	s := show{title: t, interval: 7}
	if earliest := makeDay(1950, 0); s.out < earliest {
		s.out = earliest + day(r.below(70*365))
	}
	episodes := &w.Series.Episodes
	s.seasons = w.Series.Seasons.of(&r, s.votes)
	s.specials = r.chance(w.Has.Specials.at(s.votes))
	s.typical = r.logNormal(episodes.Median.at(s.votes), episodes.Sigma.at(s.votes))
	if r.chance(30) { // daily
		s.typical *= r.between(6, 16)
	}
	s.network = w.networks.pick(&r, crowd)
	if s.typical > 6000 || r.chance(60) {
		s.interval = 1
	}
	s.generic = r.chance(w.Has.GenericNames.at(s.votes))
	s.guests = r.chance(w.Has.Guests.at(s.votes))
	if s.seasons*s.typical > 300*100 { // of the long ones, few do
		s.guests = s.guests && r.chance(250)
	}
	return s
}

// writeTVShow writes the record of series i, its seasons appended.
func writeTVShow(j *writer, i uint64) {
	s := j.w.showOf(i)
	seasons := j.w.seasonsOf(&s)
	details := j.w.tv.random(i, streamDetails)
	r := &details
	last := &seasons[len(seasons)-1]
	ended := !s.dated || s.airs(last, last.episodes) < today-400
	j.bool("adult", s.adult)
	j.path("backdrop_path", s.backdrop, ".jpg")
	j.objects("created_by", j.w.someone(r.some(j.w.Has.Tagline.at(s.votes), 500, 3)), func(int) {
		who := j.w.somebody(r, &j.w.departments[writing])
		p := j.w.personOf(who)
		j.int("id", j.w.people.id(who))
		j.objectID("credit_id", r)
		writePersonNames(j, &p)
		j.int("gender", p.gender)
		j.path("profile_path", p.profile, ".jpg")
	})
	j.list("episode_run_time", func() {
		if r.chance(300) {
			j.int("", 5*r.between(2, 14))
		}
	})
	j.day("first_air_date", s.out, s.dated, `""`)
	writeGenreObjects(j, &s.title)
	j.homepage(r, j.w.Has.Homepage.at(s.votes)+150)
	j.int("id", s.id)
	j.bool("in_production", !ended)
	j.list("languages", func() { j.string("", s.language.Code) })
	// What aired last and what airs next.
	var latest, next *season
	var latestEpisode, nextEpisode int
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
			latest, latestEpisode = one, aired-1
		}
		if aired < one.episodes && next == nil {
			next, nextEpisode = one, aired
		}
	}
	if latest == nil {
		j.null("last_air_date")
	} else {
		j.day("last_air_date", s.airs(latest, latestEpisode), true, "")
	}
	writeEpisodeSummary(j, "last_episode_to_air", &s, latest, latestEpisode)
	writeEnglishTitle(j, "name", &s.title)
	writeEpisodeSummary(j, "next_episode_to_air", &s, next, nextEpisode)
	writeNetworksOf(j, &s)
	j.int("number_of_episodes", last.before+last.episodes)
	j.int("number_of_seasons", s.seasons)
	writeOriginCountry(j, &s.title)
	writeTitleTexts(j, &s.title)
	j.float("popularity", s.popularity, 10_000)
	j.path("poster_path", s.poster, ".jpg")
	writeTitleCompanies(j, r, &s.title)
	writeTitleCountries(j, r, &s.title)
	j.objects("seasons", len(seasons), func(n int) { writeSeasonSummary(j, &seasons[n]) })
	j.bool("softcore", false)
	writeSpokenLanguages(j, r, &s.title)
	status := "Ended"
	switch {
	case !ended:
		status = "Returning Series"
	case r.chance(80):
		status = "Canceled"
	}
	j.string("status", status)
	writeTitleTagline(j, r, j.w.Has.Tagline.at(s.votes)/2)
	j.string("type", j.w.showTypes.pick(r))
	writeVoted(j, s.average, s.votes)

	// Responses to sub-requests.
	j.object("alternative_titles", func() { writeAlternativeTitles(j, "results", r, s.votes*3) })
	j.object("content_ratings", func() {
		distinct(j, "results", j.w.Series.Ratings.of(r, s.votes), func(have int) *reference.Country {
			for {
				c := countryOf(j, r, &s.title, have)
				if len(j.w.tv.ratings[c.Code]) > 0 {
					return c
				}
				have++ // the country of origin rates nothing
			}
		}, func(c *reference.Country) {
			j.list("descriptors", func() {})
			j.string("iso_3166_1", c.Code)
			j.string("rating", pick(r, j.w.tv.ratings[c.Code]))
		})
	})
	writeCredits(j, r, s.votes/16, s.votes/8, false /* castIDs */)
	j.object("external_ids", func() {
		j.imdb("imdb_id", "tt", int(r.seed(2*j.w.Has.IMDb.at(s.votes)-1000)%38_000_000))
		j.null("freebase_mid")
		j.null("freebase_id")
		j.intIf(r.chance(min(950, 450+s.votes)), "tvdb_id", r.between(70_000, 460_000))
		j.null("tvrage_id")
		j.wikidata(r, j.w.Has.Wikidata.at(s.votes))
		j.accounts(r, j.w.Has.Homepage.at(s.votes)/2, "facebook_id", "instagram_id", "twitter_id")
	})
	writeImages(j, r, &s.title)
	writeTitleKeywords(j, "results", r, &s.title, writeTVKeyword)
	writeRecommendations(j, r, &s.title, writeTVRow)
	writeReviews(j, r, &s.title, s.votes/4)
	writeTranslations(j, r, &s.title, func(l *locale) {
		writeTranslatedTitle(j, r, &s.title, l, 500)
		writeTranslatedOverview(j, r, &s.title, l, j.w.Has.TranslatedOverview.at(s.votes)-100)
		j.homepage(r, 20)
		writeTranslatedTagline(j, r, l, j.w.Has.Tagline.at(s.votes)/6)
	})
	writeVideos(j, r, &s.title, s.votes/2)
	writeOffers(j, r, &s.title)

	for n := range seasons {
		j.object("season/"+strconv.Itoa(seasons[n].number), func() { writeSeason(j, &s, &seasons[n]) })
	}
}

// writeNetworksOf writes the network of a series.
func writeNetworksOf(j *writer, s *show) {
	j.objects("networks", 1, func(int) { writeCompany(j, j.w.networks, s.network) })
}

// writeTVRow writes series i as lists have it.
func writeTVRow(j *writer, i uint64) {
	s := j.w.showOf(i)
	writeRow(j, &s.title)
	j.day("first_air_date", s.out, s.dated, `""`)
	j.bool("softcore", false)
	writeVoted(j, s.average, s.votes)
	writeOriginCountry(j, &s.title)
}
