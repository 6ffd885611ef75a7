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

// collectionOfMovie returns the collection that a movie is in, if it is in one.
func (w *world) collectionOfMovie(m *movie) (uint64, bool) {
	r := random{mix(m.name + 1)}
	return m.i * w.collections.n / w.movies.n, r.chance(w.Has.Collection.at(m.votes))
}

// writeCollectionName writes a name.
func writeCollectionName(j *writer, name string, c *collection) {
	j.text(name, func() {
		r := random{c.name}
		addTitle(j, &r, c.language)
		j.add(" Collection")
	})
}

// writeCollectionImages writes the poster and the backdrop.
func writeCollectionImages(j *writer, c *collection) {
	j.path("poster_path", c.poster, ".jpg")
	j.path("backdrop_path", c.backdrop, ".jpg")
}

// writeCollectionRef writes the collection of a movie, or null.
func writeCollectionRef(j *writer, m *movie) {
	const name = "belongs_to_collection"
	i, ok := j.w.collectionOfMovie(m)
	if !ok {
		j.null(name)
		return
	}
	c := j.w.collectionOf(i)
	j.object(name, func() {
		j.int("id", c.id)
		writeCollectionName(j, "name", &c)
		writeCollectionImages(j, &c)
	})
}

// writeCollectionRecord writes the record of collection i.
func writeCollectionRecord(j *writer, i uint64) {
	c := j.w.collectionOf(i)
	r := j.w.collections.random(i, streamDetails)
	j.int("id", c.id)
	writeCollectionName(j, "name", &c)
	j.string("original_language", c.language.Code)
	writeCollectionName(j, "original_name", &c)
	writeOverview(j, r.seed(600), 200, 50)
	writeCollectionImages(j, &c)
	j.list("parts", func() {
		// Of the movies whose number times that of collections, divided by that of movies, is i.
		n, movies := j.w.collections.n, j.w.movies.n
		for i, to := (i*movies+n-1)/n, ((i+1)*movies+n-1)/n; i < to; i++ {
			m := j.w.movieOf(i)
			if _, ok := j.w.collectionOfMovie(&m); ok {
				j.object("", func() { writeMovieRow(j, i) })
			}
		}
	})
}
