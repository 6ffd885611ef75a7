package gen

import (
	"strconv"
	"strings"
)

// A show is the part of a series that lists have, and its division into seasons.
type show struct {
	title
	seasons  int // without season 0
	specials bool
	typical  int    // episodes of a season, in hundredths
	network  uint64 // record
	interval day    // between episodes
	generic  bool   // most episodes have no names
	guests   bool   // somebody keeps guest stars and crews
}

// maxEpisodes is how many the longest series has.
const maxEpisodes = 3677

// Ids of seasons and episodes leave room for as many as a series may have.
const (
	seasonIDs  = 128
	episodeIDs = 8192
)

// showOf makes the part of series i that lists have.
func (w *world) showOf(i uint64) show {
	t, r := w.titleOf(w.tv, i)
	s := show{title: t, interval: 7}
	if earliest := makeDay(1950, 0); s.out < earliest {
		s.out = earliest + day(r.below(70*365))
	}
	episodes := &w.Series.Episodes
	s.seasons = w.Series.Seasons.of(&r, s.votes)
	s.specials = r.chance(w.Has.Specials.at(s.votes))
	s.typical = r.logNormal(episodes.Median.at(s.votes), episodes.Sigma.at(s.votes))
	if r.chance(30) { // daily
		s.typical *= r.between(6, 16)
	}
	s.network = w.networks.pick(&r, crowd)
	if s.typical > 6000 || r.chance(60) {
		s.interval = 1
	}
	s.generic = r.chance(w.Has.GenericNames.at(s.votes))
	s.guests = r.chance(w.Has.Guests.at(s.votes))
	if s.seasons*s.typical > 300*100 { // of the long ones, few do
		s.guests = s.guests && r.chance(250)
	}
	return s
}

// writeTVShow writes the record of series i, its seasons appended.
func writeTVShow(j *writer, i uint64) {
	w := j.w
	s := w.showOf(i)
	seasons := w.seasonsOf(&s)
	details := w.tv.random(i, streamDetails)
	r := &details
	last := &seasons[len(seasons)-1]
	ended := !s.dated || s.airs(last, last.episodes) < today-400
	var latest, next *season // of what aired last and of what airs next
	var latestEpisode, nextEpisode int
	for n := range seasons {
		one := &seasons[n]
		if one.number == 0 || one.episodes == 0 || !one.dated {
			continue
		}
		aired := 0
		if one.out <= today {
			aired = min(one.episodes, int((today-one.out)/s.interval)+1)
		}
		if aired > 0 {
			latest, latestEpisode = one, aired-1
		}
		if aired < one.episodes && next == nil {
			next, nextEpisode = one, aired
		}
	}
	summary := func(name string, one *season, n int) {
		if one == nil {
			j.null(name)
			return
		}
		s.writeEpisode(j, name, w.rows["tv"][0].field("last_episode_to_air"), one, n)
	}
	j.like("", s.like, func(f *node) bool {
		switch f.key {
		case "created_by":
			n := 0
			if r.chance(w.Has.Tagline.at(s.votes)) {
				n = 1 + r.front(3)
			}
			j.credited(f.key, r, n, w.lists["tv.created_by"], nil)
		case "in_production":
			j.bool(f.key, !ended)
		case "last_air_date":
			if latest == nil {
				j.null(f.key)
			} else {
				j.day(f.key, s.airs(latest, latestEpisode), true, "")
			}
		case "last_episode_to_air":
			summary(f.key, latest, latestEpisode)
		case "next_episode_to_air":
			summary(f.key, next, nextEpisode)
		case "networks":
			s.writeNetworks(j)
		case "number_of_episodes":
			j.int(f.key, last.before+last.episodes)
		case "number_of_seasons":
			j.int(f.key, s.seasons)
		case "seasons":
			j.list(f.key, func() {
				for n := range seasons {
					s.writeSeason(j, "", w.lists["tv.seasons"][0], &seasons[n])
				}
			})
		case "status":
			status := "Returning Series"
			if ended {
				status = "Ended"
			}
			j.string(f.key, status)
		case "tagline":
			j.text(f.key, func() {
				if r.chance(w.Has.Tagline.at(s.votes) / 2) {
					j.add(pick(r, w.taglines))
				}
			})
		case "content_ratings":
			j.object(f.key, func() { j.first(f.fields[0], w.Series.Ratings.of(r, s.votes)) })
		case "credits":
			writeCredits(j, r, &s.title, s.votes/16, s.votes/8)
		case "episode_groups": // they are of other records
		case "external_ids":
			j.externalIDs(r, f, func() {
				j.imdb("imdb_id", "tt", int(r.seed(2*w.Has.IMDb.at(s.votes)-1000)%38_000_000))
			}, w.Has.Homepage.at(s.votes)/2)
		default:
			return strings.HasPrefix(f.key, "season/") || s.writeSub(j, r, f, s.votes/4)
		}
		return true
	})
	j.b = j.b[:len(j.b)-1] // the end of the object
	for n := range seasons {
		s.writeSeason(j, "season/"+strconv.Itoa(seasons[n].number), w.rows["tv"][0].field("season/1"), &seasons[n])
	}
	j.b = append(j.b, '}')
}

// writeNetworks writes the network of a series.
func (s *show) writeNetworks(j *writer) {
	j.list("networks", func() {
		j.object("", func() { writeCompany(j, j.w.networks, j.w.rows["networks"], s.network) })
	})
}

// A season is the part of one that lists have.
type season struct {
	number   int
	id       int
	episodes int
	before   int // episodes of the seasons before, season 0 aside
	out      day
	dated    bool
	average  int // thousandths
	poster   uint64
	overview uint64
	named    uint64 // seed of a name; 0: the generic one
}

// seasonsOf makes the seasons of a series in order.
func (w *world) seasonsOf(s *show) (list []season) {
	total, before := 0, 0
	next := s.out
	first := 1
	if s.specials {
		first = 0
	}
	for number := first; number <= s.seasons; number++ {
		r := w.tv.random(s.i, streamSeason+stream(number))
		one := season{
			number: number, id: int(s.i)*seasonIDs + number + 1, before: before, out: next, dated: s.dated,
			poster: r.seed(w.Has.SeasonPoster.at(s.votes)), overview: r.seed(w.Has.SeasonText.at(s.votes)), named: r.seed(80),
		}
		if r.chance(w.Series.Episodes.Any.at(s.votes)) || number == 1 {
			one.episodes = max(1, (r.logNormal(s.typical, 30)+50)/100)
		}
		one.episodes = min(one.episodes, w.Series.Episodes.Most, maxEpisodes-total)
		total += one.episodes
		if s.votes > 0 && r.chance(600) {
			one.average = w.voteAverage(&r, max(1, s.votes/8))
		}
		if number > 0 {
			before += one.episodes
			next += day(one.episodes)*s.interval + day(r.between(120, 420))
		}
		list = append(list, one)
	}
	return list
}

// airs returns when an episode airs, counted from 0.
func (s *show) airs(one *season, episode int) day { return one.out + day(episode)*s.interval }

// writeSeason writes a season with the fields that one of the sample has: as details or as its series has it.
func (s *show) writeSeason(j *writer, name string, like *node, one *season) {
	r := random{mix(j.w.tv.seed ^ uint64(one.id))}
	j.like(name, like, func(f *node) bool {
		switch f.key {
		case "_id":
			j.objectID(f.key, &r)
		case "air_date":
			j.day(f.key, one.out, one.dated, "null")
		case "episode_count":
			j.int(f.key, one.episodes)
		case "episodes":
			j.list(f.key, func() {
				for n := range one.episodes {
					s.writeEpisode(j, "", pick(&r, j.w.lists["tv.season.episodes"]), one, n)
				}
			})
		case "id":
			j.int(f.key, one.id)
		case "name":
			if one.number == 0 {
				j.string(f.key, "Specials")
			} else {
				writeNumbered(j, one.named, "Season", one.number)
			}
		case "networks":
			s.writeNetworks(j)
		case "overview":
			writeOverview(j, one.overview, 260, 50)
		case "poster_path":
			j.path(f.key, one.poster)
		case "season_number":
			j.int(f.key, one.number)
		case "vote_average":
			j.float(f.key, one.average, 1000)
		default:
			return false
		}
		return true
	})
}

// writeNumbered writes as name the title that a seed stands for; a generic one for the seed 0.
func writeNumbered(j *writer, seed uint64, generic string, n int) {
	j.text("name", func() {
		if seed == 0 {
			j.add(generic, " ", strconv.Itoa(n))
		} else {
			addTitle(j, seed, false)
		}
	})
}

// writeEpisode writes an episode, counted from 0, with the fields that one of the sample has.
func (s *show) writeEpisode(j *writer, name string, like *node, one *season, n int) {
	w := j.w
	place := one.before + n + 1 // season 0 has the upper half of the ids
	if one.number == 0 {
		place = episodeIDs/2 + n
	}
	id := int(s.i)*episodeIDs + place
	r := random{mix(w.tv.seed+uint64(id)*golden) ^ golden}
	kind := "standard"
	switch {
	case n == one.episodes-1 && one.number > 0:
		kind = "finale"
	case one.episodes > 12 && n == one.episodes/2 && r.chance(200):
		kind = "mid_season"
	}
	named := 960
	if s.generic {
		named = 30
	}
	title, overview, still := r.seed(named), r.seed(w.Has.EpisodeText.at(s.votes)), r.seed(w.Has.Still.at(s.votes))
	lasts, dated := r.chance(w.Has.EpisodeRuntime.at(s.votes)), one.dated && !r.chance(40)
	runtime := max(1, r.logNormal(4000, 50)/100)
	votes, average := 0, 0
	if r.chance(w.Has.EpisodeVotes.at(s.votes)) {
		votes = max(1, r.logNormal(100+s.votes*4, 80)/100)
		average = w.voteAverage(&r, votes)
	}
	people := func(name string, from []*node, n *spread) {
		count := 0
		if s.guests && r.chance(kept) {
			count = n.of(&r, s.votes)
		}
		j.credited(name, &r, count, from, func(n int, f *node) bool {
			if f.key == "order" {
				j.int(f.key, 500+n)
			}
			return f.key == "order"
		})
	}
	j.like(name, like, func(f *node) bool {
		switch f.key {
		case "air_date":
			j.day(f.key, s.airs(one, n), dated, "null")
		case "crew":
			people(f.key, w.lists["tv.season.episodes.crew"], &w.Series.EpisodeCrew)
		case "episode_number":
			j.int(f.key, n+1)
		case "episode_type":
			j.string(f.key, kind)
		case "guest_stars":
			people(f.key, w.lists["tv.season.episodes.guest_stars"], &w.Series.Guests)
		case "id":
			j.int(f.key, id)
		case "name":
			writeNumbered(j, title, "Episode", n+1)
		case "overview":
			writeOverview(j, overview, 220, 55)
		case "runtime":
			j.intIf(lasts, f.key, runtime)
		case "season_number":
			j.int(f.key, one.number)
		case "show_id":
			j.int(f.key, s.id)
		case "still_path":
			j.path(f.key, still)
		case "vote_average":
			j.float(f.key, average, 1000)
		case "vote_count":
			j.int(f.key, votes)
		default:
			return false
		}
		return true
	})
}

// kept is the permille of episodes, in series that have them at all, whose crew and
// guests are there.
const kept = 880
