package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

func text(r record.Record) string { return string(record.Append(nil, r)) }

// kind returns the type of a kind of records.
func kind(name string) *catalog.Type {
	t, ok := catalog.TypeNamed(name)
	if !ok {
		panic("no kind " + name)
	}
	return t
}

// movieOf returns the one record of a row about a movie.
func movieOf(l Layout, r Row) (record.Record, error) {
	r.Type = kind("movie")
	recs, err := l.Records(r)
	if err != nil {
		return record.Record{}, err
	}
	if len(recs) != 1 || recs[0].Type != r.Type {
		return record.Record{}, fmt.Errorf("%d records, want one movie", len(recs))
	}
	return recs[0].Record, nil
}

func TestParseLanguage(t *testing.T) {
	f := func(tag, want string) {
		t.Helper()
		if got, err := tmdb.ParseLanguage(tag); err != nil || got != want {
			t.Errorf("ParseLanguage(%q) = %q, %v, want %q", tag, got, err, want)
		}
	}
	f("", "")
	f("en", "")
	f("en-US", "")
	f("EN-us", "")
	f("en-GB", "en-GB")
	f("de-DE", "de-DE")
	f("DE-de", "de-DE")
	f("it", "it-IT")
	f("FR", "fr-FR")
	f("pt-BR", "pt-BR")
	f("cn", "cn-CN")
	f("zz", "zz") // unknown region
	bad := func(tag string) {
		t.Helper()
		want := `language "` + tag + `": want xx or xx-YY, for instance de-DE`
		if got, err := tmdb.ParseLanguage(tag); err == nil || err.Error() != want {
			t.Errorf("ParseLanguage(%q) = %q, %v, want %s", tag, got, err, want)
		}
	}
	bad("german")
	bad("d")
	bad("de_DE")
	bad("de-D")
	bad("de-DEU")
	bad("12")
	bad("de-DE-x")
	bad("é")
	bad(" de")
}

func TestTMDB(t *testing.T) {
	f := func(language string, row Row, want string) {
		t.Helper()
		l := newReader(TMDB, Options{Language: language})
		m, err := movieOf(l, row)
		if err != nil || text(m) != want {
			t.Errorf("Records(%+v) in %q\n = %s, %v\nwant %s", row, language, text(m), err, want)
		}
	}
	f("", Row{JSON: `{"title":"A","id":5}`}, `{"id":5,"title":"A"}`)
	f("", Row{JSON: `{"id":5}`, ID: 5}, `{"id":5}`)
	f("", Row{JSON: `{"id":5,"cast":[],"crew":[]}`, ID: 5, Sub: "credits"}, `{"id":5,"credits":{"cast":[],"crew":[]}}`)
	f("", Row{JSON: `{"cast":[]}`, ID: 5, Sub: "casts"}, `{"id":5,"credits":{"cast":[]}}`)
	f("", Row{JSON: `{"id":5,"results":{}}`, ID: 5, Sub: "watch/providers"}, `{"id":5,"watch/providers":{"results":{}}}`)
	f("", Row{JSON: `{"page":1,"results":[]}`, ID: 5, Sub: "similar_movies"}, `{"id":5,"similar":{"page":1,"results":[]}}`)
	// Old names become current ones.
	f("", Row{JSON: `{"id":5,"casts":{"cast":[]},"credits":{"crew":[]}}`}, `{"id":5,"credits":{"crew":[]}}`)
	f("", Row{JSON: `{"id":5,"genre_ids":[18],"media_type":"movie"}`}, `{"genres":[{"id":18,"name":"Drama"}],"id":5}`)
	f("", Row{JSON: `{"id":5,"genre_ids":[18],"genres":[]}`}, `{"genres":[],"id":5}`)
	// Fields that depend on the language move, others stay.
	f("de-DE", Row{JSON: `{"id":5,"title":"T","overview":"","poster_path":"/p","backdrop_path":null,"runtime":90,"budget":1,` +
		`"genres":[{"id":18,"name":"Drama"}],"belongs_to_collection":null,"reviews":{"page":1},"images":{"posters":[]}}`},
		`{"budget":1,"id":5,"images":{"posters":[]},"reviews":{"language":"de-DE","page":1},"localized":[{"language":"de-DE",`+
			`"backdrop_path":null,"belongs_to_collection":null,"genres":[{"id":18,"name":"Drama"}],"overview":"","poster_path":"/p","runtime":90,"title":"T"}]}`)
	// Texts with a language suffix.
	f("", Row{JSON: `{"id":5,"title":"T","title_de":"U","title_xq":"kept","budget_de":7,"poster_de":"kept"}`},
		`{"id":5,"title":"T","localized":[{"language":"de-DE","title":"U"}],"title_xq":"kept","budget_de":7,"poster_de":"kept"}`)
	f("", Row{JSON: `{"id":5,"title":"T","title_en":"T"}`}, `{"id":5,"title":"T"}`)
	f("", Row{JSON: `{"id":5,"title":"T","title_en":"other"}`}, `{"id":5,"title":"T","title_en":"other"}`)
	f("", Row{JSON: `{"id":5,"overview_en":"o"}`}, `{"id":5,"overview":"o"}`)
	f("fr-FR", Row{JSON: `{"id":5,"title":"F","title_en":"E"}`}, `{"id":5,"title":"E","localized":[{"language":"fr-FR","title":"F"}]}`)
	// Null and an empty text mean no text, and so does a crawl's own empty title.
	f("", Row{JSON: `{"id":5,"title":"T","title_fr":null,"overview_fr":"","title_en":""}`}, `{"id":5,"title":"T"}`)
	f("", Row{JSON: `{"id":5,"title_fr":"","overview_fr":"o"}`}, `{"id":5,"localized":[{"language":"fr-FR","overview":"o"}]}`)
	f("de-DE", Row{JSON: `{"id":5,"title":"","overview":"","title_de":"kept"}`}, `{"id":5,"localized":[{"language":"de-DE","overview":"","title":"kept"}]}`)
	f("de-DE", Row{JSON: `{"id":5,"title":null}`}, `{"id":5,"localized":[{"language":"de-DE"}]}`)
	// A null in a crawl of another language does not change the base.
	f("de-DE", Row{JSON: `{"id":5,"runtime":null,"genres":null,"credits":{"cast":[]},"trailers":{"youtube":[]}}`},
		`{"id":5,"localized":[{"language":"de-DE","genres":null,"runtime":null,"credits":{"cast":[]},"trailers":{"youtube":[]}}]}`)
	// A row of a table.
	f("", Row{Table: true, JSON: `{"id":5,"title":null,"poster_path":null,"genres":null,"origin_country":["US"],"x":null,"watch_providers":{"results":{"US":{"rent":[],"buy":null},"DE":null}}}`},
		`{"id":5,"origin_country":["US"],"poster_path":null,"watch/providers":{"results":{"US":{"rent":[]}}}}`)
	f("", Row{Table: true, JSON: `{"id":5,"_unusual":"poster_path,title","_extra":"\"a\":[1],\"budget\":3","title":null,"poster_path":null,` +
		`"watch_providers":{"_unusual":null,"_extra":null,"results":[{"iso_3166_1":"US","link":null,"offers":[{"type":"rent","providers":[]}]}]}}`},
		`{"backdrop_path":null,"belongs_to_collection":null,"budget":3,"id":5,"imdb_id":null,"title":null,"watch/providers":{"results":{"US":{"rent":[]}}},"a":[1]}`)
}

// TestEmptyParts: failed responses are dropped, and pages get numbers.
func TestEmptyParts(t *testing.T) {
	f := func(row, want string, dropped map[string]int64) {
		t.Helper()
		l := tmdb.New("")
		m, err := movieOf(l, Row{JSON: row})
		if err != nil || text(m) != want {
			t.Errorf("Records(%s)\n = %s, %v\nwant %s", row, text(m), err, want)
		}
		if got := l.Counts().Dropped; !maps.Equal(got, dropped) {
			t.Errorf("Records(%s): dropped = %v, want %v", row, got, dropped)
		}
	}
	f(`{"id":5,"credits":null,"images":{},"videos":{"id":5},"keywords":{"success":false,"status_code":34,"status_message":"no"},"similar":null,"reviews":{},"lists":[]}`,
		`{"id":5}`, map[string]int64{"credits": 1, "images": 1, "videos": 1, "keywords": 1, "similar": 1, "reviews": 1, "lists": 1})
	f(`{"id":5,"external_ids":{},"watch/providers":{"status_code":7},"casts":{"cast":[]},"credits":{}}`,
		`{"id":5,"credits":{"cast":[]}}`, map[string]int64{"external_ids": 1, "watch/providers": 1, "credits": 1})
	f(`{"id":5,"casts":null,"similar_movies":{"status_code":34}}`, `{"id":5}`, map[string]int64{"credits": 1, "similar": 1})
	// Responses with content stay.
	f(`{"id":5,"external_ids":{"imdb_id":null},"credits":{"cast":null},"keywords":{"new":1},"videos":{"status_code":1,"results":[]}}`,
		`{"id":5,"credits":{"cast":null},"external_ids":{"imdb_id":null},"keywords":{"new":1},"videos":{"results":[],"status_code":1}}`, nil)
	// Pages.
	f(`{"id":5,"similar":{"results":[]},"reviews":[{"page":0},{"page":2},{"page":501}],"lists":[{"page":null,"results":[]},{},{"status_code":34}]}`,
		`{"id":5,"lists":{"page":1,"results":[]},"reviews":[{"page":1},{"page":2}],"similar":{"page":1,"results":[]}}`,
		map[string]int64{"reviews[]": 1, "lists[]": 2})
}

func TestTMDBRefuses(t *testing.T) {
	f := func(row Row, want string) {
		t.Helper()
		m, err := movieOf(tmdb.New(""), row)
		if err == nil || err.Error() != want {
			t.Errorf("Records(%+v) = %v, %v, want %s", row, m, err, want)
		}
	}
	f(Row{JSON: `{"id":5}`, ID: 6}, "id: the file name has 6, the row has 5")
	f(Row{JSON: `{"id":5}`, ID: 6, Sub: "credits"}, "id: the file name has 6, the response has 5")
	f(Row{JSON: `{}`, ID: 6, Sub: "genres"}, `the file name has sub-request "genres", which a movie record does not have`)
	f(Row{JSON: `{}`, ID: 6, Sub: "title"}, `the file name has sub-request "title", which a movie record does not have`)
	f(Row{JSON: `{"id":5,"genre_ids":["x"]}`}, `genre_ids[0]: want an integer, found "x"`)
	f(Row{JSON: `{"id":5,"vote_average":84}`}, `vote_average: want a number from 0 to 10, found 84`)
	f(Row{JSON: `{"id":5,"original_language":"English"}`}, `original_language: want the code of a language, such as en, or nothing, found "English"`)
	f(Row{JSON: `{"id":5,"imdb_id":"137523"}`}, `imdb_id: want an id of IMDb, such as tt0137523, or nothing, found "137523"`)
	f(Row{JSON: `{"id":5,"casts":5}`}, `credits: want an object, found 5`)
	f(Row{Table: true, JSON: `{"id":5,"_extra":"\"a\":"}`}, `_extra: want fields of a JSON object, found other text`)
	f(Row{Table: true, JSON: `{"id":5,"_unusual":7}`}, `_unusual: want a string, found 7`)
	f(Row{Table: true, JSON: `{"id":5,"genres":"x"}`}, `genres: want an array of objects, found "x"`)
	f(Row{Table: true, JSON: `{"id":5,"genres":"[{\"id\":{}}]"}`}, `genres[0].id: want an integer, found an object`)
	f(Row{Table: true, JSON: `{"id":5,"watch_providers":{"results":[{"iso_3166_1":null}]}}`}, `watch_providers.results[0].iso_3166_1: want a string, found null`)
	f(Row{Table: true, JSON: `{"id":5,"watch_providers":{"results":[7]}}`}, `watch_providers.results[0]: want an object, found 7`)
}

func TestCounts(t *testing.T) {
	l := tmdb.New("")
	for _, row := range []string{`{"id":1,"casts":{"x":1},"media_type":"movie"}`, `{"id":2,"new":1,"budget":"5"}`, `{"id":3,"title_de":"x"}`} {
		if _, err := movieOf(l, Row{JSON: row}); err != nil {
			t.Fatal(err)
		}
	}
	c := l.Counts()
	if want := map[string]int64{"credits.x": 1, "new": 1}; !maps.Equal(c.Unknown, want) {
		t.Errorf("Unknown = %v, want %v", c.Unknown, want)
	}
	if want := map[string]int64{"budget": 1}; !reflect.DeepEqual(c.Coerced, want) {
		t.Errorf("Coerced = %v, want %v", c.Coerced, want)
	}
}

// throughFile writes a record to a catalogue file and reads it back.
func throughFile(tb testing.TB, dir string, r Record) record.Record {
	tb.Helper()
	path := filepath.Join(dir, r.Type.File())
	w, err := catalog.Create(path, r.Type)
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(w.Write(r.Record), w.Commit()); err != nil {
		tb.Fatal(err)
	}
	f, err := catalog.OpenFile(path, r.Type)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	rows := f.Groups(0, f.RowGroups())
	defer rows.Close()
	out := r.Type.New()
	if err := rows.Next(out); err != nil {
		tb.Fatal(err)
	}
	if err := rows.Next(r.Type.New()); !errors.Is(err, io.EOF) {
		tb.Fatalf("after the one record: %v, want EOF", err)
	}
	return out
}

// seeds are short rows of every kind or table and layout. Short seeds help the fuzzer to minimise its findings.
var seeds = []struct{ kind, row string }{
	{"movie", `{"id":1,"adult":false,"belongs_to_collection":{"id":2,"name":"C","poster_path":null},"images":{"logos":[],"posters":[{"aspect_ratio":0.667,"iso_639_1":null}]}}`},
	{"movie", `{"id":1,"translations":{"translations":[{"iso_639_1":"de","data":{"title":"T","runtime":0}}]},"videos":{"id":1,"results":[{"official":true}]},"reviews":{"page":1,"results":[{"author_details":{"rating":7}}]}}`},
	{"movie", `{"id":1,"release_dates":{"results":[{"iso_3166_1":"US","release_dates":[{"descriptors":["x"],"type":3}]}]},"trailers":{"quicktime":[]},"releases":{"countries":[]}}`},
	{"movie", `{"id":1,"title":"A","poster_path":null,"new":{"a":1},"new":2}`},
	{"movie", `{"id":1,"genres":[{"id":18,"x":1}],"genres":null,"origin_country":["US","\ud800"]}`},
	{"movie", `{"id":1,"watch/providers":{"results":{"US":{"link":"l","rent":[{}],"x":5,"x":[{}]},"":{}}}}`},
	{"movie", `{"id":1,"changes":{"changes":[{"items":[{"value":null},{"value":{"a":[1e5]}}]}]},"lists":[{"page":2},{"page":1}]}`},
	{"movie", `{"id":1,"localized":[{"language":"de","title":"x"}],"genre_ids":[1,18],"title_ar":"y","casts":{"cast":[]}}`},
	{"movie", `{"id":1,"popularity":"8","vote_average":-0.0,"runtime":1e2,"\u0000":1,"a\"b":"\u2028"}`},
	{"movie", `{"id":5,"_unusual":"poster_path,title","_extra":"\"a\":[1]","watch_providers":{"results":[{"iso_3166_1":"US","offers":[{"type":"rent"}]}]}}`},
	{"movie", `{"id":5,"genres":"[{\"id\":1}]","changes":{"changes":[{"items":[{"value":"{\"a\":1}"},{"value":"x"}]}]}}`},
	{"movie", `{"movie":{"tmdbId":11,"title":"A","budget":"5","releaseDate":null},"genres":[{"tmdbId":18,"name":"Drama"}],` +
		`"images":[{"filePath":"/a","type":"poster","width":2}],"credits":[{"tmdbPersonId":1,"job":"Actor","department":"Acting"}],` +
		`"watchProviders":{"us":{"buy":[{"name":"P"}],"flatrate":[]}},"reviews":[{"author":"a","rating":7}],"videos":[{"key":"k","x":1}]}`},
	{"tv", `{"id":1,"name":"A","type":"tv","title_ar":"x","season/1":{"id":2,"episodes":[{"episode_number":1}]},"season/1/credits":{"cast":[]},"season/0/episode/2/images":{"stills":[]}}`},
	{"tv", `{"id":1,"season/1":null,"season/2":"{\"id\":5}","season/3":{"status_code":34},"season/x":1,"aggregate_credits":{"cast":[{"roles":[]}]},"last_air_date":null}`},
	{"tv", `{"tvShow":{"tmdbId":1,"name":"A","imdbId":"tt1","certification":"TV-14"},"seasons":[{"_id":"5","season_number":0,"episodes":[{"show_id":1,"crew":[{"person_id":"x"}]}],"networks":[{"id":6}]}],` +
		`"credits":[{"tmdbPersonId":1,"job":"Actor","department":"Acting"}],"keywords":[{"tmdbId":1}],"alternativeTitles":[]}`},
	{"season", `{"_id":"x","id":5,"season_number":0,"episodes":[{"show_id":7,"guest_stars":[{"id":1}]}],"episode/2":{"id":3}}`},
	{"season", `{"series_id":7,"season_number":1,"overview_de":"x","localized":[{"language":"fr","episodes":[]}]}`},
	{"episode", `{"show_id":7,"season_number":1,"episode_number":2,"air_date":null,"credits":{"cast":[],"guest_stars":[]}}`},
	{"person", `{"id":1,"known_for":[{"media_type":"tv"}],"original_name":"x","media_type":"person","deathday":null,"movie_credits":{"cast":[{"id":2}]}}`},
	{"collection", `{"id":1,"name":"A","parts":[{"id":2,"genre_ids":[1]}],"images":{"posters":[]},"adult":false}`},
	{"company", `{"id":1,"parent_company":null,"origin_country":"","movies":{"page":1,"results":[{"id":2}]}}`},
	{"network", `{"id":1,"images":{"logos":[{"file_type":".svg"}]}}`},
	{"keyword", `{"id":1,"name":"k","movies":[{"page":2}]}`},
	{"review", `{"id":"5acf93e60e0a26346d0000ce","media_type":"movie","author_details":{"rating":null}}`},
	{"credit", `{"id":"5acf93e60e0a26346d0000ce","media":{"seasons":[{"season_number":1}]},"person":{"name":"x"}}`},
	{"films", `{"id":1,"title":"A","genre_ids_json":"[18]","vote_average":null,"more":1}`},
	{"credits", `{"movie_id":1,"person_id":2,"name":"N","department":"Acting","cast_order":0,"character":""}`},
	{"persons", `{"id":1,"name":"N","profile_path":null}`},
	{"episode_group", `{"id":"5acf93e60e0a26346d0000ce","groups":[{"order":0,"episodes":[{"order":1}]}],"network":null}`},
	{"list", `{"id":"1","created_by":"u","items":[{"id":5,"title":"A"},"tv:6"],"page":2,"total_pages":9,"public":1,"x":[]}`},
	{"list", `{"id":1,"created_by":{"id":"x"},"results":[{"id":5,"media_type":"movie"}],"comments":{"movie:5":"c","tv:1":null},"object_ids":{"a":1}}`},
	{"list", `{"id":1,"items":"[{\"page\":1,\"results\":[{\"id\":5,\"media_type\":\"tv\"}]}]","items":null}`},
	{"account", `{"id":1,"favorites":{"movies":[5,{"id":6,"x":1}],"tv":null,"y":2},"rated":{"episodes":[{"show_id":1,"season_number":0,"episode_number":1,"rating":"8"}]},"lists":[1,{"id":2}]}`},
	{"account", `{"guest_session_id":"0123456789abcdef0123456789abcdef","avatar_path":"/a","rated":{"movies":{"results":[{"id":1,"account_rating":{"value":1,"created_at":"2026-08-01"}}]}}}`},
}

// FuzzRecords: any row is either rejected or makes records that survive JSON and Parquet.
func FuzzRecords(f *testing.F) {
	for _, s := range seeds {
		for _, table := range []bool{false, true} {
			f.Add(s.kind, s.row, "", table)
			f.Add(s.kind, s.row, "de-DE", table)
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, kindName, row, language string, table bool) {
		language, err := tmdb.ParseLanguage(language)
		typ, ok := catalog.TypeNamed(kindName)
		table2 := tableOf(ready(Tables), kindName, ColumnsOf(row)) != nil // independent of the row
		if !ok && !table2 || err != nil || len(row) > 1<<14 || !utf8.ValidString(row) || !json.Valid([]byte(row)) {
			return // package source returns only valid JSON
		}
		var l Layout = tmdb.New(language)
		if tableOf(ready(movnix), kindName, ColumnsOf(row)) != nil {
			l = newReader(movnix, Options{})
		} else if table2 {
			l = newReader(Tables, Options{Language: language})
		}
		recs, err := l.Records(Row{JSON: row, File: kindName, Type: typ, Table: table})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("Records(%q): %q, want one line", row, err)
			}
			return
		}
		for _, r := range recs {
			want, again := text(r.Record), r.Type.New()
			if err := record.NewParser().Parse(want, again); err != nil {
				t.Fatalf("Parse(Append(%q)) = %v", row, err)
			}
			if key, err := r.Type.Key(again); err != nil || key != r.Key {
				t.Errorf("%q has key %v, %v, want %v", want, key, err, r.Key)
			}
			if got := text(again); got != want {
				t.Errorf("Append(Parse(%q)) = %q, want %q", row, got, want)
			}
			if got := text(throughFile(t, dir, r)); got != want {
				t.Errorf("%q through Parquet = %q, want %q", row, got, want)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	for _, name := range Names() {
		if err := Check(name, ""); err != nil {
			t.Errorf("Check(%q) = %v", name, err)
		}
	}
	if err := Check("csv", ""); err == nil || err.Error() != `layout "csv": want one of auto, tmdb, movnix, tables, kaggle, idexport` {
		t.Errorf("Check(csv) = %v", err)
	}
	want := "layout movnix: its rows are of no language, so language de-DE cannot be theirs: ingest them without one"
	if err := Check(movnix, "de-DE"); err == nil || err.Error() != want {
		t.Errorf("Check(movnix, de-DE) = %v, want %s", err, want)
	}
}
