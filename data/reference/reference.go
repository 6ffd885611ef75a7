// Package reference contains data that the API serves unchanged, independent of dumps: the genres with their names in
// each language, the languages, the countries, the primary translations, the configuration, the certifications, the
// watch providers, and the names of unnamed seasons and episodes.
//
// It has facts about TMDB in TMDB's wording, including odd spellings: a genre name in a dump must be served
// unchanged. Where TMDB has no name, this package has none. The exceptions are some generic names of seasons and
// episodes that no recorded response shows; the README lists them.
//
// Entries have the API's keys: genres by TMDB's ID, languages by ISO 639-1 code and TMDB's additions (xx for no
// language, cn for Cantonese), countries by ISO 3166-1 code and TMDB's additions (XC for Czechoslovakia),
// translations by both joined with a hyphen. Languages are lower case and countries upper case; other spellings are
// not found.
//
// The data is in JSON files next to the code, which are parsed on first use. Results are shared by all callers and
// read-only.
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
	Name        string `json:"name"` // in the language itself; empty if TMDB has none
}

// A Country is one entry of configuration/countries.
type Country struct {
	Code        string `json:"iso_3166_1"`
	EnglishName string `json:"english_name"`
	NativeName  string `json:"native_name"` // as served without a language parameter, hence in English
}

// translationFile is the shape of translations.json.
type translationFile struct {
	Primary []string          `json:"primary_translations"`
	Regions map[string]string `json:"default_regions"`
}

var translations = parsed[translationFile]("translations.json")

// Languages returns the entries of configuration/languages sorted by code; TMDB's own order varies between responses.
var Languages = parsed[[]Language]("languages.json")

// LanguageByCode returns the language with an ISO 639-1 code such as "de".
func LanguageByCode(code string) (Language, bool) {
	return find(Languages(), code, func(l Language) string { return l.Code })
}

// Countries returns the entries of configuration/countries in TMDB's order, by code.
var Countries = parsed[[]Country]("countries.json")

// CountryByCode returns the country with an ISO 3166-1 code such as "DE".
func CountryByCode(code string) (Country, bool) {
	return find(Countries(), code, func(c Country) string { return c.Code })
}

// PrimaryTranslations returns the entries of configuration/primary_translations,
// such as "de-DE", sorted as TMDB serves them.
func PrimaryTranslations() []string { return translations().Primary }

// DefaultRegion returns the region for a language without one, such as "DE" for "de", or "" if it is unknown. For
// languages without a primary translation, the region is the code itself in upper case, if TMDB's translation lists
// show it.
func DefaultRegion(lang string) string { return translations().Regions[lang] }

// find returns the entry with a code of a list that is sorted by code.
func find[T any](list []T, code string, codeOf func(T) string) (entry T, ok bool) {
	i, ok := slices.BinarySearchFunc(list, code, func(v T, code string) int { return strings.Compare(codeOf(v), code) })
	if ok {
		entry = list[i]
	}
	return entry, ok
}

// parsed returns a function that decodes an embedded file on its first call. It panics if the file is invalid, which
// is a bug.
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
	Order         int    `json:"order"`   // from mild to strict; not unique in a country
}

var certifications = parsed[map[Media]map[string][]Certification]("certifications.json")

// Certifications returns the age ratings of m by country ("DE", and "CA-QC" for Quebec); nil for an unknown Media.
// The ratings of a country are sorted by Order; TMDB's own sequence follows no field.
func Certifications(m Media) map[string][]Certification { return certifications()[m] }

// configurationFile is the shape of configuration.json.
type configurationFile struct {
	ChangeKeys []string   `json:"change_keys"`
	ImageSizes ImageSizes `json:"image_sizes"`
}

// ImageSizes are the available sizes of images, by their subject: "w" and a width or "h" and a height in pixels, and
// "original". The URL of an image is the base URL, a size, and the image's path.
type ImageSizes struct {
	Backdrop []string `json:"backdrop_sizes"`
	Logo     []string `json:"logo_sizes"`
	Poster   []string `json:"poster_sizes"`
	Profile  []string `json:"profile_sizes"`
	Still    []string `json:"still_sizes"`
}

// A Department is one entry of configuration/jobs.
type Department struct {
	Name string   `json:"department"` // in English, as in credits
	Jobs []string `json:"jobs"`       // in English, as in credits; "Sound" has a duplicate
}

// A CountryZones is one entry of configuration/timezones.
type CountryZones struct {
	Code  string   `json:"iso_3166_1"`
	Zones []string `json:"zones"` // names from the time zone database, such as "Europe/Berlin"
}

var configuration = parsed[configurationFile]("configuration.json")

// ChangeKeys returns the possible keys of changes, in TMDB's alphabetical order.
func ChangeKeys() []string { return configuration().ChangeKeys }

// Images returns the sizes of images, each list in TMDB's order.
func Images() ImageSizes { return configuration().ImageSizes }

// Departments returns the entries of configuration/jobs sorted by department; TMDB's own order varies between
// responses. The jobs of a department are in TMDB's order, which does not vary.
var Departments = parsed[[]Department]("jobs.json")

// Timezones returns the entries of configuration/timezones in TMDB's order, by country code.
var Timezones = parsed[[]CountryZones]("timezones.json")

// A Media selects one of the two genre lists. Eight genres are on both, with the same ID and name.
type Media string

// The media with a genre list, named as in the API's paths.
const (
	Movie Media = "movie"
	TV    Media = "tv"
)

// fallbackLanguage names genres that a language has no names for, as in TMDB's details responses. (Its genre lists
// have null instead.)
const fallbackLanguage = "en"

// genreTable is the shape of genres.json. A name belongs to an ID, not to a list.
type genreTable struct {
	Lists map[Media][]int64           `json:"lists"`
	Names map[string]map[int64]string `json:"names"` // by language, xx or xx-YY
}

var genres = parsed[*genreTable]("genres.json")

// Genres returns the IDs of m's genres in the order of TMDB's list, which is the same in every language.
func Genres(m Media) []int64 { return genres().Lists[m] }

// GenreName returns the name of one of m's genres in a language and region ("de", "DE"; either may be empty). It
// falls back from language and region to the language alone, then to English. It is "" if m's list lacks the genre.
func GenreName(m Media, id int64, language, region string) string {
	return genres().name(m, id, language, region)
}

// GenreTranslations returns the names of one of m's genres in all languages that have one, in arbitrary order.
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

// GenreLanguages returns the languages with genre names, sorted: xx, or xx-YY if the names of a region differ from
// its language's.
var GenreLanguages = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(genres().Names)) })

// genericNames are the names of one language, with numberMark in place of the number.
type genericNames struct {
	Season   string `json:"season"`
	Episode  string `json:"episode"`
	Specials string `json:"specials"`
}

const numberMark = "{n}"

// generics are the names by language, xx or xx-YY.
var generics = parsed[map[string]*genericNames]("names.json")

// genericIn falls back from language and region to the language alone, then to English.
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

// AppendSeasonName appends the name of an unnamed season in a language and region ("de", "DE"; either may be empty):
// the word for a season and its number, as in "Staffel 2", or the word for specials for season 0. Languages without
// such names use English. It allocates only dst.
func AppendSeasonName[T string | []byte](dst []byte, lang, region T, number int) []byte {
	names := genericIn(lang, region)
	if number == 0 {
		return append(dst, names.Specials...)
	}
	return appendNumbered(dst, names.Season, number)
}

// AppendEpisodeName appends the name of an unnamed episode, like AppendSeasonName. Number 0 has no special meaning.
func AppendEpisodeName[T string | []byte](dst []byte, lang, region T, number int) []byte {
	return appendNumbered(dst, genericIn(lang, region).Episode, number)
}

// SeasonName returns the result of AppendSeasonName.
func SeasonName(lang, region string, number int) string {
	return string(AppendSeasonName(make([]byte, 0, maxGenericName), lang, region, number))
}

// EpisodeName returns the result of AppendEpisodeName.
func EpisodeName(lang, region string, number int) string {
	return string(AppendEpisodeName(make([]byte, 0, maxGenericName), lang, region, number))
}

// maxGenericName exceeds the length of all names in names.json with a number, in bytes.
const maxGenericName = 96

// A Provider is a service that offers titles to watch: one row of watch/providers/movie and watch/providers/tv. It
// encodes as such a row.
type Provider struct {
	// Priorities contains the countries with offers.
	Priorities Priorities `json:"display_priorities"`
	// Priority is the rank without a country, from 0.
	Priority int    `json:"display_priority"`
	LogoPath string `json:"logo_path"`
	Name     string `json:"provider_name"`
	ID       int64  `json:"provider_id"`
}

// Priorities are the ranks of a provider by country (ISO 3166-1 code), from 0. They encode as the object they were
// parsed from, in TMDB's order.
type Priorities struct {
	object json.RawMessage
	ranks  map[string]int
}

// In returns the rank in a country, or false if there are no offers.
func (p Priorities) In(country string) (rank int, ok bool) {
	rank, ok = p.ranks[country]
	return rank, ok
}

// MarshalJSON returns the object.
func (p Priorities) MarshalJSON() ([]byte, error) { return p.object, nil }

// UnmarshalJSON reads the object.
func (p *Priorities) UnmarshalJSON(data []byte) error {
	*p = Priorities{object: bytes.Clone(data)}
	return json.Unmarshal(data, &p.ranks)
}

// providerFile is the shape of providers.json. A provider is the same in both lists.
type providerFile struct {
	Regions   []string `json:"regions"`
	Providers []struct {
		Provider
		Lists []Media `json:"lists"`
	} `json:"providers"`
}

// providerTable is providers.json by list.
type providerTable struct {
	lists     map[Media][]Provider
	regions   []Country
	countries []string // countries of all providers, sorted
}

var providers = sync.OnceValue(func() *providerTable {
	file := parsed[providerFile]("providers.json")()
	t := &providerTable{lists: map[Media][]Provider{}}
	for i := range file.Providers {
		p := &file.Providers[i]
		for _, m := range p.Lists {
			t.lists[m] = append(t.lists[m], p.Provider)
		}
		t.countries = slices.AppendSeq(t.countries, maps.Keys(p.Priorities.ranks))
	}
	slices.Sort(t.countries)
	t.countries = slices.Compact(t.countries)
	for _, code := range file.Regions {
		c, ok := CountryByCode(code)
		if !ok {
			panic(fmt.Errorf("reference: providers.json: region %q is not a country", code))
		}
		t.regions = append(t.regions, c)
	}
	return t
})

// Providers returns the rows of watch/providers/movie or watch/providers/tv in TMDB's order, by ID; nil for an
// unknown Media.
func Providers(m Media) []Provider { return providers().lists[m] }

// ProviderRegions returns the entries of watch/providers/regions sorted by code.
func ProviderRegions() []Country { return providers().regions }

// ProviderCountries returns the codes of the countries in which some provider has offers, sorted: all ProviderRegions
// and a few that TMDB lists nowhere.
func ProviderCountries() []string { return providers().countries }
