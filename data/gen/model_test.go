package gen

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// The tables here quote the measurements that the generator follows: the sections of the
// dumps' README (section 4 and, for totals, 3). Records are drawn from a world of the
// real catalogue's size.

// realWorld is a catalogue of the real size; what is not asked for is not made.
func realWorld() *world { return newWorld(&Config{Movies: realMovies, TV: realTV, Seed: 5}) }

// A sample is numbers that were measured on some records, by name.
type sample map[string][]float64

func (s sample) add(name string, v float64) { s[name] = append(s[name], v) }

func (s sample) flag(name string, v bool) {
	if v {
		s.add(name, 1)
	} else {
		s.add(name, 0)
	}
}

// of returns the mean, the share of zeros or a quantile such as p90.
func (s sample) of(name, stat string) float64 {
	list := s[name]
	if len(list) == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	sum, zeros := 0.0, 0.0
	for _, v := range list {
		if sum += v; v == 0 {
			zeros++
		}
	}
	switch stat {
	case "mean":
		return sum / float64(len(list))
	case "zeros":
		return zeros / float64(len(list))
	case "max":
		return list[len(list)-1]
	}
	q := map[string]float64{"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99}[stat]
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

// A figure is one of the README: want within a factor (for shares: plus or minus).
type figure struct {
	section, name, stat string
	want, factor        float64
}

func (s sample) check(t *testing.T, what string, figures []figure) {
	t.Helper()
	for _, f := range figures {
		got := s.of(f.name, f.stat)
		low, high := f.want/f.factor, f.want*f.factor
		if f.factor < 1 {
			low, high = f.want-f.factor, f.want+f.factor
		}
		if !(got >= low && got <= high) {
			t.Errorf("%s, section %s: %s %s = %.3f, want %.3f to %.3f", what, f.section, f.name, f.stat, got, low, high)
		}
	}
}

func (s sample) movie(m *catalog.Movie, bytes int) {
	s.add("bytes", float64(bytes))
	s.add("votes", float64(m.VoteCount.V))
	s.add("popularity", m.Popularity.V)
	s.add("cast", float64(len(m.Credits.Cast)))
	s.add("crew", float64(len(m.Credits.Crew)))
	s.add("credits", float64(len(m.Credits.Cast)+len(m.Credits.Crew)))
	s.add("posters", float64(len(m.Images.Posters)))
	s.add("backdrops", float64(len(m.Images.Backdrops)))
	s.add("images", float64(len(m.Images.Posters)+len(m.Images.Backdrops)+len(m.Images.Logos)))
	s.add("videos", float64(len(m.Videos.Results)))
	s.add("alternative titles", float64(len(m.AlternativeTitles.Titles)))
	s.add("translations", float64(len(m.Translations.Translations)))
	s.add("keywords", float64(len(m.Keywords.Keywords)))
	s.add("companies", float64(len(m.ProductionCompanies)))
	s.add("countries", float64(len(m.ProductionCountries)))
	s.add("languages", float64(len(m.SpokenLanguages)))
	s.add("genres", float64(len(m.Genres)))
	s.add("runtime", float64(m.Runtime.V))
	s.add("overview", float64(len(m.Overview.V)))
	s.add("title", float64(len([]rune(m.Title.V))))
	s.add("vote average", m.VoteAverage.V)
	s.flag("in a collection", m.BelongsToCollection != nil)
	s.flag("no poster", !m.PosterPath.Set)
	s.flag("no backdrop", !m.BackdropPath.Set)
	s.flag("no overview", m.Overview.V == "")
	s.flag("no genre", len(m.Genres) == 0)
	s.flag("no imdb_id", !m.IMDbID.Set)
	s.flag("no budget", m.Budget.V == 0)
	s.flag("no revenue", m.Revenue.V == 0)
	s.flag("no homepage", m.Homepage.V == "")
	s.flag("no tagline", m.Tagline.V == "")
	s.flag("translated title", m.Title != m.OriginalTitle)
	for _, tr := range m.Translations.Translations {
		for _, text := range []string{tr.Data.Title.V, tr.Data.Overview.V, tr.Data.Tagline.V, tr.Data.Homepage.V} {
			s.flag("translation empty", text == "")
		}
	}
	for _, v := range m.Videos.Results {
		s.flag("YouTube", v.Site.V == "YouTube")
	}
}

// withVotes returns the first rank whose votes are at most n.
func withVotes(votes func(rank uint64) int, ranks uint64, n int) uint64 {
	return uint64(sort.Search(int(ranks), func(r int) bool { return votes(uint64(r)) <= n }))
}

// moviesOf measures count movies, evenly drawn from those with votes from low to high.
func moviesOf(t *testing.T, w *world, low, high int, count uint64) sample {
	t.Helper()
	votes := func(rank uint64) int { return w.movies.votes.at(w.movies.shareOf(rank)) }
	from, to := withVotes(votes, w.movies.n, high), withVotes(votes, w.movies.n, low-1)
	out := sample{}
	p := record.NewParser()
	for k := range count {
		i := w.movies.ranked(from + (to-from)*k/count)
		b := line(t, w, w.movies.population, i)
		var m catalog.Movie
		if err := p.Parse(b, record.Of(&m)); err != nil {
			t.Fatal(err)
		}
		if m.VoteCount.V < int64(low) || m.VoteCount.V > int64(high) {
			t.Fatalf("movie has %d votes, want %d to %d", m.VoteCount.V, low, high)
		}
		out.movie(&m, len(b))
	}
	return out
}

func TestMoviesByVotes(t *testing.T) {
	skipAlone(t)
	w := realWorld()
	for _, class := range []struct {
		low, high int
		count     uint64
		figures   []figure
	}{
		{0, 9, 1500, []figure{
			{"4.3", "no poster", "mean", 0.30, 0.04},
			{"4.3", "no overview", "mean", 0.25, 0.04},
			{"4.3", "no backdrop", "mean", 0.70, 0.05},
			{"4.3", "no genre", "mean", 0.50, 0.04},
			{"4.3", "no imdb_id", "mean", 0.095, 0.03},
			{"4.7", "translations", "p10", 1, 1.01},
			{"4.7", "translations", "p50", 2, 1.01},
			{"4.7", "translations", "p90", 3, 1.4},
			{"4.7", "translation empty", "mean", 0.7, 0.15},
			{"4.1", "cast", "max", 90, 2.5},
		}},
		{10, 99, 600, []figure{
			{"4.3", "posters", "mean", 12.9, 1.3},
			{"4.3", "posters", "p50", 7, 1.4},
			{"4.3", "posters", "p90", 31, 1.4},
			{"4.3", "backdrops", "mean", 9.5, 1.5},
			{"4.3", "backdrops", "p50", 5, 1.5},
			{"4.3", "backdrops", "p90", 22, 1.5},
			{"4.3", "videos", "mean", 2.5, 1.8},
			{"4.3", "videos", "p50", 1, 1.01},
			{"4.3", "videos", "p90", 5, 1.5},
			{"4.3", "alternative titles", "mean", 1.7, 1.6},
			{"4.3", "in a collection", "mean", 0.13, 0.06},
			{"4.3", "no backdrop", "mean", 0.14, 0.06},
			{"4.3", "no imdb_id", "mean", 0.13, 0.05},
		}},
		{85, 115, 200, []figure{{"4.7", "translations", "p10", 10, 1.5}, {"4.7", "translations", "p90", 20, 1.35}}},
		{100, 999, 300, []figure{
			{"4.3", "posters", "mean", 59, 1.3},
			{"4.3", "posters", "p50", 46, 1.3},
			{"4.3", "posters", "p90", 112, 1.5},
			{"4.3", "backdrops", "mean", 32, 1.35},
			{"4.3", "backdrops", "p50", 27, 1.3},
			{"4.3", "backdrops", "p90", 58, 1.5},
			{"4.3", "videos", "mean", 13, 1.4},
			{"4.3", "videos", "p50", 5, 1.7},
			{"4.3", "videos", "p90", 35, 1.4},
			{"4.3", "alternative titles", "mean", 5.1, 1.3},
			{"4.3", "alternative titles", "p50", 4, 1.3},
			{"4.3", "alternative titles", "p90", 11, 1.4},
			{"4.3", "in a collection", "mean", 0.15, 0.06},
			{"4.3", "no backdrop", "mean", 0, 0.02},
			{"4.4", "genres", "mean", 2.5, 1.2},
			{"4.4", "genres", "p90", 4, 1.4},
			{"4.4", "keywords", "mean", 7.5, 1.4},
			{"4.4", "companies", "mean", 2.9, 1.3},
			{"4.4", "companies", "p90", 6, 1.5},
			{"4.4", "countries", "mean", 1.3, 1.3},
			{"4.4", "languages", "mean", 1.4, 1.4},
			{"4.4", "runtime", "p50", 103, 1.15},
			{"4.4", "runtime", "p90", 132, 1.15},
			{"4.4", "overview", "mean", 305, 1.2},
			{"4.4", "overview", "p50", 283, 1.2},
			{"4.4", "overview", "max", 1000, 1.2},
			{"4.4", "title", "mean", 15, 1.25},
			{"4.4", "title", "p90", 26, 1.25},
			{"4.4", "vote average", "mean", 6.1, 1.1},
			{"4.4", "vote average", "p10", 4.9, 1.1},
			{"4.4", "vote average", "p90", 7.3, 1.1},
			{"4.3", "no homepage", "mean", 0.64, 0.15},
		}},
		{1000, 9999, 120, []figure{
			{"4.3", "posters", "mean", 214, 1.25},
			{"4.3", "posters", "p50", 186, 1.25},
			{"4.3", "posters", "p90", 377, 1.25},
			{"4.3", "posters", "max", 473, 1.1},
			{"4.3", "backdrops", "mean", 100, 1.25},
			{"4.3", "backdrops", "p90", 161, 1.3},
			{"4.3", "videos", "mean", 50, 1.35},
			{"4.3", "videos", "p50", 38, 1.4},
			{"4.3", "alternative titles", "mean", 15, 1.3},
			{"4.3", "alternative titles", "p90", 30, 1.4},
			{"4.3", "in a collection", "mean", 0.42, 0.13},
			{"4.4", "translated title", "mean", 0.05, 0.07},
			{"4.4", "no tagline", "mean", 0.18, 0.1},
			{"4.7", "translations", "p10", 40, 1.1},
			{"4.7", "translations", "p90", 50, 1.1},
			{"4.3", "YouTube", "mean", 0.999, 0.005},
		}},
		{2400, 6000, 120, []figure{ // around the median of the top-rated, 3,720
			{"4.1", "cast", "mean", 50.4, 1.2},
			{"4.1", "cast", "p10", 20, 1.4},
			{"4.1", "cast", "p50", 44, 1.25},
			{"4.1", "cast", "p90", 87, 1.3},
			{"4.1", "crew", "mean", 121.6, 1.35},
			{"4.1", "crew", "p10", 29, 1.5},
			{"4.1", "crew", "p50", 91, 1.35},
			{"4.1", "crew", "p90", 249, 1.5},
			{"4.4", "keywords", "mean", 13.9, 1.3},
		}},
		{15000, 60000, 70, []figure{
			{"4.1", "crew", "mean", 264, 1.35},
			{"4.1", "crew", "p50", 212, 1.35},
			{"4.3", "posters", "mean", 280, 1.25},
			{"4.3", "backdrops", "mean", 139, 1.25},
			{"4.3", "videos", "mean", 28, 1.35},
			{"4.3", "alternative titles", "mean", 25, 1.3},
			{"4.3", "in a collection", "mean", 0.80, 0.15},
		}},
	} {
		s := moviesOf(t, w, class.low, class.high, class.count)
		s.check(t, "votes "+strconv.Itoa(class.low)+" to "+strconv.Itoa(class.high), class.figures)
	}
}

// TestMoviesOfAll draws from the whole catalogue.
func TestMoviesOfAll(t *testing.T) {
	w := realWorld()
	s := moviesOf(t, w, 0, 1<<40, 2500)
	s.check(t, "all", []figure{
		{"3", "credits", "mean", 16, 1.5}, // 15 to 25 M of 1.24 M movies
		{"3", "images", "mean", 7.5, 1.4}, // 8 to 12 M of 1.24 M movies and 0.23 M shows
		{"3", "translations", "mean", 3.7, 1.4},
		{"3", "genres", "mean", 1.07, 1.15},
		{"4.4", "title", "p90", 26, 1.25},
		{"4.6", "bytes", "mean", 9000, 1.3},
	})
	for _, rank := range []struct {
		rank uint64
		want float64
	}{{2000, 6.2}, {1000, 9.0}, {200, 20.3}, {20, 100}, {0, 353}} { // 4.5
		got := float64(w.movies.popularity.at(w.movies.shareOf(rank.rank))) / 10_000
		if got < rank.want/1.25 || got > rank.want*1.25 {
			t.Errorf("section 4.5: popularity at rank %d = %v, want about %v", rank.rank, got, rank.want)
		}
	}
	for _, rank := range []struct {
		rank uint64
		want float64
	}{{2000, 13.8}, {1000, 22.4}, {200, 56.4}, {20, 152}, {0, 287}} {
		got := float64(w.tv.popularity.at(w.tv.shareOf(rank.rank))) / 10_000
		if got < rank.want/1.25 || got > rank.want*1.25 {
			t.Errorf("section 4.5: popularity of series at rank %d = %v, want about %v", rank.rank, got, rank.want)
		}
	}
}

// crawledVotes are the votes of the series crawled: shares and votes (section 4.5).
var crawledVotes = []struct{ share, votes float64 }{{0, 0}, {0.1, 2}, {0.5, 45}, {0.9, 1298}, {0.99, 10074}, {1, 27313}}

// crawled returns the votes of the series at a share of the crawl.
func crawled(share float64) int {
	for i := 1; ; i++ {
		a, b := crawledVotes[i-1], crawledVotes[i]
		if share <= b.share {
			x := (share - a.share) / (b.share - a.share)
			return int(math.Exp(math.Log(a.votes+1)+x*(math.Log(b.votes+1)-math.Log(a.votes+1))) - 1)
		}
	}
}

func (s sample) series(tv *catalog.TV, seasons []catalog.Season, bytes int) {
	s.add("bytes", float64(bytes))
	s.add("seasons", float64(len(seasons)))
	s.add("posters", float64(len(tv.Images.Posters)))
	s.add("backdrops", float64(len(tv.Images.Backdrops)))
	s.add("alternative titles", float64(len(tv.AlternativeTitles.Results)))
	s.flag("no overview", tv.Overview.V == "")
	episodes := 0
	for i := range seasons {
		one := &seasons[i]
		episodes += len(one.Episodes)
		s.flag("season 0", one.SeasonNumber.V == 0)
		s.add("episodes of a season", float64(len(one.Episodes)))
		s.flag("season without poster", !one.PosterPath.Set)
		s.flag("season without overview", one.Overview.V == "")
		for k := range one.Episodes {
			s.episode(&one.Episodes[k])
		}
	}
	s.add("episodes", float64(episodes))
}

func (s sample) episode(e *catalog.SeasonEpisode) {
	s.flag("episode without overview", e.Overview.V == "")
	s.flag("episode without still", !e.StillPath.Set)
	s.flag("episode without runtime", !e.Runtime.Set)
	s.flag("episode without air_date", !e.AirDate.Set)
	s.flag("episode without votes", e.VoteCount.V == 0)
	s.flag("generic name", strings.HasPrefix(e.Name.V, "Episode "))
	s.flag("finale", e.EpisodeType.V == "finale")
	s.flag("mid_season", e.EpisodeType.V == "mid_season")
	s.add("guests", float64(len(e.GuestStars)))
	s.add("crew", float64(len(e.Crew)))
}

// TestSeries draws series with the votes of those crawled. A few long ones decide the
// means of episodes: the tolerances of these are wide.
func TestSeries(t *testing.T) {
	skipAlone(t)
	w := realWorld()
	votes := func(rank uint64) int { return w.tv.votes.at(w.tv.shareOf(rank)) }
	s := sample{}
	p := record.NewParser()
	const count = 300
	for k := range count {
		n := crawled((float64(k) + 0.5) / count)
		from, to := withVotes(votes, w.tv.n, n), withVotes(votes, w.tv.n, n-1)
		i := w.tv.ranked(min(w.tv.n-1, from+max(1, to-from)*uint64(k)/count))
		b := line(t, w, w.tv.population, i)
		var tv catalog.TV
		if err := p.Parse(b, record.Of(&tv)); err != nil {
			t.Fatal(err)
		}
		s.series(&tv, seasonsIn(t, p, &tv), len(b))
	}
	s.check(t, "series", []figure{
		{"4.6", "seasons", "mean", 4.0, 1.35},
		{"4.6", "seasons", "p50", 2, 1.01},
		{"4.6", "seasons", "p90", 9, 1.5},
		{"4.6", "seasons", "max", 81, 3},
		{"4.6", "season 0", "mean", 0.06, 0.03},
		{"4.6", "episodes", "mean", 88, 2},
		{"4.6", "episodes", "p50", 20, 1.5},
		{"4.6", "episodes", "p90", 207, 2},
		{"4.6", "episodes of a season", "mean", 22, 1.7},
		{"4.6", "episodes of a season", "p50", 12, 1.4},
		{"4.6", "episodes of a season", "p90", 37, 1.6},
		{"4.6", "episodes of a season", "zeros", 0.044, 0.03},
		{"4.6", "season without poster", "mean", 0.14, 0.06},
		{"4.6", "season without overview", "mean", 0.67, 0.08},
		{"4.6", "episode without overview", "mean", 0.45, 0.13},
		{"4.6", "episode without still", "mean", 0.34, 0.12},
		{"4.6", "episode without runtime", "mean", 0.20, 0.06},
		{"4.6", "episode without air_date", "mean", 0.05, 0.04},
		{"4.6", "episode without votes", "mean", 0.65, 0.13},
		{"4.6", "generic name", "mean", 0.38, 0.25},
		{"4.6", "finale", "mean", 0.033, 0.04},
		{"4.6", "mid_season", "mean", 0.005, 0.005},
		{"4.6", "guests", "zeros", 0.71, 0.2},
		{"4.6", "crew", "zeros", 0.76, 0.2},
		{"4.6", "guests", "p99", 25, 1.8},
		{"4.6", "crew", "p99", 35, 2},
		{"4.6", "posters", "p50", 19, 1.7},
		{"4.6", "posters", "p90", 106, 2},
		{"4.6", "backdrops", "p50", 13, 1.7},
		{"4.6", "alternative titles", "p50", 4, 1.8},
		{"4.6", "no overview", "mean", 0.054, 0.06},
		{"4.6", "bytes", "p50", 45_000, 1.7},
		{"4.6", "bytes", "p90", 395_000, 1.8},
	})
}

// TestCreditsOfPeople draws as many credits as the sample had. Of the people, those count
// who got one: about as many as there were in it.
func TestCreditsOfPeople(t *testing.T) {
	const draws, people = 184_350, 62_044 // section 4.2
	w := newWorld(&Config{Movies: 1, People: people * 9 / 5, Seed: 1})
	r := random{1}
	counts := map[uint64]float64{}
	for n := range draws {
		d := &w.departments[acting]
		if n%2 == 0 {
			d = w.jobOf(&r, n%15).department
		}
		counts[w.somebody(&r, d)]++
	}
	s := sample{}
	for _, n := range counts {
		s.add("credits", n)
	}
	s.check(t, "people", []figure{
		{"4.2", "credits", "mean", 2.97, 1.2},
		{"4.2", "credits", "p50", 1, 1.01},
		{"4.2", "credits", "p90", 6, 1.35},
		{"4.2", "credits", "p99", 30, 1.35},
		{"4.2", "credits", "max", 259, 1.8},
	})
}

// TestPeopleOfEpisodes draws the guests and the crews of episodes.
func TestPeopleOfEpisodes(t *testing.T) {
	w := realWorld()
	r := random{1}
	s := sample{}
	seen := map[uint64]bool{}
	for n := range 40_000 {
		what, d := "guest", &w.departments[acting]
		if n%2 == 0 {
			what, d = "crew", w.jobOf(&r, n%12).department
		}
		i := w.somebody(&r, d)
		p := w.personOf(i)
		s.flag(what+" without profile", p.profile == 0)
		if seen[i] {
			continue
		}
		seen[i] = true
		s.add("popularity", float64(p.popularity)/10_000)
		s.flag("without profile", p.profile == 0)
		s.flag("other original name", p.given.latin != p.given.own)
		for g, name := range []string{"unknown", "female", "male", "non-binary"} {
			s.flag(name, p.gender == g)
		}
	}
	s.check(t, "people", []figure{
		{"4.2", "popularity", "mean", 0.56, 2},
		{"4.2", "popularity", "p50", 0.36, 2},
		{"4.2", "popularity", "p99", 3.52, 2},
		{"4.2", "without profile", "mean", 0.46, 0.1},
		{"4.2", "guest without profile", "mean", 0.15, 0.1},
		{"4.2", "crew without profile", "mean", 0.78, 0.1},
		{"4.2", "other original name", "mean", 0.17, 0.03},
		{"4.2", "unknown", "mean", 0.27, 0.02},
		{"4.2", "female", "mean", 0.28, 0.03},
		{"4.2", "male", "mean", 0.44, 0.03},
		{"4.2", "non-binary", "mean", 0.002, 0.002},
	})
}

// TestTitlesOfCompanies counts the titles of companies.
func TestTitlesOfCompanies(t *testing.T) {
	w := newWorld(&Config{Movies: realMovies / 4, Seed: 1})
	r := random{1}
	counts := map[uint64]float64{}
	for range realMovies / 4 {
		counts[crowd.rank(&r, w.companies.n)]++
	}
	s := sample{}
	for _, n := range counts {
		s.add("titles", n)
	}
	s.check(t, "companies", []figure{
		{"4.4", "titles", "p50", 2, 2},
		{"4.4", "titles", "p90", 15, 2},
		{"4.4", "titles", "p99", 121, 2},
		{"4.4", "titles", "max", 3669, 3},
	})
}

func BenchmarkMovies(b *testing.B) { benchmark(b, 0) }

func BenchmarkTV(b *testing.B) { benchmark(b, 1) }

func BenchmarkPeople(b *testing.B) { benchmark(b, 2) }

// benchmark makes records of a part, one after another.
func benchmark(b *testing.B, n int) {
	b.Helper()
	w := realWorld()
	p := w.populations[n]
	j := writer{w, make([]byte, 0, 32<<20)}
	i, bytes := uint64(0), int64(0)
	for b.Loop() {
		j.b = j.b[:0]
		writeLine(&j, p, i%p.n)
		bytes += int64(len(j.b))
		i++
	}
	b.SetBytes(bytes / int64(i))
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "rows/s")
	b.ReportAllocs()
}
