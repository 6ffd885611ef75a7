// Package tmdb reads rows in the form of TMDB's own responses: details with or without
// appended objects, rows of lists, and single sub-requests, of every kind. The rows of
// other layouts are brought to this form first, so all records come from here.
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

// A Row is one JSON object of a dump and the facts that its file's name has about it.
type Row struct {
	JSON string
	File string        // name of the file, without its folder and extensions
	Type *catalog.Type // of the file's rows; nil where the name has none
	ID   int64         // of the resource; 0 when the name has none
	Text string        // 24 hex digits of a resource that is known by them; "" likewise
	// Series, unless it is 0, is the series that the season Season, or its episode
	// Episode, is of.
	Series, Season, Episode int64
	Sub                     string // the sub-request that the row responds to; "" for a whole record
	// Table marks a row of a table, such as a Parquet file, where every
	// field is there in every row.
	Table bool
	// Texts marks a row whose values are all texts, as in CSV and TSV.
	Texts bool

	Response bool // the row is a response of the API
}

// A Record is the facts of a row about one resource.
type Record struct {
	record.Record
	Type *catalog.Type
	Key  catalog.Key
	// Part marks a row that is one of several of its file that make the record: their
	// lists are to be put together.
	Part bool
	// Removed marks a resource that is no more: see RemovalOf.
	Removed bool
	// Found is how the id was found where the row has none, and Mint is the hash of what
	// it was made of, 0 for an id that was not minted.
	Found Found
	Mint  uint64
}

// Found is how a record whose row has no id got one.
type Found uint8

// How ids are found.
const (
	FoundNothing Found = iota // the row has the id, or another record of the row does
	FoundMatch                // another record has the same external id
	FoundMint                 // it was minted
)

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
	if fragment.Language(lang, region) == fragment.Base {
		return "", fmt.Errorf("language %q: want xx or xx-YY, for instance de-DE", tag)
	}
	if r := reference.DefaultRegion(lang); region == "" && r != "" {
		out += "-" + r
	}
	return out, nil
}

// Checked returns the record of a row once it is known to be one.
func Checked(t *catalog.Type, r record.Record) (Record, error) {
	key, err := t.Key(r)
	return Record{Record: r, Type: t, Key: key}, err
}

// InField adds the field to an error that has none.
func InField(err error, field string) error {
	if _, ok := err.(*record.FieldError); ok || err == nil {
		return err
	}
	return &record.FieldError{Field: field, What: err.Error()}
}

// Renamed returns an error of a field under the name that the row has for it; other errors as they are.
func Renamed(err error, name func(field string) string) error {
	var fe *record.FieldError
	if errors.As(err, &fe) {
		if own := name(fe.Field); own != fe.Field {
			return &record.FieldError{Field: own, What: fe.What, Value: fe.Value}
		}
	}
	return err
}

// Within adds the path around it to an error.
func Within(err error, path string) error {
	var fe *record.FieldError
	if errors.As(err, &fe) {
		return &record.FieldError{Field: path + "." + fe.Field, What: fe.What, Value: fe.Value}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// textOf returns the text that a value is, "" for what is no text.
func textOf(raw string) string {
	if raw = strings.TrimSpace(raw); !strings.HasPrefix(raw, `"`) {
		return ""
	}
	return record.Unquote(raw)
}
