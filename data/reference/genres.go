package reference

import (
	"maps"
	"slices"
	"sync"
)

// A Media names one of the two genre lists. Eight genres are on both, with the same
// id and name.
type Media string

// The kinds of media that have a genre list, by the names that the API's paths use.
const (
	Movie Media = "movie"
	TV    Media = "tv"
)

// fallbackLanguage names the genres that a language has no names for, as TMDB's
// details responses do. (Its genre lists have null instead.)
const fallbackLanguage = "en"

// genreTable is the shape of genres.json. A name belongs to an id, not to a list.
type genreTable struct {
	Lists map[Media][]int64           `json:"lists"`
	Names map[string]map[int64]string `json:"names"` // by language, xx or xx-YY
}

var (
	genres         = parsed[*genreTable]("genres.json")
	genreLanguages = sync.OnceValue(func() []string {
		return slices.Sorted(maps.Keys(genres().Names))
	})
)

// Genres returns the ids of m's genres in the order of TMDB's list, which is the
// same in every language.
func Genres(m Media) []int64 { return genres().Lists[m] }

// GenreName returns the name of one of m's genres in a language and region ("de",
// "DE"; either may be empty). It falls back from language and region to language
// alone to English, and is "" when m's list has no such genre.
func GenreName(m Media, id int64, language, region string) string {
	return genres().name(m, id, language, region)
}

// GenreTranslations returns the names of one of m's genres in the languages that have one, in no order.
func GenreTranslations(m Media, id int64) (out []string) {
	for _, names := range genres().Names {
		if name, ok := names[id]; ok && slices.Contains(genres().Lists[m], id) {
			out = append(out, name)
		}
	}
	return out
}

func (t *genreTable) name(m Media, id int64, language, region string) string {
	if !slices.Contains(t.Lists[m], id) {
		return ""
	}
	if region != "" {
		if name, ok := t.Names[language+"-"+region][id]; ok {
			return name
		}
	}
	if name, ok := t.Names[language][id]; ok {
		return name
	}
	return t.Names[fallbackLanguage][id]
}

// GenreLanguages returns the languages that have genre names, sorted: xx, or xx-YY
// where the names of a region differ from those of its language.
func GenreLanguages() []string { return genreLanguages() }
