package index

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// rowOf adds one resource with add and returns the row decoded from its bytes.
func rowOf(t *testing.T, kind fragment.Kind, add func(w *Writer) error) *row {
	t.Helper()
	s := extsort.New(extsort.Options{Dir: t.TempDir(), Sections: len(tables.Kinds)})
	defer s.Close()
	sharedtest.NoError(t, add(NewWriter(s, func(table int, _ []byte) int { return table })))
	it, err := s.Sort(t.Context(), slices.Index(tables.Kinds, kind))
	sharedtest.NoError(t, err)
	defer it.Close()
	key, payload, err := it.Next()
	sharedtest.NoError(t, err)
	r := &row{}
	if r.id, r.popularity, err = parseRowKey(key); err != nil {
		t.Fatal(err)
	}
	sharedtest.NoError(t, r.parse(payload, tables.Columns(kind)))
	return r
}

func parseAs[T any](t *testing.T, text string) complete.Record[T] {
	t.Helper()
	v := new(T)
	sharedtest.NoError(t, record.NewParser().Parse(text, record.Of(v)))
	return complete.Of(complete.Base(v))
}

// dayOf returns the day of a valid date.
func dayOf(t *testing.T, date string) day.Day {
	t.Helper()
	d, ok := day.Parse(date)
	if !ok {
		t.Fatalf("%q is no date", date)
	}
	return d
}

// checkRow compares a row with the wanted values; other columns must be empty.
func checkRow(t *testing.T, r *row, kind fragment.Kind, numbers map[tables.ColumnID]int64, lists map[tables.ColumnID][]uint64, releases []dated, names []searchName) {
	t.Helper()
	for _, c := range tables.Columns(kind) {
		if got := r.numbers[c.ID]; got != numbers[c.ID] && c.Type == tables.Range {
			t.Errorf("column %s = %d, want %d", c.Name, got, numbers[c.ID])
		}
		if want := slices.Sorted(slices.Values(lists[c.ID])); !slices.Equal(r.lists[c.ID], want) {
			t.Errorf("lists %s = %d, want %d", c.Name, r.lists[c.ID], want)
		}
	}
	slices.SortFunc(releases, dated.compare)
	if !slices.Equal(r.releases, releases) {
		t.Errorf("releases = %v, want %v", r.releases, releases)
	}
	if !slices.Equal(names, r.names) {
		t.Errorf("names = %v, want %v", r.names, names)
	}
}

func TestMovie(t *testing.T) {
	const movie = `{"id":550,"adult":true,"video":true,"softcore":true,"title":"The Élan","original_title":"Élan","original_language":"fr",` +
		`"origin_country":["FR","BE"],"production_countries":[{"iso_3166_1":"US","name":"United States of America"}],"popularity":7.25,` +
		`"release_date":"1999-10-15","runtime":139,"revenue":3000000000,"vote_average":8.4386,"vote_count":29000,` +
		`"genres":[{"id":18,"name":"Drama"},{"id":0,"name":"None"}],"production_companies":[{"id":508,"name":"Regency"}],` +
		`"keywords":{"keywords":[{"id":825,"name":"support group"},{"id":4565,"name":"dystopia"}]},` +
		`"credits":{"cast":[{"id":819,"name":"A"},{"id":287,"name":"B"},{"name":"Nobody"}],"crew":[{"id":7467,"job":"Director"},{"id":7467,"job":"Writer"}]},` +
		`"release_dates":{"results":[{"iso_3166_1":"US","release_dates":[` +
		`{"certification":"R","release_date":"1999-10-15T00:00:00.000Z","type":3},{"certification":"","release_date":"1999-09-21T00:00:00.000Z","type":1},` +
		`{"certification":"R","release_date":"2000-06-06","type":5}]},{"iso_3166_1":"DE","release_dates":[{"certification":"18","release_date":"no date","type":3}]}]},` +
		`"releases":{"countries":[{"iso_3166_1":"JP","certification":"R18+","release_date":"1999-12-11"}]},` +
		`"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","data":{"title":"Der Elan"}},{"iso_3166_1":"US","iso_639_1":"en","data":{"title":""}},` +
		`{"iso_3166_1":"AT","iso_639_1":"de","data":{"title":"Der Elan"}}]},"localized":[{"language":"it-IT","title":"Lo slancio"}],` +
		`"alternative_titles":{"titles":[{"iso_3166_1":"US","title":"Elan 1"},{"iso_3166_1":"DE","title":"Der Elan"}]},` +
		`"watch/providers":{"results":{"US":{"link":"l","flatrate":[{"provider_id":8}],"rent":[{"provider_id":2},{"provider_id":8}],"novel":[{"provider_id":9}]},"XXX":{"link":"l","buy":[{"provider_id":2}]}}}}`
	r := rowOf(t, fragment.KindMovie, func(w *Writer) error { return w.Movie(parseAs[catalog.Movie](t, movie)) })
	if r.id != 550 || r.popularity != 7.25 || r.numbers[tables.Revenue] != 3000000000 || r.texts[tables.Title] != "the elan" || r.texts[tables.OriginalTitle] != "elan" {
		t.Errorf("row = %+v, want that of movie 550", r)
	}
	premiere, wide, tape := dayOf(t, "1999-09-21"), dayOf(t, "1999-10-15"), dayOf(t, "2000-06-06")
	flatrate, rent := tables.OfferType("flatrate"), tables.OfferType("rent")
	checkRow(t, r, fragment.KindMovie,
		map[tables.ColumnID]int64{
			tables.Day: int64(wide), tables.FirstDay: int64(premiere), tables.LastDay: int64(tape), tables.VoteAverage: 8439, tables.VoteCount: 29000, tables.Runtime: 139,
		},
		map[tables.ColumnID][]uint64{
			tables.Flag: {tables.Adult, tables.Video, tables.Softcore}, tables.Genre: {18}, tables.Keyword: {825, 4565}, tables.Company: {508},
			tables.Cast: {287, 819}, tables.Crew: {7467}, tables.Country: {tables.CodeKey("BE"), tables.CodeKey("FR")},
			tables.Language: {tables.CodeKey("fr")}, tables.AnyYear: {1999, 2000},
			tables.Offer: {
				tables.OfferKey("US", 0, 0), tables.OfferKey("US", 0, 2), tables.OfferKey("US", 0, 8), tables.OfferKey("US", 0, 9),
				tables.OfferKey("US", flatrate, 0), tables.OfferKey("US", flatrate, 8),
				tables.OfferKey("US", rent, 0), tables.OfferKey("US", rent, 2), tables.OfferKey("US", rent, 8),
			},
			tables.Certification: {tables.CertificationKey("US", "R"), tables.CertificationKey("DE", "18")},
		},
		[]dated{
			{tables.ReleaseKey("", 0), premiere},
			{tables.ReleaseKey("", 0), wide},
			{tables.ReleaseKey("", 0), tape},
			{tables.ReleaseKey("US", 0), premiere},
			{tables.ReleaseKey("US", 0), wide},
			{tables.ReleaseKey("US", 0), tape},
			{tables.ReleaseKey("US", 1), premiere},
			{tables.ReleaseKey("US", 3), wide},
			{tables.ReleaseKey("US", 5), tape},
		},
		[]searchName{{"The Élan", mainName}, {"Élan", originalName}, {"Der Elan", translatedName}, {"Lo slancio", translatedName}, {"Elan 1", alternativeName}})

	// An empty record is in no list.
	r = rowOf(t, fragment.KindMovie, func(w *Writer) error { return w.Movie(parseAs[catalog.Movie](t, `{"id":1}`)) })
	none := map[tables.ColumnID]int64{tables.Day: posting.NoDay, tables.FirstDay: posting.NoDay, tables.LastDay: posting.NoDay}
	checkRow(t, r, fragment.KindMovie, none, nil, nil, nil)

	// The legacy releases replace missing release dates; their types are unknown.
	r = rowOf(t, fragment.KindMovie, func(w *Writer) error {
		return w.Movie(parseAs[catalog.Movie](t, `{"id":1,"title":"T","releases":{"countries":[{"iso_3166_1":"JP","certification":"G","release_date":"1999-12-11"}]}}`))
	})
	d := dayOf(t, "1999-12-11")
	checkRow(t, r, fragment.KindMovie, map[tables.ColumnID]int64{tables.Day: posting.NoDay, tables.FirstDay: int64(d), tables.LastDay: int64(d)},
		map[tables.ColumnID][]uint64{tables.AnyYear: {1999}, tables.Certification: {tables.CertificationKey("JP", "G")}},
		[]dated{{tables.ReleaseKey("", 0), d}, {tables.ReleaseKey("JP", 0), d}}, []searchName{{"T", mainName}})
}

func TestSeries(t *testing.T) {
	const series = `{"id":1399,"name":"Thrones","original_name":"Thrones","original_language":"en","origin_country":["US"],"popularity":300.5,` +
		`"first_air_date":"2011-04-17","last_air_date":"2019-05-19","episode_run_time":[60,55],"number_of_seasons":8,"number_of_episodes":73,` +
		`"status":"Ended","type":"Scripted","genres":[{"id":10765}],"networks":[{"id":49}],"production_companies":[{"id":76043}],` +
		`"created_by":[{"id":9813}],"vote_average":8.5,"vote_count":22000,"keywords":{"results":[{"id":818,"name":"k"}]},` +
		`"content_ratings":{"results":[{"iso_3166_1":"US","rating":"TV-MA"},{"iso_3166_1":"DE","rating":""}]},` +
		`"screened_theatrically":{"results":[{"id":1}]},"last_episode_to_air":{"id":2,"air_date":"2019-05-19"},` +
		`"translations":{"translations":[{"iso_3166_1":"FR","iso_639_1":"fr","data":{"name":"Le trône"}}]},` +
		`"alternative_titles":{"results":[{"iso_3166_1":"US","title":"GoT"}]},"localized":[{"language":"de-DE","name":"Der Thron"}]}`
	add := func(s Series) func(w *Writer) error { return func(w *Writer) error { return w.Series(s) } }
	r := rowOf(t, fragment.KindTV, add(Series{
		TV: parseAs[catalog.TV](t, series), Cast: []int64{2, 1, 2}, Crew: []int64{5, 0}, Aired: []string{"2010-12-05", "2011-04-17", "", "2011-04-17"},
	}))
	special, first, last := dayOf(t, "2010-12-05"), dayOf(t, "2011-04-17"), dayOf(t, "2019-05-19")
	columns := map[tables.ColumnID]int64{
		tables.Day: int64(first), tables.FirstDay: int64(special), tables.LastDay: int64(last), tables.VoteAverage: 8500, tables.VoteCount: 22000, tables.Runtime: 60,
		tables.Seasons: 8, tables.Episodes: 73,
	}
	lists := map[tables.ColumnID][]uint64{
		tables.Flag: {tables.ScreenedTheatrically}, tables.Genre: {10765}, tables.Keyword: {818}, tables.Company: {76043}, tables.Cast: {1, 2},
		tables.Crew: {5, 9813}, tables.Country: {tables.CodeKey("US")}, tables.Language: {tables.CodeKey("en")}, tables.AnyYear: {2010, 2011, 2019},
		tables.Certification: {tables.CertificationKey("US", "TV-MA")}, tables.Network: {49}, tables.Status: {3}, tables.SeriesType: {4},
	}
	names := []searchName{{"Thrones", mainName}, {"Der Thron", translatedName}, {"Le trône", translatedName}, {"GoT", alternativeName}}
	checkRow(t, r, fragment.KindTV, columns, lists, []dated{{0, special}, {0, first}, {0, last}}, names)

	// A series without known episodes uses its own dates.
	r = rowOf(t, fragment.KindTV, add(Series{TV: parseAs[catalog.TV](t, `{"id":1,"first_air_date":"2011-04-17","last_air_date":"2019-05-19","status":"Lost","type":"Documentary"}`)}))
	checkRow(t, r, fragment.KindTV, map[tables.ColumnID]int64{tables.Day: int64(first), tables.FirstDay: int64(first), tables.LastDay: int64(last)},
		map[tables.ColumnID][]uint64{tables.AnyYear: {2011, 2019}, tables.SeriesType: {0}}, []dated{{0, first}, {0, last}}, nil)
}

func TestOthers(t *testing.T) {
	f := func(kind fragment.Kind, add func(w *Writer) error, popularity float64, flags []uint64, names ...searchName) {
		t.Helper()
		r := rowOf(t, kind, add)
		if r.id != 7 || r.popularity != popularity {
			t.Errorf("%s has id %d and popularity %v, want 7 and %v", kind, r.id, r.popularity, popularity)
		}
		checkRow(t, r, kind, nil, map[tables.ColumnID][]uint64{tables.Flag: flags}, nil, names)
	}
	adult := []uint64{tables.Adult}
	f(fragment.KindPerson, func(w *Writer) error {
		return Add(w, fragment.KindPerson, 7, parseAs[catalog.Person](t, `{"id":7,"adult":true,"name":"P","popularity":1.5,"also_known_as":["Q","P"],"original_name":"O",`+
			`"translations":{"translations":[{"iso_639_1":"de","iso_3166_1":"DE","data":{"name":"D"}}]},"localized":[{"language":"ja-JP","name":"ピ"}]}`), 1.5, true)
	}, 1.5, adult, searchName{"P", mainName}, searchName{"O", originalName}, searchName{"D", translatedName}, searchName{"ピ", translatedName}, searchName{"Q", alternativeName})
	f(fragment.KindCollection, func(w *Writer) error {
		return Add(w, fragment.KindCollection, 7, parseAs[catalog.Collection](t, `{"id":7,"name":"C","original_name":"C",`+
			`"translations":{"translations":[{"iso_639_1":"de","iso_3166_1":"DE","data":{"title":"D"}}]},"localized":[{"language":"fr-FR","name":"F"}]}`), 2.5, true)
	}, 2.5, adult, searchName{"C", mainName}, searchName{"D", translatedName}, searchName{"F", translatedName})
	f(fragment.KindCompany, func(w *Writer) error {
		return Add(w, fragment.KindCompany, 7, parseAs[catalog.Company](t, `{"id":7,"name":"C","alternative_names":{"results":[{"name":"Co","type":""}]}}`), 3, false)
	}, 3, nil, searchName{"C", mainName}, searchName{"Co", alternativeName})
	f(fragment.KindKeyword, func(w *Writer) error {
		return Add(w, fragment.KindKeyword, 7, parseAs[catalog.KeywordRecord](t, `{"id":7,"name":"k"}`), 4, false)
	}, 4, nil, searchName{"k", mainName})
}

func TestSortKey(t *testing.T) {
	f := func(title, want string) {
		t.Helper()
		if got := SortKey(title); got != want {
			t.Errorf("SortKey(%q) = %q, want %q", title, got, want)
		}
	}
	f("", "")
	f("The Matrix", "the matrix")
	f("Amélie", "amelie")
	f("ÅNGSTRÖM", "angstrom")
	f("Ａｂ", "ab")
	f("Москва", "москва")
	f("七人の侍", "七人の侍")
	f("bad \xff", "bad \ufffd")
}

// randomRows returns movies with random values, some with equal popularity or titles.
func randomRows(n int) []row {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]row, n)
	for i := range rows {
		r := new(Writer).start(uint64(i+1), float64(rng.IntN(n/2+1))/4)
		for _, c := range tables.Columns(fragment.KindMovie) {
			switch c.Type {
			case tables.Range:
				r.numbers[c.ID] = int64(rng.IntN(50) - 5)
			case tables.Lists:
				for range rng.IntN(4) {
					r.addKey(c.ID, uint64(rng.IntN(40))<<(8*(c.ID%7)))
				}
			}
		}
		for range rng.IntN(4) {
			r.releases = append(r.releases, dated{tables.ReleaseKey([]string{"", "US", "DE"}[rng.IntN(3)], rng.IntN(3)), day.Day(rng.IntN(400) - 200)})
		}
		r.texts[tables.Title], r.texts[tables.OriginalTitle] = fmt.Sprint("t", rng.IntN(n)), []string{"", "a", "a\x00", "ab", "é"}[rng.IntN(5)]
		r.numbers[tables.Revenue] = int64(rng.IntN(9)) << 32
		r.names = randomNames(rng)
		rows[i] = *r
	}
	return rows
}

// writeTables writes a release of movie rows, in ranges that begin at the given keys, and opens it. It also returns
// the checksums of its files.
func writeTables(t *testing.T, rows iter.Seq[row], o Options, at ...[]byte) (*release.Reader, map[string]string) {
	t.Helper()
	o.Work = t.TempDir()
	ranges := len(at) + 1
	s := extsort.New(extsort.Options{Dir: o.Work, Memory: o.Memory, Sections: len(tables.Kinds) * ranges})
	w := NewWriter(s, func(table int, key []byte) int {
		i := slices.IndexFunc(at, func(from []byte) bool { return bytes.Compare(key, from) < 0 })
		if i < 0 {
			i = len(at)
		}
		return ranges*table + i
	})
	for r := range rows {
		w.row = r
		sharedtest.NoError(t, w.add(fragment.KindMovie))
	}
	releases := t.TempDir()
	out, err := releasetest.Create(releases)
	sharedtest.NoError(t, err)
	for n, kind := range tables.Kinds {
		writeTable(t, kind, ranges, func(i int) (*extsort.Iterator, error) { return s.Sort(t.Context(), ranges*n+i) }, out.Table, o)
	}
	sharedtest.NoError(t, s.Close())
	if left, err := os.ReadDir(o.Work); err != nil || len(left) > 0 {
		t.Errorf("the folder for temporary files holds %v, %v", left, err)
	}
	m, sums := releasetest.Seal(t, out), map[string]string{}
	for _, f := range m.Files() {
		sums[f.Name] = f.SHA256
	}
	return releasetest.MustOpen(t, filepath.Join(releases, m.ID)), sums
}

// writeTable writes the table of a kind from its rows by range.
func writeTable(t *testing.T, kind fragment.Kind, ranges int, rows func(i int) (*extsort.Iterator, error), create Create, o Options) {
	t.Helper()
	dir, n := t.TempDir(), 0
	var columns []*extsort.File
	for i := range ranges {
		it, err := rows(i)
		sharedtest.NoError(t, err)
		path := filepath.Join(dir, fmt.Sprint(i))
		k, err := WriteColumns(t.Context(), kind, n, it, path, o)
		sharedtest.NoError(t, err)
		f, err := extsort.Open(path)
		sharedtest.NoError(t, err)
		defer f.Close()
		n, columns = n+k, append(columns, f)
	}
	merge := func(section int) (*extsort.Iterator, error) {
		return extsort.Merge(t.Context(), columns, section, extsort.Options{Dir: o.Work, Memory: o.Memory})
	}
	if _, err := WriteTable(kind, n, merge, create, o); err != nil {
		t.Fatal(err)
	}
}

// clones yields deep copies of rows, in the order of the given numbers.
func clones(rows []row, order []int) iter.Seq[row] {
	return func(yield func(row) bool) {
		for _, i := range order {
			r := rows[i]
			for l := range r.lists {
				r.lists[l] = slices.Clone(r.lists[l])
			}
			r.releases, r.names = slices.Clone(r.releases), slices.Clone(r.names)
			if !yield(r) {
				return
			}
		}
	}
}

// TestTables compares each section with a walk over the rows.
func TestTables(t *testing.T) {
	const n = 3000
	rows := randomRows(n)
	order := rand.New(rand.NewPCG(3, 4)).Perm(n)
	rel, _ := writeTables(t, clones(rows, order), Options{Memory: 1 << 20})
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(b.popularity, a.popularity), cmp.Compare(a.id, b.id)) })
	tab, ok := rel.Table("movie")
	if !ok || tab.Rows() != n {
		t.Fatalf("table of movies = %v, %v, want one of %d rows", tab, ok, n)
	}
	open, err := tables.Open(rel, fragment.KindMovie)
	sharedtest.NoError(t, err)
	ids, popularity := open.Uint64s(tables.ID), open.Float64s(tables.Popularity)
	for i := range rows {
		if ids.At(i) != rows[i].id || popularity.At(i) != rows[i].popularity {
			t.Fatalf("rank %d is movie %d of popularity %v, want %d of %v", i, ids.At(i), popularity.At(i), rows[i].id, rows[i].popularity)
		}
	}
	for _, c := range tables.Columns(fragment.KindMovie) {
		switch c.Type {
		case tables.Range:
			for i := range rows {
				if got := open.Range(c.ID).Value(uint32(i)); int64(got) != rows[i].numbers[c.ID] {
					t.Fatalf("%s of rank %d = %d, want %d", c.Name, i, got, rows[i].numbers[c.ID])
				}
			}
			fallthrough
		case tables.NumberOrder:
			checkOrder(t, open, c, rows, func(r *row) int64 { return r.numbers[c.ID] })
		case tables.TextOrder:
			checkOrder(t, open, c, rows, func(r *row) string { return r.texts[c.ID] })
		case tables.Trend:
			checkOrder(t, open, c, rows, func(*row) int { return 0 })
		case tables.Lists:
			checkLists(t, open.Lists(c.ID), c, rows)
		case tables.Dated:
			checkReleases(t, open.Dated(c.ID), rows)
		case tables.Uint64s, tables.Float64s, tables.Names: // tested above, below and in TestTrends
		default:
			t.Errorf("column %s: add its type to this test", c.Name)
		}
	}
	var names [][]searchName
	for i := range rows {
		names = append(names, rows[i].names)
	}
	checkTerms(t, tab, names)
	for _, kind := range []string{"tv", "person", "collection", "company", "keyword"} {
		if tab, ok := rel.Table(kind); !ok || tab.Rows() != 0 {
			t.Errorf("table of kind %s = %v, %v, want an empty one", kind, tab, ok)
		}
	}
}

func checkLists(t *testing.T, got *posting.Lists, c *tables.Column, rows []row) {
	t.Helper()
	want := map[uint64][]uint32{}
	for i := range rows {
		for _, k := range slices.Compact(slices.Sorted(slices.Values(rows[i].lists[c.ID]))) {
			want[k] = append(want[k], uint32(i))
		}
	}
	if got.Len() != len(want) {
		t.Errorf("%s has %d lists, want %d", c.Name, got.Len(), len(want))
	}
	for k, ranks := range want {
		list, _ := got.Find(k)
		if all, err := buildtest.Ranks(list, len(rows)); err != nil || !slices.Equal(all, ranks) {
			t.Errorf("%s of %d = %d, %v, want %d", c.Name, k, all, err, ranks)
		}
	}
}

func checkReleases(t *testing.T, got *posting.Dated, rows []row) {
	t.Helper()
	want := map[uint64][]posting.Date{}
	for i := range rows {
		for _, d := range slices.Compact(slices.SortedFunc(slices.Values(rows[i].releases), dated.compare)) {
			want[d.key] = append(want[d.key], posting.Date{Day: int32(d.day), Rank: uint32(i)})
		}
	}
	if got.Len() != len(want) {
		t.Errorf("releases have %d keys, want %d", got.Len(), len(want))
	}
	for k, dates := range want {
		slices.SortFunc(dates, func(a, b posting.Date) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Rank, b.Rank)) })
		list, _ := got.Find(k)
		for i := range max(list.Len(), len(dates)) {
			if i >= list.Len() || i >= len(dates) || list.Day(i) != dates[i].Day || list.Rank(i) != dates[i].Rank {
				t.Errorf("releases of %d differ at %d: %d of them, want %d", k, i, list.Len(), len(dates))
				break
			}
		}
	}
}

// checkOrder checks that an order is by a key, then by rank.
func checkOrder[K cmp.Ordered](t *testing.T, open *tables.Table, c *tables.Column, rows []row, key func(*row) K) {
	t.Helper()
	o := open.Order(c.ID)
	var want []uint32
	for i := range rows {
		want = append(want, uint32(i))
	}
	if c.Type == tables.NumberOrder { // in reverse
		slices.Reverse(want)
	}
	slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(key(&rows[a]), key(&rows[b])) })
	for i, r := range want {
		if o.At(i) != r || o.Place(r) != i {
			t.Errorf("%s has rank %d at %d, want %d", c.Name, o.At(i), i, r)
			return
		}
	}
}

// TestTablesAreDeterministic: neither the order of rows nor the number of ranges nor memory affects the bytes, with
// and without a previous release.
func TestTablesAreDeterministic(t *testing.T) {
	const n = 3000 // exceeds the minimum memory
	rows := randomRows(n)
	rng := rand.New(rand.NewPCG(5, 6))
	var previous *release.Reader
	for range 2 {
		whole, want := writeTables(t, clones(rows, rng.Perm(n)), Options{Memory: 1 << 30, Previous: previous})
		for i, ranges := range []int{1, 2, 5, 40} {
			var at [][]byte
			for range ranges - 1 {
				at = append(at, AppendRowKey(nil, rng.Uint64N(n), float64(rng.IntN(n))/4)) // some ranges are empty
			}
			slices.SortFunc(at, bytes.Compare)
			o := Options{Memory: int64(i) << 20, Previous: previous}
			if _, got := writeTables(t, clones(rows, rng.Perm(n)), o, at...); !maps.Equal(got, want) {
				t.Errorf("in %d ranges the files are %v, want %v", ranges, got, want)
			}
		}
		previous = whole
		for i := range rows {
			rows[i].popularity = float64(rng.IntN(n)) / 4
		}
	}
}

// TestTrends builds three releases.
func TestTrends(t *testing.T) {
	movies := func(popularity ...float64) iter.Seq[row] {
		return func(yield func(row) bool) {
			for i, p := range popularity {
				if p >= 0 && !yield(*new(Writer).start(uint64(i+1), p)) {
					return
				}
			}
		}
	}
	check := func(rel *release.Reader, ofDay, ofWeek []uint64, heat map[uint64]float64) {
		t.Helper()
		tab, err := tables.Open(rel, fragment.KindMovie)
		sharedtest.NoError(t, err)
		ids := tab.Uint64s(tables.ID)
		for c, want := range map[tables.ColumnID][]uint64{tables.TrendDay: ofDay, tables.TrendWeek: ofWeek} {
			o := tab.Order(c)
			var got []uint64
			for i := range o.Len() {
				got = append(got, ids.At(int(o.At(i))))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s = movies %d, want %d", c, got, want)
			}
		}
		h := tab.Float64s(tables.Heat)
		for i := range tab.Rows {
			if got := h.At(i); got != heat[ids.At(i)] {
				t.Errorf("heat of movie %d = %v, want %v", ids.At(i), got, heat[ids.At(i)])
			}
		}
	}
	o := Options{Memory: 1 << 20}
	first, _ := writeTables(t, movies(10, 80, 30), o)
	check(first, []uint64{2, 3, 1}, []uint64{2, 3, 1}, map[uint64]float64{1: 10, 2: 80, 3: 30})

	// 1 has gained most, 3 nothing, 2 has lost; 4 is new and as hot as 3, but more popular.
	o.Previous = first
	second, _ := writeTables(t, movies(24, 73, 30, 99), o)
	check(second, []uint64{1, 4, 3, 2}, []uint64{1, 4, 3, 2}, map[uint64]float64{1: 12, 2: 79, 3: 30, 4: 99})

	// 1 has lost since yesterday, but is above its long-term value; 3 is gone.
	o.Previous = second
	third, _ := writeTables(t, movies(19, 72, -1, 99), o)
	check(third, []uint64{4, 2, 1}, []uint64{1, 4, 2}, map[uint64]float64{1: 13, 2: 78, 4: 99})
}

func TestDamagedRows(t *testing.T) {
	rows := randomRows(10)
	for i := range rows {
		r := &rows[i]
		whole := r.append(nil, tables.Columns(fragment.KindMovie))
		for n := range whole {
			var got row
			if err := got.parse(whole[:n], tables.Columns(fragment.KindMovie)); err == nil {
				t.Fatalf("the first %d of %d bytes of a row pass for one", n, len(whole))
			}
		}
	}
}
