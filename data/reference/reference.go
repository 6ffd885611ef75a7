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
