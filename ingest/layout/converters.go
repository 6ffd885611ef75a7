package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/pyliteral"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A converter reads the text of a cell, which is not empty, as a value of a field.
type converter struct {
	name string         // that "as" of an entry has
	to   []record.Shape // of the fields that it leads to
	// read appends the JSON text of the value. isText is false for a number or a boolean
	// of a table that has such columns. The errors name the expected value.
	read func(e *entry, dst []byte, s string, isText bool, names *identifier) ([]byte, error)
}

const (
	asText   = "text"
	asInt    = "int"
	asDate   = "date"
	asTitle  = "title"
	asJSON   = "json"
	asPython = "python"
	asName   = "name"
	asNames  = "names"
	asList   = "list"
)

// converters lists all; docs/tables.md says what they read. Of those that lead to a shape, the first is meant where an entry
// names none.
var converters = []converter{
	{asInt, shapes(record.ShapeInt), textOnly(appendInt)},
	{"float", shapes(record.ShapeFloat), textOnly(appendNumber)},
	{"bool", shapes(record.ShapeBool), textOnly(appendBool)},
	{asJSON, nestedShapes, readJSON},
	{asPython, nestedShapes, textOnly(appendPython)},
	{asText, shapes(record.ShapeString, record.ShapeRaw), nil}, // see convert
	{asDate, shapes(record.ShapeString), readDay},
	{asTitle, shapes(record.ShapeString), readTitle},
	{"title_year", shapes(record.ShapeString), readTitleYear},
	{"imdb", shapes(record.ShapeString), textOnly(appendIMDb)},
	{asName, shapes(record.ShapeString, record.ShapeInt, record.ShapeObject), readName},
	{asNames, shapes(record.ShapeObjects, record.ShapeStrings), readNames},
	{asList, shapes(record.ShapeStrings, record.ShapeInts), readList},
}

// nestedShapes are the fields that have values inside.
var nestedShapes = shapes(record.ShapeRaw, record.ShapeObject, record.ShapeObjects, record.ShapeStrings, record.ShapeInts, record.ShapeKeyed, record.ShapePages)

func shapes(list ...record.Shape) []record.Shape { return list }

// textOnly is the read of a converter for which only the text counts.
func textOnly(read func(dst []byte, s string) ([]byte, error)) func(*entry, []byte, string, bool, *identifier) ([]byte, error) {
	return func(_ *entry, dst []byte, s string, _ bool, _ *identifier) ([]byte, error) { return read(dst, s) }
}

// convertersTo returns the converters that lead to a field of a shape.
func convertersTo(shape record.Shape) (list []*converter, names []string) {
	for i := range converters {
		if c := &converters[i]; slices.Contains(c.to, shape) {
			list, names = append(list, c), append(names, c.name)
		}
	}
	return list, names
}

func readJSON(_ *entry, dst []byte, s string, isText bool, _ *identifier) ([]byte, error) {
	if isText && !json.Valid([]byte(s)) {
		return dst, errors.New("want JSON")
	}
	return append(dst, s...), nil // a number or a boolean is for the parser of records to judge
}

func readDay(e *entry, dst []byte, s string, _ bool, _ *identifier) ([]byte, error) {
	d, err := e.days.parse(s)
	return record.AppendString(dst, d), err
}

func readTitle(e *entry, dst []byte, s string, _ bool, _ *identifier) ([]byte, error) {
	title, _ := splitTitle(s)
	return record.AppendString(dst, articleFirst(title, e.Articles)), nil
}

func readTitleYear(_ *entry, dst []byte, s string, _ bool, _ *identifier) ([]byte, error) {
	if _, year := splitTitle(s); year != "" {
		dst = record.AppendString(dst, year+"-01-01")
	}
	return dst, nil
}

func readName(e *entry, dst []byte, s string, _ bool, names *identifier) ([]byte, error) {
	return e.ofNames.oneName(dst, s, names)
}

func readNames(e *entry, dst []byte, s string, _ bool, names *identifier) ([]byte, error) {
	return e.ofNames.names(dst, s, names)
}

// parseNumber returns the number that a text is: digits with a sign, a point and an exponent
// or not, and blanks around. There are no separators of thousands and no names.
func parseNumber(s string) (text string, f float64, ok bool) {
	s = strings.TrimSpace(s)
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return "", 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return s, f, err == nil
}

// appendInt appends an integer, 550 also for 550.0 and 5.5e2.
func appendInt(dst []byte, s string) ([]byte, error) {
	text, f, ok := parseNumber(s)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.AppendInt(dst, n, 10), nil
	}
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return dst, errors.New("want an integer")
	}
	return strconv.AppendInt(dst, int64(f), 10), nil
}

func appendNumber(dst []byte, s string) ([]byte, error) {
	_, f, ok := parseNumber(s)
	if !ok {
		return dst, errors.New("want a number")
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64), nil
}

func appendBool(dst []byte, s string) ([]byte, error) {
	switch strings.TrimSpace(s) {
	case "true", "True", "TRUE", "1", "1.0":
		return append(dst, "true"...), nil
	case "false", "False", "FALSE", "0", "0.0":
		return append(dst, "false"...), nil
	}
	return dst, errors.New("want true or false")
}

// imdbDigits is how many digits an IMDb id has at least.
const imdbDigits = 7

// appendIMDb appends the IMDb id of a title. Tables often have the number
// alone.
func appendIMDb(dst []byte, s string) ([]byte, error) {
	text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), "tt"), ".0")
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		return dst, errors.New("want an IMDb id of a title, with or without tt")
	}
	return fmt.Appendf(dst, `"tt%0*d"`, imdbDigits, n), nil
}

func appendPython(dst []byte, s string) ([]byte, error) {
	out, err := pyliteral.AppendJSON(dst, s)
	if err != nil {
		return dst, fmt.Errorf("want a Python literal: %w", err)
	}
	return out, nil
}

// readList appends the texts or integers of a joined list, or of one as JSON or Python writes
// it.
func readList(e *entry, dst []byte, s string, _ bool, _ *identifier) ([]byte, error) {
	separator := cmp.Or(e.Separator, defaultSeparators[0])
	if text := strings.TrimSpace(s); strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		if json.Valid([]byte(text)) {
			return append(dst, text...), nil
		}
		if out, err := pyliteral.AppendJSON(dst, text); err == nil {
			return out, nil
		}
	}
	dst = append(dst, '[')
	for i, part := range strings.Split(s, separator) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if e.field.Shape == record.ShapeStrings {
			dst = record.AppendString(dst, part)
			continue
		}
		var err error
		if dst, err = appendInt(dst, part); err != nil {
			return dst, fmt.Errorf("want integers with %q between", separator)
		}
	}
	return append(dst, ']'), nil
}
