package render

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// series is a details response of a series with one season and an upcoming episode.
const series = `{"adult":false,"backdrop_path":null,"created_by":[],"episode_run_time":[],"first_air_date":"2011-04-17",` +
	`"genres":[{"id":10765,"name":"Sci-Fi & Fantasy"}],"homepage":"h","id":1399,"in_production":false,"languages":["en"],"last_air_date":null,` +
	`"last_episode_to_air":{"id":5,"name":"Finale","overview":"End","episode_number":6,"season_number":1,"still_path":null},"name":"The Name",` +
	`"next_episode_to_air":null,"networks":[],"number_of_episodes":1,"number_of_seasons":1,"origin_country":["US"],"original_language":"en",` +
	`"original_name":"Le Nom","overview":"O","popularity":1.5,"poster_path":"/p.jpg","production_companies":[],"production_countries":[],` +
	`"seasons":[{"air_date":null,"episode_count":2,"id":3,"name":"Specials","overview":"s","poster_path":null,"season_number":0,"vote_average":0.0},` +
	`{"air_date":null,"episode_count":6,"id":4,"name":"One","overview":"1","poster_path":null,"season_number":1,"vote_average":8.0,"new":1}],` +
	`"softcore":false,"spoken_languages":[],"status":"Ended","tagline":"T","type":"Scripted","vote_average":8.0,"vote_count":7`

// TestTV: texts of a series come from its translations, its crawls and its seasons. All languages without text have the
// row in French.
func TestTV(t *testing.T) {
	tv := parseAs[catalog.TV](t, series+`,"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","data":{"name":"Der Name","overview":"I","homepage":"","tagline":""}}]},`+
		`"localized":[{"language":"it-IT","name":"Il Nome","seasons":[{"id":4,"name":"Stagione 1","season_number":1}]}]}`)
	fragmentsAre(t, "tv", seriesOf(New(), tv, SeriesDerived{SeriesDerived: complete.SeriesDerived{Seasons: []complete.SeasonInfo{
		{Summary: catalog.SeasonSummary{SeasonNumber: record.Number(1)}, Translations: []catalog.NameTranslation{
			{ISO3166: record.Text("FR"), ISO639: record.Text("fr"), Data: &catalog.NameTranslationData{Name: record.Text("Un"), Overview: record.Text("u")}},
			{ISO3166: record.Text("JP"), ISO639: record.Text("ja"), Data: &catalog.NameTranslationData{Name: record.Text("")}},
		}, Localized: []complete.LocalizedName{{Language: "de", Overview: "Erste"}}},
	}}}), "details", "row", "media_row")
}

// TestSeriesWithoutDetails: a bare series has derived fields; a details response has its own, and given values take
// precedence.
func TestSeriesWithoutDetails(t *testing.T) {
	d := SeriesDerived{TitleDerived: TitleDerived{Recommendations: []int64{8, 9}, Similar: []int64{9}}}
	d.Aggregate = &catalog.AggregateCredits{Cast: []catalog.AggregateCast{}, Crew: []catalog.AggregateCrew{{Credited: catalog.Credited{ID: record.Number(3)}}}}
	d.SeriesDerived = complete.SeriesDerived{
		Seasons: []complete.SeasonInfo{
			{Summary: catalog.SeasonSummary{SeasonNumber: record.Number(0), EpisodeCount: record.Number(3)}},
			{Summary: catalog.SeasonSummary{SeasonNumber: record.Number(1), EpisodeCount: record.Number(2), Name: record.Text("One")}},
		},
		Last: complete.Of(complete.Base(parseAs[catalog.Episode](t, `{"_details":true,"id":5,"name":"End","overview":"o","season_number":1,"episode_number":2,"series_id":1,`+
			`"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","data":{"name":"Ende","overview":""}}]}}`))),
	}
	fragmentsAre(t, "tv_bare", seriesOf(New(), parseAs[catalog.TV](t, `{"id":1,"name":"N"}`), d), "details", "aggregate_credits", "recommendations", "similar")
	fragmentsAre(t, "tv_given", seriesOf(New(), parseAs[catalog.TV](t, series+`,"similar":{"page":1,"results":[],"total_pages":1,"total_results":0},`+
		`"aggregate_credits":{"cast":[],"crew":[{"id":4}]}}`), d), "details", "aggregate_credits", "similar")
}

const season = `{"_id":"5256c89f19c2956ff6046d47","air_date":"2011-04-17","episodes":[` +
	`{"air_date":null,"episode_number":1,"episode_type":"standard","id":11,"name":"Winter","overview":"w","production_code":"","runtime":62,"season_number":2,"show_id":1399,"still_path":null,"vote_average":8.0,"vote_count":1,"crew":[],"guest_stars":[]},` +
	`{"air_date":null,"episode_number":2,"episode_type":"finale","id":12,"name":"\u0001S12\u0001","overview":"k","production_code":"","runtime":56,"season_number":2,"show_id":1399,"still_path":null,"vote_average":8.0,"vote_count":1,"crew":[],"guest_stars":[]}],` +
	`"name":"Season Two","networks":[],"overview":"S","id":3625,"poster_path":"/s.jpg","season_number":2,"vote_average":8.5`

// TestSeason: a name that resembles a mark of some kind is a name. The poster is the one in the series' original
// language.
func TestSeason(t *testing.T) {
	s := parseAs[catalog.Season](t, season+`,"series_id":1399,"translations":{"translations":[`+
		`{"iso_3166_1":"ES","iso_639_1":"es","data":{"name":"Dos","overview":""}},{"iso_3166_1":"DE","iso_639_1":"de","data":{"name":"","overview":""}}]},`+
		`"images":{"posters":[{"iso_639_1":"fr","file_path":"/fr.jpg"},{"iso_639_1":"it","file_path":"/it.jpg"}]}}`)
	episode := parseAs[catalog.Episode](t, `{"episode_number":1,"season_number":2,"translations":{"translations":[`+
		`{"iso_3166_1":"DE","iso_639_1":"de","data":{"name":"Der Winter","overview":""}}]},"localized":[{"language":"de-DE","overview":"kalt"}]}`)
	d := complete.SeasonDerived{Series: &catalog.TV{OriginalLanguage: record.Text("it")}, Episodes: []complete.Record[catalog.Episode]{complete.Of(complete.Base(episode))}}
	fragmentsAre(t, "season", seasonOf(New(), s, SeasonDerived{SeasonDerived: d}), "details", "media_row")
}

// TestSeasonWithoutDetails: the number of episodes is the one in the series; season 0 has the name of specials.
func TestSeasonWithoutDetails(t *testing.T) {
	fragmentsAre(t, "season_bare", seasonOf(New(), parseAs[catalog.Season](t, `{"season_number":0,"series_id":4}`), SeasonDerived{SeasonDerived: complete.SeasonDerived{
		Series: &catalog.TV{
			Networks: []catalog.CompanyRef{{ID: record.Number(49)}},
			Seasons:  []catalog.SeasonSummary{{SeasonNumber: record.Number(0), EpisodeCount: record.Number(7)}},
		},
		Episodes: []complete.Record[catalog.Episode]{complete.Of(complete.Base(parseAs[catalog.Episode](t, `{"_details":true,"id":9,"episode_number":3,"season_number":0,"name":"E"}`)))},
	}}), "details", "media_row")
}

func TestEpisode(t *testing.T) {
	s := parseAs[catalog.Season](t, strings.Replace(season, `"crew":[]`, `"crew":[{"job":"Director","id":2}]`, 1)+
		`,"series_id":1399,"localized":[{"language":"de-DE","episodes":[{"episode_number":1,"name":"Der Winter","overview":"kalt"}]}]}`)
	list := episodeOf(New(), complete.Listed(s, 0), EpisodeDerived{SeriesID: 1399, Cast: []catalog.TVCastCredit{{Credited: catalog.Credited{ID: record.Number(1)}, CreditID: record.Text("c")}}})
	fragmentsAre(t, "episode", list, "details", "credits", "translations", "media_row")
	derived, err := fragment.AppendRow(nil, fragment.KindEpisode, fragment.SubMediaRow, 1399,
		[]byte(strings.Replace(texts(t, list)["details ~"], "<name 2 1>", `"Folge 1"`, 1)))
	if want := `"id":11,"name":"Folge 1","overview":"","media_type":"tv_episode","vote_average":8.0,"vote_count":1,"air_date":null,` +
		`"episode_number":1,"episode_type":"standard","production_code":"","runtime":62,"season_number":2,"show_id":1399,"still_path":null`; err != nil || string(derived) != want {
		t.Errorf("row from details ~ = %s, %v, want %s", derived, err, want)
	}
}

// TestRecurringMembers: long crew and guest stars of an episode are one segment each, shared by all of its fragments.
func TestRecurringMembers(t *testing.T) {
	list := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"id":1,"name":"A"},`, n), ",") + "]"
	}
	f := func(crew, guests int, details, plain, credits string) {
		t.Helper()
		all := episodeOf(New(), parseAs[catalog.Episode](t, `{"air_date":null,"crew":`+list(crew)+`,"guest_stars":`+list(guests)+
			`,"episode_number":4,"id":5,"name":"N","overview":"","_details":true}`), EpisodeDerived{})
		allAreJSON(t, "an episode", all)
		c := composer{list: all}
		for a, want := range map[fragment.Address]string{
			{Sub: fragment.SubDetails}:                                 details,
			{Sub: fragment.SubDetails, Variant: fragment.Untranslated}: plain,
			{Sub: fragment.SubCredits}:                                 credits,
		} {
			got, _ := c.find(a)
			var pieces []string
			for i := range got.Pieces {
				pieces = append(pieces, strings.ReplaceAll(textOf(got.Pieces[i:i+1]), list(100), "[100]"))
			}
			if s := strings.Join(pieces, " | "); s != want {
				t.Errorf("%d crew, %d guests: %s\n = %s\nwant %s", crew, guests, a, s, want)
			}
		}
	}
	f(0, 1, `{"air_date":null,"crew":[],"episode_number":4,"guest_stars":[{"id":1,"name":"A"}],"name":"N","overview":"","id":5`,
		`{"air_date":null,"crew":[],"episode_number":4,"guest_stars":[{"id":1,"name":"A"}],"name": | <name 2 4> | ,"overview":"","id":5`,
		`"cast":[],"crew":[],"guest_stars":[{"id":1,"name":"A"}] | <id end>`)
	f(0, 100, `{"air_date":null,"crew":[],"episode_number":4 | ,"guest_stars":[100] | ,"name":"N","overview":"","id":5`,
		`{"air_date":null,"crew":[],"episode_number":4 | ,"guest_stars":[100] | ,"name": | <name 2 4> | ,"overview":"","id":5`,
		`"cast":[],"crew":[] | ,"guest_stars":[100] | <id end>`)
	f(100, 100, `{"air_date":null | ,"crew":[100] | ,"episode_number":4 | ,"guest_stars":[100] | ,"name":"N","overview":"","id":5`,
		`{"air_date":null | ,"crew":[100] | ,"episode_number":4 | ,"guest_stars":[100] | ,"name": | <name 2 4> | ,"overview":"","id":5`,
		`"cast":[] | ,"crew":[100] | ,"guest_stars":[100] | <id end>`)
}

const person = `{"adult":false,"also_known_as":[],"biography":"Bio","birthday":null,"deathday":null,"gender":2,"homepage":null,"id":31,` +
	`"imdb_id":"nm0000158","known_for_department":"Acting","name":"Tom","place_of_birth":null,"popularity":1.5,"profile_path":"/t.jpg"`

// TestFilmography: the edge selects a part of derived credits. Given credits take precedence: combined ones determine
// the lists of movies and series, and these two determine the combined list. Credits that were crawled in another
// language serve only that.
func TestFilmography(t *testing.T) {
	movie, tv := derive.Title{Kind: fragment.KindMovie, ID: 13}, derive.Title{Kind: fragment.KindTV, ID: 9}
	d := PersonDerived{
		Credits: []derive.Credit{
			{ID: "c1", Role: derive.Cast, Title: movie, Character: `"F"`, Order: 2},
			{ID: "c2", Role: derive.Crew, Title: movie, Department: "Directing", Job: "Director"},
			{ID: "c3", Role: derive.Cast, Title: tv, Character: "H", EpisodeCount: 3, FirstAirDate: "2001-01-01"},
			{ID: "c4", Role: derive.Crew, Title: tv, Department: "Writing", Job: "Writer", EpisodeCount: 1},
			{ID: "c5", Role: derive.Creator, Title: tv, EpisodeCount: 4, Department: "Creator", Job: "Creator"},
		},
		KnownFor: []derive.Title{movie, tv},
	}
	for name, given := range map[string]string{
		"derived":  ``,
		"combined": `,"combined_credits":{"cast":[{"id":1,"order":0,"media_type":"movie"}],"crew":[{"id":2,"job":"J","media_type":"tv"}],"id":31}`,
		"movies":   `,"movie_credits":{"cast":[{"id":7,"title":"G","character":"X"}],"crew":[]}`,
		"series":   `,"tv_credits":{"cast":[],"crew":[{"id":8,"name":"S","job":"Writer"}]}`,
		"both":     `,"movie_credits":{"cast":[{"id":1}],"crew":[]},"tv_credits":{"cast":[],"crew":[{"id":2}]}`,
		"crawled":  `,"localized":[{"language":"de-DE","movie_credits":{"cast":[{"id":1,"title":"Der Titel"}],"crew":[]}}]`,
	} {
		fragmentsAre(t, "filmography_"+name, personOf(New(), parseAs[catalog.Person](t, person+given+"}"), d), "movie_credits", "tv_credits", "combined_credits", "known_for")
	}
}

// TestGivenInAnotherLanguage: lists of titles from a crawl in another language serve only that language.
func TestGivenInAnotherLanguage(t *testing.T) {
	row := `{"id":1,"title":"T","similar":[{"language":"de-DE","page":1,"results":[{"id":2}],"total_pages":1,"total_results":1}],` +
		`"localized":[{"language":"de-DE","title":"D"}]}`
	fragmentsAre(t, "similar", movieOf(New(), parseAs[catalog.Movie](t, row), TitleDerived{Similar: []int64{8}}), "similar")
}

// TestCollection: derived parts, unless the record has some. Details responses lack the original name.
func TestCollection(t *testing.T) {
	const row = `{"id":10,"name":"The Collection","overview":"O","poster_path":"/en.jpg","backdrop_path":null%PARTS,` +
		`"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","data":{"title":"Die Reihe","overview":"","homepage":""}}]},` +
		`"localized":[{"language":"fr-FR","name":"La Collection","poster_path":null}]}`
	for _, tt := range []struct {
		name, parts string
		ids         []int64
	}{{"given", `,"parts":[{"id":1}]`, []int64{7}}, {"derived", ``, []int64{11, 12}}, {"none", ``, nil}} {
		c := parseAs[catalog.Collection](t, strings.Replace(row, "%PARTS", tt.parts, 1))
		fragmentsAre(t, "collection_"+tt.name, collectionOf(New(), c, CollectionDerived{Parts: tt.ids, Adult: true}), "details", "row")
	}
}

func TestMoviesOfCompaniesAndKeywords(t *testing.T) {
	ids := make([]int64, 21)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	company := func(row string) []release.FragmentSpec {
		return New().Company(complete.Of(complete.Base(parseAs[catalog.Company](t, row))), ids)
	}
	keyword := func(movies, all []int64) []release.FragmentSpec {
		return New().Keyword(complete.Of(complete.Base(parseAs[catalog.KeywordRecord](t, `{"id":1,"name":"K"}`))), movies, all)
	}
	fragmentsAre(t, "company", company(`{"id":1,"name":"C"}`))
	fragmentsAre(t, "company_given", company(`{"id":1,"movies":{"id":1,"page":1,"results":[],"total_pages":1,"total_results":0}}`))
	fragmentsAre(t, "keyword", keyword(ids, ids))
	// Far more pages than the API serves.
	list := keyword(make([]int64, 20*maxPage+1), nil)
	fragmentIs(t, texts(t, list), "movies", `<id><page>"results":[],"total_pages":501,"total_results":10001}`)
	if n := len(list); n != 2+maxPage+1 {
		t.Errorf("a long list has %d fragments, want the details, the row, 500 pages and the tail", n)
	}
}

func TestFind(t *testing.T) {
	fragmentsAre(t, "find", New().Find([]release.Include{
		{Kind: fragment.KindTV, ID: 5},
		{Kind: fragment.KindPerson, ID: 2},
		{Kind: fragment.KindTV, ID: 4},
		{Kind: fragment.KindEpisode, ID: 5, Season: 1, Episode: 2},
		{Kind: fragment.KindSeason, ID: 5, Season: 1},
		{Kind: fragment.KindMovie, ID: 1},
	}))
	fragmentsAre(t, "find_nothing", New().Find(nil))
}

func TestSharedGenres(t *testing.T) {
	all := texts(t, SharedGenres(fragment.KindMovie, []int64{18, 878}))
	fragmentIs(t, all, "genres", `"genres":[{"id":18,"name":"Drama"},{"id":878,"name":"Science Fiction"}]`)
	fragmentIs(t, all, "genres fr", `"genres":[{"id":18,"name":"Drame"},{"id":878,"name":"Science-Fiction"}]`)
	for address, text := range all {
		if !json.Valid([]byte("{" + text + "}")) {
			t.Errorf("fragment %q = %s, want a field", address, text)
		}
		if address != "genres" && text == all["genres"] {
			t.Errorf("fragment %q is stored though it does not differ", address)
		}
	}
	f := func(row string, want bool) {
		t.Helper()
		if got := ShareGenres(fragment.KindMovie, parse(t, `{"genres":`+row+`}`).Genres); got != want {
			t.Errorf("ShareGenres(%s) = %v, want %v", row, got, want)
		}
	}
	f(`[{"id":18,"name":"Drama"}]`, true)
	f(`[]`, false)
	f(`[{"id":18,"name":"Dramatic"}]`, false)
	f(`[{"id":18}]`, false)
	f(`[{"id":1,"name":"Unheard of"}]`, false)
	f(`[{"id":18,"name":"Drama","new":1}]`, false)
	f(`[`+strings.TrimSuffix(strings.Repeat(`{"id":18,"name":"Drama"},`, 30), ",")+`]`, false)
}

// TestSharedGenresFitAKey: the ids of a shared list are the name in a resource key, after
// two bytes for its kinds; longer lists are not shared.
func TestSharedGenresFitAKey(t *testing.T) {
	list := func(last int64, name string) []catalog.Genre {
		genres := slices.Repeat([]catalog.Genre{{ID: record.Number(10751), Name: record.Text("Family")}}, 10)
		return append(genres, catalog.Genre{ID: record.Number(last), Name: record.Text(name)})
	}
	for _, c := range []struct {
		genres []catalog.Genre
		want   bool
	}{{list(18, "Drama"), true}, {list(878, "Science Fiction"), false}} {
		name := GenresName(GenreIDs(c.genres))
		key := fragment.AppendShared(nil, fragment.KindGenres, fragment.KindMovie, name)
		if got := ShareGenres(fragment.KindMovie, c.genres); got != c.want || got != (len(key) <= fragment.MaxKeyLen) {
			t.Errorf("ShareGenres(%s), a key of %d bytes = %v, want %v", name, len(key), got, c.want)
		}
	}
}

// TestDefaultsAreNotStored: empty responses of any kind come from the defaults.
func TestDefaultsAreNotStored(t *testing.T) {
	for kind, m := range models() {
		for i := range m.subs {
			s := &m.subs[i]
			if s.Field.Shape == record.ShapePages {
				continue
			}
			rec := catalog.TypeOf(kind).New()
			sub := rec.MakeSub(s.Field)
			for j := range sub.Schema.Fields {
				if f := &sub.Schema.Fields[j]; !f.Nullable {
					complete.SetEmpty(sub, f)
				}
			}
			for _, f := range fragmentsOf(rec, kind) {
				if f.Address.Sub == s.Sub {
					t.Errorf("%s of a %s = %s is stored, want it left to the defaults", f.Address, kind, textOf(f.Pieces))
				}
			}
		}
	}
}

// TestEveryRowMember: rows have the fields of the API in its order, even for nearly empty records.
func TestEveryRowMember(t *testing.T) {
	for kind := fragment.KindMovie; kind <= fragment.KindKeyword; kind++ {
		for _, s := range []fragment.Sub{fragment.SubRow, fragment.SubMediaRow} {
			want := fragment.RowFields(kind, s)
			if want == nil {
				continue
			}
			text := shownRow(t, kind, s, `{"id":1,"overview":null,"first_air_date":null}`)
			if got := fieldNames(t, text); !slices.Equal(got, want) {
				t.Errorf("%s of a %s has %q, want %q", s, kind, got, want)
			}
			if strings.Contains(text, `"overview":null`) || strings.Contains(text, `"first_air_date":null`) {
				t.Errorf("%s of a %s = %s, want empty texts for nulls", s, kind, text)
			}
		}
	}
}

// shownRow returns a row as served: from a fragment, or derived.
func shownRow(t *testing.T, kind fragment.Kind, s fragment.Sub, rec string) string {
	t.Helper()
	c := composer{list: fragmentsOf(parseKind(t, kind, rec), kind)}
	from, derived := fragment.RowSource(kind, s)
	f, ok := c.find(fragment.Address{Sub: from})
	if !ok {
		t.Fatalf("a %s has no %s", kind, from)
	}
	if !derived {
		return c.answer(f, true)
	}
	if other, ok := c.find(fragment.Address{Sub: s}); ok {
		t.Errorf("a %s has %s, which is derived: %s", kind, s, c.answer(other, true))
	}
	text, err := fragment.AppendRow([]byte("{"), kind, s, 7, []byte(c.join(f, true)))
	sharedtest.NoError(t, err)
	return string(text) + "}"
}

// TestDerivedRows: a derived row has the values of its source. If the source has none, or a null that rows do not
// allow, it has the values of a row made from the record.
func TestDerivedRows(t *testing.T) {
	for _, d := range []struct {
		kind fragment.Kind
		sub  fragment.Sub
	}{{fragment.KindEpisode, fragment.SubMediaRow}, {fragment.KindPerson, fragment.SubRow}} {
		for _, rec := range []string{
			`{"id":1}`, `{"id":1,"name":"a \"b\",{}[]","overview":"c: \\","air_date":"2020-01-01","vote_average":7.5,"runtime":5,"popularity":1.25}`,
			`{"id":1,"name":null,"overview":null,"air_date":null,"vote_average":null,"runtime":null,"episode_type":null,"profile_path":null}`,
		} {
			m, r := models()[d.kind], New()
			got := shownRow(t, d.kind, d.sub, rec)
			r.start(d.kind)
			one := record.Of(complete.Episode(complete.Base(parseAs[catalog.Episode](t, rec)), nil).V())
			if d.kind == fragment.KindPerson {
				one = record.Of(complete.Of(complete.Base(parseAs[catalog.Person](t, rec))).V())
			}
			r.detail.showID, r.detail.baseName = 7, one.String(m.Texts[0].Field).V
			want := &listRow{sub: d.sub}
			for _, name := range fragment.RowFields(d.kind, d.sub) {
				want.cells = append(want.cells, m.cell(name, want))
			}
			r.detail.row(m, want, &version{rec: one})
			c := composer{}
			if text := "{" + c.join(release.FragmentSpec{Pieces: r.out.end()}, true) + "}"; text != got {
				t.Errorf("%s of %s = %s, want %s", d.sub, rec, got, text)
			}
		}
	}
}

// TestManyNames: a season with more episodes than a fragment may have pieces has English names.
func TestManyNames(t *testing.T) {
	s := parseAs[catalog.Season](t, season+`,"series_id":1399}`)
	s.Episodes = nil
	for i := range maxIncludes + 1 {
		s.Episodes = append(s.Episodes, catalog.SeasonEpisode{ListedEpisode: catalog.ListedEpisode{EpisodeNumber: record.Number(int64(i)), Name: record.Text("X"), Overview: record.Text("")}})
	}
	for _, f := range seasonOf(New(), s, SeasonDerived{}) {
		if len(f.Pieces) > release.MaxPieces {
			t.Errorf("%s has %d pieces", f.Address, len(f.Pieces))
		}
	}
	hits := make([]release.Include, 0, 5*maxIncludes)
	for _, l := range findLists {
		for i := range maxIncludes {
			hits = append(hits, release.Include{Kind: l.kind, ID: uint64(i + 1)})
		}
	}
	for _, f := range New().Find(hits) {
		if len(f.Pieces) > release.MaxPieces {
			t.Errorf("find has %d pieces", len(f.Pieces))
		}
	}
}
