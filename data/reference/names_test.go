package reference

import (
	"strings"
	"testing"
)

func TestGenericNames(t *testing.T) {
	tests := []struct {
		lang, region             string
		number                   int
		season, episode, special string
	}{
		{"en", "US", 1, "Season 1", "Episode 1", "Specials"},
		{"de", "DE", 12, "Staffel 12", "Folge 12", "Extras"},
		{"de", "", 12, "Staffel 12", "Folge 12", "Extras"},
		{"fr", "CA", 2, "Saison 2", "Épisode 2", "Épisodes spéciaux"},
		{"hu", "HU", 3, "3. évad", "3. epizód", "Különkiadások"},
		{"ja", "JP", 4, "シーズン4", "第4話", "特別編"},
		{"zh", "CN", 5, "第 5 季", "第 5 集", "特别篇"},
		{"zh", "TW", 5, "第 5 季", "第 5 集", "特別篇"}, // a region of its own
		{"zh", "SG", 5, "第 5 季", "第 5 集", "特别篇"},
		{"ar", "SA", 1999, "الموسم 1999", "الحلقة 1999", "العروض الخاصة"},
		{"xx", "", 1, "Season 1", "Episode 1", "Specials"}, // none known
		{"", "", 1, "Season 1", "Episode 1", "Specials"},
		{"", "DE", 1, "Season 1", "Episode 1", "Specials"},
		{"DE", "de", 1, "Season 1", "Episode 1", "Specials"}, // codes are not folded
		{"deu", "DE", 1, "Season 1", "Episode 1", "Specials"},
		{"de", "Germany", 1, "Staffel 1", "Folge 1", "Extras"},
	}
	for _, tt := range tests {
		if got := SeasonName(tt.lang, tt.region, tt.number); got != tt.season {
			t.Errorf("SeasonName(%q, %q, %d) = %q, want %q", tt.lang, tt.region, tt.number, got, tt.season)
		}
		if got := EpisodeName(tt.lang, tt.region, tt.number); got != tt.episode {
			t.Errorf("EpisodeName(%q, %q, %d) = %q, want %q", tt.lang, tt.region, tt.number, got, tt.episode)
		}
		if got := SeasonName(tt.lang, tt.region, 0); got != tt.special {
			t.Errorf("SeasonName(%q, %q, 0) = %q, want %q", tt.lang, tt.region, got, tt.special)
		}
	}
	if got := EpisodeName("en", "", 0); got != "Episode 0" {
		t.Errorf("EpisodeName(%q, %q, 0) = %q, want %q", "en", "", got, "Episode 0")
	}
}

// TestGenericNamesFile checks that every language with genre names has generic names.
func TestGenericNamesFile(t *testing.T) {
	file := generics()
	for _, lang := range GenreLanguages() {
		if _, ok := file[lang]; !ok {
			t.Errorf("names.json has no %s, want every language of genres.json", lang)
		}
	}
	for key, n := range file {
		if !languageKey.MatchString(key) {
			t.Errorf("names.json has the key %q, want xx or xx-YY", key)
		}
		lang, _, _ := strings.Cut(key, "-")
		if _, ok := LanguageByCode(lang); !ok {
			t.Errorf("names.json has %q, want a language of Languages()", key)
		}
		for _, s := range []string{n.Season, n.Episode} {
			if strings.Count(s, numberMark) != 1 || len(s)+len("-9223372036854775808") > maxGenericName {
				t.Errorf("names.json, %s: %q, want one %s and at most %d bytes with a number", key, s, numberMark, maxGenericName)
			}
		}
		if n.Specials == "" || strings.Contains(n.Specials, numberMark) || strings.ContainsAny(n.Season+n.Episode+n.Specials, `"\`) {
			t.Errorf("names.json, %s: %+v, want specials without %s and nothing to escape", key, n, numberMark)
		}
	}
}
