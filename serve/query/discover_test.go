package query

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/route"
)

// pairs yields parameters in a random order, in a buffer that is overwritten.
func pairs(rng *rand.Rand, params map[string]string) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		names := slices.Sorted(maps.Keys(params))
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var name, value []byte
		for _, n := range names {
			name, value = append(name[:0], n...), append(value[:0], params[n]...)
			if !yield(name, value) {
				return
			}
			clear(name)
			clear(value)
		}
	}
}

func parse(tb testing.TB, kind fragment.Kind, params map[string]string) Filter {
	tb.Helper()
	return ParseFilter(kind, pairs(rand.New(rand.NewPCG(1, 1)), params))
}

// randomList returns some values joined by both signs, now and then one that is none.
func randomList(rng *rand.Rand, value func() string) string {
	var s strings.Builder
	for i := range 1 + rng.IntN(4) {
		if i > 0 {
			s.WriteString(pick(rng, []string{",", "|", "|"}))
		}
		if rng.IntN(15) == 0 {
			s.WriteString(pick(rng, []string{"", "x1", "-4", " ", "1.5"}))
			continue
		}
		s.WriteString(value())
	}
	return s.String()
}

// randomParams returns a query of a few parameters.
func randomParams(rng *rand.Rand, movies bool) map[string]string {
	id := func(n int) func() string {
		return func() string {
			return randomList(rng, func() string { return strconv.Itoa(rng.IntN(n + 2)) })
		}
	}
	code := func(from []string) func() string {
		return func() string { return randomList(rng, func() string { return pick(rng, from) }) }
	}
	one := func(from ...string) func() string { return func() string { return pick(rng, from) } }
	date := func() string {
		return day.Day(firstTestDay - 100 + rng.IntN(6200)).String()
	}
	yearly := func() string { return strconv.Itoa(1960 + rng.IntN(20)) }
	number := func(n int) func() string {
		return func() string {
			return pick(rng, []string{strconv.Itoa(rng.IntN(n)), fmt.Sprintf("%.4f", rng.Float64()*float64(n)), "-1", "all"})
		}
	}
	ratings := []string{"NR", "TV-Y", "TV-G", "TV-14", "TV-MA", "R"}
	if movies {
		ratings = append(slices.Clone(someRatings), "TV-14")
	}
	sortNames := []string{"nothing"}
	for id := range tables.ColumnCount {
		for _, s := range id.Column().SortBy {
			sortNames = append(sortNames, s.Name)
		}
	}
	countries := one("US", "DE", "fr", "BR", "jp", "USA", "U1")
	of := map[string]func() string{
		"include_adult": one("true", "true", "false"), "with_genres": id(8), "without_genres": id(8), "with_keywords": id(40),
		"without_keywords": id(40), "with_companies": id(10), "without_companies": id(10), "with_cast": id(60), "with_crew": id(60),
		"with_people": id(60), "with_networks": id(5), "with_status": id(6), "with_type": id(7),
		"with_origin_country": code(someCountries), "without_origin_country": code(someCountries),
		"with_original_language":    code(append([]string{"en-US", "EN", "muchtoolong"}, someLanguages...)),
		"without_original_language": code(someLanguages), "watch_region": countries,
		"with_watch_providers": id(6), "without_watch_providers": id(6), "with_watch_monetization_types": code(someOffers),
		"certification_country": one("US", "us", "DE"), "certification": code(ratings), "certification.gte": one(ratings...),
		"certification.lte": one(ratings...),
		"sort_by":           func() string { return pick(rng, sortNames) + pick(rng, []string{".asc", ".desc", ".desc", ""}) },
		"page":              one("3"), "language": one("de"), "unknown": id(5),
	}
	if movies {
		maps.Copy(of, map[string]func() string{
			"include_video": one("true", "false"), "region": countries, "with_release_type": id(6), "year": yearly,
			"primary_release_year": yearly, "primary_release_date.gte": date, "primary_release_date.lte": date,
			"release_date.gte": date, "release_date.lte": date,
		})
	} else {
		maps.Copy(of, map[string]func() string{
			"include_null_first_air_dates": one("true", "false"), "screened_theatrically": one("true", "false"),
			"first_air_date_year": yearly, "first_air_date.gte": date, "first_air_date.lte": date, "air_date.gte": date, "air_date.lte": date,
		})
	}
	for _, r := range ranges {
		of[r.name+suffixMin], of[r.name+suffixMax] = number(6), number(6)
	}
	names := slices.Sorted(maps.Keys(of))
	params := map[string]string{}
	for range rng.IntN(6) {
		name := pick(rng, names)
		params[name] = of[name]()
		if rng.IntN(40) == 0 {
			params[name] = pick(rng, []string{"", " ", "true", "2020-02-30", "0", "99999999999999999999"})
		}
		// What means something together.
		for _, group := range [][]string{
			{"watch_region", "with_watch_providers", "without_watch_providers", "with_watch_monetization_types"},
			{"region", "with_release_type", "release_date.gte", "release_date.lte"},
			{"certification_country", "certification", "certification.gte", "certification.lte"},
		} {
			if !slices.Contains(group, name) || of[group[0]] == nil {
				continue
			}
			for _, more := range group {
				if f := of[more]; f != nil && params[more] == "" && rng.IntN(2) == 0 {
					params[more] = f()
				}
			}
		}
	}
	if rng.IntN(3) == 0 {
		params["sort_by"] = of["sort_by"]()
	}
	return params
}

// TestDiscover compares the engine with a look at every doc, over random queries.
func TestDiscover(t *testing.T) {
	const queries = 1300 // for each kind
	for _, kind := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		movies := kind == fragment.KindMovie
		rng := rand.New(rand.NewPCG(uint64(kind), 7))
		docs := randomDocs(rng, 400, movies)
		if !movies {
			for i := range docs {
				for j := range docs[i].certifications {
					docs[i].certifications[j].name = pick(rng, []string{"NR", "TV-Y", "TV-Y7", "TV-G", "TV-PG", "TV-14", "TV-MA"})
				}
			}
		}
		tables := map[fragment.Kind][]doc{kind: docs}
		engines := []*Engine{engineOf(t, 0, tables), engineOf(t, 1<<20, tables)}
		found, some := 0, 0
		for i := range queries {
			params := randomParams(rng, movies)
			f := ParseFilter(kind, pairs(rng, params))
			page, size := 1+rng.IntN(3), 1+rng.IntN(30)
			if rng.IntN(10) == 0 {
				page = 1 + rng.IntN(60)
			}
			ids, days, total := brute{movies, params}.page(docs, page, size)
			for _, e := range engines {
				var got Result
				ok(t, e.Discover(&f, page, size, &got))
				if got.Total != total || !rowsAre(got.Rows, kind, ids, days) {
					t.Fatalf("%s query %d %v, page %d of %d rows: %v of %d, want %v, %v of %d", kind, i, params, page, size, got.Rows, got.Total, ids, days, total)
				}
			}
			if total > 0 {
				some++
			}
			if total > 0 && total < len(docs)/2 {
				found++
			}
		}
		if some < queries/3 || found < queries/5 {
			t.Errorf("%s: only %d of %d queries find something, %d less than half", kind, some, queries, found)
		}
	}
}

func rowsAre(rows []Row, kind fragment.Kind, ids []uint64, days []int32) bool {
	for i, r := range rows {
		if i >= len(ids) || r != (Row{kind, ids[i], day.Day(days[i])}) {
			return false
		}
	}
	return len(rows) == len(ids)
}

// TestSortPlaces compares both ways of sorting, for sets of any size.
func TestSortPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	docs := randomDocs(rng, 2000, true)
	e := engineOf(t, 0, map[fragment.Kind][]doc{fragment.KindMovie: docs})
	for n := range 30 {
		for _, by := range []string{"vote_average", "vote_count", "primary_release_date", "title", "revenue"} {
			params := map[string]string{
				"sort_by": by + pick(rng, []string{".asc", ".desc"}), "vote_count.gte": strconv.Itoa(n),
				"include_adult": "true", "include_video": "true",
			}
			f := parse(t, fragment.KindMovie, params)
			page := 1 + rng.IntN(9)
			ids, days, total := brute{true, params}.page(docs, page, 100)
			var got Result
			ok(t, e.Discover(&f, page, 100, &got))
			if got.Total != total || !rowsAre(got.Rows, fragment.KindMovie, ids, days) {
				t.Fatalf("%v, page %d: %v of %d, want %v of %d", params, page, got.Rows, got.Total, ids, total)
			}
		}
	}
}

func TestParseFilter(t *testing.T) {
	kinds := map[string]fragment.Kind{"movie": fragment.KindMovie, "tv": fragment.KindTV}
	sharedtest.Cases(t, "testdata/filters.txt", func(input string) string {
		kind, queries, _ := strings.Cut(input, " ")
		one, other, _ := strings.Cut(queries, " ")
		f, g := queryOf(t, kinds[kind], one), queryOf(t, kinds[kind], other)
		if bytes.Equal(f.appendKey(nil), g.appendKey(nil)) {
			return "same"
		}
		return "other"
	})
}

// TestParameters: discover reads all parameters that the table of operations gives it, and the
// table has all that discover reads.
func TestParameters(t *testing.T) {
	const together = "region=US&watch_region=US&certification_country=US&first_air_date.lte=2000-01-01"
	elsewhere := []string{"language", "page", "timezone"} // read by the edge, or without meaning for days
	known := map[string]bool{}
	for kind, op := range map[fragment.Kind]api.Op{fragment.KindMovie: api.OpDiscoverMovie, fragment.KindTV: api.OpDiscoverTv} {
		for _, p := range op.Operation().QueryParams {
			known[p.Name] = true
			var others []string
			for other := range strings.SplitSeq(together, "&") {
				if !strings.HasPrefix(other, p.Name+"=") {
					others = append(others, other)
				}
			}
			base := queryOf(t, kind, strings.Join(others, "&"))
			read := slices.Contains(elsewhere, p.Name)
			for _, value := range []string{"1", "true", "US", "1999-01-01", "1999", "flatrate", "R", "TV-14", "vote_count.asc"} {
				f := queryOf(t, kind, strings.Join(append(others, p.Name+"="+value), "&"))
				read = read || !bytes.Equal(f.appendKey(nil), base.appendKey(nil))
			}
			switch {
			case p.Name == "certification_country" || p.Name == "watch_region": // mean nothing alone
			case !read:
				t.Errorf("discover %s does not read %s: add it to ranges or lists in parse.go", kind, p.Name)
			}
		}
	}
	demand := func(name string) {
		if !known[name] {
			t.Errorf("discover reads %s, which no operation has: add it to schemas/api/openapi.yaml", name)
		}
	}
	for _, r := range ranges {
		demand(r.name + suffixMin)
		demand(r.name + suffixMax)
	}
	for i := range lists {
		demand(prefixWith + lists[i].name)
	}
}

// queryOf parses a query without escapes.
func queryOf(tb testing.TB, kind fragment.Kind, query string) Filter {
	tb.Helper()
	return ParseFilter(kind, func(yield func([]byte, []byte) bool) {
		for pair := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if !yield([]byte(name), []byte(value)) {
				return
			}
		}
	})
}

// TestParseFilterBounds gives more values than count.
func TestParseFilterBounds(t *testing.T) {
	many := func(sep string, from, n int) string {
		values := make([]string, n)
		for i := range values {
			values[i] = strconv.Itoa(from + i)
		}
		return strings.Join(values, sep)
	}
	f := queryOf(t, fragment.KindMovie, "with_keywords="+many("|", 1, 4000))
	if len(f.required) != 1 || len(f.required[0]) != maxValues || f.required[0][maxValues-1].key != maxValues {
		t.Errorf("%d terms count", len(f.required[0]))
	}
	query := "watch_region=US&with_watch_monetization_types=flatrate|free|ads|rent|buy&with_watch_providers=" + many("|", 1, 500)
	for _, name := range []string{"with_keywords", "without_keywords", "with_people", "with_cast", "with_companies", "without_companies"} {
		query += "&" + name + "=" + many(",", 1, 700)
	}
	f = queryOf(t, fragment.KindMovie, query)
	n := len(f.excluded)
	for _, c := range f.required {
		n += len(c)
		if len(c) == 0 {
			t.Error("a clause lost all its terms")
		}
	}
	if n > maxTerms || n < maxTerms-10 {
		t.Errorf("%d terms count, want %d", n, maxTerms)
	}
}

func TestLists(t *testing.T) {
	const today = 20679 // 2026-08-14
	same := func(f Filter, kind fragment.Kind, query string) {
		t.Helper()
		if g := queryOf(t, kind, query); !bytes.Equal(f.appendKey(nil), g.appendKey(nil)) {
			t.Errorf("%+v, want that of %s", f, query)
		}
	}
	movie, tv := fragment.KindMovie, fragment.KindTV
	same(Popular(movie), movie, "sort_by=popularity.desc")
	same(Popular(tv), tv, "sort_by=popularity.desc")
	same(topRated(movie), movie, "sort_by=vote_average.desc&without_genres=99,10755&vote_count.gte=200")
	same(topRated(tv), tv, "sort_by=vote_average.desc&vote_count.gte=200")
	f, w := InWindow(api.AnswerNowPlaying, movie, today, route.Country{})
	same(f, movie, "with_release_type=2|3&release_date.gte=2026-07-03&release_date.lte=2026-08-14")
	if w != (Window{today - 42, today}) {
		t.Errorf("now playing from %v", w)
	}
	f, _ = InWindow(api.AnswerNowPlaying, movie, today, route.Country{'D', 'E'})
	same(f, movie, "region=DE&with_release_type=2|3&release_date.gte=2026-07-03&release_date.lte=2026-08-14")
	f, w = InWindow(api.AnswerUpcoming, movie, today, route.Country{'U', 'S'})
	same(f, movie, "region=US&with_release_type=2|3&release_date.gte=2026-08-14&release_date.lte=2026-09-04")
	if w != (Window{today, today + 21}) {
		t.Errorf("upcoming from %v", w)
	}
	f, _ = InWindow(api.AnswerAiringToday, tv, today, route.Country{'D', 'E'})
	same(f, tv, "air_date.gte=2026-08-14&air_date.lte=2026-08-14")
	f, _ = InWindow(api.AnswerOnTheAir, tv, today, route.Country{})
	same(f, tv, "air_date.gte=2026-08-14&air_date.lte=2026-08-21")
	f = topRated(movie)
	f.ShowRegion(route.Country{'F', 'R'})
	same(f, movie, "sort_by=vote_average.desc&without_genres=99,10755&vote_count.gte=200&region=FR")
	f.ShowRegion(route.Country{})
	same(f, movie, "sort_by=vote_average.desc&without_genres=99,10755&vote_count.gte=200")
}

// TestPeople asks for all people that are not for adults, and for pages that there are not.
func TestPeople(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	all := randomDocs(rng, 110, false)
	docs := slices.DeleteFunc(slices.Clone(all), func(d doc) bool { return d.adult })
	n := len(docs)
	e := engineOf(t, 1<<20, map[fragment.Kind][]doc{fragment.KindPerson: all})
	f := Popular(fragment.KindPerson)
	var got Result
	for page := 1; page <= 6; page++ {
		ok(t, e.Discover(&f, page, 20, &got))
		want := docs[min(20*(page-1), n):min(20*page, n)]
		if got.Total != n || len(got.Rows) != len(want) {
			t.Fatalf("page %d: %d rows of %d", page, len(got.Rows), got.Total)
		}
		for i, r := range got.Rows {
			if r != (Row{fragment.KindPerson, want[i].id, posting.NoDay}) {
				t.Errorf("page %d, row %d: %v, want %d", page, i, r, want[i].id)
			}
		}
	}
	// Nothing is found where there is no table.
	g := Popular(fragment.KindMovie)
	if err := e.Discover(&g, 1, 20, &got); err != nil || got.Total != 0 || len(got.Rows) != 0 {
		t.Errorf("without a table: %v, %v", got, err)
	}
}

// TestDeepPages goes after the hits that are kept.
func TestDeepPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	docs := randomDocs(rng, 20*firstCached+500, true)
	tables := map[fragment.Kind][]doc{fragment.KindMovie: docs}
	e := engineOf(t, 1<<20, tables)
	for _, params := range []map[string]string{{}, {"sort_by": "vote_count.desc", "region": "US"}, {"sort_by": "title.asc"}} {
		f := parse(t, fragment.KindMovie, params)
		all, allDays, total := brute{true, params}.page(docs, 1, len(docs))
		for _, page := range []int{1, firstCached/30 + 1, 2, firstCached / 3, firstCached/3 + 1, firstCached/3 + 2, 500, 1000} {
			from, to := min(30*(page-1), total), min(30*page, total)
			ids, days := all[from:to], allDays[from:to]
			var got Result
			ok(t, e.Discover(&f, page, 30, &got))
			if got.Total != total || !rowsAre(got.Rows, fragment.KindMovie, ids, days) {
				t.Errorf("%v, page %d: %v of %d, want %v of %d", params, page, got.Rows, got.Total, ids, total)
			}
		}
	}
}

func TestTrending(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	movie, tv, person := fragment.KindMovie, fragment.KindTV, fragment.KindPerson
	tables := map[fragment.Kind][]doc{movie: randomDocs(rng, 7000, true), tv: randomDocs(rng, 60, false), person: randomDocs(rng, 5000, false)}
	e := engineOf(t, 1<<20, tables)
	for _, week := range []bool{false, true} {
		order := map[fragment.Kind][]*doc{}
		for kind, docs := range tables {
			for i := range docs {
				if !docs[i].adult {
					order[kind] = append(order[kind], &docs[i])
				}
			}
			slices.SortStableFunc(order[kind], func(a, b *doc) int {
				if week {
					return b.hotThisWeek - a.hotThisWeek
				}
				return b.hotToday - a.hotToday
			})
			for page := 1; page < 400; page += 37 {
				var got Result
				ok(t, e.Trending(kind, week, page, 20, &got))
				n := len(order[kind])
				want := order[kind][min(20*(page-1), n):min(20*page, n)]
				if got.Total != n || len(got.Rows) != len(want) {
					t.Fatalf("%s page %d: %d rows of %d, want %d of %d", kind, page, len(got.Rows), got.Total, len(want), n)
				}
				for i, r := range got.Rows {
					if r != (Row{kind, want[i].id, posting.NoDay}) {
						t.Errorf("%s page %d, row %d: %v, want %d", kind, page, i, r, want[i].id)
					}
				}
			}
		}
		// All kinds: each in its order, the next one by what it is in that.
		score := func(d *doc) int {
			if week {
				return d.hotThisWeek
			}
			return d.hotToday
		}
		for i := range 500 {
			var got Result
			ok(t, e.Trending(0, week, i+1, 20, &got))
			if got.Total != maxTrending || len(got.Rows) != 20 {
				t.Fatalf("page %d: %d rows of %d", i+1, len(got.Rows), got.Total)
			}
			for _, r := range got.Rows {
				if len(order[r.Kind]) == 0 || order[r.Kind][0].id != r.ID {
					t.Fatalf("page %d: %v is not the next of its kind", i+1, r)
				}
				next := order[r.Kind][0]
				for _, o := range order {
					if len(o) > 0 && score(o[0]) > score(next) {
						t.Fatalf("page %d: %d comes after %v", i+1, o[0].id, r)
					}
				}
				order[r.Kind] = order[r.Kind][1:]
			}
		}
		var got Result
		ok(t, e.Trending(0, week, 501, 20, &got))
		if got.Total != maxTrending || len(got.Rows) != 0 {
			t.Errorf("page 501: %d rows of %d", len(got.Rows), got.Total)
		}
	}
	var got Result
	if err := (&Engine{}).Trending(0, false, 1, 20, &got); err != nil || got.Total != 0 {
		t.Errorf("without tables: %v, %v", got, err)
	}
}

// TestDamaged flips bytes: errors match release.ErrCorrupt, and nothing panics.
func TestDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	docs := randomDocs(rng, 700, true)
	good := tableOf(t, fragment.KindMovie, docs)
	names := slices.Sorted(maps.Keys(good))
	refused := 0
	for i := range 5_000 {
		bad := maps.Clone(good)
		name := names[i%len(names)]
		b := slices.Clone(good[name])
		switch n := len(b); {
		case n == 0:
			continue
		case rng.IntN(20) == 0:
			b = b[:rng.IntN(n)]
		default:
			for range 1 + rng.IntN(8) {
				b[rng.IntN(n)] = byte(rng.Uint32())
			}
		}
		bad[name] = b
		tab, err := tables.OpenSections(fragment.KindMovie, bad, len(docs))
		if err == nil {
			e := &Engine{tables: map[fragment.Kind]*table{fragment.KindMovie: {Table: tab}}}
			for range 5 {
				f := parse(t, fragment.KindMovie, randomParams(rng, true))
				err = errors.Join(err, e.Discover(&f, 1, 20, &Result{}))
			}
			err = errors.Join(err, e.Trending(0, rng.IntN(2) == 0, 1, 20, &Result{}))
		}
		if err != nil && !errors.Is(err, release.ErrCorrupt) {
			t.Fatalf("%s: %v", name, err)
		}
		if err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

func FuzzParseFilter(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		var b bytes.Buffer
		for name, value := range pairs(rng, randomParams(rng, true)) {
			fmt.Fprintf(&b, "%s=%s&", name, value)
		}
		f.Add(b.String(), true)
	}
	f.Add("with_genres=1|2,3&with_genres=,,||,&air_date.gte=0000-01-01&vote_average.lte=-.&with_networks=18446744073709551616", false)
	f.Add("watch_region=US&with_watch_providers=1|2,3&with_watch_monetization_types=flatrate|free,ads", true)
	docs := randomDocs(rng, 100, true)
	movie, tv := fragment.KindMovie, fragment.KindTV
	e := engineOf(f, 0, map[fragment.Kind][]doc{movie: docs, tv: docs})
	f.Fuzz(func(t *testing.T, query string, movies bool) {
		kind := tv
		if movies {
			kind = movie
		}
		filter := queryOf(t, kind, query)
		again := queryOf(t, kind, "unknown=1&"+query)
		if !bytes.Equal(filter.appendKey(nil), again.appendKey(nil)) {
			t.Errorf("%q has two keys", query)
		}
		terms := len(filter.excluded)
		for _, c := range filter.required {
			terms += len(c)
		}
		if terms > maxTerms {
			t.Errorf("%q has %d terms", query, terms)
		}
		var got Result
		ok(t, e.Discover(&filter, 1, 20, &got))
		if len(got.Rows) != min(20, got.Total) || got.Total > len(docs) {
			t.Errorf("%q: %d rows of %d", query, len(got.Rows), got.Total)
		}
	})
}
