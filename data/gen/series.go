package gen

import (
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/day"
)

// Ids of seasons and episodes leave room for the longest series of the sample.
const (
	seasonIDs  = 128
	episodeIDs = 8192
)

// A season is one of the sample.
type season struct {
	like     *node // details
	number   int
	before   int // episodes of the seasons before
	episodes []*node
}

// seasonsOf returns the first seasons of a series' row, and nil for other records.
func (w *world) seasonsOf(h *head) (list []season) {
	if h.of != w.tv {
		return nil
	}
	r := w.tv.random(h.i, streamSeasons)
	most := 1 + h.size*r.between(50, 150)/60/100
	before, specials := 0, r.chance(100+50*h.octave)
	for _, f := range h.like.fields {
		if f.path != "tv.season" {
			continue
		}
		number, _ := strconv.Atoi(f.field("season_number").text)
		if number <= most && (number > 0 || specials) {
			list = append(list, season{f, number, before, f.field("episodes").fields})
			before += len(f.field("episodes").fields)
		}
	}
	return list
}

// aired returns the day of an episode or season: the sample's, moved like the first day of the series.
func (m *maker) aired(f *node) (day.Day, bool) {
	first, _ := parseDay(m.h.like.field("first_air_date").text)
	out, ok := parseDay(f.field("air_date").text)
	return out + m.h.out - first, ok && m.h.dated
}

// seriesField writes a field that follows from the seasons of a series, and reports whether it is one.
func (m *maker) seriesField(f *node) bool {
	regular := m.seasons
	if len(regular) > 0 && regular[0].number == 0 {
		regular = regular[1:]
	}
	switch {
	case m.h.of != m.w.tv:
		return false
	case f.key == "number_of_seasons":
		m.int(f.key, len(regular))
	case f.key == "number_of_episodes":
		n := 0
		for _, s := range regular {
			n += len(s.episodes)
		}
		m.int(f.key, n)
	case f.key == "last_air_date" || f.key == "last_episode_to_air" || f.key == "next_episode_to_air":
		m.around(f.key, regular)
	case f.key == "seasons":
		m.array(f.key, len(m.seasons), func(i int) {
			m.season("", m.w.lists["tv.seasons"][0], &m.seasons[i])
		})
	case f.path == "tv.season":
		for i := range m.seasons {
			if m.seasons[i].like == f {
				m.season(f.key, f, &m.seasons[i])
			}
		}
	default:
		return false
	}
	return true
}

// around writes a field about the last episode until today, or the next.
func (m *maker) around(name string, regular []season) {
	var last, next func()
	for _, s := range regular {
		for i, e := range s.episodes {
			write := func() { m.episode(name, m.w.rows["tv"][0].field("last_episode_to_air"), e, &s, i) }
			switch out, ok := m.aired(e); {
			case !ok || out > today && next != nil:
			case out > today:
				next = write
			case name == "last_air_date":
				last = func() { m.day(name, out, true, "") }
			default:
				last = write
			}
		}
	}
	if name == "next_episode_to_air" {
		last = next
	}
	if last == nil {
		last = func() { m.raw(name, "null") }
	}
	last()
}

// season writes a season with the fields of like: its details or its summary.
func (m *maker) season(name string, like *node, s *season) {
	id := int(m.h.i)*seasonIDs + s.number + 1
	r := random{mix(m.w.tv.seed ^ uint64(id))}
	m.like(name, like, func(f *node) bool {
		switch f.key {
		case "_id":
			m.objectID(f.key, &r)
		case "id":
			m.int(f.key, id)
		case "air_date":
			out, ok := m.aired(s.like)
			m.day(f.key, out, ok, "null")
		case "episode_count":
			m.int(f.key, len(s.episodes))
		case "poster_path":
			same := random{mix(m.w.tv.seed + uint64(id))}
			m.image(f.key, same.seed(m.h.known()))
		case "networks":
			return m.list(&node{key: f.key, path: "tv.networks", text: f.text})
		case "episodes":
			m.array(f.key, len(s.episodes), func(i int) { m.episode("", s.episodes[i], s.episodes[i], s, i) })
		default:
			m.raw(f.key, s.like.field(f.key).text)
		}
		return true
	})
}

// episode writes episode i of a season with the fields of like, and values of f.
func (m *maker) episode(name string, like, f *node, s *season, i int) {
	id := int(m.h.i)*episodeIDs + s.before + i + 1
	r := random{mix(m.w.tv.seed+uint64(id)*golden) ^ golden}
	text, still := r.seed(m.h.known()-300), r.seed(m.h.known()-200)
	m.like(name, like, func(l *node) bool {
		switch l.key {
		case "id":
			m.int(l.key, id)
		case "show_id":
			m.int(l.key, m.h.of.id(m.h.i))
		case "air_date":
			out, ok := m.aired(f)
			m.day(l.key, out, ok, "null")
		case "overview":
			m.prose(l.key, text)
		case "still_path":
			m.image(l.key, still)
		case "crew", "guest_stars":
			n := 0
			if mix(m.w.tv.seed-m.h.i)%100 < 35 { // few series have these
				n = len(l.fields)
			}
			m.credited(l, &r, n)
		default:
			m.raw(l.key, f.field(l.key).text)
		}
		return true
	})
}
