package variant

import (
	"bytes"
	"fmt"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/route"
)

// by is the field that a Filter looks at.
type by uint8

const (
	byNothing by = iota
	byImageLanguage
	byVideoLanguage
	byCountryCode
	byTime
)

// A Filter keeps some rows of a fragment's arrays. The zero Filter keeps all. Arrays
// that the API may add one day stay whole.
type Filter struct {
	by        by
	languages               // for images and videos
	params    *route.Params // for countries and days
}

// IsZero reports whether f keeps every row.
func (f *Filter) IsZero() bool { return f.by == byNothing }

// byCountry keeps the rows of a request's country; without one, all.
func byCountry(p *route.Params) Filter {
	if p.Country == (route.Country{}) {
		return Filter{}
	}
	return Filter{by: byCountryCode, params: p}
}

// byDay keeps the changes within the days of a request; without days, all.
func byDay(p *route.Params) Filter {
	if !p.HasStart && !p.HasEnd {
		return Filter{}
	}
	return Filter{by: byTime, params: p}
}

// Append appends raw, the text of a segment, without the rows that f leaves out.
// raw is JSON that the builder wrote, fields of one object with or without its
// braces; the error names the first byte that is not.
func (f *Filter) Append(dst, raw []byte) ([]byte, error) {
	switch f.by {
	case byNothing:
		return append(dst, raw...), nil
	case byTime:
		return appendMembers(dst, raw, f.filters, f.keepChange)
	}
	return appendMembers(dst, raw, f.filters, f.keepRow)
}

// filters reports whether f filters the array that is the named field; the name is
// in quotes.
func (f *Filter) filters(name []byte) bool {
	switch f.by {
	case byImageLanguage:
		switch string(name) {
		case `"backdrops"`, `"logos"`, `"posters"`, `"stills"`:
			return true
		}
	case byVideoLanguage:
		return string(name) == `"results"`
	case byCountryCode:
		return string(name) == `"titles"`
	case byTime:
		return string(name) == `"changes"`
	}
	return false
}

// keepRow keeps a row of one of the languages or of the country.
func (f *Filter) keepRow(dst, row []byte) ([]byte, bool, error) {
	keep := false
	switch f.by {
	case byCountryCode:
		v := field(row, "iso_3166_1")
		keep = len(v) == 4 && string(v[1:3]) == string(f.params.Country[:])
	case byImageLanguage, byVideoLanguage:
		keep = f.has(group(row, f.unnamed))
	}
	if !keep {
		return dst, false, nil
	}
	return append(dst, row...), true, nil
}

// group returns the language of a row, none when it names no language.
func group(row []byte, none fragment.Variant) fragment.Variant {
	v := field(row, "iso_639_1")
	if len(v) == 4 && v[0] == '"' {
		if l := fragment.Language(v[1:3], nil); l != fragment.Base {
			return l
		}
	}
	return none
}

// keepChange keeps a key's items within the days, and the key if any are left.
func (f *Filter) keepChange(dst, row []byte) ([]byte, bool, error) {
	kept := false
	dst, err := appendMembers(dst, row, isItems, func(dst, item []byte) ([]byte, bool, error) {
		day, ok := day.Parse(bytes.Trim(field(item, "time"), `"`))
		if p := f.params; ok && (p.HasStart && day < p.Start || p.HasEnd && day > p.End) {
			return dst, false, nil
		}
		kept = true
		return append(dst, item...), true, nil
	})
	return dst, kept, err
}

func isItems(name []byte) bool { return string(name) == `"items"` }

// field returns the value of a field of an object, nil for none.
func field(object []byte, name string) []byte {
	v, _ := fragment.Field(object[1:], name)
	return v
}

// A keeper appends the part of a row that stays, and reports whether there is any.
type keeper func(dst, row []byte) ([]byte, bool, error)

// appendMembers copies fields of an object. In the arrays that filters names, the rows that keep keeps stay.
func appendMembers(dst, raw []byte, filters func(name []byte) bool, keep keeper) ([]byte, error) {
	for i := 0; i < len(raw); {
		if c := raw[i]; c == ',' || c == '{' || c == '}' {
			dst = append(dst, c)
			i++
			continue
		}
		colon, end := fragment.FieldEnd(raw, i)
		value := colon + 1
		switch {
		case colon < 0:
			return dst, fmt.Errorf("byte %d: field without a name", i)
		case end < 0:
			return dst, fmt.Errorf("byte %d: value without an end", value)
		}
		if raw[value] != '[' || !filters(raw[i:colon]) {
			dst = append(dst, raw[i:end]...)
			i = end
			continue
		}
		dst = append(dst, raw[i:value+1]...)
		var err error
		if dst, err = appendRows(dst, raw[value+1:end-1], keep); err != nil {
			return dst, fmt.Errorf("byte %d: %w", value, err)
		}
		dst = append(dst, ']')
		i = end
	}
	return dst, nil
}

// appendRows appends the rows that stay, between commas.
func appendRows(dst, rows []byte, keep keeper) ([]byte, error) {
	kept := 0
	for i := 0; i < len(rows); i++ {
		end := fragment.ValueEnd(rows, i)
		if end < 0 {
			return dst, fmt.Errorf("row at byte %d: no end", i)
		}
		n := len(dst)
		if kept > 0 {
			dst = append(dst, ',')
		}
		out, ok, err := keep(dst, rows[i:end])
		if err != nil {
			return dst[:n], fmt.Errorf("row at byte %d: %w", i, err)
		}
		if ok {
			dst, kept = out, kept+1
		} else {
			dst = dst[:n]
		}
		i = end // at the comma
	}
	return dst, nil
}
