// Package layout gives rows their meaning: it turns a JSON object of a dump into a
// record of the catalogue.
package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"reelsplice/data/reference"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// A Row is one JSON object of a dump and what its file's name says of it.
type Row struct {
	JSON string
	ID   int64  // from the file name; 0 when it says none
	Sub  string // the sub-request that the row answers, from the file name; "" for a whole record
	// Table says that the row was one of a table, such as a Parquet file, where every
	// member is there in every row.
	Table bool
}

// A Layout turns rows into movies. It is not safe for concurrent use.
type Layout interface {
	// Movie returns the record of a row, or why it is none: a *wire.FieldError
	// where one field is at fault.
	Movie(r Row) (*catalog.Movie, error)
	// Counts says what rows held that the catalogue has no column for.
	Counts() wire.Counts
	// Dropped counts, by path, what rows held that the API has no place for.
	Dropped() map[string]int64
}

// Names of layouts.
const (
	Auto   = "auto"
	TMDB   = "tmdb"
	Movnix = "movnix"
)

// Names lists the layouts that New knows.
func Names() []string { return []string{Auto, TMDB, Movnix} }

// Detect returns the name of the layout that a row is in: Movnix has the object
// "movie" first, which is no member of TMDB's.
func Detect(row []byte) string {
	d := json.NewDecoder(bytes.NewReader(row))
	for _, want := range []json.Token{json.Delim('{'), "movie", json.Delim('{')} {
		if got, err := d.Token(); err != nil || got != want {
			return TMDB
		}
	}
	return Movnix
}

// New returns the layout of that name for a crawl in a language ("" for en-US).
func New(name, language string) (Layout, error) {
	switch name {
	case TMDB:
		return newTMDB(language), nil
	case Movnix:
		if language != "" {
			return nil, fmt.Errorf("layout %s: its rows are of no language, so language %s cannot be theirs: ingest them without one", Movnix, language)
		}
		return newMovnix(), nil
	}
	return nil, fmt.Errorf("layout %q: want one of %s", name, strings.Join(Names(), ", "))
}

// ParseLanguage checks a language tag and brings it to the form xx-YY; a language
// without a region gets that which is meant, so that "fr" and "fr-FR" are one. It
// stays xx where none is known. The default language, en-US, becomes "".
func ParseLanguage(tag string) (string, error) {
	lang, region, _ := strings.Cut(tag, "-")
	lang, region = strings.ToLower(lang), strings.ToUpper(region)
	out := lang
	if region != "" {
		out += "-" + region
	}
	if tag == "" || out == "en" || out == "en-US" {
		return "", nil
	}
	if fragment.Language(lang, region) == fragment.Base || !letters(lang+region) {
		return "", fmt.Errorf("language %q: want xx or xx-YY, for instance de-DE", tag)
	}
	if r := reference.DefaultRegion(lang); region == "" && r != "" {
		out += "-" + r
	}
	return out, nil
}

func letters(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// check reports what is wrong with a parsed record.
func check(m *catalog.Movie) error {
	switch {
	case !m.ID.Set:
		return &wire.FieldError{Field: "id", What: "want an integer, found nothing"}
	case m.ID.V < 1:
		return &wire.FieldError{Field: "id", What: fmt.Sprintf("want 1 or more, found %d", m.ID.V)}
	case !isDay(m.ReleaseDate.V):
		return &wire.FieldError{Field: "release_date", What: fmt.Sprintf("want YYYY-MM-DD or nothing, found %q", m.ReleaseDate.V)}
	}
	return nil
}

// isDay reports whether s is empty or looks like a day.
func isDay(s string) bool {
	if s == "" {
		return true
	}
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return false
	}
	for i, c := range s {
		if i != 4 && i != 7 && (c < '0' || c > '9') {
			return false
		}
	}
	month, day := s[5:7], s[8:10]
	return month >= "01" && month <= "12" && day >= "01" && day <= "31"
}
