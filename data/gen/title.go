package gen

import (
	"slices"

	"github.com/reelsplice/reelsplice/data/reference"
)

// today is the day after which nothing has come out.
var today = makeDay(2026, 243) // 1 September

// A title is the part of a movie or a series that lists have.
type title struct {
	i          uint64
	of         *titles
	id         int
	votes      int
	average    int // thousandths
	popularity int // 1/10000
	language   *language
	titleSeeds
	genres  genreList
	out     day // released, or first aired
	dated   bool
	adult   bool
	english bool // the name is translated
	country *reference.Country
}

// titleSeeds are the seeds of what a title has; but for the name 0 stands for none.
type titleSeeds struct{ name, overview, poster, backdrop uint64 }

// titleOf makes the part of title i that lists have, and the random numbers for more.
func (w *world) titleOf(of *titles, i uint64) (title, random) {
	r := of.random(i, streamCore)
	share := of.share(i)
	votes := of.votes.at(share)
	t := title{
		i: i, of: of, id: of.id(i), votes: votes,
		popularity: of.popularity.at(r.related(share)),
		average:    w.voteAverage(&r, votes),
		language:   w.languages.pick(&r),
		titleSeeds: titleSeeds{
			name: r.next(), overview: r.seed(w.Has.Overview.at(votes)),
			poster: r.seed(w.Has.Poster.at(votes)), backdrop: r.seed(w.Has.Backdrop.at(votes)),
		},
		dated:   r.chance(w.Has.Date.at(votes)),
		adult:   votes < 100 && r.chance(2),
		english: r.chance(550),
		country: w.countries.pick(&r),
	}
	if r.chance(w.Has.English.at(votes)) {
		t.language = w.english
	}
	if r.chance(w.Has.Genre.at(votes)) {
		// One genre, and on average so many hundredths beyond it.
		want := 1 + (w.Typical.MoreGenres.at(votes)*r.between(20, 180)/100+r.below(100))/100
		if r.chance(30) {
			want += r.front(5)
		}
		want = min(want, len(t.genres.list))
		for tries := 0; t.genres.n < want && tries < 20; tries++ {
			if one := of.genres.pick(&r); !slices.Contains(t.genres.all(), one) {
				t.genres.list[t.genres.n] = one
				t.genres.n++
			}
		}
	}
	t.out = makeDay(w.decades.pick(&r)+r.below(10), r.below(365))
	if t.out > today {
		t.out = today - day(r.below(6*365))
	}
	if votes == 0 && r.chance(15) {
		t.out = today + day(r.between(1, 700))
	}
	return t, r
}

// voteAverage returns an average in thousandths: few votes give round numbers.
func (w *world) voteAverage(r *random, votes int) int {
	v := max(500, min(w.Typical.Average.at(votes)+r.normal()*w.Typical.AverageSpread.at(votes)/1024, 10000))
	switch {
	case votes == 0:
		return 0
	case votes < 10:
		return (v*votes + 250) / 500 * 500 / votes
	}
	return v
}

// A genreList is the genres of a title.
type genreList struct {
	list [7]*genre
	n    int
}

func (g *genreList) all() []*genre { return g.list[:g.n] }

// writeOriginalTitle writes the title in its own language.
func writeOriginalTitle(j *writer, name string, t *title) {
	j.text(name, func() {
		r := random{t.name}
		addTitle(j, &r, t.language)
	})
}

// translated reports whether the title in English differs from the original one.
func (t *title) translated() bool { return t.language.words != nil && t.english }

// writeEnglishTitle writes the title of the base, which is en-US.
func writeEnglishTitle(j *writer, name string, t *title) {
	if !t.translated() {
		writeOriginalTitle(j, name, t)
		return
	}
	j.text(name, func() {
		r := random{mix(t.name)}
		addTitle(j, &r, j.w.english)
	})
}

// writeTitleOverview writes the English overview.
func writeTitleOverview(j *writer, t *title) {
	writeOverview(j, t.overview, j.w.Typical.Overview.at(t.votes), 45)
}

// writeTitleTexts writes a title's language, its original title and its overview.
func writeTitleTexts(j *writer, t *title) {
	j.string("original_language", t.language.Code)
	writeOriginalTitle(j, "original_"+t.of.name, t)
	writeTitleOverview(j, t)
}

// writeTitleTagline writes an English tagline in permille of a thousand cases.
func writeTitleTagline(j *writer, r *random, permille int) {
	j.text("tagline", func() {
		if r.chance(permille) {
			addTagline(j, r, j.w.english)
		}
	})
}

// writeGenreObjects writes the genres as details have them.
func writeGenreObjects(j *writer, t *title) {
	j.objects("genres", t.genres.n, func(i int) {
		j.int("id", t.genres.list[i].id)
		j.string("name", t.genres.list[i].name)
	})
}

// writeOriginCountry writes the country of origin.
func writeOriginCountry(j *writer, t *title) {
	j.list("origin_country", func() { j.string("", t.country.Code) })
}

// writeVoted writes the votes of a title or of what belongs to one.
func writeVoted(j *writer, average, votes int) {
	j.float("vote_average", average, 1000)
	j.int("vote_count", votes)
}

// writeRow writes what rows about movies and series have in common.
func writeRow(j *writer, t *title) {
	j.bool("adult", t.adult)
	j.path("backdrop_path", t.backdrop, ".jpg")
	j.int("id", t.id)
	writeEnglishTitle(j, t.of.name, t)
	writeOriginalTitle(j, "original_"+t.of.name, t)
	writeTitleOverview(j, t)
	j.path("poster_path", t.poster, ".jpg")
	j.string("media_type", t.of.media)
	j.string("original_language", t.language.Code)
	j.list("genre_ids", func() {
		for _, g := range t.genres.all() {
			j.int("", g.id)
		}
	})
	j.float("popularity", t.popularity, 10_000)
}

// recommendFrom is how many votes a title needs to have recommendations.
const recommendFrom = 100

// pageSize is how many rows a page of a list has.
const pageSize = 20

// writeRecommendations writes the first page of recommendations: popular titles of the same
// kind, whose rows row writes.
func writeRecommendations(j *writer, r *random, t *title, row func(j *writer, i uint64)) {
	if t.votes < recommendFrom {
		return
	}
	popular := max(pageSize, t.of.n/64)
	writePage(j, "recommendations", func() int {
		return distinct(j, "results", pageSize, func(int) uint64 {
			i := t.of.ranked(credits.rank(r, min(t.of.n, popular)))
			if i == t.i { // the next one, or none
				i = t.of.ranked((t.of.rank(i) + 1) % t.of.n)
			}
			return i
		}, func(i uint64) { row(j, i) })
	})
}

// writePage writes a list of one page at most. rows writes its results and returns their number.
func writePage(j *writer, name string, rows func() int) {
	j.object(name, func() {
		j.int("page", 1)
		n := rows()
		j.int("total_pages", min(1, n))
		j.int("total_results", n)
	})
}

// writeReviews writes the reviews of a title with so many votes.
func writeReviews(j *writer, r *random, t *title, votes int) {
	writePage(j, "reviews", func() int {
		n := j.w.Count.Reviews.of(r, votes)
		j.objects("results", n, func(i int) {
			on := min(t.out+day(20+i*150), today)
			id, user := random{r.next()}, random{r.next()}
			again, name := id, user // the id stands in the URL as well
			j.text("author", func() { j.letters(&user, 9) })
			j.object("author_details", func() {
				j.string("name", "")
				j.text("username", func() { j.letters(&name, 9) })
				j.path("avatar_path", r.seed(600), ".jpg")
				if r.chance(850) {
					j.float("rating", r.between(1, 10), 1)
				} else {
					j.null("rating")
				}
			})
			j.text("content", func() {
				for n := range 2 + r.front(30) {
					if n > 0 {
						j.add(pick(r, sentenceJoins))
					}
					j.add(pick(r, j.w.words["review"]), " ")
					addSentence(j, r, &j.w.sentences)
				}
			})
			at := on.at(r.below(24 * 60 * 60))
			j.moment("created_at", at)
			j.objectID("id", &id)
			j.moment("updated_at", at)
			j.text("url", func() {
				j.add("https://www.themoviedb.org/review/")
				j.hexID(&again)
			})
		})
		return n
	})
}

var sentenceJoins = []string{" ", " ", " ", `\r\n\r\n`}

// writeAlternativeTitles writes the titles by which a title is known elsewhere.
func writeAlternativeTitles(j *writer, name string, r *random, votes int) {
	j.objects(name, j.w.Count.AlternativeTitles.of(r, votes), func(int) {
		l := &j.w.locales[r.front(len(j.w.locales))]
		j.string("iso_3166_1", l.region)
		j.text("title", func() { addTitle(j, r, l.language) })
		j.string("type", pick(r, titleTypes))
	})
}

var titleTypes = []string{
	"", "", "", "", "", "", "romanization", "short title", "working title", "DVD", "festival title",
}

// writeTitleKeywords writes the keywords of a title, each by write.
func writeTitleKeywords(j *writer, name string, r *random, t *title, write func(j *writer, i uint64)) {
	j.object("keywords", func() {
		writePicked(j, name, r, j.w.keywords, j.w.Count.Keywords.of(r, t.votes), func(i uint64) { write(j, i) })
	})
}

// writeTitleCompanies writes the production companies of a title.
func writeTitleCompanies(j *writer, r *random, t *title) {
	n := j.w.Count.Companies.of(r, t.votes)
	writePicked(j, "production_companies", r, j.w.companies, n, func(i uint64) { writeCompany(j, j.w.companies, i) })
}

// writePicked writes a list of at most n records of the crowd.
func writePicked(j *writer, name string, r *random, p *population, n int, write func(i uint64)) {
	if p.n == 0 {
		n = 0
	}
	distinct(j, name, n, func(int) uint64 { return p.pick(r, crowd) }, write)
}

// writeTitleCountries writes the production countries: that of origin and sometimes more.
func writeTitleCountries(j *writer, r *random, t *title) {
	distinct(j, "production_countries", r.some(880, 170, 11), func(have int) *reference.Country {
		return countryOf(j, r, t, have)
	}, func(c *reference.Country) {
		j.string("iso_3166_1", c.Code)
		j.string("name", c.EnglishName)
	})
}

// countryOf returns the country of a title's origin and behind it, when there are some, another.
func countryOf(j *writer, r *random, t *title, have int) *reference.Country {
	if have == 0 {
		return t.country
	}
	return j.w.countries.pick(r)
}

// some returns in any permille of a thousand cases 1, or in more permille up to most more, and else 0.
func (r *random) some(any, more, most int) int {
	switch {
	case !r.chance(any):
		return 0
	case r.chance(more):
		return 2 + r.front(most)
	}
	return 1
}

// writeSpokenLanguages writes the title's own language and sometimes more.
func writeSpokenLanguages(j *writer, r *random, t *title) {
	distinct(j, "spoken_languages", r.some(850, 250, 8), func(have int) *language {
		if have == 0 {
			return t.language
		}
		return j.w.languages.pick(r)
	}, func(l *language) {
		j.string("english_name", l.EnglishName)
		j.string("iso_639_1", l.Code)
		j.string("name", l.Name)
	})
}

// writeLocale writes the fields that a translation starts with.
func writeLocale(j *writer, l *locale) {
	j.string("iso_3166_1", l.region)
	j.string("iso_639_1", l.Code)
	j.string("name", l.Name)
	j.string("english_name", l.EnglishName)
}

// writeTranslations writes those of a title to English, its own language and others, in the
// order of the locales. data writes the texts of each.
func writeTranslations(j *writer, r *random, t *title, data func(l *locale)) {
	want := j.w.Count.Translations.of(r, t.votes)
	from := min(len(j.w.locales), want*8/5+3) // of so many, want are taken
	j.object("translations", func() {
		j.list("translations", func() {
			for i := 0; i < len(j.w.locales) && want > 0; i++ {
				l := &j.w.locales[i]
				if i == 0 || l == t.language.locale || r.below(max(1, from)) < want {
					want--
					j.object("", func() {
						writeLocale(j, l)
						j.object("data", func() { data(l) })
					})
				}
				from--
			}
		})
	})
}

// isBase reports whether a translation is the English one. It repeats the texts of details.
func isBase(j *writer, l *locale) bool { return l == &j.w.locales[0] }

// writeTranslatedOverview writes the overview of a translation: there is one in permille of a
// thousand cases.
func writeTranslatedOverview(j *writer, r *random, t *title, l *locale, permille int) {
	if isBase(j, l) {
		writeTitleOverview(j, t)
		return
	}
	j.text("overview", func() {
		if r.chance(permille) {
			addProse(j, r, l.language, r.logNormal(j.w.Typical.Overview.at(t.votes), 45))
		}
	})
}

// writeTranslatedTitle writes the title of a translation: English where that differs from the
// original, and else, if the language is foreign, in permille of a thousand cases.
func writeTranslatedTitle(j *writer, r *random, t *title, l *locale, permille int) {
	if isBase(j, l) && t.translated() {
		writeEnglishTitle(j, t.of.name, t)
		return
	}
	j.text(t.of.name, func() {
		if !isBase(j, l) && l != t.language.locale && r.chance(permille) {
			addTitle(j, r, l.language)
		}
	})
}

// writeTranslatedTagline writes the tagline of a translation but the English one.
func writeTranslatedTagline(j *writer, r *random, l *locale, permille int) {
	j.text("tagline", func() {
		if !isBase(j, l) && r.chance(permille) {
			addTagline(j, r, l.language)
		}
	})
}

// writeOffers writes where a title can be watched, by country.
func writeOffers(j *writer, r *random, t *title) {
	all := j.w.countries.list
	n := min(len(all), j.w.Count.WatchCountries.of(r, t.votes))
	j.object("watch/providers", func() {
		j.object("results", func() {
			for i := range all {
				if r.below(len(all)-i) >= n { // of those left, n are taken
					continue
				}
				n--
				j.object(all[i].Code, func() {
					j.text("link", func() {
						j.add("https://www.themoviedb.org/", t.of.media, "/")
						j.addInt(t.id)
						j.add("/watch?locale=", all[i].Code)
					})
					for k, offer := range []string{"flatrate", "rent", "buy"} {
						if k > 0 && !r.chance(500) {
							continue
						}
						first := r.front(len(j.w.providers))
						j.objects(offer, 1+r.front(5), func(n int) {
							p := &j.w.providers[(first+n)%len(j.w.providers)]
							j.string("logo_path", p.LogoPath)
							j.int("provider_id", int(p.ID))
							j.string("provider_name", p.Name)
							j.int("display_priority", p.Priority)
						})
					}
				})
			}
		})
	})
}
