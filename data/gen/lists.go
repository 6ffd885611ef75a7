package gen

// recommendFrom is how many votes a title needs to have recommendations.
const recommendFrom = 100

// pageSize is how many rows a page of a list has.
const pageSize = 20

// writeRecommendations writes the first page of recommendations of title i: popular
// titles of its kind, whose rows row writes.
func writeRecommendations(w *world, j *writer, r *random, p *population, i uint64, row func(*world, *writer, uint64)) {
	var have seen[uint64]
	have.add(i)
	writePage(j, func() int {
		for range pageSize {
			other := p.ranked(zipf(r, min(p.n, max(pageSize, p.n/64))))
			if have.add(other) {
				j.object("", func() { row(w, j, other) })
			}
		}
		return have.n - 1
	})
}

// writePage writes a list of one page at most. rows writes and counts its rows.
func writePage(j *writer, rows func() int) {
	n := 0
	j.int("page", 1)
	j.list("results", func() { n = rows() })
	j.int("total_pages", int64(min(1, n)))
	j.int("total_results", int64(n))
}

// writeReviews writes the reviews of a title that came out on a day.
func writeReviews(w *world, j *writer, r *random, votes int64, out day) {
	writePage(j, func() int {
		if !r.chance(int(figures().Has.Review.at(votes))) {
			return 0
		}
		n := min(pageSize, 1+int(r.logNormal(curve{50, 50, 50, 50, 50, 60, 70, 80, 100, 130, 180, 250, 350, 500, 700}.at(votes), 60)/100))
		for i := range n {
			j.object("", func() { writeReview(w, j, r, min(out+day(20+i*150), today)) })
		}
		return n
	})
}

func writeReview(w *world, j *writer, r *random, on day) {
	id := *r // the id stands in the URL as well
	user := random{r.next()}
	r.next()
	name := user
	j.text("author", func() { j.letters(&user, 9) })
	j.object("author_details", func() {
		j.string("name", "")
		j.text("username", func() { j.letters(&name, 9) })
		j.path("avatar_path", r.seed(600), ".jpg")
		if r.chance(850) {
			j.fixed("rating", int64(r.between(1, 10))*10, 1)
		} else {
			j.null("rating")
		}
	})
	j.text("content", func() {
		for n := range 2 + r.front(30) {
			if n > 0 {
				j.add(pick(r, sentenceJoins))
			}
			j.add(pick(r, w.words.reviews), " ")
			j.b = w.words.appendPhrase(j.b, r, &w.words.phrases)
		}
	})
	moment := *r
	j.moment("created_at", on, r)
	again := id
	j.objectID("id", &id)
	j.moment("updated_at", on, &moment)
	j.text("url", func() {
		j.add("https://www.themoviedb.org/review/")
		j.hexID(&again)
	})
}

var sentenceJoins = []string{" ", " ", " ", `\r\n\r\n`}

// writeAlternativeTitles writes the titles by which a title is known elsewhere.
func writeAlternativeTitles(w *world, j *writer, r *random, votes int64) {
	for range figures().Count.AlternativeTitles.of(r, votes) {
		l := &w.locales[r.front(len(w.locales))]
		j.object("", func() {
			j.string("iso_3166_1", l.region)
			j.text("title", func() { j.b = w.words.appendTitle(j.b, r, l.language) })
			j.string("type", pick(r, titleTypes))
		})
	}
}

var titleTypes = []string{"", "", "", "", "", "", "romanization", "short title", "working title", "DVD", "festival title"}

// writeKeywords writes the keywords of a title; movies have id and name, series name and id.
func writeKeywords(w *world, j *writer, r *random, votes int64, idFirst bool) {
	if w.keywords.n == 0 {
		return
	}
	var have seen[uint64]
	for range figures().Count.Keywords.of(r, votes) {
		i := w.keywords.ranked(crowd(r, w.keywords.n))
		if !have.add(i) {
			continue
		}
		j.object("", func() {
			if idFirst {
				writeKeyword(w, j, i)
				return
			}
			writeKeywordName(w, j, i)
			j.int("id", w.keywords.id(i))
		})
	}
}

// writeCompanies writes the production companies of a title.
func writeCompanies(w *world, j *writer, r *random, votes int64) {
	if w.companies.n == 0 {
		return
	}
	var have seen[uint64]
	for range figures().Count.Companies.of(r, votes) {
		if i := w.companies.ranked(crowd(r, w.companies.n)); have.add(i) {
			writeCompanyRef(w, j, "", w.companies, i)
		}
	}
}

// writeCountries writes the production countries: first and sometimes more.
func writeCountries(w *world, j *writer, r *random, first int) {
	if r.chance(120) {
		return
	}
	more := 0
	if r.chance(170) {
		more = 1 + r.front(11)
	}
	var have seen[int]
	for range 1 + more {
		i := first
		if have.n > 0 {
			i = w.words.countryOf.pick(r)
		}
		if have.add(i) {
			j.object("", func() {
				j.string("iso_3166_1", w.words.countries[i].code)
				j.string("name", w.words.countries[i].name)
			})
		}
	}
}

// writeSpoken writes the spoken languages: the title's own and sometimes more.
func writeSpoken(w *world, j *writer, r *random, own *language) {
	if r.chance(150) {
		return
	}
	more := 0
	if r.chance(250) {
		more = 1 + r.front(8)
	}
	var have seen[*language]
	for range 1 + more {
		l := own
		if have.n > 0 {
			l = w.words.languages[w.words.languageOf.pick(r)]
		}
		if have.add(l) {
			j.object("", func() {
				j.string("english_name", l.englishName)
				j.string("iso_639_1", l.code)
				j.string("name", l.name)
			})
		}
	}
}

// writeReleaseDates writes the releases of a movie by country.
func writeReleaseDates(w *world, j *writer, r *random, m *movie) {
	if !m.dated {
		return
	}
	var have seen[int]
	for range min(len(w.words.countries), figures().Count.ReleaseCountries.of(r, m.votes)) {
		i := m.country
		if have.n > 0 {
			i = r.below(len(w.words.countries))
		}
		if have.add(i) {
			j.object("", func() { writeCountryReleases(w, j, r, m, w.words.countries[i].code) })
		}
	}
}

func writeCountryReleases(w *world, j *writer, r *random, m *movie, country string) {
	on := m.out
	j.string("iso_3166_1", country)
	j.list("release_dates", func() {
		for n := range 1 + r.front(4) {
			if n > 0 {
				on += day(r.between(30, 200))
			}
			j.object("", func() { writeRelease(w, j, r, m.votes, country, on, n) })
		}
	})
}

// writeRelease writes the n-th release of a movie in a country.
func writeRelease(w *world, j *writer, r *random, votes int64, country string, on day, n int) {
	j.text("certification", func() {
		if list := w.ofMovies.ratings[country]; len(list) > 0 && r.chance(int(min(900, 80+10*votes))) {
			j.add(pick(r, list))
		}
	})
	j.list("descriptors", func() {})
	j.string("iso_639_1", "")
	j.text("note", func() {
		if r.chance(100) {
			j.add(pick(r, w.words.towns), " Film Festival")
		}
	})
	j.text("release_date", func() { j.b = append(on.append(j.b), "T00:00:00.000Z"...) })
	j.int("type", int64([]int{3, 3, 3, 1, 2, 4, 5, 6}[min(7, r.below(4)+n*2)]))
}

// writeMovieTranslations writes translations, English first. Most of their strings are empty.
func writeMovieTranslations(w *world, j *writer, r *random, m *movie, own *locale, runtime int64) {
	w.eachTranslation(j, r, m.votes, own, func(l *locale, english bool) {
		j.homepage("homepage", r, 15)
		writeOverview(w, j, r, &m.title, l, english, int(figures().Has.TranslatedOverview.at(m.votes)))
		minutes := runtime
		if !english && !r.chance(250) {
			minutes = 0
		}
		j.int("runtime", minutes)
		writeTranslatedTagline(w, j, r, l, english, int(figures().Has.Tagline.at(m.votes))/3)
		writeName(w, j, "title", r, &m.title, l, english, l != own, 650)
	})
}

// eachTranslation writes the translations of a title to English, its own language and
// others, in the order of the locales. data writes the texts of each.
func (w *world) eachTranslation(j *writer, r *random, votes int64, own *locale, data func(l *locale, english bool)) {
	write := func(l *locale, english bool) {
		j.object("", func() {
			l.write(j)
			j.object("data", func() { data(l, english) })
		})
	}
	want := figures().Count.Translations.of(r, votes)
	write(&w.locales[0], true)
	want--
	from := min(len(w.locales)-1, want*8/5+2) // of so many, want are taken
	for i := 1; i < len(w.locales) && want > 0; i++ {
		l := &w.locales[i]
		if l == own || r.below(max(1, from)) < want {
			write(l, false)
			want--
		}
		from--
	}
}

// writeOverview writes the overview of a translation: there is one in permille of a
// thousand cases.
func writeOverview(w *world, j *writer, r *random, t *title, l *locale, english bool, permille int) {
	j.text("overview", func() {
		switch {
		case english:
			j.b = w.appendOverview(j.b, t)
		case r.chance(permille):
			j.b = w.words.appendText(j.b, r, l.language, int(r.logNormal(overviewSize.at(t.votes), 45)))
		}
	})
}

// writeName writes the title of a translation: English where that differs from the
// original, and else, if the language is foreign, in permille of a thousand cases.
func writeName(w *world, j *writer, name string, r *random, t *title, l *locale, english, foreign bool, permille int) {
	j.text(name, func() {
		switch {
		case english && t.language.words != nil && t.english:
			j.b = w.appendEnglishTitle(j.b, t)
		case !english && foreign && r.chance(permille):
			j.b = w.words.appendTitle(j.b, r, l.language)
		}
	})
}

// writeTranslatedTagline writes the tagline of a translation but the English one.
func writeTranslatedTagline(w *world, j *writer, r *random, l *locale, english bool, permille int) {
	j.text("tagline", func() {
		if !english && r.chance(permille) {
			j.b = w.words.appendTagline(j.b, r, l.language)
		}
	})
}

// writeOffers writes where a title can be watched, by country.
func writeOffers(w *world, j *writer, r *random, media string, id, votes int64) {
	n := min(len(w.words.countries), figures().Count.WatchCountries.of(r, votes))
	from := len(w.words.countries)
	for i := 0; i < len(w.words.countries) && n > 0; i++ {
		if r.below(from-i) >= n {
			continue
		}
		n--
		code := w.words.countries[i].code
		j.object(code, func() {
			j.text("link", func() {
				j.add("https://www.themoviedb.org/", media, "/")
				j.number(id, "")
				j.add("/watch?locale=", code)
			})
			for k, offer := range []string{"flatrate", "rent", "buy"} {
				if r.chance(500) || k == 0 {
					j.list(offer, func() { writeProviders(w, j, r) })
				}
			}
		})
	}
}

func writeProviders(w *world, j *writer, r *random) {
	at := r.front(len(w.providers))
	for n := range 1 + r.front(5) {
		p := &w.providers[(at+n)%len(w.providers)]
		j.object("", func() {
			j.string("logo_path", p.logo)
			j.int("provider_id", p.id)
			j.string("provider_name", p.name)
			j.int("display_priority", p.priority)
		})
	}
}
