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

// derived are fields that the build derives, and lists of records of their own.
var derived = []string{
	"number_of_seasons", "number_of_episodes", "last_air_date", "last_episode_to_air", "next_episode_to_air", "seasons",
	"total_pages", "total_results", "episode_groups",
}

// A maker writes one record.
type maker struct {
	*writer
	h           *head
	r           *random
	first, last int // numbers of its seasons
}

// writeLine writes record i, and a line end after it.
func writeLine(j *writer, p *population, i uint64) {
	h := j.w.headOf(p, i)
	r := p.random(i, streamDetails)
	m := maker{writer: j, h: &h, r: &r, first: 1, last: 1 + h.size*r.between(50, 150)/60/100}
	if r.chance(200) {
		m.first = 0 // specials
	}
	j.like("", h.like, m.field)
	j.b = append(j.b, '\n')
}

// shared writes a field that other records repeat, and reports whether it is one.
func (j *writer) shared(h *head, f *node) bool {
	switch f.key {
	case "id":
		j.int(f.key, h.of.id(h.i))
	case "name", "title":
		j.string(f.key, h.name)
	case "original_name", "original_title":
		j.string(f.key, h.original)
	case "popularity":
		j.float(f.key, h.popularity, 10_000)
	case "vote_average":
		j.float(f.key, h.average, 1000)
	case "vote_count":
		j.int(f.key, h.votes)
	default:
		of := h.like.field(f.key)
		if of == nil {
			return false
		}
		j.raw(f.key, of.text)
	}
	return true
}

// field writes a field of the record that differs from the sample's, and reports whether it did.
func (m *maker) field(f *node) bool {
	switch {
	case slices.Contains(derived, f.key):
	case f.key == "belongs_to_collection":
		if i, ok := m.w.collectionOf(m.h); ok {
			c := m.w.headOf(m.w.collections, i)
			m.like(f.key, m.w.collectionRef, func(f *node) bool { return m.shared(&c, f) })
		} else {
			m.raw(f.key, "null")
		}
	case f.key == "imdb_id", f.path == m.h.of.name+".external_ids."+f.key:
		m.externalID(f.key)
	case f.key == "parent_company":
		m.raw(f.key, "null")
	case f.key == "images" && m.h.of.votes != nil: // rows of the sample lack some lists
		m.raw(f.key, "{")
		for _, name := range []string{"backdrops", "logos", "posters"} {
			m.list(&node{key: name, path: f.path + "." + name, text: "[]"})
		}
		m.b = append(m.b, '}')
	case strings.HasSuffix(f.key, "_date"):
		m.day(f, m.h.shift)
	case f.path == "tv.season":
		m.season(f)
	case m.list(f):
	case f.text[0] == '{':
		m.like(f.key, f, m.field)
	default:
		return f.path == m.h.of.name+"."+f.key && m.shared(m.h, f)
	}
	return true
}

// externalID writes an id elsewhere that no other record has, or null.
func (m *maker) externalID(name string) {
	id := 10_000_000 + 4*m.h.of.id(m.h.i) + slices.Index(m.w.populations, m.h.of)%4
	switch {
	case name == "imdb_id" && m.h.of == m.w.people:
		m.string(name, "nm"+strconv.Itoa(id))
	case name == "imdb_id":
		m.string(name, "tt"+strconv.Itoa(id))
	case name == "wikidata_id":
		m.string(name, "Q"+strconv.Itoa(id))
	default:
		m.raw(name, "null")
	}
}

// list writes a list whose length is drawn, and reports whether it is one. Elements are like elements of any row.
func (m *maker) list(f *node) bool {
	h, r, w := m.h, m.r, m.w
	path := strings.Split(f.path, ".")[1:]
	name := path[0]
	if name == "credits" || name == "images" {
		name = f.key
	} else if len(path) == 1 && f.text[0] == '{' { // around the list
		return false
	}
	l, ok := lengths[name]
	if !ok || f.text[0] != '[' && name != "watch/providers" {
		return false
	}
	n := min((l.mean*h.size/100*r.between(50, 150)/100+r.below(100))/100, l.most)
	switch name {
	case "cast", "crew", "created_by":
		if h.of == w.tv { // seasons have more
			n = (n + 1) / 2
		}
		m.credited(f, n)
	case "production_companies":
		m.linked(f, r, n, w.companies)
	case "networks":
		same := random{mix(w.tv.seed ^ h.i)} // for each season
		m.linked(f, &same, n, w.networks)
	case "keywords":
		m.linked(f, r, n, w.keywords)
	case "translations":
		from := w.lists[f.path]
		if n = max(n, 1); h.of.votes == nil && !r.chance(40) { // few people have any
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
		m.drawn(f, n)
	}
	return true
}

// drawn writes n elements, each like one of the sample's, with drawn ids and titles.
func (m *maker) drawn(list *node, n int) {
	from := m.w.lists[list.path]
	if len(from) == 0 {
		n = 0
	}
	m.array(list.key, n, func(int) {
		m.like("", pick(m.r, from), func(f *node) bool {
			switch f.key {
			case "id":
				m.objectID(f.key, m.r)
			case "title":
				m.string(f.key, m.w.title(m.r, m.w.foreign))
			default:
				return false
			}
			return true
		})
	})
}

// translated writes a text of a translation. The English ones are the record's own, and titles are drawn.
func (m *maker) translated(f *node, isEnglish bool) bool {
	switch {
	case isEnglish:
		return m.shared(m.h, f)
	case f.key != "title" && f.key != "name":
		return false
	case m.h.of.votes != nil && m.r.chance(600):
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
func (m *maker) credited(list *node, n int) {
	if m.w.people.n == 0 {
		n = 0
	}
	m.array(list.key, n, func(i int) {
		p := m.w.headOf(m.w.people, m.w.people.ranked(m.r.rank(m.w.people.n)))
		m.like("", pick(m.r, m.w.lists[list.path]), func(f *node) bool {
			switch f.key {
			case "credit_id":
				m.objectID(f.key, m.r)
			case "cast_id", "order":
				m.int(f.key, i)
			default:
				return m.shared(&p, f)
			}
			return true
		})
	})
}

// Ids of seasons and episodes leave room for the longest series and the longest season of the sample.
const (
	seasonIDs   = 128
	episodeIDs  = 8192
	maxEpisodes = 312 // in one season
)

// season writes a season of the sample, if the series has it.
func (m *maker) season(f *node) {
	number, _ := strconv.Atoi(f.field("season_number").text)
	if number < m.first || number > m.last {
		return
	}
	m.like(f.key, f, func(f *node) bool {
		switch f.key {
		case "_id":
			m.objectID(f.key, m.r)
		case "id":
			m.int(f.key, int(m.h.i)*seasonIDs+number+1)
		case "air_date":
			m.day(f, m.h.shift)
		case "networks":
			return m.list(&node{key: f.key, path: "tv.networks", text: f.text})
		case "episodes":
			m.array(f.key, len(f.fields), func(i int) { m.episode(f.fields[i], int(m.h.i)*episodeIDs+number*maxEpisodes+i+1) })
		default:
			return false
		}
		return true
	})
}

// episode writes an episode of the sample.
func (m *maker) episode(f *node, id int) {
	m.like("", f, func(f *node) bool {
		switch f.key {
		case "id":
			m.int(f.key, id)
		case "show_id":
			m.int(f.key, m.h.of.id(m.h.i))
		case "air_date":
			m.day(f, m.h.shift)
		case "crew", "guest_stars":
			n := 0
			if mix(m.w.tv.seed-m.h.i)%100 < 35 { // few series have these
				n = len(f.fields)
			}
			m.credited(f, n)
		default:
			return false
		}
		return true
	})
}
