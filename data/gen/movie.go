package gen

import (
	"math/bits"
	"slices"
)

// today is the day after which nothing has come out.
var today = makeDay(2026, 243) // 1 September

// A title is the part of a movie or a series that lists have.
type title struct {
	i          uint64
	id         int64
	votes      int64
	average    int64 // thousandths
	popularity int64 // 1/10000
	language   *language
	name       uint64 // seeds
	overview   uint64 // 0: none
	art
	genres  genrePlaces
	out     day // released, or first aired
	dated   bool
	adult   bool
	country int  // place in countries
	english bool // the name is translated
}

// art is the seeds of the images that stand for a title; 0 for none.
type art struct{ poster, backdrop uint64 }

// titleOf makes the part of title i that lists have, and the random numbers for more.
func (w *world) titleOf(p *population, i uint64, f *titleFacts) (title, random) {
	r := p.random(i, streamCore)
	share := p.share(p.rank(i))
	t := title{i: i, id: p.id(i), votes: f.votes.at(share)}
	t.popularity = f.popularity.at(r.related(share))
	t.average = r.voteAverage(t.votes)
	t.language = w.words.languages[w.words.languageOf.pick(&r)]
	if r.chance(int(figures().Has.English.at(t.votes))) {
		t.language = w.words.languages[0]
	}
	t.name = r.next() | 1
	t.overview = r.seed(1000 - int(figures().Lack.Overview.at(t.votes)))
	t.poster = r.seed(1000 - int(figures().Lack.Poster.at(t.votes)))
	t.backdrop = r.seed(1000 - int(figures().Lack.Backdrop.at(t.votes)))
	if !r.chance(int(figures().Lack.Genre.at(t.votes))) {
		t.genres = f.genres.some(&r, genreMean(t.votes))
	}
	t.out, t.dated = r.releaseDay(t.votes)
	t.adult = t.votes < 100 && r.chance(2)
	t.country = w.words.countryOf.pick(&r)
	t.english = r.chance(550)
	return t, r
}

// A movie is the part of one that lists have.
type movie struct {
	title
	video bool
}

// movieOf makes the part of movie i that lists have.
func (w *world) movieOf(i uint64) movie {
	t, r := w.titleOf(w.movies, i, &w.ofMovies)
	return movie{t, r.chance(12)}
}

// genreMean returns the mean number of genres beyond the first, in hundredths.
func genreMean(votes int64) int64 {
	return curve{60, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170}.at(votes)
}

// seed returns a random number other than 0 in permille of a thousand cases, and else 0.
func (r *random) seed(permille int) uint64 {
	x := r.next() | 1
	if !r.chance(permille) {
		return 0
	}
	return x
}

// related returns a number that is evenly distributed, too, but mostly of u's octave or
// of the three that it is among.
func (r *random) related(u uint64) uint64 {
	switch x := r.below(100); {
	case x < 60:
		return r.sameOctave(u)
	case x < 96:
		k := bits.LeadingZeros64(u|1) / 3 * 3
		top := ^uint64(0) >> k
		for { // seven of eight are above the next three octaves
			if v := r.next() & top; v > top>>3 {
				return v
			}
		}
	}
	return r.next()
}

// voteAverage returns an average in thousandths: few votes give round numbers.
func (r *random) voteAverage(votes int64) int64 {
	spread := curve{0, 2300, 1900, 1600, 1350, 1150, 1000, 950, 900, 880, 850, 820, 800, 780, 750}.at(votes)
	mean := curve{0, 5900, 5900, 5950, 6000, 6050, 6100, 6200, 6300, 6400, 6500, 6600, 6700, 6850, 7100}.at(votes)
	v := max(500, min(mean+r.normal()*spread/1024, 10000))
	switch {
	case votes == 0:
		return 0
	case votes == 1:
		return (v + 250) / 500 * 500
	case votes < 10:
		return (v*votes + 250) / 500 * 500 / votes
	}
	return v
}

// releaseDay returns when a title came out, false for unknown.
func (r *random) releaseDay(votes int64) (day, bool) {
	year := 1890 + 10*decades.pick(r) + r.below(10)
	dated := !r.chance(int(figures().Lack.Date.at(votes)))
	d := makeDay(year, r.below(365))
	if d > today {
		d = today - day(r.below(6*365))
	}
	if votes == 0 && r.chance(15) {
		d = today + day(r.between(1, 700))
	}
	return d, dated
}

// genrePlaces are the genres of a title: places in the table.
type genrePlaces struct {
	list [7]uint8
	n    int
}

func (p *genrePlaces) all() []uint8 { return p.list[:p.n] }

// some returns places of genres, one and on average more hundredths beyond it.
func (t *genreTable) some(r *random, more int64) (out genrePlaces) {
	want := 1 + r.count(more*int64(r.between(20, 180))/100)
	if r.chance(30) {
		want += r.front(5)
	}
	want = min(want, len(out.list))
	for tries := 0; out.n < want && tries < 20; tries++ {
		if g := uint8(t.of.pick(r)); !slices.Contains(out.all(), g) {
			out.list[out.n] = g
			out.n++
		}
	}
	return out
}

// A seen set notes the values of a short list, so that none comes twice.
type seen[T comparable] struct {
	list [100]T
	n    int
}

// add notes v; false where it is noted already.
func (s *seen[T]) add(v T) bool {
	if slices.Contains(s.list[:s.n], v) {
		return false
	}
	s.list[s.n] = v
	s.n++
	return true
}

// appendOriginalTitle appends the title in its own language.
func (w *world) appendOriginalTitle(b []byte, t *title) []byte {
	r := random{t.name}
	return w.words.appendTitle(b, &r, t.language)
}

// appendEnglishTitle appends the title of the base, which is en-US.
func (w *world) appendEnglishTitle(b []byte, t *title) []byte {
	if t.language.words == nil || !t.english {
		return w.appendOriginalTitle(b, t)
	}
	r := random{mix(t.name)}
	return w.words.appendTitle(b, &r, w.words.languages[0])
}

// appendOverview appends the English overview.
func (w *world) appendOverview(b []byte, t *title) []byte {
	if t.overview == 0 {
		return b
	}
	r := random{t.overview}
	return w.words.appendText(b, &r, w.words.languages[0], int(r.logNormal(overviewSize.at(t.votes), 45)))
}

// writeMovie writes the record of movie i.
func writeMovie(w *world, j *writer, i uint64) {
	m := w.movieOf(i)
	r := w.movies.random(i, streamDetails)
	imdb := uint64(0)
	if !r.chance(int(figures().Lack.IMDb.at(m.votes))) {
		imdb = 1 + r.next()%38_000_000
	}
	budget, revenue := r.money(&m)
	runtime := r.runtime(m.votes)
	j.bool("adult", m.adult)
	j.path("backdrop_path", m.backdrop, ".jpg")
	writeCollectionRef(w, j, &m)
	j.int("budget", budget)
	j.list("genres", func() { w.ofMovies.genres.write(j, m.genres.all()) })
	j.homepage("homepage", &r, int(figures().Has.Homepage.at(m.votes)))
	j.int("id", m.id)
	j.imdb("imdb_id", "tt", imdb)
	j.list("origin_country", func() { j.string("", w.words.countries[m.country].code) })
	writeTitle(w, j, "original_title", &m.title)
	j.fixed("popularity", m.popularity, 4)
	j.path("poster_path", m.poster, ".jpg")
	j.list("production_companies", func() { writeCompanies(w, j, &r, m.votes) })
	j.list("production_countries", func() { writeCountries(w, j, &r, m.country) })
	j.day("release_date", m.out, m.dated, `""`)
	j.int("revenue", revenue)
	j.int("runtime", runtime)
	j.bool("softcore", false)
	j.list("spoken_languages", func() { writeSpoken(w, j, &r, m.language) })
	j.string("status", r.movieStatus(&m))
	writeTagline(w, j, &r, int(figures().Has.Tagline.at(m.votes)))
	j.text("title", func() { j.b = w.appendEnglishTitle(j.b, &m.title) })
	j.bool("video", m.video)
	j.fixed("vote_average", m.average, 3)
	j.int("vote_count", m.votes)
	writeMovieParts(w, j, &m, imdb, runtime)
}

// writeTitle writes a title's language, its title in that language under the given name,
// and its overview.
func writeTitle(w *world, j *writer, name string, t *title) {
	j.string("original_language", t.language.code)
	j.text(name, func() { j.b = w.appendOriginalTitle(j.b, t) })
	j.text("overview", func() { j.b = w.appendOverview(j.b, t) })
}

// writeTagline writes an English tagline in permille of a thousand cases.
func writeTagline(w *world, j *writer, r *random, permille int) {
	j.text("tagline", func() {
		if r.chance(permille) {
			j.b = w.words.appendTagline(j.b, r, w.words.languages[0])
		}
	})
}

// writeMovieParts writes the responses to sub-requests.
func writeMovieParts(w *world, j *writer, m *movie, imdb uint64, runtime int64) {
	own := w.localeOf(m.language)
	r := w.movies.random(m.i, streamLists)
	cast, crew := w.movies.random(m.i, streamCast), w.movies.random(m.i, streamCrew)
	j.object("alternative_titles", func() {
		j.list("titles", func() { writeAlternativeTitles(w, j, &r, m.votes) })
	})
	j.object("credits", func() {
		j.list("cast", func() { writeCast(w, j, &cast, m.votes, true /* castIDs */) })
		j.list("crew", func() { writeCrew(w, j, &crew, m.votes) })
	})
	j.object("external_ids", func() {
		j.imdb("imdb_id", "tt", imdb)
		j.wikidata("wikidata_id", &r, int(figures().Has.Wikidata.at(m.votes)))
		for _, name := range titleAccounts {
			j.account(name, &r, int(figures().Has.Homepage.at(m.votes))/3)
		}
	})
	images := w.movies.random(m.i, streamImages)
	j.object("images", func() { writeImages(w, j, &images, &m.title, own) })
	j.object("keywords", func() {
		j.list("keywords", func() { writeKeywords(w, j, &r, m.votes, true /* idFirst */) })
	})
	if m.votes >= recommendFrom {
		j.object("recommendations", func() { writeRecommendations(w, j, &r, w.movies, m.i, writeMovieRow) })
	}
	j.object("release_dates", func() { j.list("results", func() { writeReleaseDates(w, j, &r, m) }) })
	j.object("reviews", func() { writeReviews(w, j, &r, m.votes, m.out) })
	translations := w.movies.random(m.i, streamTranslations)
	j.object("translations", func() {
		j.list("translations", func() { writeMovieTranslations(w, j, &translations, m, own, runtime) })
	})
	videos := w.movies.random(m.i, streamVideos)
	j.object("videos", func() { writeVideos(w, j, &videos, m.votes, m.out, own) })
	j.object("watch/providers", func() {
		j.object("results", func() { writeOffers(w, j, &r, "movie", m.id, m.votes) })
	})
}

// titleAccounts are the fields of a title's accounts elsewhere.
var titleAccounts = []string{"facebook_id", "instagram_id", "twitter_id"}

// money returns budget and revenue in dollars, 0 for unknown.
func (r *random) money(m *movie) (budget, revenue int64) {
	typical := curve{5, 8, 15, 30, 60, 150, 400, 1200, 3000, 6000, 12000, 20000, 30000, 55000, 90000}.at(m.votes) // thousands
	b, v := r.logNormal(typical*100, 110)*10, r.logNormal(typical*250, 130)*10
	if r.chance(int(figures().Has.Budget.at(m.votes))) {
		budget = b
	}
	if r.chance(int(figures().Has.Revenue.at(m.votes))) {
		revenue = v
	}
	return budget, revenue
}

// runtime returns minutes, 0 for unknown. Much of the tail is short films.
func (r *random) runtime(votes int64) int64 {
	if r.chance(int(figures().Lack.Runtime.at(votes))) {
		return 0
	}
	if r.chance(int(curve{450, 420, 380, 320, 250, 180, 110, 60, 30, 20, 10}.at(votes))) {
		return max(1, r.logNormal(1400, 65)/100)
	}
	return min(338, r.logNormal(curve{8600, 8800, 9000, 9200, 9400, 9600, 9800, 10000, 10200, 10400, 10700}.at(votes), 19)/100)
}

// movieStatus returns the production status.
func (r *random) movieStatus(m *movie) string {
	switch {
	case m.dated && m.out > today:
		return pick(r, []string{"Post Production", "In Production", "Planned", "Rumored"})
	case m.votes == 0 && r.chance(4):
		return "Canceled"
	}
	return "Released"
}

// localeOf returns the locale of a title's own language; nil where the title has no words.
func (w *world) localeOf(l *language) *locale {
	for i := range w.locales {
		if w.locales[i].language == l {
			return &w.locales[i]
		}
	}
	return &w.locales[0] // no language
}

// write writes genres.
func (t *genreTable) write(j *writer, places []uint8) {
	for _, g := range places {
		j.object("", func() {
			j.int("id", t.ids[g])
			j.string("name", t.names[g])
		})
	}
}

// writeMovieRow writes movie i as lists have it.
func writeMovieRow(w *world, j *writer, i uint64) {
	m := w.movieOf(i)
	writeRow(w, j, &m.title, "movie", "title", &w.ofMovies.genres)
	j.day("release_date", m.out, m.dated, `""`)
	j.bool("softcore", false)
	j.bool("video", m.video)
	j.fixed("vote_average", m.average, 3)
	j.int("vote_count", m.votes)
}

// writeRow writes what rows about movies and series have in common, the title as name.
func writeRow(w *world, j *writer, t *title, media, name string, genres *genreTable) {
	j.bool("adult", t.adult)
	j.path("backdrop_path", t.backdrop, ".jpg")
	j.int("id", t.id)
	j.text(name, func() { j.b = w.appendEnglishTitle(j.b, t) })
	j.text("original_"+name, func() { j.b = w.appendOriginalTitle(j.b, t) })
	j.text("overview", func() { j.b = w.appendOverview(j.b, t) })
	j.path("poster_path", t.poster, ".jpg")
	j.string("media_type", media)
	j.string("original_language", t.language.code)
	j.list("genre_ids", func() {
		for _, g := range t.genres.all() {
			j.int("", genres.ids[g])
		}
	})
	j.fixed("popularity", t.popularity, 4)
}
