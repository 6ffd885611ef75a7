package index

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/posting"
)

// rowOf adds one resource with add and returns the row that comes back from its bytes.
func rowOf(t *testing.T, kind fragment.Kind, add func(w *Writer) error) *row {
	t.Helper()
	c, err := New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := c.Writer()
	if err := add(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	it, err := c.rows.Partition(t.Context(), tableOf(kind), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	key, payload, err := it.Next()
	if err != nil {
		t.Fatal(err)
	}
	r := &row{}
	if r.id, r.popularity, err = parseRowKey(key); err != nil {
		t.Fatal(err)
	}
	names, err := r.parse(payload, &tables[tableOf(kind)])
	if err == nil {
		r.names, err = parseNames(nil, names)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parseAs[T any](t *testing.T, text string) *T {
	t.Helper()
	v := new(T)
	if err := record.NewParser().Parse(text, record.Of(v)); err != nil {
		t.Fatal(err)
	}
	return v
}

// dayOf is posting.DayOf of a date that is one.
func dayOf(t *testing.T, date string) int32 {
	t.Helper()
	d, ok := posting.DayOf(date)
	if !ok {
		t.Fatalf("%q is no date", date)
	}
	return d
}

// checkRow compares a row with what is wanted of it; sections that want does not name are
// empty.
func checkRow(t *testing.T, r *row, kind fragment.Kind, columns map[string]int32, lists map[string][]uint64, releases []dated, names []Name) {
	t.Helper()
	tab := &tables[tableOf(kind)]
	for i, name := range tab.columns {
		if got := r.columns[i]; got != columns[name] {
			t.Errorf("column %s = %d, want %d", name, got, columns[name])
		}
	}
	for i, name := range tab.lists {
		want := slices.Sorted(slices.Values(lists[name]))
		if !slices.Equal(r.lists[i], want) {
			t.Errorf("lists %s = %d, want %d", name, r.lists[i], want)
		}
	}
	slices.SortFunc(releases, compareDated)
	if !slices.Equal(r.releases, releases) {
		t.Errorf("releases = %v, want %v", r.releases, releases)
	}
	if diff := gocmp.Diff(names, r.names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
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
	if r.id != 550 || r.popularity != 7.25 || r.revenue != 3000000000 || r.texts != [2]string{"the elan", "elan"} {
		t.Errorf("row = %+v, want that of movie 550", r)
	}
	premiere, wide, tape := dayOf(t, "1999-09-21"), dayOf(t, "1999-10-15"), dayOf(t, "2000-06-06")
	flatrate, rent := posting.OfferType("flatrate"), posting.OfferType("rent")
	checkRow(t, r, fragment.KindMovie,
		map[string]int32{
			posting.Day: wide, posting.FirstDay: premiere, posting.LastDay: tape, posting.VoteAverage: 8439, posting.VoteCount: 29000, posting.Runtime: 139,
		},
		map[string][]uint64{
			posting.Flag: {posting.Adult, posting.Video, posting.Softcore}, posting.Genre: {18}, posting.Keyword: {825, 4565}, posting.Company: {508},
			posting.Cast: {287, 819}, posting.Crew: {7467}, posting.Country: {posting.CodeKey("BE"), posting.CodeKey("FR")},
			posting.Language: {posting.CodeKey("fr")}, posting.AnyYear: {1999, 2000},
			posting.Offer: {
				posting.OfferKey("US", 0, 0), posting.OfferKey("US", 0, 2), posting.OfferKey("US", 0, 8), posting.OfferKey("US", 0, 9),
				posting.OfferKey("US", flatrate, 0), posting.OfferKey("US", flatrate, 8),
				posting.OfferKey("US", rent, 0), posting.OfferKey("US", rent, 2), posting.OfferKey("US", rent, 8),
			},
			posting.Certification: {posting.CertificationKey("US", "R"), posting.CertificationKey("DE", "18")},
		},
		[]dated{
			{posting.ReleaseKey("", 0), premiere},
			{posting.ReleaseKey("", 0), wide},
			{posting.ReleaseKey("", 0), tape},
			{posting.ReleaseKey("US", 0), premiere},
			{posting.ReleaseKey("US", 0), wide},
			{posting.ReleaseKey("US", 0), tape},
			{posting.ReleaseKey("US", 1), premiere},
			{posting.ReleaseKey("US", 3), wide},
			{posting.ReleaseKey("US", 5), tape},
		},
		[]Name{{"The Élan", Main}, {"Élan", Original}, {"Der Elan", Translated}, {"Lo slancio", Translated}, {"Elan 1", Alternative}})

	// A record that says nothing is in no list.
	r = rowOf(t, fragment.KindMovie, func(w *Writer) error { return w.Movie(parseAs[catalog.Movie](t, `{"id":1}`)) })
	none := map[string]int32{posting.Day: posting.NoDay, posting.FirstDay: posting.NoDay, posting.LastDay: posting.NoDay}
	checkRow(t, r, fragment.KindMovie, none, nil, nil, nil)

	// The legacy releases stand in for release dates; nobody knows their types.
	r = rowOf(t, fragment.KindMovie, func(w *Writer) error {
		return w.Movie(parseAs[catalog.Movie](t, `{"id":1,"title":"T","releases":{"countries":[{"iso_3166_1":"JP","certification":"G","release_date":"1999-12-11"}]}}`))
	})
	d := dayOf(t, "1999-12-11")
	checkRow(t, r, fragment.KindMovie, map[string]int32{posting.Day: posting.NoDay, posting.FirstDay: d, posting.LastDay: d},
		map[string][]uint64{posting.AnyYear: {1999}, posting.Certification: {posting.CertificationKey("JP", "G")}},
		[]dated{{posting.ReleaseKey("", 0), d}, {posting.ReleaseKey("JP", 0), d}}, []Name{{"T", Main}})
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
	columns := map[string]int32{
		posting.Day: first, posting.FirstDay: special, posting.LastDay: last, posting.VoteAverage: 8500, posting.VoteCount: 22000, posting.Runtime: 60,
		posting.Seasons: 8, posting.Episodes: 73,
	}
	lists := map[string][]uint64{
		posting.Flag: {posting.ScreenedTheatrically}, posting.Genre: {10765}, posting.Keyword: {818}, posting.Company: {76043}, posting.Cast: {1, 2},
		posting.Crew: {5, 9813}, posting.Country: {posting.CodeKey("US")}, posting.Language: {posting.CodeKey("en")}, posting.AnyYear: {2010, 2011, 2019},
		posting.Certification: {posting.CertificationKey("US", "TV-MA")}, posting.Network: {49}, posting.Status: {3}, posting.Type: {4},
	}
	names := []Name{{"Thrones", Main}, {"Der Thron", Translated}, {"Le trône", Translated}, {"GoT", Alternative}}
	checkRow(t, r, fragment.KindTV, columns, lists, []dated{{0, special}, {0, first}, {0, last}}, names)

	// Of a series whose episodes nobody knows, its own dates are known.
	r = rowOf(t, fragment.KindTV, add(Series{TV: parseAs[catalog.TV](t, `{"id":1,"first_air_date":"2011-04-17","last_air_date":"2019-05-19","status":"Lost","type":"Documentary"}`)}))
	checkRow(t, r, fragment.KindTV, map[string]int32{posting.Day: first, posting.FirstDay: first, posting.LastDay: last},
		map[string][]uint64{posting.AnyYear: {2011, 2019}, posting.Type: {0}}, []dated{{0, first}, {0, last}}, nil)
}

func TestOthers(t *testing.T) {
	f := func(kind fragment.Kind, add func(w *Writer) error, popularity float64, flags []uint64, names ...Name) {
		t.Helper()
		r := rowOf(t, kind, add)
		if r.id != 7 || r.popularity != popularity {
			t.Errorf("%s has id %d and popularity %v, want 7 and %v", kind, r.id, r.popularity, popularity)
		}
		checkRow(t, r, kind, nil, map[string][]uint64{posting.Flag: flags}, nil, names)
	}
	adult := []uint64{posting.Adult}
	f(fragment.KindPerson, func(w *Writer) error {
		return w.Person(7, parseAs[catalog.Person](t, `{"id":7,"adult":true,"name":"P","popularity":1.5,"also_known_as":["Q","P"],"original_name":"O",`+
			`"translations":{"translations":[{"iso_639_1":"de","iso_3166_1":"DE","data":{"name":"D"}}]},"localized":[{"language":"ja-JP","name":"ピ"}]}`))
	}, 1.5, adult, Name{"P", Main}, Name{"O", Original}, Name{"D", Translated}, Name{"ピ", Translated}, Name{"Q", Alternative})
	f(fragment.KindCollection, func(w *Writer) error {
		return w.Collection(7, parseAs[catalog.Collection](t, `{"id":7,"name":"C","original_name":"C",`+
			`"translations":{"translations":[{"iso_639_1":"de","iso_3166_1":"DE","data":{"title":"D"}}]},"localized":[{"language":"fr-FR","name":"F"}]}`), 2.5, true)
	}, 2.5, adult, Name{"C", Main}, Name{"D", Translated}, Name{"F", Translated})
	f(fragment.KindCompany, func(w *Writer) error {
		return w.Company(7, parseAs[catalog.Company](t, `{"id":7,"name":"C","alternative_names":{"results":[{"name":"Co","type":""}]}}`), 3)
	}, 3, nil, Name{"C", Main}, Name{"Co", Alternative})
	f(fragment.KindKeyword, func(w *Writer) error {
		return w.Keyword(7, parseAs[catalog.KeywordRecord](t, `{"id":7,"name":"k"}`), 4)
	}, 4, nil, Name{"k", Main})
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

// randomRows returns movies with random facts, of which some agree in popularity and in
// titles.
func randomRows(n int) []row {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]row, n)
	for i := range rows {
		r := &rows[i]
		r.reset(uint64(i+1), float64(rng.IntN(n/2+1))/4)
		for c := range seasons {
			r.columns[c] = int32(rng.IntN(50) - 5)
		}
		for l := range network {
			for range rng.IntN(4) {
				r.in(l, uint64(rng.IntN(40))<<(8*(l%7)))
			}
		}
		for range rng.IntN(4) {
			r.releases = append(r.releases, dated{posting.ReleaseKey([]string{"", "US", "DE"}[rng.IntN(3)], rng.IntN(3)), int32(rng.IntN(400) - 200)})
		}
		r.texts = [2]string{fmt.Sprint("t", rng.IntN(n)), []string{"", "a", "a\x00", "ab", "é"}[rng.IntN(5)]}
		r.revenue = int64(rng.IntN(9)) << 32
		r.name(Main, fmt.Sprint("Name ", i))
	}
	return rows
}

// writeTables writes a release of rows, all of them movies, and opens it. It returns the sums
// of its files too.
func writeTables(t *testing.T, rows iter.Seq[row], o Options) (*release.Reader, map[string]string) {
	t.Helper()
	o.Work = t.TempDir()
	c, err := New(o.Work)
	if err != nil {
		t.Fatal(err)
	}
	w := c.Writer()
	for r := range rows {
		w.row = r
		if err := w.add(fragment.KindMovie); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	releases := t.TempDir()
	out, err := release.Create(releases, release.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WriteTables(t.Context(), out, o); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(o.Work); err != nil || len(left) > 0 {
		t.Errorf("the folder for temporary files holds %v, %v", left, err)
	}
	m, err := out.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, f := range m.Files {
		sums[f.Name] = f.SHA256
	}
	rel, err := release.Open(filepath.Join(releases, m.ID))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rel.Close() })
	return rel, sums
}

// clones yields deep copies of rows, in an order of their numbers.
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

// TestTables compares each section with what a walk over the rows gives.
func TestTables(t *testing.T) {
	const n = 3000
	rows := randomRows(n)
	order := rand.New(rand.NewPCG(3, 4)).Perm(n)
	rel, _ := writeTables(t, clones(rows, order), Options{Memory: 1 << 20, Jobs: 2})
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(b.popularity, a.popularity), cmp.Compare(a.id, b.id)) })
	tab, ok := rel.Table("movie")
	if !ok || tab.Rows() != n {
		t.Fatalf("table of movies = %v, %v, want one of %d rows", tab, ok, n)
	}
	ids, err := posting.OpenUint64s(tab, posting.ID, n)
	if err != nil {
		t.Fatal(err)
	}
	popularity, err := posting.OpenFloat64s(tab, posting.Popularity, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if ids.At(i) != rows[i].id || popularity.At(i) != rows[i].popularity {
			t.Fatalf("rank %d is movie %d of popularity %v, want %d of %v", i, ids.At(i), popularity.At(i), rows[i].id, rows[i].popularity)
		}
	}
	pool := posting.NewPool(n)
	for c, name := range columnNames[:seasons] {
		r, err := posting.OpenRange(tab, name, n, pool)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if r.Value(uint32(i)) != rows[i].columns[c] {
				t.Fatalf("%s of rank %d = %d, want %d", name, i, r.Value(uint32(i)), rows[i].columns[c])
			}
		}
	}
	for l, name := range listNames[:network] {
		want := map[uint64][]uint32{}
		for i := range rows {
			for _, k := range slices.Compact(slices.Sorted(slices.Values(rows[i].lists[l]))) {
				want[k] = append(want[k], uint32(i))
			}
		}
		got, err := posting.OpenLists(tab, name, n)
		if err != nil {
			t.Fatal(err)
		}
		if got.Len() != len(want) {
			t.Errorf("%s has %d lists, want %d", name, got.Len(), len(want))
		}
		for k, ranks := range want {
			list, _ := got.Find(k)
			if all, err := list.AppendTo(nil); err != nil || !slices.Equal(all, ranks) {
				t.Errorf("%s of %d = %d, %v, want %d", name, k, all, err, ranks)
			}
		}
	}
	checkReleases(t, tab, rows)
	checkOrder(t, tab, posting.Title, rows, func(r *row) string { return r.texts[0] })
	checkOrder(t, tab, posting.OriginalTitle, rows, func(r *row) string { return r.texts[1] })
	checkOrder(t, tab, posting.Revenue, rows, func(r *row) int64 { return r.revenue })
	checkOrder(t, tab, posting.TrendDay, rows, func(*row) int { return 0 })
	checkOrder(t, tab, posting.TrendWeek, rows, func(*row) int { return 0 })
	for _, kind := range []string{"tv", "person", "collection", "company", "keyword"} {
		if tab, ok := rel.Table(kind); !ok || tab.Rows() != 0 {
			t.Errorf("table of kind %s = %v, %v, want an empty one", kind, tab, ok)
		}
	}
}

func checkReleases(t *testing.T, tab *release.Table, rows []row) {
	t.Helper()
	want := map[uint64][]posting.Date{}
	for i := range rows {
		for _, d := range slices.Compact(slices.SortedFunc(slices.Values(rows[i].releases), compareDated)) {
			want[d.key] = append(want[d.key], posting.Date{Day: d.day, Rank: uint32(i)})
		}
	}
	got, err := posting.OpenDated(tab, posting.Release, len(rows))
	if err != nil {
		t.Fatal(err)
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

// checkOrder checks that an order is the one of a key, then of the rank.
func checkOrder[K cmp.Ordered](t *testing.T, tab *release.Table, name string, rows []row, key func(*row) K) {
	t.Helper()
	o, err := posting.OpenOrder(tab, name, len(rows))
	if err != nil {
		t.Fatal(err)
	}
	want := ranks(len(rows))
	if name == posting.Revenue { // from the end on
		slices.Reverse(want)
	}
	slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(key(&rows[a]), key(&rows[b])) })
	for i, r := range want {
		if o.At(i) != r || o.Place(r) != i {
			t.Errorf("%s has rank %d at %d, want %d", name, o.At(i), i, r)
			return
		}
	}
}

// TestTablesAreDeterministic: neither the order of rows nor jobs nor memory show.
func TestTablesAreDeterministic(t *testing.T) {
	const n = 20000 // more than the least memory holds
	rows := randomRows(n)
	var want map[string]string
	for i, o := range []Options{{Memory: 1 << 30, Jobs: 1}, {Memory: 1, Jobs: 1}, {Memory: 1 << 20, Jobs: 6}} {
		_, got := writeTables(t, clones(rows, rand.New(rand.NewPCG(5, uint64(i))).Perm(n)), o)
		if want == nil {
			want = got
		}
		if !maps.Equal(got, want) {
			t.Errorf("with %+v the files are %v, want %v", o, got, want)
		}
	}
}

// TestTrends goes through three releases.
func TestTrends(t *testing.T) {
	movies := func(popularity ...float64) iter.Seq[row] {
		return func(yield func(row) bool) {
			for i, p := range popularity {
				var r row
				r.reset(uint64(i+1), p)
				if p >= 0 && !yield(r) {
					return
				}
			}
		}
	}
	check := func(rel *release.Reader, ofDay, ofWeek []uint64, heat map[uint64]float64) {
		t.Helper()
		tab, _ := rel.Table("movie")
		ids, err := posting.OpenUint64s(tab, posting.ID, tab.Rows())
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][]uint64{posting.TrendDay: ofDay, posting.TrendWeek: ofWeek} {
			o, err := posting.OpenOrder(tab, name, tab.Rows())
			if err != nil {
				t.Fatal(err)
			}
			var got []uint64
			for i := range o.Len() {
				got = append(got, ids.At(int(o.At(i))))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s = movies %d, want %d", name, got, want)
			}
		}
		h, err := posting.OpenFloat64s(tab, posting.Heat, tab.Rows())
		if err != nil {
			t.Fatal(err)
		}
		for i := range h.Len() {
			if got := h.At(i); got != heat[ids.At(i)] {
				t.Errorf("heat of movie %d = %v, want %v", ids.At(i), got, heat[ids.At(i)])
			}
		}
	}
	o := Options{Memory: 1 << 20, Jobs: 1}
	first, _ := writeTables(t, movies(10, 80, 30), o)
	check(first, []uint64{2, 3, 1}, []uint64{2, 3, 1}, map[uint64]float64{1: 10, 2: 80, 3: 30})

	// 1 has won most, 3 nothing, 2 has lost; 4 is new and as hot as 3, but more popular.
	o.Previous = first
	second, _ := writeTables(t, movies(24, 73, 30, 99), o)
	check(second, []uint64{1, 4, 3, 2}, []uint64{1, 4, 3, 2}, map[uint64]float64{1: 12, 2: 79, 3: 30, 4: 99})

	// 1 has lost since yesterday, but is above what it was for long; 3 has gone.
	o.Previous = second
	third, _ := writeTables(t, movies(19, 72, -1, 99), o)
	check(third, []uint64{4, 2, 1}, []uint64{1, 4, 2}, map[uint64]float64{1: 13, 2: 78, 4: 99})

	o.Access = func(kind fragment.Kind, id uint64) (ofDay, ofWeek uint64) {
		if kind == fragment.KindMovie && id == 2 {
			return 1, 70
		}
		if kind == fragment.KindMovie && id == 1 {
			return 1, 7
		}
		return 0, 0
	}
	asked, _ := writeTables(t, movies(19, 72, -1, 99), o)
	check(asked, []uint64{2, 1, 4}, []uint64{2, 1, 4}, map[uint64]float64{1: 13, 2: 78, 4: 99})
}

func TestDamagedRows(t *testing.T) {
	rows := randomRows(10)
	for i := range rows {
		r := &rows[i]
		whole := r.append(nil, &tables[0])
		for n := range whole {
			var got row
			names, err := got.parse(whole[:n], &tables[0])
			if err == nil {
				_, err = parseNames(nil, names)
			}
			if err == nil {
				t.Fatalf("the first %d of %d bytes of a row pass for one", n, len(whole))
			}
		}
	}
}
