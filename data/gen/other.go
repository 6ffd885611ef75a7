package gen

import "strings"

// A collection is the part of one that its movies have, too. Collection c holds movies of a range of
// their own: those that random numbers of theirs choose, so that its parts can be listed.
type collection struct {
	id                     int
	name, poster, backdrop uint64
}

func (w *world) collectionOf(i uint64) collection {
	r := w.collections.random(i, streamCore)
	return collection{w.collections.id(i), r.next(), r.seed(900), r.seed(750)}
}

// collectionOfMovie returns the collection that a movie is in, if it is in one.
func (w *world) collectionOfMovie(m *title) (uint64, bool) {
	r := random{mix(m.name + 1)}
	return m.i * w.collections.n / w.movies.n, r.chance(w.Has.Collection.at(m.votes))
}

// write writes a field that movies have of a collection, and reports whether it is one.
func (c *collection) write(j *writer, f *node) bool {
	switch f.key {
	case "id":
		j.int(f.key, c.id)
	case "name", "original_name":
		j.text(f.key, func() {
			addTitle(j, c.name, false)
			j.add(" Collection")
		})
	case "poster_path":
		j.path(f.key, c.poster)
	case "backdrop_path":
		j.path(f.key, c.backdrop)
	default:
		return false
	}
	return true
}

// writeCollectionRef writes the collection of a movie, or null.
func writeCollectionRef(j *writer, m *title) {
	const name = "belongs_to_collection"
	i, ok := j.w.collectionOfMovie(m)
	if !ok {
		j.null(name)
		return
	}
	c := j.w.collectionOf(i)
	j.object(name, func() {
		for _, key := range []string{"id", "name", "poster_path", "backdrop_path"} {
			c.write(j, &node{key: key})
		}
	})
}

// writeCollectionRecord writes the record of collection i.
func writeCollectionRecord(j *writer, i uint64) {
	w, c := j.w, j.w.collectionOf(i)
	r := w.collections.random(i, streamDetails)
	j.like("", pick(&r, w.rows["collections"]), func(f *node) bool {
		switch f.key {
		case "overview":
			writeOverview(j, r.seed(600), 200, 50)
		case "images":
			j.list("parts", func() {
				// Of the movies whose number times that of collections, divided by that of movies, is i.
				n, movies := w.collections.n, w.movies.n
				for i, to := (i*movies+n-1)/n, ((i+1)*movies+n-1)/n; i < to; i++ {
					m, _ := w.titleOf(w.movies, i)
					if _, ok := w.collectionOfMovie(&m); ok {
						writeRow(j, w.movies, i)
					}
				}
			})
			return false
		case "translations":
			j.object(f.key, func() { j.list(f.key, func() {}) })
		default:
			return c.write(j, f)
		}
		return true
	})
}

// writeCompany writes the fields of company or network i that titles and the record itself have.
func writeCompany(j *writer, p *population, rows []*node, i uint64) {
	r := p.random(i, streamCore)
	for _, f := range pick(&r, rows).fields {
		writeCompanyField(j, p, f, i)
	}
}

func writeCompanyField(j *writer, p *population, f *node, i uint64) bool {
	r := random{mix(p.seed ^ i*golden)}
	o := octave(p.share(i))
	switch f.key {
	case "id":
		j.int(f.key, p.id(i))
	case "logo_path":
		j.path(f.key, r.seed(min(950, 150+100*o)))
	case "name":
		j.text(f.key, func() {
			addTitle(j, r.next(), false)
			j.add(" ", pick(&r, []string{"Films", "Pictures", "Productions", "Entertainment", "Media", "Studios", "Television"}))
		})
	case "origin_country":
		j.same(f)
	default:
		return false
	}
	return true
}

// writeCompanyRecord writes the record of company i.
func writeCompanyRecord(j *writer, i uint64) {
	writeCompanyLike(j, j.w.companies, j.w.rows["companies"], i)
}

// writeNetworkRecord writes the record of network i.
func writeNetworkRecord(j *writer, i uint64) {
	writeCompanyLike(j, j.w.networks, j.w.rows["networks"], i)
}

func writeCompanyLike(j *writer, p *population, rows []*node, i uint64) {
	core := p.random(i, streamCore)
	r := p.random(i, streamDetails)
	o := octave(p.share(i))
	j.like("", pick(&core, rows), func(f *node) bool {
		switch f.key {
		case "description":
			j.text(f.key, func() {
				if r.chance(10 + 20*o) {
					addProse(j, &r, 250)
				}
			})
		case "homepage":
			j.homepage(&r, min(900, 80+80*o))
		case "parent_company":
			if parent := p.pick(&r, credits); parent != i && r.chance(40) {
				j.object(f.key, func() { writeCompany(j, p, rows, parent) })
			} else {
				j.null(f.key)
			}
		case "alternative_names":
			j.object(f.key, func() { j.list("results", func() {}) })
		default:
			return writeCompanyField(j, p, f, i)
		}
		return true
	})
}

// writeKeywordRecord writes the record of keyword i.
func writeKeywordRecord(j *writer, i uint64) {
	j.object("", func() { writeKeyword(j, j.w.rows["keywords"][0], i) })
}

// writeKeyword writes the fields of keyword i in the order of one of the sample.
func writeKeyword(j *writer, like *node, i uint64) {
	r := j.w.keywords.random(i, streamCore)
	for _, f := range like.fields {
		if f.key == "id" {
			j.int(f.key, j.w.keywords.id(i))
			continue
		}
		words := make([]string, 1+r.below(2))
		for n := range words {
			words[n] = j.w.words[r.front(len(j.w.words))]
		}
		j.string(f.key, strings.Join(words, " "))
	}
}
