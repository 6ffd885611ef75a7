// Package tmdb reads rows in the form of TMDB's own responses: details with or without
// appended objects, list rows, and single sub-requests, of every kind. Other layouts
// convert their rows to this form, so this package makes all records.
package tmdb

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Row is one JSON object of a dump, with facts from its file's name.
type Row struct {
	JSON string
	File string        // file name without folder and extensions
	Type *catalog.Type // kind of the file's rows; nil if the name has none
	ID   int64         // ID of the resource; 0 if the name has none
	Text string        // ID of 24 hex digits; "" if the name has none
	// Series is the series of season Season, or of its episode Episode; 0 if the name has none.
	Series, Season, Episode int64
	Sub                     string // sub-request that the row responds to; "" for a whole record
	// Table marks a row of a table, such as a Parquet file. Every row has every field.
	Table bool
	// Texts marks a row whose values are all texts, as in CSV and TSV.
	Texts bool

	Response bool // the row is a response of the API
}

// A Record holds the data of a row for one resource.
type Record struct {
	record.Record
	Type *catalog.Type
	Key  catalog.Key
	// Part marks a record that may be built from several rows: their lists are concatenated.
	Part bool
	// Removed marks a resource that no longer exists: see RemovalOf.
	Removed bool
	// Found is the origin of an ID that the row lacks. Mint is the hash of a minted ID's parts, else 0.
	Found Found
	Mint  uint64
}

// Found is the origin of an ID that the row lacks.
type Found uint8

// Origins of IDs.
const (
	FoundNothing Found = iota // the row, or another record of it, has the ID
	FoundMatch                // another record has the same external id
	FoundMint                 // it was minted
)

// ParseLanguage checks a language tag and returns it as xx-YY. A language without a region gets its default region, if one is
// known: "fr" and "fr-FR" are equal. The default language, en-US, becomes "".
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
	if fragment.Language(lang, region) == fragment.Base {
		return "", fmt.Errorf("language %q: want xx or xx-YY, for instance de-DE", tag)
	}
	if r := reference.DefaultRegion(lang); region == "" && r != "" {
		out += "-" + r
	}
	return out, nil
}

// checked returns the record with its key, or an error if the key is missing or invalid.
func checked(t *catalog.Type, r record.Record) (Record, error) {
	key, err := t.Key(r)
	return Record{Record: r, Type: t, Key: key}, err
}

// InField adds the field to an error without one.
func InField(err error, field string) error {
	if _, ok := err.(*record.FieldError); ok || err == nil {
		return err
	}
	return &record.FieldError{Field: field, What: err.Error()}
}

// Renamed returns a field's error with the name that the row has for the field. Other errors are unchanged.
func Renamed(err error, name func(field string) string) error {
	var fe *record.FieldError
	if errors.As(err, &fe) {
		if renamed := name(fe.Field); renamed != fe.Field {
			return &record.FieldError{Field: renamed, What: fe.What, Value: fe.Value}
		}
	}
	return err
}

// within adds an outer path to an error.
func within(err error, path string) error {
	var fe *record.FieldError
	if errors.As(err, &fe) {
		return &record.FieldError{Field: path + "." + fe.Field, What: fe.What, Value: fe.Value}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// textOf returns the text of a JSON string, or "" for other values.
func textOf(raw string) string {
	if raw = strings.TrimSpace(raw); !strings.HasPrefix(raw, `"`) {
		return ""
	}
	return record.Unquote(raw)
}
