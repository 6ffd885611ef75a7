package e2e

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/serve/query"
	"github.com/reelsplice/reelsplice/serve/route"
)

// A nameRow is a resource in the form of search.
type nameRow struct {
	kind       fragment.Kind // movie, tv or person
	id         int64
	popularity float64
	title      string
}

// json returns the record of the catalogue.
func (n *nameRow) json() string {
	field := map[fragment.Kind]string{fragment.KindMovie: "title"}[n.kind]
	return fmt.Sprintf(`{"id":%d,"popularity":%g,%q:%s}`, n.id, n.popularity, cmp.Or(field, "name"), record.AppendString(nil, n.title))
}

// searchEngine builds a release of the rows, and returns its folder too.
func searchEngine(tb testing.TB, rows ...nameRow) (*query.Engine, string) {
	tb.Helper()
	dir, kinds := tb.TempDir(), map[fragment.Kind][]string{}
	slices.SortFunc(rows, func(a, b nameRow) int { return cmp.Compare(a.id, b.id) })
	for i := range rows {
		kinds[rows[i].kind] = append(kinds[rows[i].kind], rows[i].json())
	}
	catalog := filepath.Join(dir, "catalog")
	if err := os.Mkdir(catalog, 0o700); err != nil {
		tb.Fatal(err)
	}
	for kind, list := range kinds {
		buildtest.WriteKind(tb, catalog, kind, list...)
	}
	rel := buildCatalog(tb, dir)
	e := query.Open(rel, query.DefaultCacheBytes)
	if err := e.Err(); err != nil {
		tb.Fatal(err)
	}
	return e, filepath.Join(dir, "releases", rel.Manifest().ID)
}

// searchAll returns the ids of all pages, in order, and checks that the pages agree.
func searchAll(tb testing.TB, e *query.Engine, s query.Search) []int64 {
	tb.Helper()
	const size = 20
	var out query.Result
	var ids []int64
	for page := 1; ; page++ {
		if err := e.Search(&s, page, size, &out); err != nil {
			tb.Fatalf("search %q: %v", s.Query, err)
		}
		for _, r := range out.Rows {
			ids = append(ids, int64(r.ID))
		}
		if len(out.Rows) < size {
			break
		}
	}
	if len(ids) != out.Total {
		tb.Fatalf("search %q: pages have %d rows, total is %d", s.Query, len(ids), out.Total)
	}
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(ids) && s.Kind != 0 {
		tb.Fatalf("search %q: a row is on two pages", s.Query)
	}
	return ids
}

// oddMovies have titles that are hard to split into words.
func oddMovies() []nameRow {
	var list []nameRow
	for i, title := range []string{
		"Spider-Man: Far From Home", "Spiderman", "Spider", "WALL·E", "M*A*S*H", "Schindler's List", "Fast & Furious", "Dallas & Robo",
		"君の名は。", "シン・ゴジラ", "シン ウルトラマン", "千と千尋の神隠し", "기생충", "올드보이 이야기", "องค์บาก", "ต้มยำกุ้ง", "特工学姐007",
		"Иди и смотри", "Ёлки", "Зеркало", "أهلاً بالعالم", "المُصَوِّر", "وادي الذئاب", "ואלס עם באשיר", "Ζορμπάς ο Έλληνας", "Ὀδύσσεια",
		"कभी ख़ुशी कभी ग़म", "Amélie", "Łódź", "Straße", "Æon Flux", "$", "★★★", "½", "11.22.63", "R.I.P.D.", "(500) Days of Summer", "It", "Up", "影",
		"Ａｋｉｒａ", "The The", "A", "Ocean's Eleven", strings.Repeat("Loooooong ", 80), strings.Repeat("x", 300), "AC/DC: Let There Be Rock", "Tick, Tick... BOOM!",
	} {
		list = append(list, nameRow{kind: fragment.KindMovie, id: int64(10_000_000 + i), popularity: float64(i % 7), title: title})
	}
	return list
}

// TestSearchWords: the queries of testdata/search.tsv find their titles.
func TestSearchWords(t *testing.T) {
	skipLarge(t)
	odd := oddMovies()
	e, _ := searchEngine(t, odd...)
	title := map[int64]string{}
	for _, m := range odd {
		title[m.id] = m.title
	}
	for _, c := range append(readTSV(t, "search.tsv", 3), []string{"\u200fit\u202c", "exact", "It"}, []string{"\xff\xfe\x00", "exact", "-"}, []string{"", "exact", "-"}) {
		var got []string
		for _, id := range searchAll(t, e, query.Search{Kind: fragment.KindMovie, Query: []byte(c[0]), Fuzzy: c[1] == "fuzzy"}) {
			got = append(got, title[id])
		}
		want := slices.DeleteFunc(strings.Split(c[2], " | "), func(s string) bool { return s == "-" })
		if len(got) > 0 && len(want) > 0 && got[0] != want[0] {
			t.Errorf("search %q: first %q, want %q", c[0], got[0], want[0])
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("search %q = %q, want %q", c[0], got, want)
		}
	}
}

// TestSearchPages compares pages of other sizes with one long page.
func TestSearchPages(t *testing.T) {
	skipLarge(t)
	r := rand.New(rand.NewPCG(1, 2))
	kinds := []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson}
	var rows []nameRow
	for i := range 3000 {
		n := nameRow{kind: kinds[i%3], id: int64(i + 1), popularity: float64(r.IntN(500)) / 10, title: "Word " + strconv.Itoa(r.IntN(900))}
		if r.IntN(9) == 0 {
			n.title = "Word"
		}
		rows = append(rows, n)
	}
	e, _ := searchEngine(t, rows...)
	for _, kind := range []fragment.Kind{0, fragment.KindMovie} {
		s := query.Search{Kind: kind, Query: []byte("word")}
		var all, page query.Result
		if err := e.Search(&s, 1, 5000, &all); err != nil {
			t.Fatal(err)
		}
		want := 3000
		if kind != 0 {
			want = 1000
		}
		if all.Total != want || len(all.Rows) != want {
			t.Fatalf("kind %v: %d rows of %d, want %d", kind, len(all.Rows), all.Total, want)
		}
		for _, size := range []int{1, 20, 333} {
			var got []query.Row
			for i := 1; i <= (want+size-1)/size; i++ {
				if size == 1 && i%37 != 0 {
					got = append(got, all.Rows[i-1])
					continue
				}
				if err := e.Search(&s, i, size, &page); err != nil {
					t.Fatal(err)
				}
				got = append(got, page.Rows...)
			}
			if !slices.Equal(got, all.Rows) {
				t.Errorf("kind %v: pages of %d rows differ from one long page", kind, size)
			}
		}
		if err := e.Search(&s, want, 20, &page); err != nil || len(page.Rows) != 0 || page.Total != want {
			t.Errorf("kind %v: behind the last page: %d rows of %d, %v", kind, len(page.Rows), page.Total, err)
		}
	}
}

// TestSearchManyTypos: a word similar to more terms than are compared finds some of them, those with one error first.
func TestSearchManyTypos(t *testing.T) {
	skipLarge(t)
	const letters = "abcdefghijklmnopqrstuvwxyz"
	var rows []nameRow
	for _, place := range []int{2, 3, 4, 5} { // titles that differ from "wordlike" in one letter, and in two
		for _, a := range letters {
			word := []byte("wordlike")
			word[place] = byte(a)
			rows = append(rows, nameRow{kind: fragment.KindMovie, id: int64(len(rows) + 1), title: string(word)})
			for _, b := range letters {
				two := bytes.Clone(word)
				two[6] = byte(b)
				rows = append(rows, nameRow{kind: fragment.KindMovie, id: int64(len(rows) + 1), title: string(two)})
			}
		}
	}
	rows = slices.DeleteFunc(rows, func(n nameRow) bool { return n.title == "wordlike" })
	e, _ := searchEngine(t, rows...)
	var got query.Result
	if err := e.Search(&query.Search{Kind: fragment.KindMovie, Query: []byte("wordlike"), Fuzzy: true}, 1, 5000, &got); err != nil {
		t.Fatal(err)
	}
	if got.Total < 48 || got.Total > 200 || len(got.Rows) != got.Total {
		t.Errorf("%d rows of %d found among %d titles, want the titles of 48 terms", len(got.Rows), got.Total, len(rows))
	}
}

// TestSearchDamaged searches releases whose sections of names have wrong bytes.
func TestSearchDamaged(t *testing.T) {
	skipLarge(t)
	movies := oddMovies()
	_, dir := searchEngine(t, movies...)
	path := filepath.Join(dir, "table-movie")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := release.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer rel.Close()
	table, _ := rel.Table("movie")
	r := rand.New(rand.NewPCG(1, 1))
	refused := 0
	for _, name := range table.Sections() {
		section := table.Section(name)
		if !strings.HasPrefix(name, "text.") || len(section) == 0 {
			continue
		}
		at := bytes.Index(good, section[:min(len(section), 64)])
		for range 12 {
			bad := bytes.Clone(good)
			for range 1 + r.IntN(20) {
				bad[at+r.IntN(len(section))] = byte(r.IntN(256))
			}
			if searchDamaged(t, movies, rel.Manifest(), dir, bad) {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was found")
	}
}

// searchDamaged searches a copy of the release in dir with modified bytes of its table, and reports whether it was
// refused. The checksums of the copy are valid, so that search must find the damage.
func searchDamaged(t *testing.T, movies []nameRow, m *release.Manifest, dir string, table []byte) (refused bool) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), m.ID)
	if err := os.CopyFS(folder, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "table-movie")
	if err := errors.Join(os.Remove(path), os.WriteFile(path, table, 0o600)); err != nil {
		t.Fatal(err)
	}
	releasetest.Mend(t, path)
	rel, err := release.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer rel.Close()
	e := query.Open(rel, query.DefaultCacheBytes)
	check := func(err error) {
		if err == nil {
			return
		}
		if refused = true; !errors.Is(err, release.ErrCorrupt) {
			t.Fatalf("got error %v, want one of a corrupt file", err)
		}
	}
	check(e.Err())
	var out query.Result
	for i := range movies {
		check(e.Search(&query.Search{Kind: fragment.KindMovie, Query: []byte(movies[i].title)}, 1, 20, &out))
	}
	for _, q := range []string{"s", "the", "スピ", "schidnlerr lits", "spiderman hoome"} {
		check(e.Search(&query.Search{Query: []byte(q), Fuzzy: true}, 1, 20, &out))
	}
	return refused
}

// hostileQueries should take long.
var hostileQueries = []string{
	strings.Repeat("a", 10_000), strings.Repeat("a ", 5_000), strings.Repeat("the of a and in la de le der die ", 300), strings.Repeat("の", 4_000),
	"t", "a", "s e", "the a of la t", strings.Repeat("*", 10_000), strings.Repeat("\u202e\u0301", 3_000), strings.Repeat("\x00\xff", 5_000),
	strings.Repeat("matterhornen", 2) + " sanctimoniouz incomprehensibilitiez transcendentallz philosophicallz counterrevolutionariez",
	"sozatirela sonatirelo sonatizela sonatireka sonatirala sonatirema", strings.Repeat("q-", 200), strings.Repeat("e\u0301", 5_000), "(((%_?*|", strings.Repeat("ﷺ", 2_000),
}

func FuzzSearch(f *testing.F) {
	rows := oddMovies()
	for i := range rows[:10] {
		rows = append(rows, nameRow{kind: fragment.KindPerson, id: int64(i + 1), popularity: 1, title: rows[i].title})
	}
	e, _ := searchEngine(f, rows...)
	for _, m := range rows {
		f.Add([]byte(m.title), 1, false)
	}
	for _, q := range hostileQueries {
		f.Add([]byte(q), 2, true)
	}
	f.Fuzz(func(t *testing.T, q []byte, page int, adult bool) {
		var out query.Result
		s := query.Search{Query: q, IncludeAdult: adult, Fuzzy: true, Year: page, Region: route.ParseCountry(q[:min(len(q), 2)])}
		page = 1 + int(uint(page)%50)
		for _, kind := range []fragment.Kind{0, fragment.KindMovie} {
			s.Kind = kind
			if err := e.Search(&s, page, 5, &out); err != nil {
				t.Fatalf("search %q: %v", q, err)
			}
			if want := max(0, min(5, out.Total-5*(page-1))); len(out.Rows) != want {
				t.Fatalf("search %q: page %d has %d rows of %d, want %d", q, page, len(out.Rows), out.Total, want)
			}
		}
	})
}
