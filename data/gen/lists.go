package gen

// recommendFrom is how many votes a title needs to have recommendations.
const recommendFrom = 100

// pageSize is how many rows a page of a list has.
const pageSize = 20

// appendMovieRecommendations appends the first page of a movie's recommendations.
func (w *world) appendMovieRecommendations(b []byte, r *random, i uint64) []byte {
	return appendRecommendations(b, r, w.movies, i, func(b []byte, other uint64) []byte {
		m := w.movieOf(other)
		return w.appendMovieRow(b, &m)
	})
}

// appendRecommendations appends the first page of recommendations of title i: popular
// titles of its kind.
func appendRecommendations(b []byte, r *random, p *population, i uint64, row func([]byte, uint64) []byte) []byte {
	b = append(b, `{"page":1,"results":[`...)
	var seen [pageSize]uint64
	n := 0
	for range pageSize {
		other := p.ranked(zipf(r, min(p.n, max(pageSize, p.n/64))))
		if other == i || contains(seen[:n], other) {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		seen[n] = other
		n++
		b = row(b, other)
	}
	return appendPageEnd(b, 1, n)
}

// appendPageEnd appends what follows the rows of a list's first page.
func appendPageEnd(b []byte, pages, rows int) []byte {
	b = append(b, `],"total_pages":`...)
	b = appendInt(b, int64(pages))
	b = append(b, `,"total_results":`...)
	b = appendInt(b, int64(rows))
	return append(b, '}')
}

// appendReviews appends the reviews of a title that came out on a day.
func (w *world) appendReviews(b []byte, r *random, votes int64, out day) []byte {
	b = append(b, `{"page":1,"results":[`...)
	n := 0
	if r.chance(int(hasReview.at(votes))) {
		n = min(pageSize, 1+int(r.logNormal(curve{50, 50, 50, 50, 50, 60, 70, 80, 100, 130, 180, 250, 350, 500, 700}.at(votes), 60)/100))
	}
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.appendReview(b, r, out+day(20+i*150))
	}
	return appendPageEnd(b, min(n, 1), n)
}

func (w *world) appendReview(b []byte, r *random, on day) []byte {
	on = min(on, today)
	id := *r // the id stands in the URL as well
	user := random{r.next()}
	r.next()
	name := user
	b = append(b, `{"author":"`...)
	b = appendLetters(b, &user, 9)
	b = append(b, `","author_details":{"name":"","username":"`...)
	b = appendLetters(b, &name, 9)
	b = append(b, `","avatar_path":`...)
	b = appendPathOf(b, r.seed(600), ".jpg")
	b = append(b, `,"rating":`...)
	if r.chance(850) {
		b = appendFixed(b, int64(r.between(1, 10))*10, 1)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `},"content":"`...)
	for n := range 2 + r.front(30) {
		if n > 0 {
			b = append(b, pick(r, sentenceJoins)...)
		}
		b = append(b, pick(r, w.words.reviews)...)
		b = append(b, ' ')
		b = w.words.appendPhrase(b, r, w.words.phrases)
	}
	b = append(b, `","created_at":"`...)
	moment := *r
	b = appendMoment(b, on, r)
	b = append(b, `","id":`...)
	again := id
	b = appendObjectID(b, &id)
	b = append(b, `,"updated_at":"`...)
	b = appendMoment(b, on, &moment)
	b = append(b, `","url":"https://www.themoviedb.org/review/`...)
	start := len(b)
	b = appendObjectID(b, &again)
	b = append(b[:start], b[start+1:len(b)-1]...) // without its quotes
	return append(b, `"}`...)
}

var sentenceJoins = []string{" ", " ", " ", `\r\n\r\n`}

// appendAlternativeTitles appends the titles by which a title is known elsewhere.
func (w *world) appendAlternativeTitles(b []byte, r *random, votes int64) []byte {
	for n := range alternativeTitleCount.of(r, votes) {
		if n > 0 {
			b = append(b, ',')
		}
		l := &w.locales[r.front(len(w.locales))]
		b = append(append(b, `{"iso_3166_1":"`...), l.region...)
		b = append(b, `","title":"`...)
		b = w.words.appendTitle(b, r, l.language)
		b = append(append(b, `","type":"`...), pick(r, titleTypes)...)
		b = append(b, `"}`...)
	}
	return b
}

var titleTypes = []string{"", "", "", "", "", "", "romanization", "short title", "working title", "DVD", "festival title"}

// appendKeywords appends the keywords of a title; movies have id and name, series name and id.
func (w *world) appendKeywords(b []byte, r *random, votes int64, idFirst bool) []byte {
	if w.keywords.n == 0 {
		return b
	}
	var seen [100]uint64
	n := 0
	for range keywordCount.of(r, votes) {
		i := w.keywords.ranked(crowd(r, w.keywords.n))
		if contains(seen[:n], i) {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		seen[n] = i
		n++
		if idFirst {
			b = append(b, `{"id":`...)
			b = appendInt(b, w.keywords.id(i))
			b = append(b, `,"name":"`...)
			b = w.appendKeyword(b, i)
			b = append(b, `"}`...)
			continue
		}
		b = append(b, `{"name":"`...)
		b = w.appendKeyword(b, i)
		b = append(b, `","id":`...)
		b = appendInt(b, w.keywords.id(i))
		b = append(b, '}')
	}
	return b
}

// appendCompanies appends the production companies of a title.
func (w *world) appendCompanies(b []byte, r *random, votes int64) []byte {
	if w.companies.n == 0 {
		return b
	}
	var seen [32]uint64
	n := 0
	for range companyCount.of(r, votes) {
		i := w.companies.ranked(crowd(r, w.companies.n))
		if contains(seen[:n], i) {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		seen[n] = i
		n++
		c := w.companyOf(i)
		b = w.appendCompanyRef(b, &c)
	}
	return b
}

// appendCountries appends the production countries: first and sometimes more.
func (w *world) appendCountries(b []byte, r *random, first int) []byte {
	if r.chance(120) {
		return b
	}
	var seen [12]int
	n := 0
	more := 0
	if r.chance(170) {
		more = 1 + r.front(11)
	}
	for range 1 + more {
		i := first
		if n > 0 {
			i = w.countryOf.pick(r)
		}
		if contains(seen[:n], i) || n == len(seen) {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		seen[n] = i
		n++
		b = append(append(b, `{"iso_3166_1":"`...), w.countries[i].code...)
		b = append(append(b, `","name":"`...), w.countries[i].name...)
		b = append(b, `"}`...)
	}
	return b
}

// appendSpoken appends the spoken languages: the title's own and sometimes more.
func (w *world) appendSpoken(b []byte, r *random, own *language) []byte {
	if r.chance(150) {
		return b
	}
	var seen [9]*language
	n := 0
	more := 0
	if r.chance(250) {
		more = 1 + r.front(8)
	}
	for range 1 + more {
		l := own
		if n > 0 {
			l = w.words.languages[w.words.languageOf.pick(r)]
		}
		if contains(seen[:n], l) || n == len(seen) {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		seen[n] = l
		n++
		b = append(append(b, `{"english_name":"`...), l.englishName...)
		b = append(append(b, `","iso_639_1":"`...), l.code...)
		b = append(append(b, `","name":"`...), l.name...)
		b = append(b, `"}`...)
	}
	return b
}

// appendReleaseDates appends the releases of a movie by country.
func (w *world) appendReleaseDates(b []byte, r *random, m *movie) []byte {
	if !m.dated {
		return b
	}
	n := 0
	var seen [80]int
	for range min(len(w.countries), releaseCountries.of(r, m.votes)) {
		i := m.country
		if n > 0 {
			i = r.below(len(w.countries))
		}
		if contains(seen[:n], i) {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		seen[n] = i
		n++
		b = w.appendCountryReleases(b, r, m, w.countries[i].code)
	}
	return b
}

func (w *world) appendCountryReleases(b []byte, r *random, m *movie, country string) []byte {
	b = append(append(b, `{"iso_3166_1":"`...), country...)
	b = append(b, `","release_dates":[`...)
	on := m.out
	for n := range 1 + r.front(4) {
		if n > 0 {
			b = append(b, ',')
			on += day(r.between(30, 200))
		}
		b = append(b, `{"certification":"`...)
		if list := w.ratings[country]; len(list) > 0 && r.chance(int(min(900, 80+10*m.votes))) {
			b = append(b, pick(r, list)...)
		}
		b = append(b, `","descriptors":[],"iso_639_1":"`...)
		b = append(b, `","note":"`...)
		if r.chance(100) {
			b = append(append(b, pick(r, w.words.towns)...), " Film Festival"...)
		}
		b = append(b, `","release_date":"`...)
		b = appendDate(b, on)
		b = append(b, `T00:00:00.000Z","type":`...)
		b = appendInt(b, int64([]int{3, 3, 3, 1, 2, 4, 5, 6}[min(7, r.below(4)+n*2)]))
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

// appendMovieTranslations appends translations, English first. Most of their strings are empty.
func (w *world) appendMovieTranslations(b []byte, r *random, m *movie, own *locale, runtime int64) []byte {
	first := true
	w.eachTranslation(r, m.votes, own, func(l *locale) {
		if !first {
			b = append(b, ',')
		}
		english := first
		first = false
		b = l.append(b)
		b = append(b, `"data":{"homepage":"`...)
		b = r.appendHomepage(b, 15)
		b = append(b, `","overview":"`...)
		switch {
		case english:
			b = w.appendOverview(b, &m.title)
		case r.chance(int(translatedOverview.at(m.votes))):
			b = w.words.appendText(b, r, l.language, int(r.logNormal(overviewSize.at(m.votes), 45)))
		}
		b = append(b, `","runtime":`...)
		if english || r.chance(250) {
			b = appendInt(b, runtime)
		} else {
			b = append(b, '0')
		}
		b = append(b, `,"tagline":"`...)
		if !english && r.chance(int(hasTagline.at(m.votes))/3) {
			b = w.words.appendTagline(b, r, l.language)
		}
		b = append(b, `","title":"`...)
		switch {
		case english:
			if m.language.words != nil && m.english {
				b = w.appendEnglishTitle(b, &m.title)
			}
		case l != own && r.chance(650):
			b = w.words.appendTitle(b, r, l.language)
		}
		b = append(b, `"}}`...)
	})
	return b
}

// eachTranslation calls fn with the locales that a title is translated to: English, its
// own and others, in the order of the locales.
func (w *world) eachTranslation(r *random, votes int64, own *locale, fn func(*locale)) {
	want := translationCount.of(r, votes)
	fn(&w.locales[0])
	want--
	from := min(len(w.locales)-1, want*8/5+2) // of so many, want are taken
	for i := 1; i < len(w.locales) && want > 0; i++ {
		l := &w.locales[i]
		if l == own || r.below(max(1, from)) < want {
			fn(l)
			want--
		}
		from--
	}
}

// appendOffers appends where a title can be watched, by country.
func (w *world) appendOffers(b []byte, r *random, media string, id, votes int64) []byte {
	n := min(len(w.countries), watchCountries.of(r, votes))
	from := len(w.countries)
	first := true
	for i := 0; i < len(w.countries) && n > 0; i++ {
		if r.below(from-i) >= n {
			continue
		}
		n--
		if !first {
			b = append(b, ',')
		}
		first = false
		code := w.countries[i].code
		b = append(append(append(b, '"'), code...), `":{"link":"https://www.themoviedb.org/`...)
		b = append(append(b, media...), '/')
		b = appendInt(b, id)
		b = append(append(b, `/watch?locale=`...), code...)
		b = append(b, '"')
		for k, offer := range []string{"flatrate", "rent", "buy"} {
			if r.chance(500) || k == 0 {
				b = w.appendProviders(b, r, offer)
			}
		}
		b = append(b, '}')
	}
	return b
}

func (w *world) appendProviders(b []byte, r *random, offer string) []byte {
	b = append(append(append(b, `,"`...), offer...), `":[`...)
	at := r.front(len(w.providers))
	for n := range 1 + r.front(5) {
		if n > 0 {
			b = append(b, ',')
		}
		p := &w.providers[(at+n)%len(w.providers)]
		b = append(append(b, `{"logo_path":"`...), p.logo...)
		b = append(b, `","provider_id":`...)
		b = appendInt(b, p.id)
		b = append(append(b, `,"provider_name":"`...), p.name...)
		b = append(b, `","display_priority":`...)
		b = appendInt(b, p.priority)
		b = append(b, '}')
	}
	return append(b, ']')
}
