package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

func TestDetailsOrder(t *testing.T) {
	// Given in no order, served in the API's, unknown fields last in their order.
	all := render(t, `{"zebra":{"b":1,"a":[2]},"vote_count":7,"vote_average":8,"video":false,"title":"T","tagline":"t",`+
		`"status":"Released","spoken_languages":[{"name":"English","iso_639_1":"en","english_name":"English"}],"softcore":false,`+
		`"runtime":139,"revenue":1,"release_date":"1999-10-15","production_countries":[{"name":"X","iso_3166_1":"US"}],`+
		`"production_companies":[{"origin_country":"US","name":"N","logo_path":null,"id":1}],"poster_path":null,"popularity":1.5,`+
		`"overview":"o \"q\" é / &","original_title":"O","original_language":"en","origin_country":["US"],"imdb_id":"tt1","id":550,`+
		`"homepage":"","genres":[{"name":"Unheard of","id":1}],"budget":63000000,"belongs_to_collection":null,"backdrop_path":"/b.jpg",`+
		`"adult":false,"alpha":1}`)
	fragmentIs(t, all, "details", `{"adult":false,"backdrop_path":"/b.jpg","belongs_to_collection":null,"budget":63000000,`+
		`"genres":[{"id":1,"name":"Unheard of"}],"homepage":"","id":550,"imdb_id":"tt1","origin_country":["US"],`+
		`"original_language":"en","original_title":"O","overview":"o \"q\" é / &","popularity":1.5,"poster_path":null,`+
		`"production_companies":[{"id":1,"logo_path":null,"name":"N","origin_country":"US"}],`+
		`"production_countries":[{"iso_3166_1":"US","name":"X"}],"release_date":"1999-10-15","revenue":1,"runtime":139,`+
		`"softcore":false,"spoken_languages":[{"english_name":"English","iso_639_1":"en","name":"English"}],"status":"Released",`+
		`"tagline":"t","title":"T","video":false,"vote_average":8.0,"vote_count":7,"zebra":{"b":1,"a":[2]},"alpha":1`)
}

func TestDetailsKeepLacking(t *testing.T) {
	// A variant equal to the base is not stored.
	f := func(row, base string) {
		t.Helper()
		all := render(t, row)
		fragmentIs(t, all, "details", base)
		addressesAre(t, all, "details", "details")
	}
	f(`{"id":1}`, `{"id":1`)
	f(`{"id":1,"title":"T"}`, `{"id":1,"title":"T"`)
	f(`{"id":1,"original_title":"O"}`, `{"id":1,"original_title":"O"`)
	f(`{"id":1,"poster_path":null,"new":[]}`, `{"id":1,"poster_path":null,"new":[]`)
	// No poster_path at all: images do not provide one.
	f(`{"id":1,"original_language":"ja","images":{"posters":[{"iso_639_1":"ja","file_path":"/ja.jpg"}]}}`, `{"id":1,"original_language":"ja"`)
	f(`{"id":1,"genres":[]}`, `{"genres":[],"id":1`)
	// Only genres.
	all := render(t, `{"id":1,"genres":[{"id":18,"name":"Drama"}]}`)
	fragmentIs(t, all, "details", `{"genres":[{"id":18,"name":"Drama"}],"id":1`)
	fragmentIs(t, all, "details ~", `{<genres 18>,"id":1`)
}

// translated is a record whose text fields all depend on the language.
const translated = `{"genres":[{"id":18,"name":"Drama"}],"homepage":"http://en","id":1,"original_language":"fr",` +
	`"original_title":"Le titre","overview":"Overview","poster_path":"/en.jpg","runtime":100,"tagline":"Tagline","title":"The Title",` +
	`"belongs_to_collection":{"id":9,"name":"C","poster_path":null,"backdrop_path":null},"translations":{"translations":[%s]}}`

func withTranslations(rows ...string) string { return fmt.Sprintf(translated, strings.Join(rows, ",")) }

// detailsOf returns translated in a language.
func detailsOf(genres, homepage, overview, runtime, tagline, title string) string {
	return `{"belongs_to_collection":{"id":9,"name":"C","poster_path":null,"backdrop_path":null},` + genres +
		`,"homepage":"` + homepage + `","id":1,"original_language":"fr","original_title":"Le titre","overview":"` + overview +
		`","poster_path":"/en.jpg","runtime":` + runtime + `,"tagline":"` + tagline + `","title":"` + title + `"`
}

func TestLanguageRules(t *testing.T) {
	row := func(lang, region, homepage, overview, runtime, tagline, title string) string {
		return fmt.Sprintf(`{"iso_3166_1":%q,"iso_639_1":%q,"name":"","english_name":"","data":{"homepage":%q,"overview":%q,"runtime":%s,"tagline":%q,"title":%q}}`,
			region, lang, homepage, overview, runtime, tagline, title)
	}
	all := render(t, withTranslations(
		row("en", "US", "", "ignored: the base has its own", "0", "", ""),
		row("de", "DE", "http://de", "Inhalt", "101", "Spruch", "Der Titel"),
		row("de", "AT", "", "", "0", "", "Der österreichische Titel"),
		row("fr", "FR", "", "Résumé", "0", "", ""),
		row("es", "ES", "", "", "0", "", ""), // no text of its own
		row("pt", "BR", "", "Sinopse", "0", "", ""),
		row("pt", "PT", "", "", "99", "", ""),
		row("en", "GB", "", "", "0", "", "The British Title"),
	))
	drama := `"genres":[{"id":18,"name":"Drama"}]`
	fragmentIs(t, all, "details", detailsOf(drama, "http://en", "Overview", "100", "Tagline", "The Title"))
	// A title falls back to the original title, texts to empty, the runtime to the base.
	fragmentIs(t, all, "details ~", detailsOf("<genres 18>", "", "", "100", "", "Le titre"))
	fragmentIs(t, all, "details deDE", detailsOf(drama, "http://de", "Inhalt", "101", "Spruch", "Der Titel"))
	fragmentIs(t, all, "details de", all["details deDE"])
	fragmentIs(t, all, "details deAT", detailsOf(drama, "", "", "100", "", "Der österreichische Titel"))
	fragmentIs(t, all, "details frFR", detailsOf(`"genres":[{"id":18,"name":"Drame"}]`, "", "Résumé", "100", "", "Le titre"))
	fragmentIs(t, all, "details fr", all["details frFR"])
	fragmentIs(t, all, "details ptPT", detailsOf(`"genres":[{"id":18,"name":"Drama"}]`, "", "", "99", "", "Le titre"))
	fragmentIs(t, all, "details enGB", detailsOf(drama, "", "", "100", "", "The British Title"))
	addressesAre(t, all, "details", "details", "details de", "details deAT", "details deDE", "details enGB",
		"details fr", "details frFR", "details pt", "details ptBR", "details ptPT", "details ~")
}

func TestLanguageOddities(t *testing.T) {
	// Invalid codes are skipped; a language without a known region is stored once.
	all := render(t, withTranslations(
		`{"iso_3166_1":"","iso_639_1":"zz","data":{"title":"Zz"}}`,
		`{"iso_3166_1":"","iso_639_1":"","data":{"title":"none"}}`,
		`{"iso_3166_1":"US","iso_639_1":"english","data":{"title":"long"}}`,
		`{"iso_3166_1":"~\u0001","iso_639_1":"de","data":{"title":"no region"}}`,
		`{"iso_3166_1":"DE","iso_639_1":"de"}`,
		`{"iso_3166_1":"DE","iso_639_1":"de","data":{"title":"first with text"}}`,
		`{"iso_3166_1":"DE","iso_639_1":"de","data":{"title":"second"}}`,
	))
	addressesAre(t, all, "details", "details", "details de", "details deDE", "details zz", "details ~")
	if !strings.Contains(all["details de"], `"title":"first with text"`) {
		t.Errorf("details de = %s, want the first text", all["details de"])
	}
}

func TestPosterByLanguage(t *testing.T) {
	const images = `"images":{"backdrops":[],"logos":[],"posters":[{"iso_639_1":null,"file_path":"/null.jpg"},` +
		`{"iso_639_1":"en","file_path":"/en.jpg"},{"iso_639_1":"de","file_path":"/de1.jpg"},{"iso_639_1":"de","file_path":"/de2.jpg"},` +
		`{"iso_639_1":"fr","file_path":"/fr.jpg"},{"iso_639_1":"ja"},{"iso_639_1":"xx","file_path":""}]}`
	poster := func(all map[string]string, address string) string {
		_, rest, ok := strings.Cut(all[address], `"poster_path":`)
		if !ok {
			return "none"
		}
		rest, _, _ = strings.Cut(rest, ",")
		return strings.TrimSuffix(rest, "}")
	}
	f := func(row string, want map[string]string) {
		t.Helper()
		all := render(t, row)
		got := map[string]string{}
		for a := range all {
			if a == "details" || strings.HasPrefix(a, "details ") {
				got[a] = poster(all, a)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("posters of %s\n = %v\nwant %v", row, got, want)
		}
	}
	// The requested language, then the original one, then the record's.
	f(`{"id":1,"original_language":"fr","poster_path":"/en.jpg",`+images+`}`,
		map[string]string{"details": `"/en.jpg"`, "details ~": `"/fr.jpg"`, "details de~": `"/de1.jpg"`})
	f(`{"id":1,"original_language":"ja","poster_path":"/en.jpg",`+images+`}`,
		map[string]string{"details": `"/en.jpg"`, "details ~": `"/null.jpg"`, "details de~": `"/de1.jpg"`, "details fr~": `"/fr.jpg"`})
	f(`{"id":1,"original_language":"ja","poster_path":null,`+images+`}`,
		map[string]string{"details": `null`, "details ~": `"/null.jpg"`, "details de~": `"/de1.jpg"`, "details fr~": `"/fr.jpg"`})
	// Text and poster in one language: the fragment of the text has the poster.
	f(`{"id":1,"original_language":"ja","poster_path":"/en.jpg",`+images+
		`,"translations":{"translations":[{"iso_639_1":"de","iso_3166_1":"DE","data":{"title":"T"}}]}}`,
		map[string]string{
			"details": `"/en.jpg"`, "details ~": `"/null.jpg"`, "details de": `"/de1.jpg"`, "details deDE": `"/de1.jpg"`,
			"details de~": `"/de1.jpg"`, "details fr~": `"/fr.jpg"`,
		})
}

func TestCrawledLanguages(t *testing.T) {
	all := render(t, `{"id":1,"adult":false,"belongs_to_collection":{"id":9,"name":"C","poster_path":null,"backdrop_path":null},`+
		`"genres":[{"id":18,"name":"Drama"}],"original_title":"O","overview":"E","runtime":100,"title":"T","poster_path":"/en.jpg",`+
		`"backdrop_path":"/b.jpg","localized":[{"language":"it-IT","title":"Il Titolo","overview":"","runtime":101,"poster_path":"/it.jpg",`+
		`"genres":[{"id":18,"name":"Dramma"}],"belongs_to_collection":{"id":9,"name":"Collezione","poster_path":null,"backdrop_path":null},`+
		`"credits":{"cast":[],"crew":[]},"trailers":{"quicktime":[],"youtube":[{"name":"Trailer it"}]}}],`+
		`"credits":{"cast":[{"id":1,"credit_id":"c"}],"crew":[]}}`)
	fragmentIs(t, all, "details itIT", `{"adult":false,"backdrop_path":"/b.jpg","belongs_to_collection":{"id":9,"name":"Collezione",`+
		`"poster_path":null,"backdrop_path":null},"genres":[{"id":18,"name":"Dramma"}],"id":1,"original_title":"O","overview":"",`+
		`"poster_path":"/it.jpg","runtime":101,"title":"Il Titolo"`)
	fragmentIs(t, all, "details it", all["details itIT"])
	fragmentIs(t, all, "credits", `<id>"cast":[{"id":1,"credit_id":"c"}],"crew":[]}`)
	fragmentIs(t, all, "credits itIT", `<id>"cast":[],"crew":[]}`)
	fragmentIs(t, all, "credits it", all["credits itIT"])
	fragmentIs(t, all, "trailers it", `<id>"quicktime":[],"youtube":[{"name":"Trailer it"}]}`)
}

func TestOnlyCrawledInAnotherLanguage(t *testing.T) {
	all := render(t, `{"id":1,"original_title":"O","translations":{"translations":[`+
		`{"iso_639_1":"en","iso_3166_1":"US","data":{"title":"English","overview":"Text","tagline":"","homepage":""}}]},`+
		`"localized":[{"language":"de-DE","title":"Deutsch","overview":"Inhalt","tagline":"S","homepage":"h","runtime":90,"poster_path":"/de.jpg",`+
		`"genres":[{"id":18,"name":"Drama"},{"id":28,"name":"Action"}],"credits":{"cast":[],"crew":[{"id":3,"credit_id":"c"}]}}]}`)
	fragmentIs(t, all, "details", `{"backdrop_path":null,"belongs_to_collection":null,"genres":[{"id":18,"name":"Drama"},{"id":28,"name":"Action"}],"homepage":"",`+
		`"id":1,"original_title":"O","overview":"Text","poster_path":"/de.jpg","runtime":90,"tagline":"","title":"English"`)
	if !strings.Contains(all["details deDE"], `"overview":"Inhalt"`) || !strings.Contains(all["details deDE"], `"title":"Deutsch"`) {
		t.Errorf("details deDE = %s, want the crawl's text", all["details deDE"])
	}
	fragmentIs(t, all, "credits", `<id>"cast":[],"crew":[{"id":3,"credit_id":"c"}]}`)
	addressesAre(t, all, "credits", "credits")
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

func TestImages(t *testing.T) {
	const backdrop = `{"aspect_ratio":1.778,"height":1080,"iso_3166_1":null,"iso_639_1":%s,"file_path":"/%d.jpg","vote_average":5.0,"vote_count":1,"width":1920}`
	b := func(lang string, n int) string { return fmt.Sprintf(backdrop, lang, n) }
	all := render(t, `{"id":1,"images":{"id":1,"posters":[`+b(`"de"`, 1)+`,`+b("null", 2)+`,`+b(`"de"`, 3)+`],"backdrops":[`+b("null", 4)+`,`+b(`"en"`, 5)+
		`],"logos":[`+b(`"mul"`, 6)+`]}}`)
	fragmentIs(t, all, "images", `"backdrops":[`+b("null", 4)+`,`+b(`"en"`, 5)+`],<id>"logos":[`+b(`"mul"`, 6)+`],"posters":[`+
		b(`"de"`, 1)+`,`+b("null", 2)+`,`+b(`"de"`, 3)+`]}`)
	fragmentIs(t, all, "images de", `"backdrops":[],<id>"logos":[],"posters":[`+b(`"de"`, 1)+`,`+b(`"de"`, 3)+`]}`)
	fragmentIs(t, all, "images en", `"backdrops":[`+b(`"en"`, 5)+`],<id>"logos":[],"posters":[]}`)
	// What is no language of two letters counts as none.
	fragmentIs(t, all, "images -", `"backdrops":[`+b("null", 4)+`],<id>"logos":[`+b(`"mul"`, 6)+`],"posters":[`+b("null", 2)+`]}`)
	addressesAre(t, all, "images", "images", "images -", "images de", "images en")
}

func TestImagesThatLackMembers(t *testing.T) {
	f := func(images, want string) {
		t.Helper()
		fragmentIs(t, render(t, `{"id":1,"images":`+images+`}`), "images", want)
	}
	f(`{}`, "")
	f(`{"id":1}`, "")
	f(`{"backdrops":[],"logos":[],"posters":[]}`, "") // the default
	f(`{"backdrops":[]}`, "")
	f(`{"posters":[{"iso_639_1":null,"width":1}]}`, `"backdrops":[],<id>"logos":[],"posters":[{"iso_639_1":null,"width":1}]}`)
	f(`{"backdrops":[],"posters":[]}`, `"backdrops":[],<id>"posters":[]}`) // as before there were logos
	f(`{"backdrops":[],"new":{"a":1}}`, `"backdrops":[],<id>"logos":[],"posters":[],"new":{"a":1}}`)
	f(`{"new":1}`, `"backdrops":[],<id>"logos":[],"posters":[],"new":1}`)
}

// TestArtwork: the image that the details name is in images, first, unless a response of the API gave the list.
func TestArtwork(t *testing.T) {
	image := func(ratio, lang, path string) string {
		return `{"aspect_ratio":` + ratio + `,"height":0,"iso_3166_1":null,"iso_639_1":` + lang + `,"file_path":"` + path + `","vote_average":0.0,"vote_count":0,"width":0}`
	}
	poster, backdrop := image("0.667", "null", "/p.jpg"), image("1.778", "null", "/b.jpg")
	const paths = `"poster_path":"/p.jpg","backdrop_path":"/b.jpg"`
	both := `"backdrops":[` + backdrop + `],<id>"logos":[],"posters":[` + poster + `]}`
	french := image("0.7", `"fr"`, "/f.jpg")
	for _, tt := range []struct {
		kind         fragment.Kind
		fields, want string
	}{
		{fragment.KindMovie, paths, both},
		{fragment.KindTV, paths, both},
		{fragment.KindSeason, `"series_id":2,"season_number":3,"poster_path":"/p.jpg"`, `<id>"posters":[` + poster + `]}`},
		{fragment.KindEpisode, `"series_id":2,"season_number":3,"episode_number":4,"still_path":"/s.jpg"`, `<id>"stills":[` + image("1.778", "null", "/s.jpg") + `]}`},
		{fragment.KindPerson, `"profile_path":"/f.jpg"`, `<id>"profiles":[` + image("0.667", "null", "/f.jpg") + `]}`},
		{fragment.KindCollection, paths, `<id>"backdrops":[` + backdrop + `],"posters":[` + poster + `]}`},
		{fragment.KindCompany, `"logo_path":"/l.png"`, ""}, // a logo has an id, too
		{fragment.KindMovie, `"poster_path":null,"backdrop_path":""`, ""},
		{fragment.KindMovie, `"poster_path":"/p.jpg"`, `"backdrops":[],<id>"logos":[],"posters":[` + poster + `]}`},
		{fragment.KindMovie, `"images":{},` + paths, both},
		{fragment.KindMovie, `"images":{"posters":null},` + paths, both},
		{fragment.KindMovie, `"images":{"new":1},` + paths, strings.TrimSuffix(both, "}") + `,"new":1}`},
		// Lists of the API stay, empty ones too.
		{fragment.KindMovie, `"images":{"backdrops":[],"logos":[],"posters":[]},` + paths, ""},
		{fragment.KindMovie, `"images":{"backdrops":[],"logos":[],"posters":[` + french + `]},` + paths, `"backdrops":[],<id>"logos":[],"posters":[` + french + `]}`},
		{fragment.KindEpisode, `"series_id":2,"season_number":3,"episode_number":4,"still_path":"/s.jpg","images":{"stills":[]}`, ""},
		{fragment.KindMovie, `"images":{"posters":[` + french + `]},` + paths, `"backdrops":[` + backdrop + `],<id>"logos":[],"posters":[` + french + `]}`},
		// The path is there in another language.
		{
			fragment.KindMovie, `"images":{"posters":[{"file_path":"/f.jpg"},{"file_path":"/p.jpg","iso_639_1":"de"}]},` + paths,
			`"backdrops":[` + backdrop + `],<id>"logos":[],"posters":[` + image("0.667", "null", "/f.jpg") + `,{"iso_639_1":"de","file_path":"/p.jpg"}]}`,
		},
		// Rows of a table get the fields that they lack.
		{
			fragment.KindMovie, `"images":{"posters":[{"file_path":"/f.jpg","width":500}],"logos":[{"file_path":"/l.png"}]},` + paths,
			`"backdrops":[` + backdrop + `],<id>"logos":[` + image("0.0", "null", "/l.png") + `],"posters":[` + poster + `,` +
				strings.Replace(image("0.667", "null", "/f.jpg"), `"width":0`, `"width":500`, 1) + `]}`,
		},
	} {
		row := `{"id":1,` + tt.fields + `}`
		fragmentIs(t, renderKind(t, tt.kind, row), "images", tt.want)
	}
	all := texts(t, movieOf(New(), parse(t, `{"id":1,`+paths+`}`), TitleDerived{}))
	addressesAre(t, all, "images", "images", "images -")
	fragmentIs(t, all, "images -", both)
}

func TestVideos(t *testing.T) {
	v := func(lang, name string) string {
		return `{` + lang + `"name":"` + name + `","key":"k","site":"YouTube","size":1080,"type":"Trailer"}`
	}
	en, de, none := `"iso_639_1":"en",`, `"iso_639_1":"de",`, ``
	list := func(rows ...string) string { return `"results":[` + strings.Join(rows, ",") + `]}` }
	all := render(t, `{"id":1,"videos":{`+list(v(de, "1"), v(en, "2"), v(none, "3"), v(de, "4"))+`}`)
	fragmentIs(t, all, "videos", `<id>`+list(v(en, "2"), v(none, "3")))
	fragmentIs(t, all, "videos en", all["videos"])
	fragmentIs(t, all, "videos de", `<id>`+list(v(de, "1"), v(de, "4")))
	fragmentIs(t, all, "videos *", `<id>`+list(v(de, "1"), v(en, "2"), v(none, "3"), v(de, "4")))
	addressesAre(t, all, "videos", "videos", "videos *", "videos de", "videos en")

	all = render(t, `{"id":1,"videos":{`+list(v(en, "1"))+`}`)
	addressesAre(t, all, "videos", "videos", "videos en")
	// English is empty, which is the default.
	all = render(t, `{"id":1,"videos":{`+list(v(de, "1"))+`}`)
	addressesAre(t, all, "videos", "videos *", "videos de")
	all = render(t, `{"id":1,"videos":{"results":[]}}`)
	addressesAre(t, all, "videos")
	all = render(t, `{"id":1,"videos":{}}`)
	addressesAre(t, all, "videos")
}

func TestPages(t *testing.T) {
	all := render(t, `{"id":1,"similar":[{"page":1,"results":[{"id":2}],"total_pages":3,"total_results":50,"new":true},`+
		`{"page":3,"results":[],"total_pages":3,"total_results":50},{"page":501,"results":[]},{"page":1,"results":[{"id":9}]}],`+
		`"lists":{"page":1,"results":[],"total_pages":1,"total_results":0},"recommendations":{"results":[]}}`)
	fragmentIs(t, all, "similar page 1", `<page>"results":[{"id":2}],"total_pages":3,"total_results":50,"new":true}`)
	fragmentIs(t, all, "similar page 3", `<page>"results":[],"total_pages":3,"total_results":50}`)
	fragmentIs(t, all, "similar", `<page>"results":[],"total_pages":3,"total_results":50}`) // every other page
	addressesAre(t, all, "similar", "similar", "similar page 1", "similar page 3")
	fragmentIs(t, all, "lists page 1", `<id><page>"results":[],"total_pages":1,"total_results":0}`)
	fragmentIs(t, all, "recommendations page 1", `<page>"results":[],"total_pages":1,"total_results":0}`)
	fragmentIs(t, all, "recommendations", `<page>"results":[],"total_pages":1,"total_results":0}`)
	// Pages without a field say nothing.
	all = render(t, `{"id":1,"similar":{},"lists":{"page":1},"reviews":[],"recommendations":{"page":1,"new":1}}`)
	addressesAre(t, all, "similar")
	addressesAre(t, all, "lists")
	addressesAre(t, all, "reviews")
	fragmentIs(t, all, "recommendations page 1", `<page>"results":[],"total_pages":1,"total_results":0,"new":1}`)
}

func TestPagesByLanguage(t *testing.T) {
	all := render(t, `{"id":1,"similar":[{"page":1,"results":[],"total_pages":1,"total_results":0},`+
		`{"language":"de-DE","page":1,"results":[{"id":2}],"total_pages":2,"total_results":21},`+
		`{"language":"de-DE","page":2,"results":[],"total_pages":2,"total_results":21},`+
		`{"language":"zz","page":1,"results":[],"total_pages":1,"total_results":0}]}`)
	fragmentIs(t, all, "similar page 1 deDE", `<page>"results":[{"id":2}],"total_pages":2,"total_results":21}`)
	fragmentIs(t, all, "similar deDE", `<page>"results":[],"total_pages":2,"total_results":21}`)
	addressesAre(t, all, "similar", "similar", "similar de", "similar deDE", "similar page 1", "similar page 1 de",
		"similar page 1 deDE", "similar page 1 zz", "similar page 2 de", "similar page 2 deDE", "similar zz")
}

func TestReviewsInOtherLanguages(t *testing.T) {
	all := render(t, `{"id":1,"reviews":{"id":1,"page":1,"results":[{"author":"a"}],"total_pages":2,"total_results":30}}`)
	fragmentIs(t, all, "reviews page 1", `<id><page>"results":[{"author":"a"}],"total_pages":2,"total_results":30}`)
	fragmentIs(t, all, "reviews", `<id><page>"results":[],"total_pages":2,"total_results":30}`)
	fragmentIs(t, all, "reviews ~", `<id><page>"results":[],"total_pages":1,"total_results":0}`)
}

func TestLegacyReleases(t *testing.T) {
	const dates = `"release_dates":{"id":1,"results":[{"iso_3166_1":"US","release_dates":[{"certification":"R","descriptors":["d"],"iso_639_1":"",` +
		`"note":"","release_date":"1999-10-15T00:00:00.000Z","type":3},{"certification":"","release_date":"2000","type":5}]},` +
		`{"iso_3166_1":"DE","release_dates":[]}]}`
	all := render(t, `{"id":1,`+dates+`}`)
	fragmentIs(t, all, "releases", `<id>"countries":[{"certification":"R","descriptors":["d"],"iso_3166_1":"US","primary":false,"release_date":"1999-10-15"},`+
		`{"certification":"","iso_3166_1":"US","primary":false,"release_date":"2000"}]}`)
	// Given ones are served as given.
	all = render(t, `{"id":1,`+dates+`,"releases":{"countries":[{"iso_3166_1":"FR","primary":true}]}}`)
	fragmentIs(t, all, "releases", `<id>"countries":[{"iso_3166_1":"FR","primary":true}]}`)
	addressesAre(t, render(t, `{"id":1}`), "releases")
}

func TestLegacyTrailers(t *testing.T) {
	const videos = `"videos":{"results":[{"iso_639_1":"en","name":"A","key":"k1","site":"YouTube","size":1080,"type":"Trailer"},` +
		`{"iso_639_1":"en","name":"B","key":"k2","site":"YouTube","size":480,"type":"Teaser"},` +
		`{"iso_639_1":"en","name":"C","key":"k3","site":"Vimeo","size":1080,"type":"Clip"},` +
		`{"iso_639_1":"de","name":"D","key":"k4","site":"YouTube","size":1080,"type":"Trailer"}]}`
	all := render(t, `{"id":1,`+videos+`}`)
	fragmentIs(t, all, "trailers", `<id>"quicktime":[],"youtube":[{"name":"A","size":"HD","source":"k1","type":"Trailer"},`+
		`{"name":"B","size":"HQ","source":"k2","type":"Teaser"}]}`)
	all = render(t, `{"id":1,`+videos+`,"trailers":{"quicktime":[],"youtube":[{"name":"given","size":null,"source":"s","type":"t"}]}}`)
	fragmentIs(t, all, "trailers", `<id>"quicktime":[],"youtube":[{"name":"given","size":null,"source":"s","type":"t"}]}`)
}

func TestExternalIDs(t *testing.T) {
	fragmentIs(t, render(t, `{"id":1,"imdb_id":"tt1"}`), "external_ids",
		`<id>"imdb_id":"tt1","wikidata_id":null,"facebook_id":null,"instagram_id":null,"twitter_id":null}`)
	fragmentIs(t, render(t, `{"id":1,"imdb_id":"tt1","external_ids":{"id":1,"imdb_id":"tt2","facebook_id":""}}`), "external_ids",
		`<id>"imdb_id":"tt2","wikidata_id":null,"facebook_id":"","instagram_id":null,"twitter_id":null}`)
	fragmentIs(t, render(t, `{"id":1,"imdb_id":null}`), "external_ids", "")
	fragmentIs(t, render(t, `{"id":1,"imdb_id":""}`), "external_ids", "")
}

func TestWholeSubRequests(t *testing.T) {
	f := func(field, address, want string) {
		t.Helper()
		fragmentIs(t, render(t, `{"id":1,`+field+`}`), address, want)
	}
	f(`"alternative_titles":{"id":1,"titles":[{"type":"","title":"A","iso_3166_1":"US"}]}`, "alternative_titles",
		`<id>"titles":[{"iso_3166_1":"US","title":"A","type":""}]}`)
	f(`"keywords":{"keywords":[{"name":"n","id":2}],"z":[1,2]}`, "keywords", `<id>"keywords":[{"id":2,"name":"n"}],"z":[1,2]}`)
	f(`"keywords":{"keywords":[]}`, "keywords", "") // the default
	f(`"keywords":{"id":1}`, "keywords", "")        // an empty list
	f(`"watch/providers":{"results":{"US":{"link":"l","rent":[{"logo_path":"/p.jpg","provider_id":2,"provider_name":"P","display_priority":0}],"buy":[]}}}`,
		"watch/providers", `<id>"results":{"US":{"link":"l","rent":[{"logo_path":"/p.jpg","provider_id":2,"provider_name":"P","display_priority":0}],"buy":[]}}}`)
	f(`"watch/providers":{"results":{}}`, "watch/providers", "")
	f(`"changes":{"changes":[{"key":"title","items":[]}]}`, "changes", `"changes":[{"key":"title","items":[]}]}`)
	f(`"changes":{}`, "changes", "")
}

// TestReuse checks that fragments do not depend on earlier work of the Renderer.
func TestReuse(t *testing.T) {
	rows := []string{
		withTranslations(`{"iso_3166_1":"DE","iso_639_1":"de","data":{"title":"T"}}`),
		`{"id":2,"similar":{"page":1,"results":[]},"images":{"backdrops":[{"iso_639_1":"en"}],"posters":[]}}`,
		`{"id":3}`,
	}
	used := New()
	for range 2 {
		for _, row := range rows {
			got, want := texts(t, bare(used, parse(t, row))), render(t, row)
			if !maps.Equal(got, want) {
				t.Errorf("a used Renderer gives %v, want %v", got, want)
			}
		}
	}
}

// TestTitleWithoutOriginal: an unknown original title blanks no title.
func TestTitleWithoutOriginal(t *testing.T) {
	all := texts(t, movieOf(New(), parse(t, `{"id":8,"title":"Bare"}`), TitleDerived{}))
	if got := all["details"]; !strings.Contains(got, `"title":"Bare"`) {
		t.Errorf("details = %s, want the title Bare", got)
	}
	addressesAre(t, all, "details", "details")
	all = render(t, `{"id":8,"title":"Bare","localized":[{"language":"de-DE","title":"","overview":"x"}]}`)
	if got := all["details deDE"]; !strings.Contains(got, `"title":"Bare"`) {
		t.Errorf("details deDE = %s, want the title Bare", got)
	}
}

// TestOriginalWithoutTitle: an id export has only the original title, which replaces the missing title; a title in a
// row is kept, even if empty.
func TestOriginalWithoutTitle(t *testing.T) {
	for row, want := range map[string]string{
		`{"id":8,"original_title":"Export"}`:            `"title":"Export"`,
		`{"id":8,"original_title":"Export","title":""}`: `"title":""`,
	} {
		if got := texts(t, movieOf(New(), parse(t, row), TitleDerived{}))["details"]; !strings.Contains(got, want) {
			t.Errorf("details of %s = %s, want %s", row, got, want)
		}
	}
}

// TestBorrowedPages: a language with only the first page gets the others from the base.
func TestBorrowedPages(t *testing.T) {
	row := func(page int, lang, title string) string {
		return fmt.Sprintf(`{%s"page":%d,"results":[{"id":1,"title":"%s"}],"total_pages":2,"total_results":2}`, lang, page, title)
	}
	all := render(t, `{"id":1,"similar":[`+row(1, "", "one")+","+row(2, "", "two")+","+row(1, `"language":"de-DE",`, "eins")+`]}`)
	for address, want := range map[string]string{
		"similar page 1 deDE": "eins", "similar page 2 deDE": "two", "similar page 2 de": "two", "similar page 2": "two",
	} {
		if got := all[address]; !strings.Contains(got, `"title":"`+want+`"`) {
			t.Errorf("%s = %s, want %s", address, got, want)
		}
	}
	all = render(t, `{"id":1,"reviews":[{"page":1,"results":[],"total_pages":2},{"page":2,"results":[],"total_pages":2},`+
		`{"language":"de-DE","page":1,"results":[],"total_pages":1}]}`)
	if got, ok := all["reviews page 2 deDE"]; ok {
		t.Errorf("reviews page 2 deDE = %s, want none: reviews are not translated", got)
	}
}

// TestUnknownGenres: a genre that the reference lacks does not affect the names of others.
func TestUnknownGenres(t *testing.T) {
	all := render(t, `{"id":1,"genres":[{"id":18,"name":"Drama"},{"id":777777,"name":"Custom"},{"id":35,"name":"Comedy"}]}`)
	want := `"genres":[{"id":18,"name":"Drama"},{"id":777777,"name":"Custom"},{"id":35,"name":"Komödie"}]`
	if got := all["details de~"]; !strings.Contains(got, want) {
		t.Errorf("details de~ = %s, want %s", got, want)
	}
	if all = render(t, `{"id":1,"genres":[{"id":777777,"name":null}]}`); !strings.Contains(all["details"], `"name":null`) {
		t.Errorf("details = %s, want the null as given", all["details"])
	}
}

// TestTranslationsOfCrawls: languages that were crawled are among the translations.
func TestTranslationsOfCrawls(t *testing.T) {
	all := render(t, `{"id":1,"title":"T","translations":{"translations":[{"iso_3166_1":"IT","iso_639_1":"it"}]},`+
		`"localized":[{"language":"de-DE","title":"D","overview":"o"},{"language":"it","title":"I"},{"language":"fr-FR"}]}`)
	want := `{"iso_3166_1":"IT","iso_639_1":"it"},{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German",` +
		`"data":{"homepage":"","overview":"o","runtime":0,"tagline":"","title":"D"}}]`
	if got := all["translations"]; !strings.Contains(got, want) {
		t.Errorf("translations = %s, want %s", got, want)
	}
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
