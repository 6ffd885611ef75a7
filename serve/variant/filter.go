package variant

import (
	"bytes"
	"fmt"

	"reelsplice/schemas/fragment"
	"reelsplice/serve/route"
)

// by is the member that a Filter looks at.
type by uint8

const (
	byNothing by = iota
	byLanguages
	byCountryCode
	byTime
)

// A Filter keeps some rows of a fragment's arrays. The zero Filter keeps all.
type Filter struct {
	by        by
	n         int
	languages [route.MaxLanguages + 1]fragment.Variant // ascending
	country   route.Country
	from, to  route.Day // inclusive
}

// IsZero reports whether f keeps every row.
func (f *Filter) IsZero() bool { return f.by == byNothing }

func byCountry(c route.Country) Filter {
	if c == (route.Country{}) {
		return Filter{}
	}
	return Filter{by: byCountryCode, country: c}
}

// Changes outside of the days are left out; without days, everything is served that
// the release knows.
func byDay(p *route.Params) Filter {
	if !p.HasStart && !p.HasEnd {
		return Filter{}
	}
	f := Filter{by: byTime, from: -1 << 31, to: 1<<31 - 1}
	if p.HasStart {
		f.from = p.Start
	}
	if p.HasEnd {
		f.to = p.End
	}
	return f
}

// Append appends raw, the text of a segment, without the rows that f leaves out.
// raw is JSON that the builder wrote; the error tells where it is not.
func (f *Filter) Append(dst, raw []byte) ([]byte, error) {
	switch f.by {
	case byLanguages:
		return appendRows(dst, raw, f.keepLanguage)
	case byCountryCode:
		return appendRows(dst, raw, func(dst, row []byte) ([]byte, bool) {
			v, _ := member(row, `"iso_3166_1":`)
			return append(dst, row...), len(v) == 4 && string(v[1:3]) == string(f.country[:])
		})
	case byTime:
		return appendRows(dst, raw, f.keepItems)
	}
	return append(dst, raw...), nil
}

func (f *Filter) keepLanguage(dst, row []byte) ([]byte, bool) {
	v, _ := member(row, `"iso_639_1":`)
	lang := fragment.NoLanguage
	if len(v) == 4 {
		lang = fragment.Language(v[1:3], nil)
	}
	for _, l := range f.languages[:f.n] {
		if l == lang {
			return append(dst, row...), true
		}
	}
	return dst, false
}

// keepItems keeps a key's items within the days, and the key if any are left.
func (f *Filter) keepItems(dst, row []byte) ([]byte, bool) {
	kept := false
	out, err := appendRows(dst, row, func(dst, item []byte) ([]byte, bool) {
		v, _ := member(item, `"time":`)
		day, ok := route.ParseDay(bytes.Trim(v, `"`))
		if ok && (day < f.from || day > f.to) {
			return dst, false
		}
		kept = true
		return append(dst, item...), true
	})
	return out, kept && err == nil
}

// member returns the value of a scalar member, with its quotes. A string cannot
// hold the name's closing quote unescaped, so that the first match is the member.
func member(row []byte, name string) ([]byte, bool) {
	i := bytes.Index(row, []byte(name))
	if i < 0 {
		return nil, false
	}
	v := row[i+len(name):]
	if len(v) > 0 && v[0] == '"' {
		if end := bytes.IndexByte(v[1:], '"'); end >= 0 {
			return v[:end+2], true
		}
	}
	if end := bytes.IndexAny(v, ",}"); end >= 0 {
		return v[:end], true
	}
	return nil, false
}

// appendRows copies raw and asks keep about every object that is an element of an
// outermost array; keep appends the object's new text and says whether it stays.
func appendRows(dst, raw []byte, keep func(dst, row []byte) ([]byte, bool)) ([]byte, error) {
	arrays, kept := 0, 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			end := stringEnd(raw, i)
			if end < 0 {
				return dst, fmt.Errorf("byte %d: string without an end", i)
			}
			dst = append(dst, raw[i:end]...)
			i = end
		case c == '{' && arrays == 1:
			end := objectEnd(raw, i)
			if end < 0 {
				return dst, fmt.Errorf("byte %d: object without an end", i)
			}
			n := len(dst)
			if kept > 0 {
				dst = append(dst, ',')
			}
			out, ok := keep(dst, raw[i:end])
			if ok {
				dst, kept = out, kept+1
			} else {
				dst = dst[:n]
			}
			i = end
		case c == ',' && arrays == 1:
			i++ // written again between the rows that stay
		default:
			if c == '[' {
				arrays, kept = arrays+1, 0
			} else if c == ']' {
				arrays--
			}
			dst = append(dst, c)
			i++
		}
	}
	return dst, nil
}

// stringEnd returns the index behind the string that starts at i; -1 without one.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// objectEnd returns the index behind the object that starts at i; -1 without one.
func objectEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}
