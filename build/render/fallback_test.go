package render

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func fallback(tb testing.TB, list string) []fragment.Variant {
	tb.Helper()
	all, err := ParseFallback(list)
	sharedtest.NoError(tb, err)
	return all
}

func TestParseFallback(t *testing.T) {
	for _, bad := range []string{"english", "en-US,", ",", "en_US", "EN-US", "en-us", "en-US,en", "en-US,xyz", " en-US"} {
		if got, err := ParseFallback(bad); err == nil || !strings.Contains(err.Error(), `fallback "`+bad+`": want `) {
			t.Errorf("ParseFallback(%q) = %v, %v, want an error", bad, got, err)
		}
	}
	if got := fallback(t, "en,fr-CA"); len(got) != 2 || got[0] != enUS || got[1] != fragment.Language("fr", "CA") {
		t.Errorf("ParseFallback = %v, want en-US and fr-CA", got)
	}
}

// TestFallback: a text that a language lacks is the next one's, in the details and in rows.
func TestFallback(t *testing.T) {
	const film = `{"id":7,"original_language":"ja","original_title":"O","title":"English","overview":"o en","tagline":"","homepage":"h",` +
		`"poster_path":"/e.jpg","genres":[],"images":{"posters":[{"iso_639_1":"it","file_path":"/it.jpg"}]},"translations":{"translations":[` +
		`{"iso_639_1":"de","iso_3166_1":"DE","data":{"title":"Deutsch","overview":"","tagline":"t de","homepage":""}},` +
		`{"iso_639_1":"fr","iso_3166_1":"FR","data":{"title":"","overview":"o fr","tagline":"","homepage":""}},` +
		`{"iso_639_1":"ja","iso_3166_1":"JP","data":{"title":"","overview":"","tagline":"t ja","homepage":""}}]}}`
	const unnamed = `{"id":7,"original_language":"ko","original_title":"O","title":"O","overview":"","tagline":"","translations":{"translations":[` +
		`{"iso_639_1":"de","iso_3166_1":"DE","data":{"title":"Deutsch","overview":"o de","tagline":""}}]}}`
	const crawled = `{"id":7,"original_language":"ja","original_title":"O","title":"English","overview":"o en","tagline":"t en","localized":[` +
		`{"language":"fr-FR","title":"O","overview":"","tagline":"t fr"}]}`
	const english = `{"id":7,"original_language":"en","original_title":"O","title":"O","overview":"o en","tagline":""}`
	for _, c := range []struct{ row, fallback, want string }{
		{film, "", "en English|o en| de Deutsch||t de fr O|o fr| ja O||t ja it O|| zu O||"},
		{film, "en-US", "en English|o en| de Deutsch|o en|t de fr English|o fr| ja O|o en|t ja it English|o en| zu English|o en|"},
		{film, "fr-FR,de", "en English|o en|t de de Deutsch|o fr|t de fr Deutsch|o fr|t de ja O|o fr|t ja it Deutsch|o fr|t de zu Deutsch|o fr|t de"},
		{film, "ja-JP", "en English|o en|t ja de Deutsch||t de fr O|o fr|t ja ja O||t ja it O||t ja zu O||t ja"},
		{unnamed, "en-US,de-DE", "en Deutsch|o de| de Deutsch|o de| ko O|o de| zu Deutsch|o de|"},
		{unnamed, "en-US", "en O|| de Deutsch|o de| ko O|| zu O||"},
		{crawled, "en-US", "en English|o en|t en fr English|o en|t fr ja O|o en|t en zu English|o en|t en"},
		{english, "en-US", "en O|o en| zu O|o en|"},
	} {
		movie := parse(t, c.row)
		movie.Details = record.Bool{V: true, Set: true}
		all := composer{list: movieOf(New(fallback(t, c.fallback)...), movie, TitleDerived{})}
		var got []string
		for _, lang := range []string{"en", "de", "fr", "ja", "ko", "it", "zu"} {
			if !strings.Contains(c.want, lang+" ") {
				continue
			}
			all.lang = variantOf(lang, "")
			if lang == "en" {
				all.lang = fragment.Base
			}
			var v, row struct{ Title, Overview, Tagline, Homepage string }
			unmarshal(t, all.inLanguage(fragment.SubDetails), &v)
			unmarshal(t, all.inLanguage(fragment.SubRow), &row)
			got = append(got, lang, v.Title+"|"+v.Overview+"|"+v.Tagline)
			if row.Title != v.Title || row.Overview != v.Overview {
				t.Errorf("fallback %q: row in %s = %+v, want the texts of the details %+v", c.fallback, lang, row, v)
			}
			if lang != "en" && v.Homepage != "" {
				t.Errorf("fallback %q: homepage in %s = %q, want none", c.fallback, lang, v.Homepage)
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("fallback %q of %.60s\n = %s\nwant %s", c.fallback, c.row, got, c.want)
		}
	}
}

func unmarshal(tb testing.TB, text string, v any) {
	tb.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
}

// TestFallbackOfSeasons: generic names are no texts, in the details of a season and of its series.
func TestFallbackOfSeasons(t *testing.T) {
	translations := func(rows ...string) string {
		return `,"translations":{"translations":[` + strings.Join(rows, ",") + `]}}`
	}
	in := func(lang, name, overview string) string {
		return `{"iso_639_1":"` + lang + `","iso_3166_1":"` + map[string]string{"de": "DE", "fr": "FR"}[lang] + `","data":{"name":"` + name + `","overview":"` + overview + `"}}`
	}
	one := parseAs[catalog.Season](t, `{"_details":true,"id":1,"season_number":1,"name":"Season 1","overview":"o en","series_id":7`+translations(in("de", "Der Anfang", ""), in("fr", "Saison 1", "o fr")))
	two := parseAs[catalog.Season](t, `{"_details":true,"id":2,"season_number":2,"name":"Two","overview":"","series_id":7`+translations(in("de", "", "o de")))
	d := SeriesDerived{}
	for _, s := range []*catalog.Season{one, two} {
		d.Seasons = append(d.Seasons, complete.SeasonInfo{
			Summary:      catalog.SeasonSummary{ID: s.ID, SeasonNumber: s.SeasonNumber, Name: s.Name, Overview: s.Overview},
			Translations: s.Translations.Translations,
		})
	}
	series := parseAs[catalog.TV](t, `{"_details":true,"id":7,"name":"N","original_language":"en",`+
		`"seasons":[{"id":1,"name":"Season 1","overview":"o en","season_number":1},{"id":2,"name":"Two","overview":"","season_number":2}],`+
		`"localized":[{"language":"it-IT","name":"N it","seasons":[{"id":1,"season_number":1,"name":"Stagione 1","overview":""},{"id":2,"season_number":2,"name":"Due","overview":"o it"}]}]}`)
	for list, want := range map[string][]string{
		"":         {"en Season 1|o en Two|", "de Der Anfang| Staffel 2|o de", "fr Saison 1|o fr Saison 2|", "it Stagione 1| Due|o it", "zu Season 1| Season 2|"},
		"en-US":    {"en Season 1|o en Two|", "de Der Anfang|o en Two|o de", "fr Saison 1|o fr Two|", "it Stagione 1|o en Due|o it", "zu Season 1|o en Two|"},
		"de,en-US": {"en Der Anfang|o en Two|o de", "de Der Anfang|o en Two|o de", "fr Der Anfang|o fr Two|o de", "it Der Anfang|o en Due|o it", "zu Der Anfang|o en Two|o de"},
	} {
		r := New(fallback(t, list)...)
		all := composer{list: seriesOf(r, series, d)}
		for _, want := range want {
			all.lang = variantOf(want[:2], "")
			if want[:2] == "en" {
				all.lang = fragment.Base
			}
			var v struct {
				Seasons []struct{ Name, Overview string }
			}
			unmarshal(t, all.inLanguage(fragment.SubDetails), &v)
			got := want[:2]
			for _, s := range v.Seasons {
				got += " " + s.Name + "|" + s.Overview
			}
			if got != want {
				t.Errorf("fallback %q: seasons = %s, want %s", list, got, want)
			}
		}
	}
}

// TestFallbackChangesTextsAlone: a fallback leaves other fields as they are.
func TestFallbackChangesTextsAlone(t *testing.T) {
	list := fallback(t, "en-US,de-DE,fr-FR")
	rapid.Check(t, func(t *rapid.T) {
		k, rec := fragment.KindMovie, record.Of(complete.Base(drawRecord[catalog.Movie](t)).V())
		if rapid.Bool().Draw(t, "series") {
			k, rec = fragment.KindTV, record.Of(complete.Base(drawRecord[catalog.TV](t)).V())
		}
		drawn = nil
		m := models()[k]
		fragments := func(r *Renderer) composer {
			r.start(k)
			return composer{list: r.record(m, rec)}
		}
		plain, filled := fragments(New()), fragments(New(list...))
		for _, lang := range []string{"", "de", "fr", "zz", "pt"} {
			plain.lang = variantOf(lang, "")
			filled.lang = plain.lang
			var a, b map[string]any
			if json.Unmarshal([]byte(plain.inLanguage(fragment.SubDetails)), &a) != nil || json.Unmarshal([]byte(filled.inLanguage(fragment.SubDetails)), &b) != nil {
				t.Fatalf("details in %q are no JSON", lang)
			}
			for i := range m.Texts {
				if text := &m.Texts[i]; slices.Contains(fallbackFields, text.Field.Name) || text.Rule == complete.ToNames {
					delete(a, text.Field.Name)
					delete(b, text.Field.Name)
				}
			}
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			if string(x) != string(y) {
				t.Fatalf("details in %q without texts\n = %s\nwithout a fallback %s", lang, y, x)
			}
		}
	})
}
