package gen

import "math/bits"

// A collection is the part of one that its movies have, too. Collection c holds movies of a range of
// their own: those that random numbers of theirs choose, so that its parts can be listed.
type collection struct {
	i                      uint64
	name, poster, backdrop uint64
	language               *language
}

func (w *world) collectionOf(i uint64) collection {
	r := w.collections.random(i, streamCore)
	c := collection{i: i, name: r.next(), poster: r.seed(900), backdrop: r.seed(750)}
	c.language = w.words.languages[0]
	if r.chance(350) {
		c.language = w.words.languages[w.words.languageOf.pick(&r)]
	}
	return c
}

// collectionRange returns the range of movies that collection i takes its own from.
func (w *world) collectionRange(i uint64) (from, to uint64) {
	start := func(i uint64) uint64 {
		hi, lo := bits.Mul64(i, w.movies.n)
		q, rest := bits.Div64(hi, lo, w.collections.n)
		if rest > 0 {
			q++
		}
		return q
	}
	return start(i), start(i + 1)
}

// collectionOfMovie returns the collection that a movie is in, if it is in one.
func (w *world) collectionOfMovie(m *movie) (uint64, bool) {
	r := random{mix(m.name + 1)}
	if !r.chance(int(figures().Has.Collection.at(m.votes))) {
		return 0, false
	}
	hi, lo := bits.Mul64(m.i, w.collections.n)
	i, _ := bits.Div64(hi, lo, w.movies.n)
	return i, true
}

func (w *world) appendCollectionName(b []byte, c *collection) []byte {
	r := random{c.name}
	b = w.words.appendTitle(b, &r, c.language)
	return append(b, " Collection"...)
}

// writeCollectionRef writes the collection of a movie, or null.
func writeCollectionRef(w *world, j *writer, m *movie) {
	const name = "belongs_to_collection"
	i, ok := w.collectionOfMovie(m)
	if !ok {
		j.null(name)
		return
	}
	c := w.collectionOf(i)
	j.object(name, func() {
		j.int("id", w.collections.id(i))
		j.text("name", func() { j.b = w.appendCollectionName(j.b, &c) })
		j.path("poster_path", c.poster, ".jpg")
		j.path("backdrop_path", c.backdrop, ".jpg")
	})
}

// writeCollection writes the record of collection i.
func writeCollection(w *world, j *writer, i uint64) {
	c := w.collectionOf(i)
	r := w.collections.random(i, streamDetails)
	j.int("id", w.collections.id(i))
	j.text("name", func() { j.b = w.appendCollectionName(j.b, &c) })
	j.string("original_language", c.language.code)
	j.text("original_name", func() { j.b = w.appendCollectionName(j.b, &c) })
	j.text("overview", func() {
		if r.chance(600) {
			j.b = w.words.appendText(j.b, &r, w.words.languages[0], int(r.logNormal(200, 50)))
		}
	})
	j.path("poster_path", c.poster, ".jpg")
	j.path("backdrop_path", c.backdrop, ".jpg")
	j.list("parts", func() {
		for i, to := w.collectionRange(i); i < to; i++ {
			m := w.movieOf(i)
			if _, ok := w.collectionOfMovie(&m); ok {
				j.object("", func() { writeMovieRow(w, j, i) })
			}
		}
	})
}
