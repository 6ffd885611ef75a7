package gen

import "github.com/reelsplice/reelsplice/data/reference"

// A movie is the part of one that lists have.
type movie struct {
	title
	video bool
}

// movieOf makes the part of movie i that lists have.
func (w *world) movieOf(i uint64) movie {
	t, r := w.titleOf(w.movies, i)
	return movie{t, r.chance(12)}
}

// writeMovie writes the record of movie i.
func writeMovie(j *writer, i uint64) {
	m := j.w.movieOf(i)
	details := j.w.movies.random(i, streamDetails)
	r := &details
	imdb := 0
	if r.chance(j.w.Has.IMDb.at(m.votes)) {
		imdb = r.between(1, 38_000_000)
	}
	runtime := 0 // unknown
	switch {
	case !r.chance(j.w.Has.Runtime.at(m.votes)):
	case r.chance(j.w.Typical.ShortFilm.at(m.votes)): // much of the tail
		runtime = max(1, r.logNormal(1400, 65)/100)
	default:
		runtime = min(338, r.logNormal(j.w.Typical.Runtime.at(m.votes), 19)/100)
	}
	typical := j.w.Typical.Budget.at(m.votes)
	j.bool("adult", m.adult)
	j.path("backdrop_path", m.backdrop, ".jpg")
	writeCollectionRef(j, &m)
	j.int("budget", r.dollars(j.w.Has.Budget.at(m.votes), typical*100, 110))
	writeGenreObjects(j, &m.title)
	j.homepage(r, j.w.Has.Homepage.at(m.votes))
	j.int("id", m.id)
	j.imdb("imdb_id", "tt", imdb)
	writeOriginCountry(j, &m.title)
	writeTitleTexts(j, &m.title)
	j.float("popularity", m.popularity, 10_000)
	j.path("poster_path", m.poster, ".jpg")
	writeTitleCompanies(j, r, &m.title)
	writeTitleCountries(j, r, &m.title)
	j.day("release_date", m.out, m.dated, `""`)
	j.int("revenue", r.dollars(j.w.Has.Revenue.at(m.votes), typical*250, 130))
	j.int("runtime", runtime)
	j.bool("softcore", false)
	writeSpokenLanguages(j, r, &m.title)
	status := "Released"
	switch {
	case m.dated && m.out > today:
		status = pick(r, []string{"Post Production", "In Production", "Planned", "Rumored"})
	case m.votes == 0 && r.chance(4):
		status = "Canceled"
	}
	j.string("status", status)
	writeTitleTagline(j, r, j.w.Has.Tagline.at(m.votes))
	writeEnglishTitle(j, "title", &m.title)
	j.bool("video", m.video)
	writeVoted(j, m.average, m.votes)

	// Responses to sub-requests.
	j.object("alternative_titles", func() { writeAlternativeTitles(j, "titles", r, m.votes) })
	writeCredits(j, r, m.votes, m.votes, true /* castIDs */)
	j.object("external_ids", func() {
		j.imdb("imdb_id", "tt", imdb)
		j.wikidata(r, j.w.Has.Wikidata.at(m.votes))
		j.accounts(r, j.w.Has.Homepage.at(m.votes)/3, "facebook_id", "instagram_id", "twitter_id")
	})
	writeImages(j, r, &m.title)
	writeTitleKeywords(j, "keywords", r, &m.title, writeKeyword)
	writeRecommendations(j, r, &m.title, writeMovieRow)
	j.object("release_dates", func() {
		n := 0
		if m.dated {
			n = j.w.Count.ReleaseCountries.of(r, m.votes)
		}
		distinct(j, "results", n, func(have int) *reference.Country {
			if have == 0 {
				return m.country
			}
			return pick(r, j.w.countries.list)
		}, func(c *reference.Country) {
			on := m.out
			j.string("iso_3166_1", c.Code)
			j.objects("release_dates", 1+r.front(4), func(n int) {
				if n > 0 {
					on += day(r.between(30, 200))
				}
				j.text("certification", func() {
					if list := j.w.movies.ratings[c.Code]; len(list) > 0 && r.chance(min(900, 80+10*m.votes)) {
						j.add(pick(r, list))
					}
				})
				j.list("descriptors", func() {})
				j.string("iso_639_1", "")
				j.text("note", func() {
					if r.chance(100) {
						j.add(pick(r, j.w.words["town"]), " Film Festival")
					}
				})
				j.moment("release_date", on.at(0))
				j.int("type", []int{3, 3, 3, 1, 2, 4, 5, 6}[min(7, r.below(4)+n*2)])
			})
		})
	})
	writeReviews(j, r, &m.title, m.votes)
	writeTranslations(j, r, &m.title, func(l *locale) {
		j.homepage(r, 15)
		writeTranslatedOverview(j, r, &m.title, l, j.w.Has.TranslatedOverview.at(m.votes))
		minutes := runtime
		if !isBase(j, l) && !r.chance(250) {
			minutes = 0
		}
		j.int("runtime", minutes)
		writeTranslatedTagline(j, r, l, j.w.Has.Tagline.at(m.votes)/3)
		writeTranslatedTitle(j, r, &m.title, l, 650)
	})
	writeVideos(j, r, &m.title, m.votes)
	writeOffers(j, r, &m.title)
}

// dollars returns an amount in permille of a thousand cases, and else 0.
func (r *random) dollars(permille, median, sigma int) int {
	if !r.chance(permille) {
		return 0
	}
	return r.logNormal(median, sigma) * 10
}

// writeMovieRow writes movie i as lists have it.
func writeMovieRow(j *writer, i uint64) {
	m := j.w.movieOf(i)
	writeRow(j, &m.title)
	j.day("release_date", m.out, m.dated, `""`)
	j.bool("softcore", false)
	j.bool("video", m.video)
	writeVoted(j, m.average, m.votes)
}
