package route

import (
	"bytes"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Country is an ISO 3166-1 code of two capital letters; the zero Country is empty.
type Country [2]byte

// String returns the code, empty for none.
func (c Country) String() string {
	if c == (Country{}) {
		return ""
	}
	return string(c[:])
}

// ParseCountry reads two letters in any case; anything else is no country.
func ParseCountry(b []byte) Country {
	if len(b) != 2 || !isLetter(b[0]) || !isLetter(b[1]) {
		return Country{}
	}
	return Country{b[0] &^ 0x20, b[1] &^ 0x20}
}

// parseLanguage reads "xx" or "xx-YY" in any case.
func parseLanguage(b []byte) (fragment.Variant, bool) {
	if (len(b) != 2 && len(b) != 5) || !isLetter(b[0]) || !isLetter(b[1]) {
		return fragment.Base, false
	}
	lang := [2]byte{b[0] | 0x20, b[1] | 0x20}
	if len(b) == 2 {
		return fragment.Language(lang[:], nil), true
	}
	region := ParseCountry(b[3:])
	if b[2] != '-' || region == (Country{}) {
		return fragment.Base, false
	}
	return fragment.Language(lang[:], region[:]), true
}

// readLanguage reads the first language of a list.
func readLanguage(q *Request, list []byte) {
	for item := range bytes.SplitSeq(list, []byte{','}) {
		if q.Language, q.HasLanguage = parseLanguage(item); q.HasLanguage {
			return
		}
	}
}

// ParseYear reads a year from 1000 to 9999; 0 for anything else.
func ParseYear(b []byte) uint16 {
	v, ok := parseUint(b)
	if !ok || v < 1000 || v > 9999 {
		return 0
	}
	return uint16(v)
}

// parseLanguages inserts the items of a comma list into dst, up to its capacity,
// and returns it; see Params.ImageLanguages.
func parseLanguages(dst []fragment.Variant, list []byte) []fragment.Variant {
	for item := range bytes.SplitSeq(list, []byte{','}) {
		if item = bytes.Trim(item, " "); len(item) == 0 {
			continue
		}
		v, ok := parseLanguage(item)
		if bytes.EqualFold(item, []byte("null")) {
			v, ok = fragment.NoLanguage, true
		}
		if ok {
			dst = insertLanguage(dst, v.Bare())
		}
	}
	return dst
}

// readImageLanguages reads languages of images. Those without a language are null in some data and xx in other.
func readImageLanguages(q *Request, list []byte) {
	q.ImageLanguages = parseLanguages(q.images[:0], list)
	if _, ok := slices.BinarySearch(q.ImageLanguages, fragment.NoLanguage); ok {
		q.ImageLanguages = insertLanguage(q.ImageLanguages, fragment.Language("xx", ""))
	}
}

// insertLanguage inserts a language into an ordered list, unless it is there or there is no room.
func insertLanguage(dst []fragment.Variant, v fragment.Variant) []fragment.Variant {
	if i, found := slices.BinarySearch(dst, v); !found && len(dst) < cap(dst) {
		return slices.Insert(dst, i, v)
	}
	return dst
}

// IsTrue reports whether b is "true" in any case.
func IsTrue(b []byte) bool { return bytes.EqualFold(b, []byte("true")) }

func isLetter(ch byte) bool { return 'a' <= ch|0x20 && ch|0x20 <= 'z' }
