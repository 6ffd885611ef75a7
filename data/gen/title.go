package gen

import (
	"slices"
	"strings"
)

// today is the day after which nothing has come out.
var today = makeDay(2026, 243) // 1 September

// A title is the part of a movie or a series that lists have.
type title struct {
	i          uint64
	of         *titles
	like       *node // row of the sample
	id         int
	votes      int
	average    int // thousandths
	popularity int // 1/10000
	genres     int // of those of like
	// Seeds; but for the name 0 stands for none.
	name, overview, poster, backdrop uint64
	out                              day // released, or first aired
	dated, adult                     bool
}

// titleOf makes the part of title i that lists have, and the random numbers for more.
func (w *world) titleOf(of *titles, i uint64) (title, random) {
	r := of.random(i, streamCore)
	share := of.share(i)
	votes := of.votes.at(share)
	t := title{
		i: i, of: of, id: of.id(i), votes: votes, like: pick(&r, w.rows[of.kind.name]),
		popularity: of.popularity.at(r.related(share)), average: w.voteAverage(&r, votes),
		name: r.next(), overview: r.seed(w.Has.Overview.at(votes)), poster: r.seed(w.Has.Poster.at(votes)), backdrop: r.seed(w.Has.Backdrop.at(votes)),
		dated: r.chance(w.Has.Date.at(votes)), adult: votes < 100 && r.chance(2),
	}
	for tries := 0; votes >= 1000 && t.isForeign() && tries < 2; tries++ { // few are
		t.like = pick(&r, w.rows[of.kind.name])
	}
	if r.chance(w.Has.Genre.at(votes)) {
		t.genres = len(t.like.field("genres").fields)
		if votes < 100 {
			t.genres = min(t.genres, 1+r.below(3))
		}
	}
	out, _ := parseDay(t.like.field(of.date).text)
	t.out = min(out+day(r.between(-1500, 1500)), today-day(r.below(365)))
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

// write writes a field that lists have of a title, and reports whether it is one. Others are as in the sample.
func (t *title) write(j *writer, f *node) bool {
	switch f.key {
	case "adult":
		j.bool(f.key, t.adult)
	case "backdrop_path":
		j.path(f.key, t.backdrop)
	case "poster_path":
		j.path(f.key, t.poster)
	case "genres":
		j.list(f.key, func() {
			for _, g := range f.fields[:t.genres] {
				j.same(g)
			}
		})
	case "id":
		j.int(f.key, t.id)
	case t.of.name:
		j.text(f.key, func() { addTitle(j, t.name, false) })
	case t.of.original:
		j.text(f.key, func() { addTitle(j, t.name, t.isForeign()) })
	case "overview":
		writeOverview(j, t.overview, j.w.Typical.Overview.at(t.votes), 45)
	case "popularity":
		j.float(f.key, t.popularity, 10_000)
	case t.of.date:
		j.day(f.key, t.out, t.dated, `""`)
	case "vote_average":
		j.float(f.key, t.average, 1000)
	case "vote_count":
		j.int(f.key, t.votes)
	default:
		return false
	}
	return true
}

// isForeign reports whether the original title differs from the English one.
func (t *title) isForeign() bool {
	return t.like.field(t.of.original).text != t.like.field(t.of.name).text
}

// The fields of rows about titles, in order.
var (
	commonRow = strings.Fields("overview poster_path media_type original_language genre_ids popularity")
	movieRow  = slices.Concat(strings.Fields("adult backdrop_path id title original_title"), commonRow, strings.Fields("release_date softcore video vote_average vote_count"))
	tvRow     = slices.Concat(strings.Fields("adult backdrop_path id name original_name"), commonRow, strings.Fields("first_air_date softcore vote_average vote_count origin_country"))
)

// writeRow writes title i as lists have it.
func writeRow(j *writer, of *titles, i uint64) {
	t, fields := j.w.rowOf(of, i), movieRow
	if of == j.w.tv {
		fields = tvRow
	}
	j.object("", func() {
		for _, key := range fields {
			switch key {
			case "media_type":
				j.string(key, of.media)
			case "genre_ids":
				j.list(key, func() {
					for _, g := range t.like.field("genres").fields[:t.genres] {
						j.key("")
						j.add(g.field("id").text)
					}
				})
			default:
				if f := t.like.field(key); !t.write(j, f) {
					j.same(f)
				}
			}
		}
	})
}

// rowOf returns title i as lists have it.
func (w *world) rowOf(of *titles, i uint64) title {
	if of == w.tv {
		return w.showOf(i).title
	}
	t, _ := w.titleOf(of, i)
	return t
}

// recommendFrom is how many votes a title needs to have recommendations.
const recommendFrom = 100

// pageSize is how many rows a page of a list has.
const pageSize = 20

// writeRecommendations writes the first page of recommendations: popular titles of the same kind.
func writeRecommendations(j *writer, r *random, t *title) {
	if t.votes < recommendFrom {
		return
	}
	popular := min(t.of.n, max(pageSize, t.of.n/64))
	rows := make([]uint64, 0, pageSize)
	for range pageSize {
		if i := t.of.ranked(credits.rank(r, popular)); i != t.i && !slices.Contains(rows, i) {
			rows = append(rows, i)
		}
	}
	j.object("recommendations", func() {
		j.int("page", 1)
		j.list("results", func() {
			for _, i := range rows {
				writeRow(j, t.of, i)
			}
		})
		j.int("total_pages", min(1, len(rows)))
		j.int("total_results", len(rows))
	})
}

// writeSub writes a field that movies and series have and lists do not, and reports whether it is one.
func (t *title) writeSub(j *writer, r *random, f *node, votes int) bool {
	w := j.w
	switch f.key {
	case "homepage":
		j.homepage(r, w.Has.Homepage.at(t.votes))
	case "production_companies":
		n := w.Count.Companies.of(r, t.votes)
		writePicked(j, f.key, r, w.companies, n, func(i uint64) { writeCompany(j, w.companies, w.rows["companies"], i) })
	case "alternative_titles":
		list := f.fields[0].key
		if t.of == w.tv {
			votes *= 12
		}
		j.object(f.key, func() {
			j.drawn(list, r, w.Count.AlternativeTitles.of(r, votes), w.lists["tv.alternative_titles.results"], func(_ int, f *node) bool {
				if f.key == "title" {
					j.text(f.key, func() { addTitle(j, r.next(), r.chance(400)) })
				}
				return f.key == "title"
			})
		})
	case "images":
		t.writeImages(j, r)
	case "keywords":
		list := f.fields[0].key
		j.object(f.key, func() {
			writePicked(j, list, r, w.keywords, w.Count.Keywords.of(r, t.votes), func(i uint64) { writeKeyword(j, w.lists[t.of.kind.name+".keywords."+list][0], i) })
		})
		writeRecommendations(j, r, t)
	case "reviews":
		n := w.Count.Reviews.of(r, votes)
		j.like(f.key, f, func(f *node) bool {
			switch f.key {
			case "results":
				j.drawn(f.key, r, n, w.lists["movies.reviews.results"], func(_ int, f *node) bool {
					if f.key == "id" {
						j.objectID(f.key, r)
					}
					return f.key == "id"
				})
			case "total_pages":
				j.int(f.key, min(1, n))
			case "total_results":
				j.int(f.key, n)
			default:
				return false
			}
			return true
		})
	case "translations":
		t.writeTranslations(j, r, f)
	case "videos":
		j.object(f.key, func() {
			j.drawn("results", r, w.Count.Videos.of(r, votes), w.lists["movies.videos.results"], func(_ int, f *node) bool {
				switch f.key {
				case "id":
					j.objectID(f.key, r)
				case "key":
					j.text(f.key, func() { j.letters(r, 11) })
				default:
					return false
				}
				return true
			})
		})
	case "watch/providers":
		j.object(f.key, func() { j.first(f.fields[0], w.Count.WatchCountries.of(r, t.votes)) })
	default:
		return t.write(j, f)
	}
	return true
}

// writeImages writes the images of a title: its own poster and backdrop stand first.
func (t *title) writeImages(j *writer, r *random) {
	write := func(name string, n int, first uint64) {
		if first == 0 {
			n = 0
		}
		j.drawn(name, r, n, j.w.lists["movies.images."+name], func(i int, f *node) bool {
			if f.key == "file_path" {
				path := r.next() | 1
				if i == 0 {
					path = first
				}
				j.path(f.key, path)
			}
			return f.key == "file_path"
		})
	}
	j.object("images", func() {
		write("backdrops", j.w.Count.Backdrops.of(r, t.votes), t.backdrop)
		write("logos", j.w.Count.Logos.of(r, t.votes), r.next()|1)
		write("posters", j.w.Count.Posters.of(r, t.votes), t.poster)
	})
}

// writePicked writes a list of at most n records of the crowd, each once.
func writePicked(j *writer, name string, r *random, p *population, n int, write func(i uint64)) {
	var seen []uint64
	j.list(name, func() {
		for range n {
			if p.n == 0 {
				return
			}
			if i := p.pick(r, crowd); !slices.Contains(seen, i) {
				seen = append(seen, i)
				j.object("", func() { write(i) })
			}
		}
	})
}

// writeTranslations writes some of those of the sample: the one to English with the texts of the details, others with
// texts of their own.
func (t *title) writeTranslations(j *writer, r *random, f *node) {
	rows := j.w.lists[t.of.kind.name+".translations.translations"]
	j.object(f.key, func() {
		j.list(f.key, func() {
			for n, row := range rows[:min(len(rows), j.w.Count.Translations.of(r, t.votes))] {
				j.like("", row, func(f *node) bool {
					if f.key == "data" {
						j.like(f.key, f, func(f *node) bool { return t.writeTranslated(j, r, f, n == 0) })
					}
					return f.key == "data"
				})
			}
		})
	})
}

// writeTranslated writes a text of a translation.
func (t *title) writeTranslated(j *writer, r *random, f *node, isEnglish bool) bool {
	switch {
	case f.key == "homepage":
		j.string(f.key, "")
	case isEnglish || f.key == "runtime":
		return t.write(j, f)
	case f.key == "overview":
		overview := r.seed(j.w.Has.TranslatedOverview.at(t.votes))
		writeOverview(j, overview, j.w.Typical.Overview.at(t.votes), 45)
	case f.key == t.of.name:
		j.text(f.key, func() {
			if r.chance(600) {
				addTitle(j, r.next(), true)
			}
		})
	default: // a tagline
		j.string(f.key, "")
	}
	return true
}

// addTitle appends the title that a seed stands for, of one to six words.
func addTitle(j *writer, seed uint64, foreign bool) {
	r, words := random{seed}, j.w.words
	if foreign {
		words = j.w.foreign
	}
	j.add(capitalized(words[r.front(len(words))]))
	for range r.front(5) {
		j.add(" ", capitalized(words[r.front(len(words))]))
	}
}

// maxText is the limit of TMDB's forms, in characters.
const maxText = 1000

// addProse appends sentences of about so many characters, at most maxText.
func addProse(j *writer, r *random, chars int) {
	chars = max(20, min(chars, maxText))
	start := len(j.b)
	for {
		end := len(j.b)
		if end > start {
			j.add(" ")
		}
		j.add(pick(r, j.w.sentences))
		switch n := len(j.b) - start; {
		case n > maxText && end > start:
			j.b = j.b[:end]
			return
		case n >= chars-40:
			return
		}
	}
}

// writeOverview writes the English text that a seed stands for, of a median of characters; "" for the seed 0.
func writeOverview(j *writer, seed uint64, median, sigma int) {
	j.text("overview", func() {
		if seed != 0 {
			r := random{seed}
			addProse(j, &r, r.logNormal(median, sigma))
		}
	})
}
