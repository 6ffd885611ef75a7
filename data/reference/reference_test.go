package reference

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// languageKey is a language of genres.json, with or without a region.
var languageKey = regexp.MustCompile(`^([a-z]{2})(?:-([A-Z]{2}))?$`)

func TestGenres(t *testing.T) {
	for m, want := range map[Media]int{Movie: 19, TV: 16} {
		ids := Genres(m)
		if len(ids) != want {
			t.Errorf("len(Genres(%v)) = %d, want %d", m, len(ids), want)
		}
		if sorted := slices.Sorted(slices.Values(ids)); len(slices.Compact(sorted)) != len(ids) {
			t.Errorf("Genres(%v) = %v, want each id once", m, ids)
		}
	}
	if got := Genres(""); got != nil {
		t.Errorf("Genres(none) = %v, want nil", got)
	}
}

func TestGenreLanguages(t *testing.T) {
	langs := GenreLanguages()
	if !slices.IsSorted(langs) {
		t.Errorf("GenreLanguages() = %v, want them sorted", langs)
	}
	for _, lang := range langs {
		m := languageKey.FindStringSubmatch(lang)
		if m == nil {
			t.Errorf("GenreLanguages() has %q, want xx or xx-YY", lang)
			continue
		}
		if _, ok := LanguageByCode(m[1]); !ok {
			t.Errorf("GenreLanguages() has %q, want a language of Languages()", lang)
		}
		if _, ok := CountryByCode(m[2]); m[2] != "" && !ok {
			t.Errorf("GenreLanguages() has %q, want a region of Countries()", lang)
		}
	}
}

// TestGenreNamesComplete checks the file rather than GenreName, which would hide a
// missing name behind the English one.
func TestGenreNamesComplete(t *testing.T) {
	all := slices.Concat(Genres(Movie), Genres(TV))
	slices.Sort(all)
	all = slices.Compact(all)
	for lang, names := range genres().Names {
		if len(names) != len(all) {
			t.Errorf("%s has %d genre names, want %d", lang, len(names), len(all))
		}
		for _, id := range all {
			if strings.TrimSpace(names[id]) == "" {
				t.Errorf("%s has the name %q for genre %d, want one", lang, names[id], id)
			}
		}
	}
}

func TestGenreName(t *testing.T) {
	tests := []struct {
		media            Media
		id               int64
		language, region string
		want             string
	}{
		{Movie, 12, "de", "DE", "Abenteuer"},
		{Movie, 12, "de", "AT", "Abenteuer"}, // no names of its own: those of the language
		{Movie, 12, "de", "", "Abenteuer"},
		{TV, 35, "de", "DE", "Komödie"},
		{TV, 10762, "de", "DE", "Kids"},
		{Movie, 36, "da", "DK", "Historie "}, // the blank is TMDB's
		{TV, 10764, "da", "DK", "Virkelighed "},
		{Movie, 10752, "zh", "TW", "战争"},  // TMDB names genres by language alone
		{Movie, 28, "ca", "ES", "Action"}, // a language without genre names
		{Movie, 28, "", "", "Action"},
		{Movie, 28, "DE", "de", "Action"}, // codes are not folded
		{Movie, 10759, "en", "US", ""},    // a TV genre
		{TV, 28, "en", "US", ""},          // a movie genre
		{Movie, 1, "en", "US", ""},
		{"", 28, "en", "US", ""},
	}
	for _, tt := range tests {
		if got := GenreName(tt.media, tt.id, tt.language, tt.region); got != tt.want {
			t.Errorf("GenreName(%v, %d, %q, %q) = %q, want %q", tt.media, tt.id, tt.language, tt.region, got, tt.want)
		}
	}
}

// TestGenreNameRegion uses a made-up table, since no region has names of its own today.
func TestGenreNameRegion(t *testing.T) {
	table := &genreTable{
		Lists: map[Media][]int64{Movie: {1, 2, 3}},
		Names: map[string]map[int64]string{
			"en":    {1: "one", 2: "two", 3: "three"},
			"xx":    {1: "uno", 2: "dos"},
			"xx-YY": {1: "un"},
		},
	}
	tests := []struct {
		id               int64
		language, region string
		want             string
	}{
		{1, "xx", "YY", "un"},
		{2, "xx", "YY", "dos"},
		{3, "xx", "YY", "three"},
		{1, "xx", "ZZ", "uno"},
		{1, "xx", "", "uno"},
		{1, "zz", "YY", "one"},
	}
	for _, tt := range tests {
		if got := table.name(Movie, tt.id, tt.language, tt.region); got != tt.want {
			t.Errorf("name(%v, %d, %q, %q) = %q, want %q", Movie, tt.id, tt.language, tt.region, got, tt.want)
		}
	}
}

func TestLanguages(t *testing.T) {
	list := Languages()
	checkCodes(t, "Languages()", `^[a-z]{2}$`, list, func(l Language) string { return l.Code })
	for _, l := range list {
		if l.EnglishName == "" {
			t.Errorf("Languages() has %+v, want an English name", l)
		}
		if got, ok := LanguageByCode(l.Code); !ok || got != l {
			t.Errorf("LanguageByCode(%q) = %+v, %v, want %+v, true", l.Code, got, ok, l)
		}
	}
	for code, want := range map[string]string{"xx": "No Language", "cn": "Cantonese", "de": "German"} {
		if got, _ := LanguageByCode(code); got.EnglishName != want {
			t.Errorf("LanguageByCode(%q).EnglishName = %q, want %q", code, got.EnglishName, want)
		}
	}
	if got, ok := LanguageByCode("DE"); ok {
		t.Errorf("LanguageByCode(%q) = %+v, true, want false", "DE", got)
	}
}

func TestCountries(t *testing.T) {
	list := Countries()
	checkCodes(t, "Countries()", `^[A-Z]{2}$`, list, func(c Country) string { return c.Code })
	for _, c := range list {
		if c.EnglishName == "" || c.NativeName == "" {
			t.Errorf("Countries() has %+v, want both names", c)
		}
		if got, ok := CountryByCode(c.Code); !ok || got != c {
			t.Errorf("CountryByCode(%q) = %+v, %v, want %+v, true", c.Code, got, ok, c)
		}
	}
	for code, want := range map[string]string{"US": "United States of America", "XC": "Czechoslovakia"} {
		if got, _ := CountryByCode(code); got.EnglishName != want {
			t.Errorf("CountryByCode(%q).EnglishName = %q, want %q", code, got.EnglishName, want)
		}
	}
	if got, ok := CountryByCode("de"); ok {
		t.Errorf("CountryByCode(%q) = %+v, true, want false", "de", got)
	}
}

// TestWireShape checks that entries encode as the API serves them.
func TestWireShape(t *testing.T) {
	tests := []struct {
		entry any
		want  string
	}{
		{Language{"de", "German", "Deutsch"}, `{"iso_639_1":"de","english_name":"German","name":"Deutsch"}`},
		{Country{"BN", "Brunei Darussalam", "Brunei"}, `{"iso_3166_1":"BN","english_name":"Brunei Darussalam","native_name":"Brunei"}`},
	}
	for _, tt := range tests {
		if got, err := json.Marshal(tt.entry); err != nil || string(got) != tt.want {
			t.Errorf("Marshal(%+v) = %s, %v, want %s", tt.entry, got, err, tt.want)
		}
	}
}

func TestPrimaryTranslations(t *testing.T) {
	list := PrimaryTranslations()
	checkCodes(t, "PrimaryTranslations()", `^[a-z]{2}-[A-Z]{2}$`, list, func(s string) string { return s })
	for _, tr := range list {
		lang, region, _ := strings.Cut(tr, "-")
		if _, ok := LanguageByCode(lang); !ok {
			t.Errorf("PrimaryTranslations() has %q, want a language of Languages()", tr)
		}
		// Esperanto has no country, so TMDB repeats its code, see DefaultRegion;
		// Guernsey is missing from TMDB's countries.
		if _, ok := CountryByCode(region); !ok && tr != "eo-EO" && tr != "en-GG" {
			t.Errorf("PrimaryTranslations() has %q, want a region of Countries()", tr)
		}
		if def := DefaultRegion(lang); !slices.Contains(list, lang+"-"+def) {
			t.Errorf("DefaultRegion(%q) = %q, want a region with a primary translation", lang, def)
		}
	}
}

func TestDefaultRegion(t *testing.T) {
	tests := []struct{ lang, want string }{
		{"de", "DE"},
		{"en", "US"},
		{"es", "ES"},
		{"fr", "FR"},
		{"pt", "PT"},
		{"zh", "CN"},
		{"ja", "JP"},
		{"cn", "CN"}, // no primary translation: the code itself
		{"xx", ""},
		{"de-DE", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := DefaultRegion(tt.lang); got != tt.want {
			t.Errorf("DefaultRegion(%q) = %q, want %q", tt.lang, got, tt.want)
		}
	}
	for lang, region := range translations().Regions {
		if _, ok := LanguageByCode(lang); !ok {
			t.Errorf("DefaultRegion(%q) = %q, want %q to be in Languages()", lang, region, lang)
		}
	}
}

// checkCodes reports codes that are malformed, out of order or doubled.
func checkCodes[T any](t *testing.T, what, pattern string, list []T, code func(T) string) {
	t.Helper()
	if len(list) == 0 {
		t.Errorf("%s is empty", what)
	}
	form := regexp.MustCompile(pattern)
	for i, v := range list {
		if !form.MatchString(code(v)) {
			t.Errorf("%s has the code %q, want %s", what, code(v), pattern)
		}
		if i > 0 && code(list[i-1]) >= code(v) {
			t.Errorf("%s has %q before %q, want them sorted and unique", what, code(list[i-1]), code(v))
		}
	}
}
