package gen

import "math/bits"

// A collection is what its movies say of one. Collection c holds movies of a range of
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

// collectionRange returns the movies of which some are in collection i.
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
	if !r.chance(int(inCollection.at(m.votes))) {
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

// appendCollectionRef appends the collection of a movie, or null.
func (w *world) appendCollectionRef(b []byte, m *movie) []byte {
	i, ok := w.collectionOfMovie(m)
	if !ok {
		return append(b, "null"...)
	}
	c := w.collectionOf(i)
	b = append(b, `{"id":`...)
	b = appendInt(b, w.collections.id(i))
	b = append(b, `,"name":"`...)
	b = w.appendCollectionName(b, &c)
	b = append(b, `","poster_path":`...)
	b = appendPathOf(b, c.poster, ".jpg")
	b = append(b, `,"backdrop_path":`...)
	b = appendPathOf(b, c.backdrop, ".jpg")
	return append(b, '}')
}

// appendCollection appends the record of collection i.
func (w *world) appendCollection(b []byte, i uint64) []byte {
	c := w.collectionOf(i)
	r := w.collections.random(i, streamDetails)
	b = append(b, `{"id":`...)
	b = appendInt(b, w.collections.id(i))
	b = append(b, `,"name":"`...)
	b = w.appendCollectionName(b, &c)
	b = append(append(b, `","original_language":"`...), c.language.code...)
	b = append(b, `","original_name":"`...)
	b = w.appendCollectionName(b, &c)
	b = append(b, `","overview":"`...)
	if r.chance(600) {
		b = w.words.appendText(b, &r, w.words.languages[0], int(r.logNormal(200, 50)))
	}
	b = append(b, `","poster_path":`...)
	b = appendPathOf(b, c.poster, ".jpg")
	b = append(b, `,"backdrop_path":`...)
	b = appendPathOf(b, c.backdrop, ".jpg")
	b = append(b, `,"parts":[`...)
	n := 0
	for i, to := w.collectionRange(i); i < to; i++ {
		m := w.movieOf(i)
		if _, ok := w.collectionOfMovie(&m); !ok {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		n++
		b = w.appendMovieRow(b, &m)
	}
	return append(b, "]}\n"...)
}
