// Package reference holds what the API serves as it is, whatever dumps a release
// is built from: the genres with their names in each language, the languages, the
// countries, the primary translations, the configuration, the certifications, the
// watch providers, and the names of seasons and episodes that have none.
//
// It is facts about TMDB, in TMDB's wording, odd spellings included: a dump that
// carries a genre name must come out with the same name. Where TMDB has no name,
// neither has this package. Only of the generic names of seasons and episodes some
// stand in for what no recorded response shows; the README lists them.
//
// Entries are keyed as in the API: genres by TMDB's id, languages by ISO 639-1 code
// and TMDB's additions (xx for no language, cn for Cantonese), countries by ISO
// 3166-1 code and TMDB's additions (XC for Czechoslovakia), translations by both
// joined with a hyphen. Languages are lower case and countries upper case
// everywhere; other spellings are not found.
//
// The data lies in JSON files beside the code, which are parsed on first use. What
// the functions return is shared by all callers and must not be changed.
package reference

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed certifications.json configuration.json countries.json genres.json jobs.json
//go:embed languages.json names.json providers.json timezones.json translations.json
var files embed.FS

// A Language is one entry of configuration/languages.
type Language struct {
	Code        string `json:"iso_639_1"`
	EnglishName string `json:"english_name"`
	Name        string `json:"name"` // in the language itself; empty where TMDB has none
}

// A Country is one entry of configuration/countries.
type Country struct {
	Code        string `json:"iso_3166_1"`
	EnglishName string `json:"english_name"`
	NativeName  string `json:"native_name"` // as served without a language parameter, so English
}

// translationFile is the shape of translations.json.
type translationFile struct {
	Primary []string          `json:"primary_translations"`
	Regions map[string]string `json:"default_regions"`
}

var (
	languages    = parsed[[]Language]("languages.json")
	countries    = parsed[[]Country]("countries.json")
	translations = parsed[translationFile]("translations.json")

	languageByCode = sync.OnceValue(func() map[string]Language {
		return byCode(languages(), func(l Language) string { return l.Code })
	})
	countryByCode = sync.OnceValue(func() map[string]Country {
		return byCode(countries(), func(c Country) string { return c.Code })
	})
)

// Languages returns the entries of configuration/languages sorted by code; TMDB's
// own order changes from response to response.
func Languages() []Language { return languages() }

// LanguageByCode returns the language with an ISO 639-1 code such as "de".
func LanguageByCode(code string) (Language, bool) {
	l, ok := languageByCode()[code]
	return l, ok
}

// Countries returns the entries of configuration/countries in TMDB's order, which
// is that of their codes.
func Countries() []Country { return countries() }

// CountryByCode returns the country with an ISO 3166-1 code such as "DE".
func CountryByCode(code string) (Country, bool) {
	c, ok := countryByCode()[code]
	return c, ok
}

// PrimaryTranslations returns the entries of configuration/primary_translations,
// such as "de-DE", sorted as TMDB serves them.
func PrimaryTranslations() []string { return translations().Primary }

// DefaultRegion returns the region meant by a language without one, such as "DE"
// for "de", or "" when none is known. Languages without a primary translation have
// one where TMDB's translation lists show it: the code itself in upper case.
func DefaultRegion(lang string) string { return translations().Regions[lang] }

// byCode maps the code of each entry to the entry.
func byCode[T any](list []T, code func(T) string) map[string]T {
	m := make(map[string]T, len(list))
	for _, v := range list {
		m[code(v)] = v
	}
	return m
}

// parsed returns a function that decodes one of the embedded files at its first call. They are
// part of the program, so one that does not decode is a bug here and panics.
func parsed[T any](name string) func() T {
	return sync.OnceValue(func() (v T) {
		data, err := files.ReadFile(name)
		if err != nil {
			panic(fmt.Errorf("reference: read %s: %w", name, err))
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&v); err != nil {
			panic(fmt.Errorf("reference: parse %s: %w", name, err))
		}
		return v
	})
}

// A Certification is one age rating of a country.
type Certification struct {
	Certification string `json:"certification"`
	Meaning       string `json:"meaning"` // in English or the country's language; may be empty
	Order         int    `json:"order"`   // from mild to strict; two of a country can share one
}

var certifications = parsed[map[Media]map[string][]Certification]("certifications.json")

// Certifications returns the age ratings of m by country ("DE", and "CA-QC" for
// Quebec); nil for no Media. Those of a country are sorted by Order; TMDB's own
// sequence follows no field.
func Certifications(m Media) map[string][]Certification { return certifications()[m] }

// configurationFile is the shape of configuration.json.
type configurationFile struct {
	ChangeKeys []string   `json:"change_keys"`
	ImageSizes ImageSizes `json:"image_sizes"`
}

// ImageSizes are the sizes that images come in, by what they show: "w" and a width
// or "h" and a height in pixels, and "original". An image lies at the base URL,
// then a size, then its path.
type ImageSizes struct {
	Backdrop []string `json:"backdrop_sizes"`
	Logo     []string `json:"logo_sizes"`
	Poster   []string `json:"poster_sizes"`
	Profile  []string `json:"profile_sizes"`
	Still    []string `json:"still_sizes"`
}

// A Department is one entry of configuration/jobs.
type Department struct {
	Name string   `json:"department"` // in English, as credits carry it
	Jobs []string `json:"jobs"`       // in English, as credits carry them; "Sound" has one twice
}

// A CountryZones is one entry of configuration/timezones.
type CountryZones struct {
	Code  string   `json:"iso_3166_1"`
	Zones []string `json:"zones"` // names of the time zone database, such as "Europe/Berlin"
}

var (
	configuration = parsed[configurationFile]("configuration.json")
	departments   = parsed[[]Department]("jobs.json")
	timezones     = parsed[[]CountryZones]("timezones.json")
)

// ChangeKeys returns the names that the keys of changes can have, in TMDB's order,
// which is that of the alphabet.
func ChangeKeys() []string { return configuration().ChangeKeys }

// Images returns the sizes of images, each list in TMDB's order.
func Images() ImageSizes { return configuration().ImageSizes }

// Departments returns the entries of configuration/jobs sorted by department;
// TMDB's own order changes from response to response. The jobs of a department stand in
// TMDB's order, which does not.
func Departments() []Department { return departments() }

// Timezones returns the entries of configuration/timezones in TMDB's order, which
// is that of the country codes.
func Timezones() []CountryZones { return timezones() }

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

// genericNames are the names of one language, with numberMark where a number goes.
type genericNames struct {
	Season   string `json:"season"`
	Episode  string `json:"episode"`
	Specials string `json:"specials"`
}

const numberMark = "{n}"

// generics are the names by language, xx or xx-YY.
var generics = parsed[map[string]*genericNames]("names.json")

// genericIn falls back from language and region to language alone to English.
func genericIn[T string | []byte](lang, region T) *genericNames {
	t := generics()
	key := append(append(append(make([]byte, 0, 16), lang...), '-'), region...)
	if n, ok := t[string(key)]; ok {
		return n
	}
	if n, ok := t[string(key[:len(lang)])]; ok {
		return n
	}
	return t[fallbackLanguage]
}

// appendNumbered appends a name with its number.
func appendNumbered(dst []byte, name string, number int) []byte {
	before, after, _ := strings.Cut(name, numberMark)
	return append(strconv.AppendInt(append(dst, before...), int64(number), 10), after...)
}

// AppendSeasonName appends the name that a season without a name of its own has in a
// language and region ("de", "DE"; either may be empty): the word for a season and
// its number, as in "Staffel 2", and that of the specials for season 0. Languages without
// such names have those of English. Nothing but dst is allocated.
func AppendSeasonName[T string | []byte](dst []byte, lang, region T, number int) []byte {
	names := genericIn(lang, region)
	if number == 0 {
		return append(dst, names.Specials...)
	}
	return appendNumbered(dst, names.Season, number)
}

// AppendEpisodeName appends the name that an episode without a name of its own has,
// in the way of AppendSeasonName. Number 0 is a number like any other.
func AppendEpisodeName[T string | []byte](dst []byte, lang, region T, number int) []byte {
	return appendNumbered(dst, genericIn(lang, region).Episode, number)
}

// SeasonName returns what AppendSeasonName appends.
func SeasonName(lang, region string, number int) string {
	return string(AppendSeasonName(make([]byte, 0, maxGenericName), lang, region, number))
}

// EpisodeName returns what AppendEpisodeName appends.
func EpisodeName(lang, region string, number int) string {
	return string(AppendEpisodeName(make([]byte, 0, maxGenericName), lang, region, number))
}

// maxGenericName is more than the names of names.json take in bytes, with a number.
const maxGenericName = 96
