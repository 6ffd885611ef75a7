package reference

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// A Media tells the two genre lists apart. Eight genres are on both, with the same
// id and name.
type Media uint8

// The kinds of media that have a genre list.
const (
	Movie Media = iota + 1
	TV
)

// String returns the name that the API's paths use: movie or tv.
func (m Media) String() string {
	switch m {
	case Movie:
		return "movie"
	case TV:
		return "tv"
	}
	return fmt.Sprintf("Media(%d)", uint8(m))
}

// fallbackLanguage names the genres that a language has no names for, as TMDB's
// detail answers do. (Its genre lists say null instead.)
const fallbackLanguage = "en"

// genreTable is the shape of genres.json. A name belongs to an id, not to a list.
type genreTable struct {
	Movie []int64                     `json:"movie"`
	TV    []int64                     `json:"tv"`
	Names map[string]map[int64]string `json:"names"` // by language, xx or xx-YY
}

var (
	genres = sync.OnceValue(func() *genreTable {
		t := mustParse[genreTable]("genres.json")
		return &t
	})
	genreLanguages = sync.OnceValue(func() []string {
		return slices.Sorted(maps.Keys(genres().Names))
	})
)

// Genres returns the ids of m's genres in the order of TMDB's list, which is the
// same in every language.
func Genres(m Media) []int64 { return genres().ids(m) }

// GenreName returns the name of one of m's genres in a language and region ("de",
// "DE"; either may be empty). It falls back from language and region to language
// alone to English, and is "" when m's list has no such genre.
func GenreName(m Media, id int64, language, region string) string {
	return genres().name(m, id, language, region)
}

// GenreLanguages returns the languages that have genre names, sorted: xx, or xx-YY
// where the names of a region differ from those of its language.
func GenreLanguages() []string { return genreLanguages() }

func (t *genreTable) ids(m Media) []int64 {
	switch m {
	case Movie:
		return t.Movie
	case TV:
		return t.TV
	}
	return nil
}

func (t *genreTable) name(m Media, id int64, language, region string) string {
	if !slices.Contains(t.ids(m), id) {
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
