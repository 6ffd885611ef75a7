package e2e

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// titleFacts holds the values that discover filters by, from the responses about one title.
type titleFacts struct {
	id, votes, runtime, revenue int64
	popularity, vote            float64
	date, title, original, lang string
	adult, video                bool
	genres, keywords, companies []int64
	cast, crew                  []int64
	countries                   []string
	releases                    []shownRelease
	offers                      []offer
	networks, airDates          []string
	status, typ                 string
	seasons, episodes           int64
	ratings                     []shownRelease
}

type shownRelease struct {
	country, day, certification string
	typ                         int64
}

type offer struct {
	country, typ string
	provider     int64
}

// idList returns the ids of rows in their order.
func idList(list []*value) []int64 {
	var out []int64
	for _, v := range list {
		out = append(out, v.int("id"))
	}
	return out
}

func texts(list []*value) []string {
	var out []string
	for _, v := range list {
		out = append(out, v.text())
	}
	return out
}

// offersOf reads watch/providers.
func offersOf(v *value) []offer {
	var out []offer
	results := v.at("watch/providers", "results")
	if results == nil {
		return nil
	}
	for _, country := range results.keys {
		c := results.members[country]
		for _, typ := range c.keys {
			for _, p := range c.list(typ) {
				out = append(out, offer{country, typ, p.int("provider_id")})
			}
		}
	}
	return out
}

// factsOfMovies reads the facts of all movies of a release from its responses.
func factsOfMovies(t *testing.T, rel *release.Reader) []titleFacts {
	t.Helper()
	var all []titleFacts
	for _, id := range idsOf(t, rel, fragment.KindMovie) {
		v := get(t, rel, fmt.Sprintf("/3/movie/%d?append_to_response=credits,keywords,release_dates,watch/providers", id))
		f := titleFacts{
			id: id, votes: v.int("vote_count"), runtime: v.int("runtime"), revenue: v.int("revenue"),
			popularity: v.float("popularity"), vote: v.float("vote_average"), date: v.text("release_date"),
			title: v.text("title"), original: v.text("original_title"), lang: v.text("original_language"),
			adult: v.isTrue("adult"), video: v.isTrue("video"),
			genres: idList(v.list("genres")), keywords: idList(v.list("keywords", "keywords")),
			companies: idList(v.list("production_companies")), cast: idList(v.list("credits", "cast")), crew: idList(v.list("credits", "crew")),
			countries: texts(v.list("origin_country")), offers: offersOf(v),
		}
		for _, c := range v.list("release_dates", "results") {
			for _, r := range c.list("release_dates") {
				f.releases = append(f.releases, shownRelease{
					country: c.text("iso_3166_1"), day: r.text("release_date")[:10], certification: r.text("certification"), typ: r.int("type"),
				})
			}
		}
		all = append(all, f)
	}
	slices.SortFunc(all, byRank)
	return all
}

// byRank orders by popularity, then by id.
func byRank(a, b titleFacts) int {
	return cmp.Or(cmp.Compare(b.popularity, a.popularity), cmp.Compare(a.id, b.id))
}

// factsOfSeries reads the facts of all series of a release from its responses.
func factsOfSeries(t *testing.T, rel *release.Reader) []titleFacts {
	t.Helper()
	numbers := map[string]string{
		"Returning Series": "0", "Planned": "1", "In Production": "2", "Ended": "3", "Canceled": "4", "Pilot": "5",
		"Documentary": "0", "News": "1", "Miniseries": "2", "Reality": "3", "Scripted": "4", "Talk Show": "5", "Video": "6",
	}
	var all []titleFacts
	for _, id := range idsOf(t, rel, fragment.KindTV) {
		path := fmt.Sprintf("/3/tv/%d", id)
		v := get(t, rel, path+"?append_to_response=credits,keywords,content_ratings,watch/providers")
		f := titleFacts{
			id: id, votes: v.int("vote_count"), popularity: v.float("popularity"), vote: v.float("vote_average"),
			date: v.text("first_air_date"), title: v.text("name"), original: v.text("original_name"), lang: v.text("original_language"),
			adult: v.isTrue("adult"), genres: idList(v.list("genres")), keywords: idList(v.list("keywords", "results")),
			companies: idList(v.list("production_companies")), countries: texts(v.list("origin_country")), offers: offersOf(v),
			status: numbers[v.text("status")], typ: numbers[v.text("type")], seasons: v.int("number_of_seasons"), episodes: v.int("number_of_episodes"),
		}
		var lasted []int64
		for _, n := range v.list("networks") {
			f.networks = append(f.networks, fmt.Sprint(n.int("id")))
		}
		for _, r := range v.list("content_ratings", "results") {
			f.ratings = append(f.ratings, shownRelease{country: r.text("iso_3166_1"), certification: r.text("rating")})
		}
		for _, s := range v.list("seasons") {
			season := get(t, rel, fmt.Sprintf("%s/season/%d", path, s.int("season_number")))
			for _, e := range season.list("episodes") {
				lasted = append(lasted, e.int("runtime"))
				if day := e.text("air_date"); day != "" {
					f.airDates = append(f.airDates, day)
				}
			}
		}
		f.runtime = runtimeOf(v, lasted)
		all = append(all, f)
	}
	slices.SortFunc(all, byRank)
	return all
}

// runtimeOf returns the runtime of a series: its own, else the most frequent of its
// episodes, the shorter one of several.
func runtimeOf(series *value, episodes []int64) int64 {
	if times := series.list("episode_run_time"); len(times) > 0 {
		return times[0].int()
	}
	var best int64
	most := 0
	slices.Sort(episodes)
	for len(episodes) > 0 {
		n := 1
		for n < len(episodes) && episodes[n] == episodes[0] {
			n++
		}
		if episodes[0] > 0 && n > most {
			best, most = episodes[0], n
		}
		episodes = episodes[n:]
	}
	return best
}

func (v *value) isTrue(path ...string) bool {
	v = v.at(path...)
	return v != nil && v.scalar == true
}

// idsOf returns the ids of all resources of a kind in a release.
func idsOf(t *testing.T, rel *release.Reader, kind fragment.Kind) []int64 {
	t.Helper()
	var out []int64
	err := rel.Resources(t.Context(), func(key []byte, e release.Entry, _ release.Ref) error {
		if fragment.Kind(key[0]) == kind {
			out = append(out, int64(e.ID()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A filter is a random parameter, and what it means for the facts.
type filter struct {
	params url.Values
	ok     func(f *titleFacts) bool
}

// A drawer draws filters whose values occur.
type drawer struct {
	rng *rand.Rand
	all []titleFacts
}

func (d *drawer) any() *titleFacts { return &d.all[d.rng.IntN(len(d.all))] }

// oneOf draws a value of the list that get returns, of some title that has one.
func oneOf[T any](d *drawer, get func(*titleFacts) []T) (T, bool) {
	for range 50 {
		if list := get(d.any()); len(list) > 0 {
			return list[d.rng.IntN(len(list))], true
		}
	}
	var none T
	return none, false
}

// list draws a filter of several values: all must be there, or any, or none.
func list[T comparable](d *drawer, with, without string, get func(*titleFacts) []T) filter {
	n := 1 + d.rng.IntN(3)
	var values []T
	var words []string
	for range n {
		v, ok := oneOf(d, get)
		if ok && !slices.Contains(values, v) {
			values, words = append(values, v), append(words, fmt.Sprint(v))
		}
	}
	has := func(f *titleFacts, v T) bool { return slices.Contains(get(f), v) }
	if len(values) == 0 {
		return filter{url.Values{}, func(*titleFacts) bool { return true }}
	}
	switch d.rng.IntN(3) {
	case 0:
		return filter{url.Values{with: {strings.Join(words, ",")}}, func(f *titleFacts) bool {
			return !slices.ContainsFunc(values, func(v T) bool { return !has(f, v) })
		}}
	case 1:
		if without != "" {
			return filter{url.Values{without: {strings.Join(words, ",")}}, func(f *titleFacts) bool {
				return !slices.ContainsFunc(values, func(v T) bool { return has(f, v) })
			}}
		}
	}
	return filter{url.Values{with: {strings.Join(words, "|")}}, func(f *titleFacts) bool {
		return slices.ContainsFunc(values, func(v T) bool { return has(f, v) })
	}}
}

// between draws one or two bounds of a number or a day.
func between[T cmp.Ordered](d *drawer, name string, get func(*titleFacts) T, known func(*titleFacts) bool) filter {
	p := url.Values{}
	lo, hi := get(d.any()), get(d.any())
	useLo, useHi := d.rng.IntN(3) > 0, d.rng.IntN(3) > 0
	if fmt.Sprint(lo) == "" {
		useLo = false
	}
	if fmt.Sprint(hi) == "" {
		useHi = false
	}
	if useLo {
		p.Set(name+".gte", fmt.Sprint(lo))
	}
	if useHi {
		p.Set(name+".lte", fmt.Sprint(hi))
	}
	return filter{p, func(f *titleFacts) bool {
		v := get(f)
		return !useLo && !useHi || known(f) && (!useLo || v >= lo) && (!useHi || v <= hi)
	}}
}

func always(*titleFacts) bool { return true }

func hasDate(f *titleFacts) bool { return f.date != "" }

// common draws a filter that movies and series have.
func (d *drawer) common() filter {
	switch d.rng.IntN(11) {
	case 0:
		return list(d, "with_genres", "without_genres", func(f *titleFacts) []int64 { return f.genres })
	case 1:
		return list(d, "with_keywords", "without_keywords", func(f *titleFacts) []int64 { return f.keywords })
	case 2:
		return list(d, "with_companies", "without_companies", func(f *titleFacts) []int64 { return f.companies })
	case 3:
		return list(d, "with_origin_country", "without_origin_country", func(f *titleFacts) []string { return f.countries })
	case 4:
		return list(d, "with_original_language", "without_original_language", func(f *titleFacts) []string {
			if f.lang == "" {
				return nil
			}
			return []string{f.lang}
		})
	case 5:
		return between(d, "vote_average", func(f *titleFacts) float64 { return f.vote }, always)
	case 6:
		return between(d, "vote_count", func(f *titleFacts) int64 { return f.votes }, always)
	case 7:
		return between(d, "with_runtime", func(f *titleFacts) int64 { return f.runtime }, always)
	default:
		return d.offer()
	}
}

// offer draws a filter by where titles can be watched.
func (d *drawer) offer() filter {
	o, ok := oneOf(d, func(f *titleFacts) []offer { return f.offers })
	if !ok {
		return filter{url.Values{}, always}
	}
	switch d.rng.IntN(4) {
	case 0: // no region: no filter
		return filter{url.Values{"with_watch_providers": {fmt.Sprint(o.provider)}, "watch_region": {""}}, always}
	case 1:
		return filter{
			url.Values{"watch_region": {o.country}, "with_watch_monetization_types": {o.typ + "|ads"}},
			func(f *titleFacts) bool {
				return slices.ContainsFunc(f.offers, func(x offer) bool { return x.country == o.country && (x.typ == o.typ || x.typ == "ads") })
			},
		}
	case 2:
		return filter{
			url.Values{"watch_region": {o.country}, "without_watch_providers": {fmt.Sprint(o.provider)}},
			func(f *titleFacts) bool {
				return !slices.ContainsFunc(f.offers, func(x offer) bool { return x.country == o.country && x.provider == o.provider })
			},
		}
	}
	return filter{
		url.Values{"watch_region": {o.country}, "with_watch_providers": {fmt.Sprint(o.provider)}},
		func(f *titleFacts) bool {
			return slices.ContainsFunc(f.offers, func(x offer) bool { return x.country == o.country && x.provider == o.provider })
		},
	}
}

// movie draws a filter of movies.
func (d *drawer) movie() filter {
	switch d.rng.IntN(14) {
	case 0:
		return list(d, "with_cast", "", func(f *titleFacts) []int64 { return f.cast })
	case 1:
		return list(d, "with_crew", "", func(f *titleFacts) []int64 { return f.crew })
	case 2:
		return list(d, "with_people", "", func(f *titleFacts) []int64 { return slices.Concat(f.cast, f.crew) })
	case 3:
		return between(d, "primary_release_date", func(f *titleFacts) string { return f.date }, hasDate)
	case 4:
		year := d.any().date
		if year == "" {
			return filter{url.Values{}, always}
		}
		return filter{url.Values{"primary_release_year": {year[:4]}}, func(f *titleFacts) bool { return strings.HasPrefix(f.date, year[:4]) }}
	case 5:
		return d.releases()
	case 6:
		r, ok := oneOf(d, func(f *titleFacts) []shownRelease { return f.releases })
		if !ok || r.certification == "" {
			return filter{url.Values{}, always}
		}
		return filter{url.Values{"certification_country": {r.country}, "certification": {r.certification}}, func(f *titleFacts) bool {
			return slices.ContainsFunc(f.releases, func(x shownRelease) bool { return x.country == r.country && x.certification == r.certification })
		}}
	}
	return d.common()
}

// releases draws a filter by dates of releases in one country.
func (d *drawer) releases() filter {
	r, ok := oneOf(d, func(f *titleFacts) []shownRelease { return f.releases })
	if !ok {
		return filter{url.Values{}, always}
	}
	other, _ := oneOf(d, func(f *titleFacts) []shownRelease { return f.releases })
	from, to := min(r.day, other.day), max(r.day, other.day)
	p := url.Values{"region": {r.country}, "release_date.gte": {from}, "release_date.lte": {to}}
	typed := d.rng.IntN(2) == 0
	if typed {
		p.Set("with_release_type", fmt.Sprint(r.typ))
	}
	return filter{p, func(f *titleFacts) bool {
		return slices.ContainsFunc(f.releases, func(x shownRelease) bool {
			return x.country == r.country && x.day >= from && x.day <= to && (!typed || x.typ == r.typ)
		})
	}}
}

// series draws a filter of series.
func (d *drawer) series() filter {
	one := func(s string) []string {
		if s == "" {
			return nil
		}
		return []string{s}
	}
	switch d.rng.IntN(12) {
	case 0:
		return list(d, "with_networks", "", func(f *titleFacts) []string { return f.networks })
	case 1:
		return list(d, "with_status", "", func(f *titleFacts) []string { return one(f.status) })
	case 2:
		return list(d, "with_type", "", func(f *titleFacts) []string { return one(f.typ) })
	case 3:
		return between(d, "number_of_seasons", func(f *titleFacts) int64 { return f.seasons }, always)
	case 4:
		return between(d, "number_of_episodes", func(f *titleFacts) int64 { return f.episodes }, always)
	case 5:
		return between(d, "first_air_date", func(f *titleFacts) string { return f.date }, hasDate)
	case 6:
		a, ok := oneOf(d, func(f *titleFacts) []string { return f.airDates })
		b, _ := oneOf(d, func(f *titleFacts) []string { return f.airDates })
		if !ok {
			return filter{url.Values{}, always}
		}
		from, to := min(a, b), max(a, b)
		return filter{url.Values{"air_date.gte": {from}, "air_date.lte": {to}}, func(f *titleFacts) bool {
			return slices.ContainsFunc(f.airDates, func(day string) bool { return day >= from && day <= to })
		}}
	}
	return d.common()
}

// sorts are the orders of discover by a title's own values; titles are checked by
// being in order.
var sorts = map[string]func(a, b *titleFacts) int{
	"popularity":   func(a, b *titleFacts) int { return cmp.Compare(a.popularity, b.popularity) },
	"vote_average": func(a, b *titleFacts) int { return cmp.Compare(a.vote, b.vote) },
	"vote_count":   func(a, b *titleFacts) int { return cmp.Compare(a.votes, b.votes) },
	"revenue":      func(a, b *titleFacts) int { return cmp.Compare(a.revenue, b.revenue) },
	"date":         func(a, b *titleFacts) int { return cmp.Compare(a.date, b.date) },
}

// checkDiscover asks for random combinations of filters and compares every response with a
// scan of the facts.
func checkDiscover(t *testing.T, rel *release.Reader, kind string, all []titleFacts, rounds int, draw func(*drawer) filter) {
	t.Helper()
	d := &drawer{rng: rand.New(rand.NewPCG(7, uint64(len(all)))), all: all}
	byID := map[int64]*titleFacts{}
	for i := range all {
		byID[all[i].id] = &all[i]
	}
	narrowed := 0
	for range rounds {
		p := url.Values{}
		var filters []filter
		for range 1 + d.rng.IntN(4) {
			f := draw(d)
			if clash(p, f.params) {
				continue
			}
			filters = append(filters, f)
			for k, v := range f.params {
				p[k] = v
			}
		}
		adult := d.rng.IntN(4) == 0
		if adult {
			p.Set("include_adult", "true")
		}
		if d.rng.IntN(4) > 0 {
			p.Set("include_video", "true")
		}
		names := []string{"popularity", "vote_average", "vote_count", "date"}
		if kind == "movie" {
			names = append(names, "revenue")
		}
		sort := names[d.rng.IntN(len(names))]
		desc := d.rng.IntN(2) == 0
		order := map[bool]string{true: ".desc", false: ".asc"}[desc]
		name := sort
		if sort == "date" {
			name = map[string]string{"movie": "primary_release_date", "tv": "first_air_date"}[kind]
		}
		p.Set("sort_by", name+order)

		var want []*titleFacts
		for i := range all {
			f := &all[i]
			if f.adult && !adult || f.video && p.Get("include_video") == "" && kind == "movie" ||
				slices.ContainsFunc(filters, func(x filter) bool { return !x.ok(f) }) {
				continue
			}
			want = append(want, f)
		}
		if len(want) < len(all) && len(want) > 0 {
			narrowed++
		}
		slices.SortStableFunc(want, func(a, b *titleFacts) int {
			switch {
			case sort == "date" && (a.date == "") != (b.date == ""):
				return cmp.Compare(b.date, a.date) // whatever the order, titles without a date come last
			case desc:
				return sorts[sort](b, a)
			}
			return sorts[sort](a, b)
		})
		pages := max(1, (len(want)+19)/20)
		page := 1 + d.rng.IntN(pages)
		p.Set("page", fmt.Sprint(page))
		target := "/3/discover/" + kind + "?" + p.Encode()
		got := get(t, rel, target)
		if got.int("total_results") != int64(len(want)) || got.int("total_pages") != int64(pages) || got.int("page") != int64(page) {
			t.Errorf("%s: %d results on %d pages, want %d on %d", target, got.int("total_results"), got.int("total_pages"), len(want), pages)
			continue
		}
		rows := got.list("results")
		expect := want[min(len(want), (page-1)*20):min(len(want), page*20)]
		if len(rows) != len(expect) {
			t.Errorf("%s: %d rows, want %d", target, len(rows), len(expect))
			continue
		}
		seen := map[int64]bool{}
		for i, row := range rows {
			f := byID[row.int("id")]
			if f == nil || seen[f.id] || !slices.Contains(want, f) || sorts[sort](f, expect[i]) != 0 {
				t.Errorf("%s: row %d is %d, want one like %d", target, i, row.int("id"), expect[i].id)
				break
			}
			if sort == "popularity" && desc && f.id != expect[i].id {
				t.Errorf("%s: row %d is %d, want %d", target, i, f.id, expect[i].id)
				break
			}
			seen[f.id] = true
		}
	}
	if narrowed < rounds/4 {
		t.Errorf("only %d of %d queries narrowed anything down", narrowed, rounds)
	}
}

// clash reports whether two filters set the same parameter, or one that the other reads.
func clash(have, more url.Values) bool {
	for k := range more {
		if have.Has(k) {
			return true
		}
		for _, shared := range []string{"region", "watch_region", "certification_country"} {
			if have.Has(shared) && more.Has(shared) {
				return true
			}
		}
	}
	return false
}

func TestDiscoverSample(t *testing.T) {
	skipLarge(t)
	rel := sampleWorld.open(t)
	checkDiscover(t, rel, "movie", factsOfMovies(t, rel), 700, (*drawer).movie)
	checkDiscover(t, rel, "tv", factsOfSeries(t, rel), 700, (*drawer).series)
}

func TestDiscoverTMDB5000(t *testing.T) {
	skipLarge(t)
	dir, _ := ingestDump(t, ingest.Config{}, "tmdb5000")
	rel := buildCatalog(t, dir)
	checkDiscover(t, rel, "movie", factsOfMovies(t, rel), 700, (*drawer).movie)
}
