package imdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// TestSharedRecords compares complete records of the real files with the rows.
func TestSharedRecords(t *testing.T) {
	g := join(t, Config{}, readShared(t, "imdb-small")...)
	f := func(key, want string) {
		t.Helper()
		if got := g.records[key]; got != want {
			t.Errorf("%s\n = %s\nwant %s", key, got, want)
		}
	}
	f("person 1000247246", `{"gender":2,"id":1000247246,"imdb_id":"nm0247246","known_for_department":"Visual Effects","name":"Johan Earl"}`)
	small := func(key string, members ...string) {
		t.Helper()
		for _, m := range members {
			if !strings.Contains(g.records[key], m) {
				t.Errorf("%s lacks %s: %s", key, m, g.records[key])
			}
		}
	}
	small("movie 1001754912", `"genres":[{"id":53,"name":"Thriller"}],`, `"runtime":96,"title":"Wrath","vote_average":3.5,"vote_count":317,`,
		`"alternative_titles":{"titles":[{"iso_3166_1":"BR","title":"Ira","type":""},{"iso_3166_1":"GR","title":"Aperanti orgi","type":"dvd"},`+
			`{"iso_3166_1":"FR","title":"Outback - Traque Meurtrière","type":"dvd"},{"iso_3166_1":"DE","title":"Outback - Tödliche Jagd","type":"dvd"}]}`,
		`{"adult":false,"gender":1,"id":1003658287,"known_for_department":"Acting","name":"Bianca Bradey","original_name":"Bianca Bradey",`+
			`"popularity":0.0,"profile_path":null,"character":"Emma","credit_id":"ff1001ac720006fa45f6b6b4","order":1}`)
	small("tv 1007973020", `"type":"Miniseries"`, `"external_ids":{"imdb_id":"tt7973020"}`)
	small("tv 1003456370", `"episode_run_time":[5],"genres":[{"id":18,"name":"Drama"}]`)
	small("tv 1007144668", `"created_by":[{"id":1009134958,`, `"genres":[{"id":10767,"name":"Talk"}]`)
	small("episode 1003456370 1 2", `"episode_number":2,`, `"name":"Episode #1.2","id":1003471694,"season_number":1,`, `"external_ids":{"imdb_id":"tt3471694"}`,
		`"guest_stars":[{"character":"Office Worker",`, `{"department":"Directing","job":"Series Director",`)
}

// A world is a small catalogue of rows in the form of the published files.
func world(tb testing.TB) []tsv {
	tb.Helper()
	return []tsv{
		parseTSV(tb, titleBasics, `tconst	titleType	primaryTitle	originalTitle	isAdult	startYear	endYear	runtimeMinutes	genres
tt0000001	movie	"Quoted"	Original	0	1999	\N	100	Musical,Sci-Fi,Short
tt0000002	tvSeries	Series	Series	0	2001	2005	45	Action,Adventure,Horror
tt0000003	tvEpisode	Pilot	Piloto	1	2001	\N	44	Drama
tt0000004	tvEpisode	Second	Second	0	2001	\N	\N	\N
tt0000005	tvEpisode	Unnumbered	Unnumbered	0	\N	\N	\N	\N
tt0000006	tvEpisode	Lost	Lost	0	\N	\N	\N	\N
tt0000007	videoGame	Game	Game	0	2020	\N	\N	Action
tt0000008	tvMovie	Television	Television	1	2020	\N	\N	\N
tt0000009	tvEpisode	Taken	Taken	0	\N	\N	\N	\N
tt0000010	movie	Not An Episode	Not An Episode	0	\N	\N	\N	\N
tt11000000	tvMiniSeries	\N	\N	\N	\N	\N	\N	\N
`),
		parseTSV(tb, titleRatings, `tconst	averageRating	numVotes
tt0000001	7.5	1200
tt0000003	10.0	5
tt0000077	1.0	9
`),
		parseTSV(tb, titleEpisode, `tconst	parentTconst	seasonNumber	episodeNumber
tt0000004	tt0000002	1	2
tt0000003	tt0000002	1	1
tt0000005	tt0000002	\N	\N
tt0000009	tt0000002	1	2
tt0000010	tt0000002	1	9
tt0000012	tt0000007	0	0
`),
		parseTSV(tb, titleCrew, `tconst	directors	writers
tt0000001	nm0000003,nm0000004	nm0000004,nm0000099
tt0000078	nm0000003	\N
`),
		parseTSV(tb, titleAkas, "titleId\tordering\ttitle\tregion\tlanguage\ttypes\tattributes\tisOriginalTitle\n"+
			"tt0000001\t1\tOriginal\t\\N\t\\N\toriginal\t\\N\t1\n"+
			"tt0000001\t2\t\"Quoted\"\tUS\ten\timdbDisplay\t\\N\t0\n"+
			"tt0000001\t3\tDas Zitat\tDDDE\tde\tdvd\x02festival\tliteral title\t0\n"+
			"tt0000001\t4\tDas Zitat\tXG\tde\tdvd\x02festival\tliteral title\t0\n"+
			"tt0000001\t5\tWorld\tXWW\ten\t\\N\t\\N\t0\n"+
			"tt0000001\t6\tNowhere\t\\N\t\\N\t\\N\t\\N\t0\n"+
			"tt0000079\t1\tGone\tUS\t\\N\t\\N\t\\N\t0\n"),
		parseTSV(tb, titlePrincipals, `tconst	ordering	nconst	category	job	characters
tt0000001	10	nm0000001	actor	\N	["One","The \"Other\""]
tt0000001	2	nm0000002	actress	\N	\N
tt0000001	3	nm0000003	director	\N	\N
tt0000001	4	nm0000003	producer	executive producer	\N
tt0000001	5	nm0000003	writer	Screenplay by	\N
tt0000001	6	nm0000098	self	\N	["Self"]
tt0000001	7	nm0000001	archive_footage	\N	["Self"]
tt0000001	8	nm0000001	producer	snack wrangler	\N
tt0000001	9	nm0000001	producer	catering chief	\N
tt0000001	11	nm0000002	juggler	\N	\N
tt0000002	1	nm0000001	actor	\N	["Hero"]
tt0000002	2	nm0000004	writer	created by	\N
tt0000003	1	nm0000001	actor	\N	["Hero"]
tt0000004	1	nm0000001	actor	\N	["Hero"]
tt0000004	2	nm0000001	actor	\N	["Hero"]
tt0000008	1	nm0000004	writer	creator	\N
tt0000080	1	nm0000001	actor	\N	\N
`),
		parseTSV(tb, nameBasics, `nconst	primaryName	birthYear	deathYear	primaryProfession	knownForTitles
nm0000001	Ann Actor	1950	\N	soundtrack,actor	tt0000001
nm0000002	Bea Both	\N	\N	actor,actress	\N
nm0000003	Dee Director	\N	\N	legal,director	\N
nm0000004	Wen Writer	\N	\N	\N	\N
nm11000000	\N	\N	\N	\N	\N
`),
	}
}

const worldReport = `{Rows:map[name.basics:5 title.akas:7 title.basics:11 title.crew:2 title.episode:6 title.principals:17 title.ratings:3] ` +
	`Records:map[episode:3 movie:3 person:5 tv:2] ` +
	`Dropped:map[name.basics.birthYear:1 name.basics.knownForTitles:1 title.akas.language:4 title.akas.region.XWW:1 title.akas.title without region:1 ` +
	`title.akas: the title itself:3 ` +
	`title.basics.endYear:1 title.basics.genres of tvEpisode:1 title.basics.genres.Horror:1 title.basics.genres.Short:1 ` +
	`title.basics.isAdult of tvEpisode:1 title.basics.originalTitle of tvEpisode:1 title.basics.startYear:6 ` +
	`title.episode: no episode:1 title.episode: no series:1 title.episode: the number is taken:1 title.episode: without season or number:1 ` +
	`title.principals.category.juggler:1 title.principals.job:3 title.principals: repeated:2 titleType videoGame:1 titles in neither title.basics nor the catalogue:4]}`

func TestWorld(t *testing.T) {
	g := join(t, Config{}, world(t)...)
	if got := fmt.Sprintf("%+v", g.report); got != worldReport {
		t.Errorf("report = %s\nwant %s", got, worldReport)
	}
	checkGolden(t, g, "world.golden")
}

// TestSubsets: each table alone, and all but one, are joined without an error. Their rows about unknown titles are counted.
func TestSubsets(t *testing.T) {
	all := world(t)
	for i, f := range all {
		alone := join(t, Config{}, f)
		// Episodes only need title.episode; movies and series need title.basics.
		want := map[string]int64{titleBasics: 5, titleEpisode: 4, nameBasics: 5}[f.table]
		if int64(len(alone.records)) != want {
			t.Errorf("%s alone: %d records, want %d: %v", f.table, len(alone.records), want, slices.Sorted(maps.Keys(alone.records)))
		}
		rest := join(t, Config{}, slices.Concat(all[:i], all[i+1:])...)
		if len(rest.bad) > 0 || rest.report.Rows[f.table] != 0 {
			t.Errorf("all but %s: %+v", f.table, rest.report)
		}
	}
	none := join(t, Config{})
	if len(none.records) > 0 {
		t.Errorf("no tables gave %v", none.records)
	}
}

// TestOrder: neither the order of files nor of rows changes a record.
func TestOrder(t *testing.T) {
	for _, dir := range []string{"world", "imdb-small"} {
		files := world(t)
		if dir != "world" {
			files = readShared(t, dir)
		}
		want := join(t, Config{}, files...)
		rng := rand.New(rand.NewPCG(3, 4))
		for range 5 {
			rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
			for _, f := range files {
				rng.Shuffle(len(f.rows), func(i, j int) { f.rows[i], f.rows[j] = f.rows[j], f.rows[i] })
			}
			got := join(t, Config{}, files...)
			if !maps.Equal(got.records, want.records) || !reflect.DeepEqual(got.report, want.report) {
				t.Fatalf("%s: another order gave %+v\nwant %+v", dir, got.report, want.report)
			}
		}
	}
}

// TestSpill: rows that exceed the memory are sorted on disk with the same result.
func TestSpill(t *testing.T) {
	files := readShared(t, "imdb")
	want := join(t, Config{}, files...)
	if got := join(t, Config{Memory: 1}, files...); !maps.Equal(got.records, want.records) || !reflect.DeepEqual(got.report, want.report) {
		t.Error("a join on disk gave other records than one in memory")
	}
}

// TestCrosswalk: IDs of the catalogue win, in records and in references.
func TestCrosswalk(t *testing.T) {
	known := map[string]int64{
		"movie tt0000001": 11, "tv tt0000002": 22, "person nm0000001": 33, "episode tt0000003": 44,
		"tv tt0000008":     55, // a television movie that the catalogue has as a series
		"movie tt0000077":  66, // only in title.ratings
		"person nm0000004": -1, // no id
	}
	files := world(t)
	g := join(t, Config{ID: func(kind fragment.Kind, imdb string) (int64, bool) {
		id, ok := known[kind.String()+" "+imdb]
		return id, ok
	}}, files...)
	checkGolden(t, g, "crosswalk.golden")
	// The catalogue calls the series a movie.
	g = join(t, Config{ID: func(kind fragment.Kind, imdb string) (int64, bool) {
		return 7, kind == fragment.KindMovie && imdb == "tt0000002"
	}}, files...)
	if g.report.Records["episode"] != 1 || g.report.Dropped["title.episode: of a movie"] != 2 || g.records["movie 7"] == "" {
		t.Errorf("a series that is a movie: %+v", g.report)
	}
}

// TestTwice: a second row of a key is a duplicate if it is equal, and bad otherwise.
func TestTwice(t *testing.T) {
	files := world(t)
	for i, f := range files {
		files[i].rows = append(slices.Clone(f.rows), f.rows[0])
	}
	g := join(t, Config{}, files...)
	if n := g.report.Dropped["duplicate rows"]; n != int64(len(files)) {
		t.Errorf("equal rows: %d duplicates, want %d", n, len(files))
	}
	want := join(t, Config{}, world(t)...)
	if !maps.Equal(g.records, want.records) {
		t.Error("duplicates changed records")
	}

	other := map[string]string{
		titleBasics:     `{"tconst":"tt0000001","titleType":"short","primaryTitle":"Other","originalTitle":null,"isAdult":null,"startYear":null,"endYear":null,"runtimeMinutes":null,"genres":null}`,
		titleAkas:       `{"titleId":"tt0000001","ordering":"1","title":"Other","region":"FR","language":null,"types":null,"attributes":null,"isOriginalTitle":null}`,
		titlePrincipals: `{"tconst":"tt0000001","ordering":"10","nconst":"nm0000004","category":"editor","job":null,"characters":null}`,
		titleCrew:       `{"tconst":"tt0000001","directors":"nm0000001","writers":null}`,
		titleEpisode:    `{"tconst":"tt0000004","parentTconst":"tt0000002","seasonNumber":"3","episodeNumber":"1"}`,
		titleRatings:    `{"tconst":"tt0000001","averageRating":"1.0","numVotes":"1"}`,
		nameBasics:      `{"nconst":"nm0000001","primaryName":"Somebody Else","birthYear":null,"deathYear":null,"primaryProfession":null,"knownForTitles":null}`,
	}
	var bad []string
	files = world(t)
	for i, f := range files {
		files[i].rows = append(slices.Clone(f.rows), []byte(other[f.table]))
	}
	c := Config{
		Place: func(file int, row, _ int64) string { return fmt.Sprintf("%s:%d", files[file].table, row) },
		Bad: func(file int, row, line int64, json []byte, err error) error {
			f := files[file]
			if string(json) != string(f.rows[row-1]) || line != row+1 {
				t.Errorf("Bad(%s, %d, %d): JSON = %s, want %s", f.table, row, line, json, f.rows[row-1])
			}
			var fe *record.FieldError
			if !errors.As(err, &fe) {
				t.Errorf("Bad: error is a %T", err)
			}
			bad = append(bad, err.Error())
			return nil
		},
	}
	g = join(t, c, files...)
	slices.Sort(bad)
	wantBad := []string{
		"nconst: nm0000001 already occurs at name.basics:1, with different content than at name.basics:6",
		"tconst: tt0000001 10 already occurs at title.principals:1, with different content than at title.principals:18",
		"tconst: tt0000001 already occurs at title.basics:1, with different content than at title.basics:12",
		"tconst: tt0000001 already occurs at title.crew:1, with different content than at title.crew:3",
		"tconst: tt0000001 already occurs at title.ratings:1, with different content than at title.ratings:4",
		"tconst: tt0000004 already occurs at title.episode:1, with different content than at title.episode:7",
		"titleId: tt0000001 1 already occurs at title.akas:1, with different content than at title.akas:8",
	}
	if !slices.Equal(bad, wantBad) {
		t.Errorf("bad = %q\nwant %q", bad, wantBad)
	}
	if !maps.Equal(g.records, want.records) {
		t.Error("refused rows changed records")
	}
	stop := errors.New("stop")
	c.Bad = func(int, int64, int64, []byte, error) error { return stop }
	j := newJoiner(t, c)
	addAll(t, j, files)
	if err := j.Records(t.Context(), func(int, int64, int64, layout.Record) error { return nil }); !errors.Is(err, stop) {
		t.Errorf("Records = %v, want the error of Bad", err)
	}
}

// TestTooLong: the length of rows, and of all rows of a title, is limited.
func TestTooLong(t *testing.T) {
	row := func(n, size int) []byte {
		return fmt.Appendf(nil, `{"titleId":"tt0000001","ordering":"%d","title":"%d %s","region":"DE"}`, n, n, strings.Repeat("x", size))
	}
	akas := tsv{table: titleAkas}
	for n := range maxTitleBytes/maxRowBytes + 6 {
		akas.rows = append(akas.rows, row(n, maxRowBytes-100))
	}
	akas.rows = append(akas.rows, row(1000, maxRowBytes))
	var bad []string
	g := join(t, Config{Bad: func(_ int, _, _ int64, _ []byte, err error) error {
		bad = append(bad, err.Error())
		return nil
	}}, akas, tsv{titleBasics, [][]byte{[]byte(`{"tconst":"tt0000001","titleType":"movie"}`)}})
	if len(g.bad) != 1 || !strings.HasPrefix(g.bad[0], "want a row of at most 1048576 bytes, found 10") {
		t.Errorf("Add refused %q, want the last row", g.bad)
	}
	const want = "titleId: the rows of tt0000001 take more than 67108864 bytes together"
	if len(bad) < 1 || len(bad) > 7 || bad[0] != want {
		t.Errorf("Records refused %d rows, %q, want a few, %q", len(bad), bad[:min(1, len(bad))], want)
	}
	titles := g.get(t, "movie 1000000001")["alternative_titles"].(map[string]any)["titles"].([]any)
	if len(titles)+len(bad) != len(akas.rows)-1 {
		t.Errorf("%d titles and %d refused rows of %d", len(titles), len(bad), len(akas.rows)-1)
	}
}

func TestAddRefuses(t *testing.T) {
	j := newJoiner(t, Config{})
	f := func(table, row, want string) {
		t.Helper()
		err := j.Add(table, 0, 1, 2, row)
		var fe *record.FieldError
		if !errors.As(err, &fe) || err.Error() != want {
			t.Errorf("Add(%s, %s) = %v\nwant %s", table, row, err, want)
		}
	}
	f(titleBasics, `{"tconst":"nm0000001","titleType":"movie"}`, `tconst: want an id such as tt0000001, found "nm0000001"`)
	f(titleBasics, `{"titleType":"movie"}`, `tconst: want an id such as tt0000001, found nothing`)
	f(titleBasics, `{"tconst":"tt1","titleType":"movie"}`, `tconst: want an id such as tt0000001, found "tt1"`)
	f(titleBasics, `{"tconst":"tt00000001","titleType":"movie"}`, `tconst: want an id such as tt0000001, found "tt00000001"`)
	f(titleBasics, `{"tconst":"tt1147483648","titleType":"movie"}`, `tconst: want an id such as tt0000001, found "tt1147483648"`)
	f(titleBasics, `{"tconst":"tt0000000","titleType":"movie"}`, `tconst: want an id such as tt0000001, found "tt0000000"`)
	f(titleBasics, `{"tconst":"tt0000001"}`, `titleType: want a type of title, found nothing`)
	// An extra tab shifts all cells after it.
	f(titleBasics, `{"tconst":"tt0000001","titleType":"movie","isAdult":"2019"}`, `isAdult: want an integer from 0 to 1, found "2019"`)
	f(titleBasics, `{"tconst":"tt0000001","titleType":"movie","runtimeMinutes":"Reality-TV"}`, `runtimeMinutes: want an integer from 0 to 10000000, found "Reality-TV"`)
	f(titleBasics, `{"tconst":"tt0000001","titleType":"movie","startYear":"-5"}`, `startYear: want an integer from 0 to 9999, found "-5"`)
	f(titleRatings, `{"tconst":"tt0000001","averageRating":"NaN"}`, `averageRating: want a number from 0 to 10, found "NaN"`)
	f(titleRatings, `{"tconst":"tt0000001","averageRating":"11"}`, `averageRating: want a number from 0 to 10, found "11"`)
	f(titleRatings, `{"tconst":"tt0000001","numVotes":"1.5"}`, `numVotes: want an integer from 0 to 2147483647, found "1.5"`)
	f(titleEpisode, `{"tconst":"tt0000001"}`, `parentTconst: want an id such as tt0000001, found nothing`)
	f(titleEpisode, `{"tconst":"tt0000001","parentTconst":"tt0000002","seasonNumber":"S1"}`, `seasonNumber: want an integer from 0 to 2147483647, found "S1"`)
	f(titleCrew, `{"tconst":"tt0000001","writers":"nm0000001,tt0000001"}`, `writers: want ids such as nm0000001, found "tt0000001"`)
	f(titleCrew, `{"tconst":"tt0000001","writers":"nm0000001,,"}`, `writers: want ids such as nm0000001, found ""`)
	f(titleCrew, `{"tconst":"tt0000001","directors":",nm0000001"}`, `directors: want ids such as nm0000001, found ""`)
	f(titleCrew, `{"tconst":"tt0000001","directors":"`+strings.Repeat("nm0000001,", maxOrdering)+`nm0000001"}`, `directors: want at most 65535 ids, found "65536"`)
	f(titlePrincipals, `{"tconst":"tt0000001","nconst":"nm0000001","category":"self"}`, `ordering: want an integer, found nothing`)
	f(titlePrincipals, `{"tconst":"tt0000001","ordering":"65536","nconst":"nm0000001","category":"self"}`, `ordering: want an integer from 0 to 65535, found "65536"`)
	f(titlePrincipals, `{"tconst":"tt0000001","ordering":"1","nconst":"nm0000001"}`, `category: want a category of credits, found nothing`)
	f(titlePrincipals, `{"tconst":"tt0000001","ordering":"1","nconst":"nm0000001","category":"self","characters":"Self"}`, `characters: want a list such as ["Self"], found "Self"`)
	f(titleAkas, `{"titleId":"tt0000001","ordering":"1","isOriginalTitle":"x"}`, `isOriginalTitle: want an integer from 0 to 1, found "x"`)
	f(nameBasics, `{"nconst":"tt0000001"}`, `nconst: want an id such as nm0000001, found "tt0000001"`)
	f(nameBasics, `{"nconst":"nm0000001","birthYear":"`+strings.Repeat("é", 40)+`"}`, `birthYear: want an integer from 0 to 9999, found "`+strings.Repeat("é", 30)+`..."`)
	f(nameBasics, `[]`, `want an object, found []`)
	f(nameBasics, `{"nconst":["nm0000001"]}`, `nconst: want a text, a number or null, found ["nm0000001"]`)
	f(nameBasics, `{"nconst":"nm0000001"`, `parse JSON: byte 21: is not JSON`)
	if n := j.people.Len() + j.titles.Len() + j.episodes.Len(); n > 0 || len(j.dropped) > 0 {
		t.Errorf("refused rows left %d records behind, and were counted: %v", n, j.dropped)
	}
}

// TestAddReads: rows in other forms than source's are read too.
func TestAddReads(t *testing.T) {
	want := join(t, Config{}, tsv{titleBasics, [][]byte{[]byte(
		`{"tconst":"tt0000001","titleType":"movie","primaryTitle":"A \"B\" \\ \u00e9\ud83d\ude00/","isAdult":"1","runtimeMinutes":"90","genres":null}`)}})
	if got := want.get(t, "movie 1000000001")["title"]; got != `A "B" \ é😀/` {
		t.Errorf("title = %q", got)
	}
	f := func(row string) {
		t.Helper()
		got := join(t, Config{}, tsv{titleBasics, [][]byte{[]byte(row)}})
		if !maps.Equal(got.records, want.records) {
			t.Errorf("Add(%s) = %v\nwant %v", row, got.records, want.records)
		}
	}
	// Numbers and booleans, as from Parquet; another order; white space; \N and empty texts.
	f(`{"tconst":"tt0000001","titleType":"movie","primaryTitle":"A \"B\" \\ é😀\/","isAdult":true,"runtimeMinutes":90}`)
	f("\n{ \"runtimeMinutes\" : 90 ,\t\"isAdult\":1, \"primaryTitle\":\"A \\\"B\\\" \\\\ é😀/\",\r\n \"titleType\":\"movie\",\"tconst\":\"tt0000001\" } ")
	f(`{"tconst":"tt0000001","titleType":"movie","primaryTitle":"A \"B\" \\ é😀/","isAdult":"1","runtimeMinutes":"90","genres":"\\N","startYear":"","endYear":null}`)
}

// TestTrailingComma: a comma at the end of a list adds no empty element.
func TestTrailingComma(t *testing.T) {
	crew := func(comma string) joined {
		return join(t, Config{}, tsv{titleBasics, [][]byte{[]byte(`{"tconst":"tt0000001","titleType":"movie","genres":"Drama` + comma + `"}`)}},
			tsv{titleCrew, [][]byte{[]byte(`{"tconst":"tt0000001","directors":"nm0000001` + comma + `","writers":"nm0000001,nm0000002` + comma + `"}`)}})
	}
	got, want := crew(","), crew("")
	if len(got.bad) > 0 || !reflect.DeepEqual(got.records, want.records) || !reflect.DeepEqual(got.report, want.report) {
		t.Errorf("with a comma at the end: %q, %v, %v\nwant %v", got.bad, got.records, got.report, want.records)
	}
}

func TestUnknownColumns(t *testing.T) {
	g := join(t, Config{}, tsv{titleRatings, [][]byte{
		[]byte(`{"tconst":"tt0000001","averageRating":"1.0","numVotes":"1","median":"2","empty":null}`),
	}})
	if want := map[string]int64{"title.ratings.median": 1, "titles in neither title.basics nor the catalogue": 1}; !maps.Equal(g.report.Dropped, want) {
		t.Errorf("Dropped = %v, want %v", g.report.Dropped, want)
	}
}

func TestIsTable(t *testing.T) {
	f := func(base, row, want string) {
		t.Helper()
		if got, ok := IsTable(base, []byte(row)); got != want || ok != (want != "") {
			t.Errorf("IsTable(%q, %s) = %q, %v, want %q", base, row, got, ok, want)
		}
	}
	f("title.ratings", `{"tconst":"tt0000001","averageRating":null,"numVotes":null}`, titleRatings)
	f("title.ratings", `{"tconst":"tt0000001","averageRating":null,"numVotes":null,"more":1}`, titleRatings)
	f("title.ratings", `{"tconst":"tt0000001","averageRating":null}`, "")
	f("ratings", `{"tconst":"tt0000001","averageRating":null,"numVotes":null}`, "")
	f("title.ratings", `[`, "")
	if got := len(Tables()); got != 7 {
		t.Errorf("%d tables, want 7", got)
	}
}

// TestErrors: an error of emit, a canceled context and a missing folder end a join.
func TestErrors(t *testing.T) {
	j := newJoiner(t, Config{})
	addAll(t, j, world(t))
	stop := errors.New("stop")
	if err := j.Records(t.Context(), func(int, int64, int64, layout.Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Records = %v, want the error of emit", err)
	}
	j = newJoiner(t, Config{})
	addAll(t, j, world(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Records(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Records = %v, want context.Canceled", err)
	}
	j = newJoiner(t, Config{Dir: filepath.Join(t.TempDir(), "missing"), Memory: 1})
	var err error
	for i := int64(0); i < 100_000 && err == nil; i++ {
		err = j.Add(nameBasics, 0, i, i, fmt.Sprintf(`{"nconst":"nm%07d"}`, i+1))
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Add with a missing folder = %v", err)
	}
}
