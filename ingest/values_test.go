package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// TestLeftOut: a value that fits no field is left out and counted with its place, at any depth; the row and its other values
// stay.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	f := func(kind, row, want string, left ...string) {
		t.Helper()
		dir := t.TempDir()
		r := ingestInto(t, dir, Config{Kind: kind, Sources: []string{put(t, t.TempDir(), "rows.ndjson", row+"\n")}})
		if got := recordsOf(t, dir, kind); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is kept as %s, want %s", row, got, want)
		}
		var got []string
		for _, l := range r.LeftOut {
			if l.Count != int64(len(l.Samples)) || l.Path != record.WithoutIndices(l.Samples[0].Field) {
				t.Errorf("%s: %+v", row, l)
			}
			for _, s := range l.Samples {
				if s.File != "rows.ndjson" || s.Line != 1 {
					t.Errorf("%s: %+v, want its place", row, s)
				}
				got = append(got, s.Field+": "+s.Reason)
			}
		}
		slices.Sort(got)
		slices.Sort(left)
		if !slices.Equal(got, left) || r.ValuesLeftOut != int64(len(left)) || r.Quarantined != 0 {
			t.Errorf("%s loses %q, %d values, and %d rows, want %q", row, got, r.ValuesLeftOut, r.Quarantined, left)
		}
	}
	day := "want YYYY-MM-DD or nothing, found "
	f("movie", `{"id":1,"release_date":"0000-00-00","title":"A"}`, `{"id":1,"title":"A"}`, "release_date: "+day+`"0000-00-00"`)
	f("movie", `{"id":1,"runtime":12.5,"budget":99999999999999999999,"popularity":"high","adult":"maybe","title":true}`, `{"id":1}`,
		"runtime: want an integer, found 12.5", "budget: want an integer, found 99999999999999999999", `popularity: want a number, found "high"`,
		`adult: want true or false, found "maybe"`, "title: want a string, found true")
	f("movie", `{"id":1,"genres":["Nothing",{"id":18,"name":"Drama"},5]}`, `{"genres":[{"id":18,"name":"Drama"}],"id":1}`,
		`genres[0]: want an object, found "Nothing"`, "genres[2]: want an object, found 5")
	f("movie", `{"id":1,"genres":"Drama","credits":7,"belongs_to_collection":[]}`, `{"id":1}`,
		`genres: want an array of objects, found "Drama"`, "credits: want an object, found 7", "belongs_to_collection: want an object, found an array")
	f("movie", `{"id":1,"credits":{"cast":[{"id":1,"order":"x"},{"id":"y"}],"crew":{}}}`, `{"id":1,"credits":{"cast":[{"id":1},{}]}}`,
		`credits.cast[0].order: want an integer, found "x"`, `credits.cast[1].id: want an integer, found "y"`, "credits.crew: want an array of objects, found an object")
	f("movie", `{"id":1,"genre_ids":[18,"x"]}`, `{"genres":[{"id":18,"name":"Drama"}],"id":1}`, `genre_ids[1]: want an integer, found "x"`)
	f("movie", `{"id":1,"casts":{"cast":[{"id":[]}]}}`, `{"id":1,"credits":{"cast":[{}]}}`, "credits.cast[0].id: want an integer, found an array")
	f("movie", `{"id":1,"watch/providers":{"results":{"US":5,"DE":{"link":"l"}}}}`, `{"id":1,"watch/providers":{"results":{"DE":{"link":"l"}}}}`,
		"watch/providers.results.US: want an object, found 5")
	f("tv", `{"id":1,"episode_run_time":[45,"x"],"seasons":[{"id":2,"air_date":"1995-00-00","season_number":1}],"last_air_date":"soon"}`,
		`{"episode_run_time":[45],"id":1,"seasons":[{"id":2,"season_number":1}]}`,
		`episode_run_time[1]: want an integer, found "x"`, "seasons[0].air_date: "+day+`"1995-00-00"`, "last_air_date: "+day+`"soon"`)
	f("season", `{"series_id":9,"season_number":1,"air_date":"x","episodes":[{"id":1,"episode_number":"one","crew":[1]}]}`,
		`{"episodes":[{"id":1}],"season_number":1,"series_id":9}`,
		"air_date: "+day+`"x"`, `episodes[0].episode_number: want an integer, found "one"`, "episodes[0].crew[0]: want an object, found 1")
	f("person", `{"id":1,"birthday":"1963","also_known_as":["A",null]}`, `{"also_known_as":["A"],"id":1}`,
		"birthday: "+day+`"1963"`, "also_known_as[1]: want a string, found null")
	f("tv", `{"id":1,"season/1":{"name":"S","air_date":"x","episodes":[7]},"season/2":[],"season/3":{"season_number":4}}`, `{"id":1}`,
		"season/{n}.air_date: "+day+`"x"`, "season/{n}.episodes[0]: want an object, found 7", "season/2: want an object, found []",
		"season/3.season_number: want 3, as in its address, found 4")
	f("list", `{"id":1,"name":"L","comments":{"movie:1":5},"items":[{"id":1,"media_type":"movie"},{"id":"x","media_type":"tv"},{"id":3},7]}`,
		`{"id":1,"name":"L","items":{"page":1,"results":[{"media_type":"movie","id":1,"order":0}],"total_pages":1}}`,
		`items[0].results[1].id: want an integer, found "x"`, "items[0].results[3]: want an object, found 7",
		"comments: want texts by title, such as movie:550", "items[1].id: want an integer, found nothing", `items[2].media_type: want "movie" or "tv", found ""`)
	f("account", `{"id":1,"username":"u","account_object_id":"x","rated":{"movies":[{"id":1,"rating":8},{"id":2,"rating":11},{"id":3}]},`+
		`"favorites":{"movies":[{"id":4,"created_at":"soon"}]},"watchlist":{"movies":7},"lists":[1,"x"]}`,
		`{"id":1,"username":"u","favorites":{"movies":[{"id":4}]},"watchlist":{},"rated":{"movies":[{"id":1,"value":8.0}]},"lists":[1]}`,
		`account_object_id: want 24 hex digits, found "x"`, "rated.movies[1].value: want 0.5 to 10, found 11", "rated.movies[2].value: want 0.5 to 10, found nothing",
		`favorites.movies[0].created_at: want a time such as 2026-08-01 12:30:00 UTC or in RFC 3339, found "soon"`,
		"watchlist.movies: want an array of objects, found 7",
		`lists[1]: want an integer, found "x"`)
}

// TestCoerced: an unambiguous value of another type is converted and counted.
func TestCoerced(t *testing.T) {
	t.Parallel()
	f := func(row, want string, coerced ...string) {
		t.Helper()
		dir := t.TempDir()
		r := lines(t, dir, Config{}, row)
		if got := records(t, dir); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is read as %s, want %s", row, got, want)
		}
		for _, path := range coerced {
			if r.Coerced[path] != 1 {
				t.Errorf("%s: coerced %v, want %q", row, r.Coerced, coerced)
			}
		}
		if len(r.Coerced) != len(coerced) || r.ValuesCoerced != int64(len(coerced)) || r.ValuesLeftOut != 0 {
			t.Errorf("%s: coerced %v, left out %v, want %q", row, r.Coerced, r.LeftOut, coerced)
		}
	}
	f(`{"id":2.0,"runtime":"123","budget":1e3}`, `{"budget":1000,"id":2,"runtime":123}`, "id", "runtime", "budget")
	f(`{"id":"3","vote_average":"7.9","adult":"true","video":1}`, `{"adult":true,"id":3,"video":true,"vote_average":7.9}`, "id", "vote_average", "adult", "video")
	f(`{"id":1,"title":1776,"overview":-0.50}`, `{"id":1,"overview":"-0.50","title":"1776"}`, "title", "overview")
	for _, date := range []string{"1995-01-01T00:00:00.000Z", "1995-01-01 00:00:00", "1995-01-01T00:00:00Z", "1995-01-01T10:00", "1995-01-01T00:00:00+02:00", "1995-01-01 00:00:00 UTC"} {
		f(`{"id":1,"release_date":"`+date+`"}`, `{"id":1,"release_date":"1995-01-01"}`, "release_date")
	}
	for _, moment := range []string{"939945600", `"939945600"`, "939989100", "939945600000"} {
		f(`{"id":1,"release_date":`+moment+`}`, `{"id":1,"release_date":"1999-10-15"}`, "release_date")
	}
	f(`{"id":1,"release_date":1702641600123}`, `{"id":1,"release_date":"2023-12-15"}`, "release_date")
	f(`{"id":1,"release_date":-86400}`, `{"id":1,"release_date":"1969-12-31"}`, "release_date")
	f(`{"id":1,"poster_path":"https://image.tmdb.org/t/p/w500/a.jpg","backdrop_path":"//image.tmdb.org/t/p/original/b.jpg"}`, `{"backdrop_path":"/b.jpg","id":1,"poster_path":"/a.jpg"}`, "poster_path", "backdrop_path")
	f(`{"id":1,"poster_path":"https://example.com/a.jpg","homepage":"https://image.tmdb.org/t/p/w500/a.jpg"}`, `{"homepage":"https://image.tmdb.org/t/p/w500/a.jpg","id":1,"poster_path":"https://example.com/a.jpg"}`)
	f(`{"id":1,"videos":{"results":[]},"images":{"posters":[{"file_path":"http://image.tmdb.org/t/p/w45/c.png"}]}}`, `{"id":1,"images":{"posters":[{"file_path":"/c.png"}]},"videos":{"results":[]}}`, "images.posters[].file_path")
	f(`{"id":1,"genres":["Sci-Fi"],"belongs_to_collection":{"id":5}}`, `{"belongs_to_collection":{"id":5},"genres":[{"id":878,"name":"Science Fiction"}],"id":1}`, "genres[]")
	f(`{"id":1,"release_date":"","popularity":7,"runtime":null}`, `{"id":1,"popularity":7.0,"release_date":"","runtime":null}`)
}

// TestZeroCharacters: U+0000 is removed from texts, also in cells with JSON, and the row stays.
func TestZeroCharacters(t *testing.T) {
	dir := t.TempDir()
	r := lines(t, dir, Config{}, `{"id":1,"title":"A\u0000B"}`, `{"id":2,"title":"C","my_own":"x\u0000y","genres":[{"id":18,"name":"Dr\u0000ama"}]}`)
	want := []string{`{"id":1,"title":"AB"}`, `{"genres":[{"id":18,"name":"Drama"}],"id":2,"title":"C","my_own":"xy"}`}
	if got := records(t, dir); !slices.Equal(got, want) || r.Coerced["(control characters dropped)"] != 3 {
		t.Errorf("records %s, coerced %v, want %s", got, r.Coerced, want)
	}
	dir = t.TempDir()
	fileOf(t, dir, "movies.csv", Config{}, `id,title,genres`, `3,D,"[{""id"":18,""name"":""Dr\u0000ama""}]"`)
	if got, want := records(t, dir), []string{`{"genres":[{"id":18,"name":"Drama"}],"id":3,"title":"D"}`}; !slices.Equal(got, want) {
		t.Errorf("records %s, want %s", got, want)
	}
	strict := lines(t, t.TempDir(), Config{Strict: true}, `{"id":1,"title":"A\u0000B"}`, `{"id":2,"title":"C"}`)
	if len(strict.Bad) != 1 || !strings.Contains(strict.Bad[0], "found U+0000") {
		t.Errorf("with strict, Bad = %q, want the first row", strict.Bad)
	}
}

// TestAbsentNotNull: a value that is left out does not erase another source's value, as null would.
func TestAbsentNotNull(t *testing.T) {
	dir := t.TempDir()
	lines(t, dir, Config{}, `{"id":1,"release_date":"1999-10-15","runtime":139,"overview":"A"}`)
	lines(t, dir, Config{}, `{"id":1,"release_date":"0000-00-00","runtime":"long","overview":null}`)
	if got, want := records(t, dir)[0], `{"id":1,"overview":null,"release_date":"1999-10-15","runtime":139}`; got != want {
		t.Errorf("record = %s, want %s", got, want)
	}
}

// TestLeftOutOfIMDb: cells of IMDb's tables are left out likewise.
func TestLeftOutOfIMDb(t *testing.T) {
	src := t.TempDir()
	put(t, src, "title.basics.tsv", "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n"+
		"tt0000001\tmovie\tA\tA\t7\t1999\t\\N\tlong\tDrama\ntt0000002\t\\N\tB\tB\t0\t1999\t\\N\t90\tDrama\n")
	put(t, src, "title.akas.tsv", "titleId\tordering\ttitle\tregion\tlanguage\ttypes\tattributes\tisOriginalTitle\ntt0000001\t1\tA\x94\tDE\t\\N\t\\N\t\\N\t0\n")
	put(t, src, "title.crew.tsv", "tconst\tdirectors\twriters\ntt0000001\tnm0000001,x,nm0000002\tnm1\n")
	dir := t.TempDir()
	r := ingestInto(t, dir, Config{Sources: []string{src}})
	want := `[{directors 1 [title.crew.tsv:2: want ids such as nm0000001, found "x"]} {isAdult 1 [title.basics.tsv:2: want an integer from 0 to 1, found "7"]} ` +
		`{runtimeMinutes 1 [title.basics.tsv:2: want an integer from 0 to 10000000, found "long"]} {title 1 [title.akas.tsv:2: byte 1: invalid UTF-8 in A�]} {writers 1 [title.crew.tsv:2: want ids such as nm0000001, found "nm1"]}]`
	if fmt.Sprint(r.LeftOut) != want || r.Quarantined != 1 || r.Records["movie"] != 1 {
		t.Errorf("left out %v, bad %q, want %s", r.LeftOut, r.Bad, want)
	}
	if strict := ingestInto(t, t.TempDir(), Config{Sources: []string{src}, Strict: true}); strict.Quarantined != 4 {
		t.Errorf("with strict, Bad = %q, want all four rows", strict.Bad)
	}
}

// TestMaxBadValues: too many values left out stop an ingest, and the catalogue is unchanged.
func TestMaxBadValues(t *testing.T) {
	rows := []string{`{"id":1,"runtime":"a"}`, `{"id":2,"runtime":"b"}`, `{"id":3,"budget":"c"}`, `{"id":4}`}
	f := func(limit, want string) {
		t.Helper()
		most, err := ParseTolerance(limit)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		src := put(t, t.TempDir(), "movies.ndjson", strings.Join(rows, "\n"))
		r, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{src}, MaxBadValues: most, MinFit: AnyFit})
		if fmt.Sprint(err) != want || r.ValuesLeftOut != 3 || r.Stopped != (err != nil) || r.QuarantineFile != "" {
			t.Errorf("with at most %s: %v, %+v, want %s", limit, err, r, want)
		}
		var many *tooManyBadError
		if errors.As(err, &many) {
			checkFiles(t, dir)
		}
	}
	f("3", "<nil>")
	f("75%", "<nil>")
	f("2", "3 values of 4 rows did not fit their fields, more than 2: stopped, the catalogue is as it was; the report has the first")
	f("50%", "3 values of 4 rows did not fit their fields, more than 50%: stopped, the catalogue is as it was; the report has the first")
}

// TestLeftOutOrder: the samples of a field are the first in reading order, with any number of batches.
func TestLeftOutOrder(t *testing.T) {
	const n = 9000 // three batches
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"runtime":"x%d"}`, i+1, i+1)
	}
	r := lines(t, t.TempDir(), Config{MinFit: AnyFit}, rows...)
	want := report.LeftOut{Path: "runtime", Count: n}
	for i := range int64(3) {
		value := fmt.Sprintf(`"x%d"`, i+1)
		want.Samples = append(want.Samples, report.Sample{File: "movies.ndjson", Row: i + 1, Line: i + 1, Field: "runtime", Value: value, Reason: "want an integer, found " + value})
	}
	if len(r.LeftOut) != 1 || fmt.Sprintf("%+v", r.LeftOut[0]) != fmt.Sprintf("%+v", want) {
		t.Errorf("left out %+v, want %+v", r.LeftOut, want)
	}
}

// TestNoMoments: numbers that are days in other forms are no seconds since 1970.
func TestNoMoments(t *testing.T) {
	for _, number := range []string{"0", "1999", "36448", "199910", "19991015", "199910150000", "939989100123", "19991015000000", "9999999999", `"+939945600"`, "939945600.5"} {
		dir := t.TempDir()
		r := lines(t, dir, Config{}, `{"id":1,"release_date":`+number+`}`)
		if got := records(t, dir); r.ValuesLeftOut != 1 || !slices.Equal(got, []string{`{"id":1}`}) {
			t.Errorf("%s is read as %s, want it left out", number, got)
		}
	}
}

// TestNothing: all notations of an empty cell are empty in every form of a table, whatever reads it.
func TestNothing(t *testing.T) {
	for _, mapping := range []string{"", "[[table]]\nrequires = ['id']\n[[table.record]]\nkind = 'movie'\nfields = {id = 'id', title = 'title', runtime = 'runtime'}\n"} {
		dir, text := t.TempDir(), "id,title,runtime\n"
		for i, cell := range []string{"", `\N`, "NaN", "N/A", " NA ", "None", "null", "-", "?"} {
			text += fmt.Sprintf("%d,A,%s\n", i+1, cell)
		}
		put(t, dir, "movies.toml", mapping) // an empty one is ignored
		r, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{put(t, dir, "movies.csv", text)}})
		if err != nil || r.Kept != 9 || r.ValuesLeftOut != 0 {
			t.Errorf("%q: Run = %d rows, left out %v, %v, want 9 rows and nothing left out", mapping, r.Kept, r.LeftOut, err)
		}
	}
}
