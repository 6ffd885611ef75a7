package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// renderKind returns the fragments of a record, by address.
func renderKind(tb testing.TB, k fragment.Kind, row string) map[string]string {
	tb.Helper()
	list := fragmentsOf(parseKind(tb, k, row), k)
	allAreJSON(tb, row, list)
	return texts(tb, list)
}

// series is a details response of a series with one season and an upcoming episode.
const series = `{"adult":false,"backdrop_path":null,"created_by":[],"episode_run_time":[],"first_air_date":"2011-04-17",` +
	`"genres":[{"id":10765,"name":"Sci-Fi & Fantasy"}],"homepage":"h","id":1399,"in_production":false,"languages":["en"],"last_air_date":null,` +
	`"last_episode_to_air":{"id":5,"name":"Finale","overview":"End","episode_number":6,"season_number":1,"still_path":null},"name":"The Name",` +
	`"next_episode_to_air":null,"networks":[],"number_of_episodes":1,"number_of_seasons":1,"origin_country":["US"],"original_language":"en",` +
	`"original_name":"Le Nom","overview":"O","popularity":1.5,"poster_path":"/p.jpg","production_companies":[],"production_countries":[],` +
	`"seasons":[{"air_date":null,"episode_count":2,"id":3,"name":"Specials","overview":"s","poster_path":null,"season_number":0,"vote_average":0.0},` +
	`{"air_date":null,"episode_count":6,"id":4,"name":"One","overview":"1","poster_path":null,"season_number":1,"vote_average":8.0,"new":1}],` +
	`"softcore":false,"spoken_languages":[],"status":"Ended","tagline":"T","type":"Scripted","vote_average":8.0,"vote_count":7`

// seriesText is series in a language.
func seriesText(genres, homepage, last, name, overview, seasons, tagline string) string {
	return `{"adult":false,"backdrop_path":null,"created_by":[],"episode_run_time":[],"first_air_date":"2011-04-17",` + genres +
		`,"homepage":"` + homepage + `","id":1399,"in_production":false,"languages":["en"],"last_air_date":null,"last_episode_to_air":` + last +
		`,"name":"` + name + `","next_episode_to_air":null,"networks":[],"number_of_episodes":1,"number_of_seasons":1,"origin_country":["US"],` +
		`"original_language":"en","original_name":"Le Nom","overview":"` + overview + `","popularity":1.5,"poster_path":"/p.jpg",` +
		`"production_companies":[],"production_countries":[],"seasons":` + seasons + `,"softcore":false,"spoken_languages":[],"status":"Ended",` +
		`"tagline":"` + tagline + `","type":"Scripted","vote_average":8.0,"vote_count":7`
}

const (
	lastGeneric    = `{"id":5,"name":<name 2 6>,"overview":"","air_date":null,"episode_number":6,"runtime":null,"season_number":1,"still_path":null}`
	specialsOf     = `[{"air_date":null,"episode_count":2,"id":3,"name":<name 3 0>,"overview":"","poster_path":null,"season_number":0,"vote_average":0.0},`
	genericSeasons = specialsOf + `{"air_date":null,"episode_count":6,"id":4,"name":<name 1 1>,"overview":"","poster_path":null,"season_number":1,"vote_average":8.0,"new":1}]`
)

func TestTV(t *testing.T) {
	tv := parseAs[catalog.TV](t, series+`,"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","data":{"name":"Der Name","overview":"I","homepage":"","tagline":""}}]},`+
		`"localized":[{"language":"it-IT","name":"Il Nome","seasons":[{"id":4,"name":"Stagione 1","season_number":1}]}]}`)
	list := seriesOf(New(), tv, SeriesDerived{SeriesDerived: complete.SeriesDerived{Seasons: []complete.SeasonInfo{
		{Summary: catalog.SeasonSummary{SeasonNumber: record.Number(1)}, Translations: []catalog.NameTranslation{
			{ISO3166: record.Text("FR"), ISO639: record.Text("fr"), Data: &catalog.NameTranslationData{Name: record.Text("Un"), Overview: record.Text("u")}},
			{ISO3166: record.Text("JP"), ISO639: record.Text("ja"), Data: &catalog.NameTranslationData{Name: record.Text("")}},
		}, Localized: []complete.LocalizedName{{Language: "de", Overview: "Erste"}}},
	}}})
	allAreJSON(t, "a series", list)
	all := texts(t, list)
	last := `{"id":5,"name":"Finale","overview":"End","air_date":null,"episode_number":6,"runtime":null,"season_number":1,"still_path":null}`
	last = strings.NewReplacer(`"air_date":null,`, "", `"runtime":null,`, "").Replace(last)
	generic := strings.NewReplacer(`"air_date":null,`, "", `"runtime":null,`, "").Replace(lastGeneric)
	english := `"genres":[{"id":10765,"name":"Sci-Fi & Fantasy"}]`
	fragmentIs(t, all, "details", seriesText(english, "h", last, "The Name", "O",
		strings.NewReplacer(`<name 3 0>,"overview":""`, `"Specials","overview":"s"`, `<name 1 1>,"overview":""`, `"One","overview":"1"`).Replace(genericSeasons), "T"))
	fragmentIs(t, all, "details ~", seriesText("<genres 10765>", "", generic, "Le Nom", "", genericSeasons, ""))
	fragmentIs(t, all, "details deDE", seriesText(english, "", generic, "Der Name", "I",
		strings.Replace(genericSeasons, `<name 1 1>,"overview":""`, `<name 1 1>,"overview":"Erste"`, 1), ""))
	fragmentIs(t, all, "details de", all["details deDE"])
	fragmentIs(t, all, "details fr", seriesText(`"genres":[{"id":10765,"name":"Science-Fiction & Fantastique"}]`, "", generic, "Le Nom", "",
		strings.Replace(genericSeasons, `<name 1 1>,"overview":""`, `"Un","overview":"u"`, 1), ""))
	fragmentIs(t, all, "details it", seriesText(english, "", generic, "Il Nome", "", `[{"id":4,"name":"Stagione 1","season_number":1}]`, ""))
	addressesAre(t, all, "details", "details", "details de", "details deDE", "details fr", "details frFR", "details it", "details itIT", "details ~")
	fragmentIs(t, all, "row", `"adult":false,"backdrop_path":null,"genre_ids":[10765],"id":1399,"origin_country":["US"],"original_language":"en",`+
		`"original_name":"Le Nom","overview":"O","popularity":1.5,"poster_path":"/p.jpg","first_air_date":"2011-04-17","softcore":false,`+
		`"name":"The Name","vote_average":8.0,"vote_count":7`)
	fragmentIs(t, all, "media_row deDE", `"adult":false,"backdrop_path":null,"id":1399,"name":"Der Name","original_name":"Le Nom","overview":"I",`+
		`"poster_path":"/p.jpg","media_type":"tv","original_language":"en","genre_ids":[10765],"popularity":1.5,"first_air_date":"2011-04-17",`+
		`"softcore":false,"vote_average":8.0,"vote_count":7,"origin_country":["US"]`)
	// All languages without text have the row in French.
	addressesAre(t, all, "row", "row", "row de", "row deDE", "row it", "row itIT", "row ~")
}

func TestSeriesWithoutDetails(t *testing.T) {
	aggregate := &catalog.AggregateCredits{Cast: []catalog.AggregateCast{}, Crew: []catalog.AggregateCrew{{Credited: catalog.Credited{ID: record.Number(3)}}}}
	d := SeriesDerived{TitleDerived: TitleDerived{Recommendations: []int64{8, 9}, Similar: []int64{9}}, Aggregate: aggregate}
	d.SeriesDerived = complete.SeriesDerived{
		Seasons: []complete.SeasonInfo{
			{Summary: catalog.SeasonSummary{SeasonNumber: record.Number(0), EpisodeCount: record.Number(3)}},
			{Summary: catalog.SeasonSummary{SeasonNumber: record.Number(1), EpisodeCount: record.Number(2), Name: record.Text("One")}},
		},
		Last: complete.Of(complete.Base(parseAs[catalog.Episode](t, `{"_details":true,"id":5,"name":"End","overview":"o","season_number":1,"episode_number":2,"series_id":1,`+
			`"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","data":{"name":"Ende","overview":""}}]}}`))),
	}
	list := seriesOf(New(), parseAs[catalog.TV](t, `{"id":1,"name":"N"}`), d)
	allAreJSON(t, "a bare series", list)
	all := texts(t, list)
	fragmentIs(t, all, "details", `{"adult":false,"backdrop_path":null,"created_by":[],"episode_run_time":[],"first_air_date":"","genres":[],"homepage":"","id":1,`+
		`"in_production":false,"languages":[],"last_air_date":null,"last_episode_to_air":{"id":5,"name":"End","overview":"o","air_date":null,"episode_number":2,"runtime":null,"season_number":1,"show_id":1,"still_path":null},`+
		`"name":"N","next_episode_to_air":null,"networks":[],"number_of_episodes":2,"number_of_seasons":1,"origin_country":[],"original_language":"",`+
		`"original_name":"N","overview":"","popularity":0.0,"poster_path":null,"production_companies":[],"production_countries":[],`+
		`"seasons":[{"air_date":null,"episode_count":3,"poster_path":null,"season_number":0},{"air_date":null,"episode_count":2,"name":"One","poster_path":null,"season_number":1}],`+
		`"softcore":false,"spoken_languages":[],"status":"","tagline":"","type":"","vote_average":0.0,"vote_count":0`)
	if got := all["details deDE"]; !strings.Contains(got, `{"id":5,"name":"Ende","overview":"",`) {
		t.Errorf("details in German = %s, want the German name of the last episode", got)
	}
	fragmentIs(t, all, "aggregate_credits", `"cast":[],"crew":[{"id":3,"profile_path":null}]<id end>`)
	fragmentIs(t, all, "recommendations page 1", `<page>"results":[{<tv 8 media_row>},{<tv 9 media_row>}],"total_pages":1,"total_results":2}`)
	fragmentIs(t, all, "recommendations", `<page>"results":[],"total_pages":1,"total_results":2}`)
	fragmentIs(t, all, "similar page 1", `<page>"results":[{<tv 9 row>}],"total_pages":1,"total_results":1}`)
	// A details response has its own, and given values take precedence.
	all = texts(t, seriesOf(New(), parseAs[catalog.TV](t, series+`,"similar":{"page":1,"results":[],"total_pages":1,"total_results":0},`+
		`"aggregate_credits":{"cast":[],"crew":[{"id":4}]}}`), d))
	if got := all["details"]; !strings.Contains(got, `"number_of_seasons":1,`) || !strings.Contains(got, `"name":"Finale"`) {
		t.Errorf("details = %s, want them as given", got)
	}
	addressesAre(t, all, "similar", "similar", "similar page 1")
	fragmentIs(t, all, "aggregate_credits", `"cast":[],"crew":[{"id":4}]<id end>`)
}

const season = `{"_id":"5256c89f19c2956ff6046d47","air_date":"2011-04-17","episodes":[` +
	`{"air_date":null,"episode_number":1,"episode_type":"standard","id":11,"name":"Winter","overview":"w","production_code":"","runtime":62,"season_number":2,"show_id":1399,"still_path":null,"vote_average":8.0,"vote_count":1,"crew":[],"guest_stars":[]},` +
	`{"air_date":null,"episode_number":2,"episode_type":"finale","id":12,"name":"\u0001S12\u0001","overview":"k","production_code":"","runtime":56,"season_number":2,"show_id":1399,"still_path":null,"vote_average":8.0,"vote_count":1,"crew":[],"guest_stars":[]}],` +
	`"name":"Season Two","networks":[],"overview":"S","id":3625,"poster_path":"/s.jpg","season_number":2,"vote_average":8.5`

func TestSeason(t *testing.T) {
	s := parseAs[catalog.Season](t, season+`,"series_id":1399,"translations":{"translations":[`+
		`{"iso_3166_1":"ES","iso_639_1":"es","data":{"name":"Dos","overview":""}},{"iso_3166_1":"DE","iso_639_1":"de","data":{"name":"","overview":""}}]},`+
		`"images":{"posters":[{"iso_639_1":"fr","file_path":"/fr.jpg"},{"iso_639_1":"it","file_path":"/it.jpg"}]}}`)
	episode := parseAs[catalog.Episode](t, `{"episode_number":1,"season_number":2,"translations":{"translations":[`+
		`{"iso_3166_1":"DE","iso_639_1":"de","data":{"name":"Der Winter","overview":""}}]},"localized":[{"language":"de-DE","overview":"kalt"}]}`)
	list := seasonOf(New(), s, SeasonDerived{SeasonDerived: complete.SeasonDerived{Series: &catalog.TV{OriginalLanguage: record.Text("it")}, Episodes: []complete.Record[catalog.Episode]{complete.Of(complete.Base(episode))}}})
	allAreJSON(t, "a season", list)
	all := texts(t, list)
	ep := func(n, id, name, overview, kind, runtime string) string {
		return `{"air_date":null,"episode_number":` + n + `,"episode_type":"` + kind + `","id":` + id + `,"name":` + name + `,"overview":"` + overview +
			`","production_code":"","runtime":` + runtime + `,"season_number":2,"show_id":1399,"still_path":null,"vote_average":8.0,"vote_count":1,"crew":[],"guest_stars":[]}`
	}
	details := func(first, second, name, overview, poster string) string {
		return `{"_id":"5256c89f19c2956ff6046d47","air_date":"2011-04-17","episodes":[` + first + "," + second + `],"name":` + name +
			`,"networks":[],"overview":"` + overview + `","id":3625,"poster_path":"` + poster + `","season_number":2,"vote_average":8.5`
	}
	first, second := ep("1", "11", "<name 2 1>", "", "standard", "62"), ep("2", "12", "<name 2 2>", "", "finale", "56")
	// A name that resembles a mark of some kind is a name.
	fragmentIs(t, all, "details", details(ep("1", "11", `"Winter"`, "w", "standard", "62"), ep("2", "12", `"\u0001S12\u0001"`, "k", "finale", "56"),
		`"Season Two"`, "S", "/s.jpg"))
	// The poster is the one in the series' original language.
	fragmentIs(t, all, "details ~", details(first, second, "<name 1 2>", "", "/it.jpg"))
	fragmentIs(t, all, "details fr~", details(first, second, "<name 1 2>", "", "/fr.jpg"))
	fragmentIs(t, all, "details deDE", details(ep("1", "11", `"Der Winter"`, "kalt", "standard", "62"), second, "<name 1 2>", "", "/it.jpg"))
	fragmentIs(t, all, "details es", details(first, second, `"Dos"`, "", "/it.jpg"))
	addressesAre(t, all, "details", "details", "details de", "details deDE", "details es", "details esES", "details fr~", "details ~")
	fragmentIs(t, all, "media_row", `"id":3625,"name":"Season Two","overview":"S","poster_path":"/s.jpg","media_type":"tv_season","vote_average":8.5,`+
		`"air_date":"2011-04-17","season_number":2,"show_id":1399,"episode_count":2`)
	fragmentIs(t, all, "media_row ~", `"id":3625,"name":<name 1 2>,"overview":"","poster_path":"/it.jpg","media_type":"tv_season","vote_average":8.5,`+
		`"air_date":"2011-04-17","season_number":2,"show_id":1399,"episode_count":2`)
	addressesAre(t, all, "media_row", "media_row", "media_row es", "media_row esES", "media_row fr~", "media_row ~")
}

func TestSeasonWithoutDetails(t *testing.T) {
	list := seasonOf(New(), parseAs[catalog.Season](t, `{"season_number":0,"series_id":4}`), SeasonDerived{SeasonDerived: complete.SeasonDerived{
		Series: &catalog.TV{
			Networks: []catalog.CompanyRef{{ID: record.Number(49)}},
			Seasons:  []catalog.SeasonSummary{{SeasonNumber: record.Number(0), EpisodeCount: record.Number(7)}},
		},
		Episodes: []complete.Record[catalog.Episode]{complete.Of(complete.Base(parseAs[catalog.Episode](t, `{"_details":true,"id":9,"episode_number":3,"season_number":0,"name":"E"}`)))},
	}})
	allAreJSON(t, "a bare season", list)
	all := texts(t, list)
	fragmentIs(t, all, "details", `{"_id":"","air_date":null,"episodes":[{"air_date":null,"episode_number":3,"id":9,"name":"E","runtime":null,"season_number":0,"show_id":4,"still_path":null}],`+
		`"name":"Specials","networks":[{"id":49,"logo_path":null}],"overview":"","id":0,"poster_path":null,"season_number":0,"vote_average":0.0`)
	if got := all["media_row"]; !strings.HasSuffix(got, `"show_id":4,"episode_count":7`) {
		t.Errorf("media_row = %s, want the number of episodes that the series says", got)
	}
	if got := all["details ~"]; !strings.Contains(got, `"name":<name 3 0>`) {
		t.Errorf("details ~ = %s, want the specials", got)
	}
}

func TestEpisode(t *testing.T) {
	s := parseAs[catalog.Season](t, strings.Replace(season, `"crew":[]`, `"crew":[{"job":"Director","id":2}]`, 1)+
		`,"series_id":1399,"localized":[{"language":"de-DE","episodes":[{"episode_number":1,"name":"Der Winter","overview":"kalt"}]}]}`)
	list := episodeOf(New(), complete.Listed(s, 0), EpisodeDerived{SeriesID: 1399, Cast: []catalog.TVCastCredit{{Credited: catalog.Credited{ID: record.Number(1)}, CreditID: record.Text("c")}}})
	allAreJSON(t, "an episode", list)
	all := texts(t, list)
	details := func(name, overview string) string {
		return `{"air_date":null,"crew":[{"job":"Director","id":2,"profile_path":null}],"episode_number":1,"episode_type":"standard","guest_stars":[],"name":` + name + `,"overview":"` +
			overview + `","id":11,"production_code":"","runtime":62,"season_number":2,"still_path":null,"vote_average":8.0,"vote_count":1`
	}
	given := strings.NewReplacer(`,"profile_path":null`, "").Replace
	fragmentIs(t, all, "details", given(details(`"Winter"`, "w")))
	fragmentIs(t, all, "details ~", given(details("<name 2 1>", "")))
	fragmentIs(t, all, "details deDE", given(details(`"Der Winter"`, "kalt")))
	fragmentIs(t, all, "credits", `"cast":[{"id":1,"profile_path":null,"credit_id":"c"}],"crew":[{"job":"Director","id":2}],"guest_stars":[]<id end>`)
	derived, err := fragment.AppendRow(nil, fragment.KindEpisode, fragment.SubMediaRow, 1399,
		[]byte(strings.Replace(all["details ~"], "<name 2 1>", `"Folge 1"`, 1)))
	if want := `"id":11,"name":"Folge 1","overview":"","media_type":"tv_episode","vote_average":8.0,"vote_count":1,"air_date":null,` +
		`"episode_number":1,"episode_type":"standard","production_code":"","runtime":62,"season_number":2,"show_id":1399,"still_path":null`; err != nil || string(derived) != want {
		t.Errorf("row from details ~ = %s, %v, want %s", derived, err, want)
	}
	fragmentIs(t, all, "translations", `<id>"translations":[{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German",`+
		`"data":{"name":"Der Winter","overview":"kalt"}}]}`)
	// Without details: the generic name, no invented credits.
	all = texts(t, episodeOf(New(), parseAs[catalog.Episode](t, `{"episode_number":4,"season_number":1}`), EpisodeDerived{SeriesID: 2}))
	if got := all["details"]; !strings.Contains(got, `"name":<name 2 4>,"overview":""`) {
		t.Errorf("details = %s, want the generic name", got)
	}
	addressesAre(t, all, "credits")
}

func TestEpisodeWithoutText(t *testing.T) {
	f := func(row string, details bool, want ...string) {
		t.Helper()
		all := texts(t, episodeOf(New(), parseAs[catalog.Episode](t, row), EpisodeDerived{SeriesID: 2}))
		if got := strings.Contains(all["details"], "<name 2 4>"); got != details {
			t.Errorf("details = %s, generic %v, want %v", all["details"], got, details)
		}
		var addresses []string
		for _, v := range want {
			addresses = append(addresses, strings.TrimSpace("details "+v))
		}
		addressesAre(t, all, "details", addresses...)
		addressesAre(t, all, "media_row") // is derived
	}
	const start, end = `{"crew":[],"guest_stars":[],"episode_number":4,"season_number":1,"name":`, `}`
	// The edge serves the base in every language.
	f(start+`"Episode 4","overview":""`+end, true, "")
	f(start+`"Episode 4"`+end, true, "")
	f(start+`"Episode 4","overview":"","localized":[{"language":"de-DE","name":"Ende"}]`+end, true, "", "de", "deDE")
	f(start+`"Episode 4","overview":"","localized":[{"language":"en-GB","name":"Episode 4"}]`+end, true, "", "enGB")
	// It has text of its own.
	f(start+`"Episode 4","overview":"o"`+end, false, "", "~")
	f(start+`"Episode 5","overview":""`+end, false, "", "~")
	f(start+`"Folge 4","overview":""`+end, false, "", "~")
	// A piece cannot hold the number.
	f(`{"crew":[],"guest_stars":[],"episode_number":4294967300,"season_number":1,"name":"Episode 4294967300"}`, false, "")
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

func TestPerson(t *testing.T) {
	all := renderKind(t, fragment.KindPerson, person+`,"translations":{"translations":[`+
		`{"iso_3166_1":"DE","iso_639_1":"de","data":{"biography":"Leben","name":""}},{"iso_3166_1":"RU","iso_639_1":"ru","data":{"biography":"","name":"Том"}},`+
		`{"iso_3166_1":"FR","iso_639_1":"fr","data":{"biography":"","name":""}}]},`+
		`"tagged_images":{"id":31,"page":0,"results":[{"id":"x"}],"total_pages":1,"total_results":1},"localized":[{"language":"it-IT","known_for":[{"id":13,"title":"It"}]}]}`)
	details := func(bio, name string) string {
		return strings.NewReplacer(`"Bio"`, `"`+bio+`"`, `"Tom"`, `"`+name+`"`).Replace(person)
	}
	fragmentIs(t, all, "details", person)
	fragmentIs(t, all, "details ~", details("", "Tom"))
	fragmentIs(t, all, "details de", details("Leben", "Tom"))
	fragmentIs(t, all, "details ru", details("", "Том"))
	addressesAre(t, all, "details", "details", "details de", "details deDE", "details ru", "details ruRU", "details ~")
	fragmentIs(t, all, "media_row ru", `"adult":false,"id":31,"name":"Том","original_name":"Tom","media_type":"person","popularity":1.5,"gender":2,`+
		`"known_for_department":"Acting","profile_path":"/t.jpg"`)
	addressesAre(t, all, "media_row", "media_row", "media_row ru", "media_row ruRU")
	addressesAre(t, all, "row") // is derived
	// All requests get this page, whose number is 0.
	fragmentIs(t, all, "tagged_images", `<id>"page":0,"results":[{"id":"x"}],"total_pages":1,"total_results":1}`)
	addressesAre(t, all, "tagged_images", "tagged_images")
	fragmentIs(t, all, "external_ids", `<id>"freebase_mid":null,"freebase_id":null,"imdb_id":"nm0000158","tvrage_id":null,"wikidata_id":null,`+
		`"facebook_id":null,"instagram_id":null,"tiktok_id":null,"twitter_id":null,"youtube_id":null}`)
	fragmentIs(t, all, "known_for", `"known_for":[]`)
	fragmentIs(t, all, "known_for it", `"known_for":[{"id":13,"title":"It"}]`)
}

func TestFilmography(t *testing.T) {
	movie := derive.Title{Kind: fragment.KindMovie, ID: 13}
	tv := derive.Title{Kind: fragment.KindTV, ID: 9}
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
	list := personOf(New(), parseAs[catalog.Person](t, person+"}"), d)
	allAreJSON(t, "a person", list)
	all := texts(t, list)
	movieCast := `{<movie 13 row>,"character":"\"F\"","credit_id":"c1","order":2`
	movieCrew := `{<movie 13 row>,"credit_id":"c2","department":"Directing","job":"Director"`
	tvCast := `{<tv 9 row>,"character":"H","credit_id":"c3","episode_count":3,"first_credit_air_date":"2001-01-01"`
	tvCrew := `{<tv 9 row>,"credit_id":"c4","department":"Writing","episode_count":1,"first_credit_air_date":null,"job":"Writer"`
	tvCreator := `{<tv 9 row>,"credit_id":"c5","department":"Creator","job":"Creator"`
	addressesAre(t, all, "movie_credits") // the edge selects a part of a derived one
	addressesAre(t, all, "tv_credits")
	fragmentIs(t, all, "combined_credits", `"cast":[`+movieCast+`,"media_type":"movie"},`+tvCast+`,"media_type":"tv"}],"crew":[`+
		movieCrew+`,"media_type":"movie"},`+tvCrew+`,"media_type":"tv"},`+tvCreator+`,"media_type":"tv"}]<id end>`)
	fragmentIs(t, all, "known_for", `"known_for":[{<movie 13 media_row>},{<tv 9 media_row>}]`)

	// Given values take precedence: combined credits determine the lists of movies and series.
	all = texts(t, personOf(New(), parseAs[catalog.Person](t, person+`,"combined_credits":{"cast":[{"id":1,"order":0,"media_type":"movie"}],`+
		`"crew":[{"id":2,"job":"J","media_type":"tv"}],"id":31}}`), d))
	fragmentIs(t, all, "combined_credits", `"cast":[{"id":1,"order":0,"media_type":"movie"}],"crew":[{"id":2,"job":"J","media_type":"tv"}]<id end>`)
	fragmentIs(t, all, "movie_credits", `"cast":[{"id":1,"order":0}],"crew":[]<id end>`)
	fragmentIs(t, all, "tv_credits", `"cast":[],"crew":[{"id":2,"job":"J"}]<id end>`)
	// And these two determine the combined list.
	all = texts(t, personOf(New(), parseAs[catalog.Person](t, person+`,"movie_credits":{"cast":[{"id":1}],"crew":[]},"tv_credits":{"cast":[],"crew":[{"id":2}]}}`), d))
	fragmentIs(t, all, "combined_credits", `"cast":[{"id":1,"media_type":"movie"}],"crew":[{"id":2,"media_type":"tv"}]<id end>`)
	// Credits crawled in another language serve only that; the base's are derived.
	crawled := person + `,"localized":[{"language":"de-DE","movie_credits":{"cast":[{"id":1,"title":"Der Titel"}],"crew":[]}}]}`
	all = texts(t, personOf(New(), parseAs[catalog.Person](t, crawled), d))
	fragmentIs(t, all, "movie_credits deDE", `"cast":[{"id":1,"title":"Der Titel"}],"crew":[]<id end>`)
	addressesAre(t, all, "movie_credits", "movie_credits de", "movie_credits deDE")
	all = renderKind(t, fragment.KindPerson, crawled)
	fragmentIs(t, all, "movie_credits", `"cast":[{"id":1,"title":"Der Titel"}],"crew":[]<id end>`)
}

func TestCollection(t *testing.T) {
	const row = `{"id":10,"name":"The Collection","overview":"O","poster_path":"/en.jpg","backdrop_path":null%PARTS,` +
		`"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","data":{"title":"Die Reihe","overview":"","homepage":""}}]},` +
		`"localized":[{"language":"fr-FR","name":"La Collection","poster_path":null}]}`
	f := func(parts string, ids []int64, wantParts string) {
		t.Helper()
		list := collectionOf(New(), parseAs[catalog.Collection](t, strings.Replace(row, "%PARTS", parts, 1)), CollectionDerived{Parts: ids, Adult: true})
		allAreJSON(t, "a collection", list)
		all := texts(t, list)
		details := func(name, overview, poster string) string {
			return `{"id":10,"name":"` + name + `",` + overview + `,"poster_path":` + poster + `,"backdrop_path":null,"parts":` + wantParts
		}
		base, none := `"overview":"O"`, `"overview":""`
		if parts == "" { // not a details response
			base, none = `"original_language":"","original_name":"The Collection",`+base, `"original_language":"","original_name":"The Collection",`+none
		}
		fragmentIs(t, all, "details", details("The Collection", base, `"/en.jpg"`))
		fragmentIs(t, all, "details ~", details("The Collection", none, `"/en.jpg"`))
		fragmentIs(t, all, "details de", details("Die Reihe", none, `"/en.jpg"`))
		fragmentIs(t, all, "details fr", details("La Collection", none, `null`))
		row := func(name, overview, poster string) string {
			return `"adult":true,"backdrop_path":null,"id":10,"name":"` + name + `","original_language":"","original_name":"The Collection",` +
				overview + `,"poster_path":` + poster
		}
		fragmentIs(t, all, "row", row("The Collection", `"overview":"O"`, `"/en.jpg"`))
		fragmentIs(t, all, "row ~", row("The Collection", `"overview":""`, `"/en.jpg"`))
		fragmentIs(t, all, "row de", row("Die Reihe", `"overview":""`, `"/en.jpg"`))
		fragmentIs(t, all, "row fr", row("La Collection", `"overview":""`, `null`))
	}
	f(`,"parts":[{"id":1}]`, []int64{7}, `[{"id":1}]`)
	f(``, []int64{11, 12}, `[{<movie 11 media_row>},{<movie 12 media_row>}]`)
	f(``, nil, `[]`)
}

func TestMoviesOfCompaniesAndKeywords(t *testing.T) {
	ids := make([]int64, 21)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	for name, list := range map[string][]release.FragmentSpec{
		"company": New().Company(complete.Of(complete.Base(parseAs[catalog.Company](t, `{"id":1,"name":"C"}`))), ids),
		"keyword": New().Keyword(complete.Of(complete.Base(parseAs[catalog.KeywordRecord](t, `{"id":1,"name":"K"}`))), ids, ids),
	} {
		allAreJSON(t, name, list)
		all := texts(t, list)
		fragmentIs(t, all, "movies page 2", `<id><page>"results":[{<movie 21 row>}],"total_pages":2,"total_results":21}`)
		fragmentIs(t, all, "movies", `<id><page>"results":[],"total_pages":2,"total_results":21}`)
		addressesAre(t, all, "movies", "movies", "movies page 1", "movies page 2")
	}
	all := texts(t, New().Company(complete.Of(complete.Base(parseAs[catalog.Company](t, `{"id":1,"movies":{"id":1,"page":1,"results":[],"total_pages":1,"total_results":0}}`))), ids))
	fragmentIs(t, all, "movies page 1", `<id><page>"results":[],"total_pages":1,"total_results":0}`)
	fragmentIs(t, all, "details", `{"description":"","headquarters":"","homepage":"","id":1,"logo_path":null,"name":"","origin_country":null,"parent_company":null`)
	// Far more pages than the API serves.
	list := New().Keyword(complete.Of(complete.Base(parseAs[catalog.KeywordRecord](t, `{"id":1,"name":"K"}`))), make([]int64, 20*maxPage+1), nil)
	all = texts(t, list)
	fragmentIs(t, all, "movies", `<id><page>"results":[],"total_pages":501,"total_results":10001}`)
	if n := len(list); n != 2+maxPage+1 {
		t.Errorf("a long list has %d fragments, want the details, the row, 500 pages and the tail", n)
	}
}

// TestCompanyRows: rows have no country if details have null.
func TestCompanyRows(t *testing.T) {
	f := func(row, want string) {
		t.Helper()
		fragmentIs(t, texts(t, New().Company(complete.Of(complete.Base(parseAs[catalog.Company](t, row))), nil)), "row", want)
	}
	f(`{"id":1,"name":"C","logo_path":"/l.png","origin_country":"US"}`, `"id":1,"logo_path":"/l.png","name":"C","origin_country":"US"`)
	f(`{"id":1,"name":"C","logo_path":null,"origin_country":null}`, `"id":1,"logo_path":null,"name":"C","origin_country":""`)
	f(`{"id":1,"name":"C"}`, `"id":1,"logo_path":null,"name":"C","origin_country":""`)
	fragmentIs(t, texts(t, New().Keyword(complete.Of(complete.Base(parseAs[catalog.KeywordRecord](t, `{"id":2,"name":"K"}`))), nil, nil)), "row", `"id":2,"name":"K"`)
}

func TestCredits(t *testing.T) {
	all := renderKind(t, fragment.KindCredit, `{"credit_type":"crew","department":"D","job":"J","media":{"id":1,"title":"T"},"media_type":"movie","id":"c","person":{"id":2},`+
		`"localized":[{"language":"de-DE","media":{"id":1,"title":"Titel"}}]}`)
	credit := `{"credit_type":"crew","department":"D","job":"J","media":{"id":1,"title":"T"},"media_type":"movie","id":"c","person":{"id":2}`
	fragmentIs(t, all, "details", credit)
	fragmentIs(t, all, "details de", strings.Replace(credit, `"T"`, `"Titel"`, 1))
	addressesAre(t, all, "details", "details", "details de", "details deDE")
}

func TestFind(t *testing.T) {
	list := New().Find([]release.Include{
		{Kind: fragment.KindTV, ID: 5},
		{Kind: fragment.KindPerson, ID: 2},
		{Kind: fragment.KindTV, ID: 4},
		{Kind: fragment.KindEpisode, ID: 5, Season: 1, Episode: 2},
		{Kind: fragment.KindSeason, ID: 5, Season: 1},
		{Kind: fragment.KindMovie, ID: 1},
	})
	allAreJSON(t, "find", list)
	fragmentIs(t, texts(t, list), "details", `{"movie_results":[{<movie 1 media_row>}],"person_results":[{<person 2 media_row>,<person 2 known_for>}],`+
		`"tv_results":[{<tv 5 media_row>},{<tv 4 media_row>}],"tv_episode_results":[{<episode 5 1 2 media_row>}],"tv_season_results":[{<season 5 1 media_row>}]`)
	fragmentIs(t, texts(t, New().Find(nil)), "details", `{"movie_results":[],"person_results":[],"tv_results":[],"tv_episode_results":[],"tv_season_results":[]`)
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
	if err != nil {
		t.Fatal(err)
	}
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

// TestGivenInPart: combined credits agree with given credits of one kind. Lists from a crawl in another language
// serve only that language.
func TestGivenInPart(t *testing.T) {
	credits := []derive.Credit{
		{ID: "m", Role: derive.Cast, Title: derive.Title{Kind: fragment.KindMovie, ID: 13}},
		{ID: "t", Role: derive.Cast, Title: derive.Title{Kind: fragment.KindTV, ID: 9}},
	}
	f := func(given, want string) {
		t.Helper()
		all := texts(t, personOf(New(), parseAs[catalog.Person](t, `{"id":1,"name":"P",`+given+`}`), PersonDerived{Credits: credits}))
		fragmentIs(t, all, "combined_credits", want)
	}
	f(`"movie_credits":{"cast":[{"id":7,"title":"G","character":"X"}],"crew":[]}`,
		`"cast":[{"id":7,"title":"G","character":"X","media_type":"movie"},`+
			`{<tv 9 row>,"character":"","credit_id":"t","episode_count":0,"first_credit_air_date":null,"media_type":"tv"}],"crew":[]<id end>`)
	f(`"tv_credits":{"cast":[],"crew":[{"id":8,"name":"S","job":"Writer"}]}`,
		`"cast":[{<movie 13 row>,"character":"","credit_id":"m","order":0,"media_type":"movie"}],`+
			`"crew":[{"id":8,"name":"S","job":"Writer","media_type":"tv"}]<id end>`)

	d := TitleDerived{Similar: []int64{8}}
	row := `{"id":1,"title":"T","similar":[{"language":"de-DE","page":1,"results":[{"id":2}],"total_pages":1,"total_results":1}],` +
		`"localized":[{"language":"de-DE","title":"D"}]}`
	all := texts(t, movieOf(New(), parseAs[catalog.Movie](t, row), d))
	fragmentIs(t, all, "similar page 1", `<page>"results":[{<movie 8 row>}],"total_pages":1,"total_results":1}`)
	fragmentIs(t, all, "similar page 1 deDE", `<page>"results":[{"id":2}],"total_pages":1,"total_results":1}`)
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
