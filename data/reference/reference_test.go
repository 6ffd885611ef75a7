package reference

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// languageKey is a language of genres.json, with or without a region.
var languageKey = regexp.MustCompile(`^([a-z]{2})(?:-([A-Z]{2}))?$`)

// TestGenreNamesComplete checks the file rather than GenreName, which would hide a
// missing name behind the English one.
func TestGenreNamesComplete(t *testing.T) {
	all := slices.Concat(Genres(Movie), Genres(TV))
	slices.Sort(all)
	all = slices.Compact(all)
	for lang, names := range genres().Names {
		if key := languageKey.FindStringSubmatch(lang); key == nil {
			t.Errorf("genres.json has the key %q, want xx or xx-YY", lang)
		} else if _, ok := LanguageByCode(key[1]); !ok {
			t.Errorf("genres.json has %q, want a language of Languages()", lang)
		}
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
	for _, tr := range PrimaryTranslations() {
		lang, _, _ := strings.Cut(tr, "-")
		if def := DefaultRegion(lang); !slices.Contains(PrimaryTranslations(), lang+"-"+def) {
			t.Errorf("DefaultRegion(%q) = %q, want a region with a primary translation", lang, def)
		}
	}
	for lang, region := range translations().Regions {
		if _, ok := LanguageByCode(lang); !ok {
			t.Errorf("DefaultRegion(%q) = %q, want %q to be in Languages()", lang, region, lang)
		}
	}
}

// TestCodes: lists that recorded responses have in any order are sorted by their codes, each of which is there once.
func TestCodes(t *testing.T) {
	checkCodes(t, "Languages()", `^[a-z]{2}$`, Languages(), func(l Language) string { return l.Code })
	checkCodes(t, "Countries()", `^[A-Z]{2}$`, Countries(), func(c Country) string { return c.Code })
	checkCodes(t, "PrimaryTranslations()", `^[a-z]{2}-[A-Z]{2}$`, PrimaryTranslations(), func(s string) string { return s })
	checkCodes(t, "Departments()", `^[A-Z][A-Za-z&-]*( [A-Za-z&-]+)*$`, Departments(), func(d Department) string { return d.Name })
	checkCodes(t, "Timezones()", `^[A-Z]{2}$`, Timezones(), func(c CountryZones) string { return c.Code })
	checkCodes(t, "ProviderRegions()", `^[A-Z]{2}$`, ProviderRegions(), func(c Country) string { return c.Code })
	for _, m := range []Media{Movie, TV} {
		for code, list := range Certifications(m) {
			if !slices.IsSortedFunc(list, func(a, b Certification) int { return a.Order - b.Order }) {
				t.Errorf("Certifications(%v)[%q] = %v, want them sorted", m, code, list)
			}
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
