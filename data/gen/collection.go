package gen

// A collection is the part of one that its movies have, too. Collection c holds movies of a range of
// their own: those that random numbers of theirs choose, so that its parts can be listed.
type collection struct {
	id                     int
	name, poster, backdrop uint64
	language               *language
}

func (w *world) collectionOf(i uint64) collection {
	r := w.collections.random(i, streamCore)
	c := collection{w.collections.id(i), r.next(), r.seed(900), r.seed(750), w.english}
	if r.chance(350) {
		c.language = w.languages.pick(&r)
	}
	return c
}

// collectionRange returns the range of movies that collection i takes its own from: those
// whose number times that of collections, divided by that of movies, is i.
func (w *world) collectionRange(i uint64) (from, to uint64) {
	n, movies := w.collections.n, w.movies.n
	return (i*movies + n - 1) / n, ((i+1)*movies + n - 1) / n
}

// collectionOfMovie returns the collection that a movie is in, if it is in one.
func (w *world) collectionOfMovie(m *movie) (uint64, bool) {
	r := random{mix(m.name + 1)}
	return m.i * w.collections.n / w.movies.n, r.chance(w.Has.Collection.at(m.votes))
}

// collectionName writes a name.
func (j *writer) collectionName(name string, c *collection) {
	j.text(name, func() {
		r := random{c.name}
		j.title(&r, c.language)
		j.add(" Collection")
	})
}

// collectionImages writes the poster and the backdrop.
func (j *writer) collectionImages(c *collection) {
	j.path("poster_path", c.poster, ".jpg")
	j.path("backdrop_path", c.backdrop, ".jpg")
}

// collectionRef writes the collection of a movie, or null.
func (j *writer) collectionRef(m *movie) {
	const name = "belongs_to_collection"
	i, ok := j.collectionOfMovie(m)
	if !ok {
		j.null(name)
		return
	}
	c := j.collectionOf(i)
	j.object(name, func() {
		j.int("id", c.id)
		j.collectionName("name", &c)
		j.collectionImages(&c)
	})
}

// collectionRecord writes the record of collection i.
func (j *writer) collectionRecord(i uint64) {
	c := j.collectionOf(i)
	r := j.collections.random(i, streamDetails)
	j.int("id", c.id)
	j.collectionName("name", &c)
	j.string("original_language", c.language.Code)
	j.collectionName("original_name", &c)
	j.overview(r.seed(600), 200, 50)
	j.collectionImages(&c)
	j.list("parts", func() {
		for i, to := j.collectionRange(i); i < to; i++ {
			m := j.movieOf(i)
			if _, ok := j.collectionOfMovie(&m); ok {
				j.object("", func() { j.movieRow(i) })
			}
		}
	})
}
