package gen

import "math/bits"

// today is the day after which nothing has come out.
var today = makeDay(2026, 243) // 1 September

// A title is what lists say of a movie or a series.
type title struct {
	i          uint64
	id         int64
	votes      int64
	average    int64 // thousandths
	popularity int64 // 1/10000
	language   *language
	name       uint64 // seeds
	overview   uint64 // 0: none
	poster     uint64
	backdrop   uint64
	genres     [7]uint8 // places in the table
	genreCount int
	out        day // released, or first aired
	dated      bool
	adult      bool
	country    int  // place in countries
	english    bool // the name is translated
}

// titleOf makes what lists say of title i, and the random numbers for more.
func (w *world) titleOf(p *population, i uint64, votes, popularity tail, genres *genreTable) (title, random) {
	r := p.random(i, streamCore)
	share := p.share(p.rank(i))
	t := title{i: i, id: p.id(i), votes: votes.at(share)}
	t.popularity = popularity.at(r.related(share))
	t.average = r.voteAverage(t.votes)
	t.language = w.words.languages[w.words.languageOf.pick(&r)]
	if r.chance(int(moreEnglish.at(t.votes))) {
		t.language = w.words.languages[0]
	}
	t.name = r.next() | 1
	t.overview = r.seed(1000 - int(noOverview.at(t.votes)))
	t.poster = r.seed(1000 - int(noPoster.at(t.votes)))
	t.backdrop = r.seed(1000 - int(noBackdrop.at(t.votes)))
	if !r.chance(int(noGenre.at(t.votes))) {
		t.genres, t.genreCount = genres.some(&r, genreMean(t.votes))
	}
	t.out, t.dated = r.releaseDay(t.votes)
	t.adult = t.votes < 100 && r.chance(2)
	t.country = w.countryOf.pick(&r)
	t.english = r.chance(550)
	return t, r
}

// A movie is what lists say of one.
type movie struct {
	title
	video bool
}

// movieOf makes what lists say of movie i.
func (w *world) movieOf(i uint64) movie {
	t, r := w.titleOf(w.movies, i, movieVotes, moviePopularity, &w.movieGenre)
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

// releaseDay returns when a title came out, false where nobody knows.
func (r *random) releaseDay(votes int64) (day, bool) {
	year := 1890 + 10*decades.pick(r) + r.below(10)
	dated := !r.chance(int(noDate.at(votes)))
	d := makeDay(year, r.below(365))
	if d > today {
		d = today - day(r.below(6*365))
	}
	if votes == 0 && r.chance(15) {
		d = today + day(r.between(1, 700))
	}
	return d, dated
}

// some returns places of genres, one and on average more hundredths beyond it.
func (t *genreTable) some(r *random, more int64) (out [7]uint8, n int) {
	want := 1 + r.count(more*int64(r.between(20, 180))/100)
	if r.chance(30) {
		want += r.front(5)
	}
	want = min(want, len(out))
	for tries := 0; n < want && tries < 20; tries++ {
		g := uint8(t.of.pick(r))
		if !contains(out[:n], g) {
			out[n] = g
			n++
		}
	}
	return out, n
}

func contains[T comparable](list []T, v T) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
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

// appendMovie appends the record of movie i.
func (w *world) appendMovie(b []byte, i uint64) []byte {
	m := w.movieOf(i)
	r := w.movies.random(i, streamDetails)
	own := w.localeOf(m.language)
	imdb := uint64(0)
	if !r.chance(int(noIMDb.at(m.votes))) {
		imdb = 1 + r.next()%38_000_000
	}
	budget, revenue := r.money(&m)
	runtime := r.runtime(m.votes)
	b = append(b, `{"adult":`...)
	b = appendBool(b, m.adult)
	b = append(b, `,"backdrop_path":`...)
	b = appendPathOf(b, m.backdrop, ".jpg")
	b = append(b, `,"belongs_to_collection":`...)
	b = w.appendCollectionRef(b, &m)
	b = append(b, `,"budget":`...)
	b = appendInt(b, budget)
	b = append(b, `,"genres":[`...)
	b = w.movieGenre.append(b, m.genres[:m.genreCount])
	b = append(b, `],"homepage":"`...)
	b = r.appendHomepage(b, int(hasHomepage.at(m.votes)))
	b = append(b, `","id":`...)
	b = appendInt(b, m.id)
	b = append(b, `,"imdb_id":`...)
	b = appendIMDb(b, "tt", imdb)
	b = append(b, `,"origin_country":["`...)
	b = append(b, w.countries[m.country].code...)
	b = append(b, `"],"original_language":"`...)
	b = append(b, m.language.code...)
	b = append(b, `","original_title":"`...)
	b = w.appendOriginalTitle(b, &m.title)
	b = append(b, `","overview":"`...)
	b = w.appendOverview(b, &m.title)
	b = append(b, `","popularity":`...)
	b = appendFixed(b, m.popularity, 4)
	b = append(b, `,"poster_path":`...)
	b = appendPathOf(b, m.poster, ".jpg")
	b = append(b, `,"production_companies":[`...)
	b = w.appendCompanies(b, &r, m.votes)
	b = append(b, `],"production_countries":[`...)
	b = w.appendCountries(b, &r, m.country)
	b = append(b, `],"release_date":"`...)
	if m.dated {
		b = appendDate(b, m.out)
	}
	b = append(b, `","revenue":`...)
	b = appendInt(b, revenue)
	b = append(b, `,"runtime":`...)
	b = appendInt(b, runtime)
	b = append(b, `,"softcore":false,"spoken_languages":[`...)
	b = w.appendSpoken(b, &r, m.language)
	b = append(append(b, `],"status":"`...), r.movieStatus(&m)...)
	b = append(b, `","tagline":"`...)
	if r.chance(int(hasTagline.at(m.votes))) {
		b = w.words.appendTagline(b, &r, w.words.languages[0])
	}
	b = append(b, `","title":"`...)
	b = w.appendEnglishTitle(b, &m.title)
	b = append(b, `","video":`...)
	b = appendBool(b, m.video)
	b = append(b, `,"vote_average":`...)
	b = appendFixed(b, m.average, 3)
	b = append(b, `,"vote_count":`...)
	b = appendInt(b, m.votes)
	b = w.appendMovieParts(b, &m, own, imdb, runtime)
	return append(b, "}\n"...)
}

// appendMovieParts appends the answers to sub-requests.
func (w *world) appendMovieParts(b []byte, m *movie, own *locale, imdb uint64, runtime int64) []byte {
	r := w.movies.random(m.i, streamLists)
	b = append(b, `,"alternative_titles":{"titles":[`...)
	b = w.appendAlternativeTitles(b, &r, m.votes)
	b = append(b, `]},"credits":{"cast":[`...)
	cast := w.movies.random(m.i, streamCast)
	b = w.appendCast(b, &cast, m.votes)
	b = append(b, `],"crew":[`...)
	crew := w.movies.random(m.i, streamCrew)
	b = w.appendCrew(b, &crew, m.votes)
	b = append(b, `]},"external_ids":{"imdb_id":`...)
	b = appendIMDb(b, "tt", imdb)
	b = append(b, `,"wikidata_id":`...)
	b = appendWikidata(b, &r, int(hasWikidata.at(m.votes)))
	for _, name := range []string{"facebook", "instagram", "twitter"} {
		b = append(append(append(b, `,"`...), name...), `_id":`...)
		b = appendAccount(b, &r, int(hasHomepage.at(m.votes))/3)
	}
	b = append(b, `},"images":`...)
	images := w.movies.random(m.i, streamImages)
	b = w.appendImages(b, &images, m.votes, m.poster, m.backdrop, own)
	b = append(b, `,"keywords":{"keywords":[`...)
	b = w.appendKeywords(b, &r, m.votes, true /* idFirst */)
	b = append(b, `]}`...)
	if m.votes >= recommendFrom {
		b = append(b, `,"recommendations":`...)
		b = w.appendMovieRecommendations(b, &r, m.i)
	}
	b = append(b, `,"release_dates":{"results":[`...)
	b = w.appendReleaseDates(b, &r, m)
	b = append(b, `]},"reviews":`...)
	b = w.appendReviews(b, &r, m.votes, m.out)
	b = append(b, `,"translations":{"translations":[`...)
	translations := w.movies.random(m.i, streamTranslations)
	b = w.appendMovieTranslations(b, &translations, m, own, runtime)
	b = append(b, `]},"videos":`...)
	videos := w.movies.random(m.i, streamVideos)
	b = w.appendVideos(b, &videos, m.votes, m.out, own)
	b = append(b, `,"watch/providers":{"results":{`...)
	b = w.appendOffers(b, &r, "movie", m.id, m.votes)
	return append(b, "}}"...)
}

// money returns budget and revenue in dollars, 0 where nobody knows.
func (r *random) money(m *movie) (budget, revenue int64) {
	typical := curve{5, 8, 15, 30, 60, 150, 400, 1200, 3000, 6000, 12000, 20000, 30000, 55000, 90000}.at(m.votes) // thousands
	b, v := r.logNormal(typical*100, 110)*10, r.logNormal(typical*250, 130)*10
	if r.chance(int(hasBudget.at(m.votes))) {
		budget = b
	}
	if r.chance(int(hasRevenue.at(m.votes))) {
		revenue = v
	}
	return budget, revenue
}

// runtime returns minutes, 0 where nobody knows. Much of the tail is short films.
func (r *random) runtime(votes int64) int64 {
	if r.chance(int(noRuntime.at(votes))) {
		return 0
	}
	if r.chance(int(curve{450, 420, 380, 320, 250, 180, 110, 60, 30, 20, 10}.at(votes))) {
		return max(1, r.logNormal(1400, 65)/100)
	}
	return min(338, r.logNormal(curve{8600, 8800, 9000, 9200, 9400, 9600, 9800, 10000, 10200, 10400, 10700}.at(votes), 19)/100)
}

// appendHomepage appends the address of a home page in permille of a thousand cases.
func (r *random) appendHomepage(b []byte, permille int) []byte {
	if !r.chance(permille) {
		return b
	}
	b = append(b, "https://www."...)
	b = appendLetters(b, r, r.between(6, 16))
	b = append(b, ".example/"...)
	return appendLetters(b, r, r.front(20))
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

// append appends genres.
func (t *genreTable) append(b []byte, places []uint8) []byte {
	for n, g := range places {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendInt(b, t.ids[g])
		b = append(append(b, `,"name":"`...), t.names[g]...)
		b = append(b, `"}`...)
	}
	return b
}

// appendIDs appends the ids of genres.
func (t *genreTable) appendIDs(b []byte, places []uint8) []byte {
	for n, g := range places {
		if n > 0 {
			b = append(b, ',')
		}
		b = appendInt(b, t.ids[g])
	}
	return b
}

// appendMovieRow appends a movie as lists have it.
func (w *world) appendMovieRow(b []byte, m *movie) []byte {
	b = append(b, `{"adult":`...)
	b = appendBool(b, m.adult)
	b = append(b, `,"backdrop_path":`...)
	b = appendPathOf(b, m.backdrop, ".jpg")
	b = append(b, `,"id":`...)
	b = appendInt(b, m.id)
	b = append(b, `,"title":"`...)
	b = w.appendEnglishTitle(b, &m.title)
	b = append(b, `","original_title":"`...)
	b = w.appendOriginalTitle(b, &m.title)
	b = append(b, `","overview":"`...)
	b = w.appendOverview(b, &m.title)
	b = append(b, `","poster_path":`...)
	b = appendPathOf(b, m.poster, ".jpg")
	b = append(b, `,"media_type":"movie","original_language":"`...)
	b = append(b, m.language.code...)
	b = append(b, `","genre_ids":[`...)
	b = w.movieGenre.appendIDs(b, m.genres[:m.genreCount])
	b = append(b, `],"popularity":`...)
	b = appendFixed(b, m.popularity, 4)
	b = append(b, `,"release_date":"`...)
	if m.dated {
		b = appendDate(b, m.out)
	}
	b = append(b, `","softcore":false,"video":`...)
	b = appendBool(b, m.video)
	b = append(b, `,"vote_average":`...)
	b = appendFixed(b, m.average, 3)
	b = append(b, `,"vote_count":`...)
	b = appendInt(b, m.votes)
	return append(b, '}')
}
