package gen

import (
	"slices"
	"strconv"
	"strings"
)

// lengths are the lengths of lists by their name: the mean in hundredths, and the most.
var lengths = map[string]struct{ mean, most int }{
	"cast": {700, 340}, "crew": {750, 990}, "created_by": {20, 3}, "production_companies": {110, 26}, "networks": {1000, 1},
	"keywords": {110, 97}, "backdrops": {700, 320}, "logos": {40, 180}, "posters": {650, 475}, "profiles": {170, 60},
	"videos": {110, 200}, "alternative_titles": {60, 90}, "translations": {310, 50}, "release_dates": {120, 90},
	"watch/providers": {20, 80}, "content_ratings": {50, 50}, "reviews": {5, 20}, "also_known_as": {40, 5},
}

// length returns the length of a list of h, and whether lengths has the list.
func (h *head) length(r *random, name string) (int, bool) {
	l, ok := lengths[name]
	n := (l.mean*h.size/100*r.between(50, 150)/100 + r.below(100)) / 100
	return min(n, l.most), ok
}

// writeLine writes record i, and a line end after it.
func writeLine(j *writer, p *population, i uint64) {
	h := j.w.headOf(p, i)
	r := p.random(i, streamDetails)
	t := maker{j, &h, &r, j.w.seasonsOf(&h)}
	j.like("", h.like, t.field)
	j.b = append(j.b, '\n')
}

// A maker writes one record.
type maker struct {
	*writer
	h       *head
	r       *random
	seasons []season
}

// shared writes a field that h holds, and reports whether it is one.
func (j *writer) shared(h *head, f *node) bool {
	switch f.key {
	case "id":
		j.int(f.key, h.of.id(h.i))
	case "name", "title":
		j.string(f.key, h.name)
	case "original_name", "original_title":
		j.string(f.key, h.original)
	case "overview", "biography":
		j.prose(f.key, h.text)
	case "poster_path", "profile_path", "logo_path":
		j.image(f.key, h.image)
	case "backdrop_path":
		j.image(f.key, h.backdrop)
	case "popularity":
		j.float(f.key, h.popularity, 10_000)
	case "release_date", "first_air_date":
		j.day(f.key, h.out, h.dated, `""`)
	case "vote_average":
		j.float(f.key, h.average, 1000)
	case "vote_count":
		j.int(f.key, h.votes)
	case "gender", "known_for_department", "origin_country": // the sample's, also in references
		j.raw(f.key, h.like.field(f.key).text)
	default:
		return false
	}
	return true
}

// field writes a field of the record that differs from the sample's, and reports whether it did.
func (m *maker) field(f *node) bool {
	h, r, w := m.h, m.r, m.w
	switch f.key {
	case "belongs_to_collection":
		i, ok := w.collectionOf(h)
		if !ok {
			m.raw(f.key, "null")
			return true
		}
		c := w.headOf(w.collections, i)
		m.like(f.key, w.collectionRef, func(f *node) bool { return m.shared(&c, f) })
	case "imdb_id", "tvdb_id", "wikidata_id", "facebook_id", "instagram_id", "twitter_id", "tiktok_id", "youtube_id",
		"freebase_mid", "freebase_id", "tvrage_id":
		m.externalID(f.key)
	case "homepage", "tagline", "budget", "revenue", "description":
		if r.chance(h.known() - 500) {
			return false
		}
		m.gap(f)
	case "runtime", "genres":
		if r.chance(h.known() + 100) {
			return false
		}
		m.gap(f)
	case "status":
		if h.out <= today {
			return false
		}
		m.string(f.key, "Planned")
	case "parent_company":
		m.raw(f.key, "null")
	case "images":
		names := []string{"backdrops", "logos", "posters"}
		switch h.of {
		case w.people:
			names = []string{"profiles"}
		case w.movies, w.tv:
		default:
			return false
		}
		m.raw(f.key, "{")
		for _, name := range names {
			n, _ := h.length(r, name)
			first := map[string]uint64{"backdrops": h.backdrop, "posters": h.image, "profiles": h.image}[name]
			switch {
			case name == "logos":
			case first == 0:
				n = 0
			default:
				n = max(n, 1) // the record's own
			}
			m.drawn(name, n, f.path+"."+name, first)
		}
		m.b = append(m.b, '}')
	case "reviews":
		n, _ := h.length(r, f.key)
		m.like(f.key, f, func(f *node) bool {
			switch f.key {
			case "results":
				m.drawn(f.key, n, "movies.reviews.results", 0)
			case "total_pages":
				m.int(f.key, min(1, n))
			case "total_results":
				m.int(f.key, n)
			}
			return f.key != "page"
		})
	case "episode_groups": // records of their own
	default:
		switch {
		case m.seriesField(f) || m.shared(h, f) || m.list(f):
		case f.text[0] == '{':
			m.like(f.key, f, m.field)
		default:
			return false
		}
	}
	return true
}

// externalID writes an id elsewhere that no other record has.
func (m *maker) externalID(name string) {
	id := m.h.of.id(m.h.i)
	unique := strconv.Itoa(10_000_000 + 4*id + slices.Index(m.w.populations, m.h.of)%4)
	switch known := m.r.chance(m.h.known() - 400); {
	case name == "imdb_id" && id%16 == 0 || strings.HasPrefix(name, "freebase") || name == "tvrage_id":
		m.raw(name, "null") // one in sixteen lacks it; nobody has the retired ones
	case name == "imdb_id" && m.h.of == m.w.people:
		m.string(name, "nm"+unique)
	case name == "imdb_id":
		m.string(name, "tt"+unique)
	case !known:
		m.raw(name, "null")
	case name == "tvdb_id":
		m.int(name, 70_000+id)
	case name == "wikidata_id":
		m.string(name, "Q"+unique)
	default: // name of an account
		m.string(name, m.r.letters(5)+unique)
	}
}

// list writes a list whose length is drawn, and reports whether it is one. Elements are like elements of any row.
func (m *maker) list(f *node) bool {
	h, r, w := m.h, m.r, m.w
	path := strings.Split(f.path, ".")[1:]
	name := path[0]
	if name == "credits" {
		name = f.key
	} else if len(path) == 1 && f.text[0] == '{' { // around the list
		return false
	}
	n, ok := h.length(r, name)
	if !ok || f.text[0] != '[' && name != "watch/providers" {
		return false
	}
	switch name {
	case "cast", "crew", "created_by":
		if h.of == w.tv && name != "created_by" {
			n = (n + 1) / 2
		}
		m.credited(f, r, n)
	case "production_companies":
		m.linked(f, r, n, w.companies)
	case "networks":
		same := random{mix(w.tv.seed ^ h.i)} // for each season
		m.linked(f, &same, n, w.networks)
	case "keywords":
		m.linked(f, r, n, w.keywords)
	case "translations":
		from := w.lists[f.path]
		if h.of.votes != nil {
			n = max(n, 1)
		} else if !r.chance(40) { // few people have any
			n = 0
		}
		m.array(f.key, min(n, len(from)), func(i int) {
			m.like("", from[i], func(f *node) bool {
				if f.key == "data" {
					m.like(f.key, f, func(f *node) bool { return m.translated(f, i == 0) })
				}
				return f.key == "data"
			})
		})
	case "also_known_as":
		m.array(f.key, n, func(int) { m.string("", h.name+"-"+pick(r, w.family)) })
	case "release_dates", "content_ratings", "watch/providers": // by country: the first of the row
		m.raw(f.key, f.text[:1])
		for _, one := range f.fields[:min(n, len(f.fields))] {
			m.raw(one.key, one.text)
		}
		m.b = append(m.b, f.text[len(f.text)-1])
	default:
		m.drawn(f.key, n, f.path, 0)
	}
	return true
}

// drawn writes n elements, each like one of the sample under path, with drawn ids, titles and image paths. first is the
// seed of the first path, or 0.
func (m *maker) drawn(name string, n int, path string, first uint64) {
	m.array(name, n, func(i int) {
		m.like("", pick(m.r, m.w.lists[path]), func(f *node) bool {
			switch f.key {
			case "id":
				m.objectID(f.key, m.r)
			case "key":
				m.string(f.key, m.r.letters(11))
			case "title":
				m.string(f.key, m.w.title(m.r, m.w.foreign))
			case "file_path":
				seed := m.r.next() | 1
				if i == 0 && first != 0 {
					seed = first
				}
				m.image(f.key, seed)
			default:
				return false
			}
			return true
		})
	})
}

// translated writes a text of a translation. The English ones are the record's own.
func (m *maker) translated(f *node, isEnglish bool) bool {
	isText := f.key == "overview" || f.key == "biography"
	switch {
	case f.key == "runtime":
		return false
	case isEnglish && m.shared(m.h, f):
	case !isEnglish && isText && m.r.chance(600):
		m.prose(f.key, m.r.next()|1)
	case !isEnglish && f.key == "title" && m.r.chance(600):
		m.string(f.key, m.w.title(m.r, m.w.foreign))
	default:
		m.string(f.key, "")
	}
	return true
}

// linked writes a list of references to at most n records, each once.
func (m *maker) linked(list *node, r *random, n int, to *population) {
	var seen []uint64
	if to.n == 0 {
		n = 0
	}
	m.array(list.key, n, func(int) {
		if i := to.ranked(r.rank(to.n)); !slices.Contains(seen, i) {
			seen = append(seen, i)
			h := m.w.headOf(to, i)
			m.like("", m.w.lists[list.path][0], func(f *node) bool { return m.shared(&h, f) })
		}
	})
}

// credited writes a list of n credits.
func (m *maker) credited(list *node, r *random, n int) {
	if m.w.people.n == 0 {
		n = 0
	}
	m.array(list.key, n, func(i int) {
		p := m.w.headOf(m.w.people, m.w.people.ranked(r.rank(m.w.people.n)))
		m.like("", pick(r, m.w.lists[list.path]), func(f *node) bool {
			switch f.key {
			case "credit_id":
				m.objectID(f.key, r)
			case "cast_id", "order":
				m.int(f.key, i)
			default:
				return m.shared(&p, f)
			}
			return true
		})
	})
}
