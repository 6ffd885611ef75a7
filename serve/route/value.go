package route

import (
	"bytes"
	"time"

	"reelsplice/schemas/fragment"
)

// A Country is an ISO 3166-1 code of two capital letters; the zero Country is none.
type Country [2]byte

// String returns the code, empty for none.
func (c Country) String() string {
	if c == (Country{}) {
		return ""
	}
	return string(c[:])
}

// parseCountry reads two letters in any case; anything else is no country.
func parseCountry(b []byte) Country {
	if len(b) != 2 || !isLetter(b[0]) || !isLetter(b[1]) {
		return Country{}
	}
	return Country{upper(b[0]), upper(b[1])}
}

// parseLanguage reads "xx" or "xx-YY" in any case.
func parseLanguage(b []byte) (fragment.Variant, bool) {
	if (len(b) != 2 && len(b) != 5) || !isLetter(b[0]) || !isLetter(b[1]) {
		return fragment.Base, false
	}
	lang := [2]byte{lower(b[0]), lower(b[1])}
	if len(b) == 2 {
		return fragment.Language(lang[:], nil), true
	}
	region := parseCountry(b[3:])
	if b[2] != '-' || region == (Country{}) {
		return fragment.Base, false
	}
	return fragment.Language(lang[:], region[:]), true
}

// parseYear reads a year from 1000 to 9999; 0 for anything else.
func parseYear(b []byte) uint16 {
	v, ok := parseUint(b)
	if !ok || v < 1000 || v > 9999 {
		return 0
	}
	return uint16(v)
}

// parseLanguages inserts the items of a comma list into dst, up to its capacity,
// and returns how many there are; see Request.ImageLanguages.
func parseLanguages(dst []fragment.Variant, list []byte) int {
	for len(list) > 0 {
		item := list
		if i := bytes.IndexByte(list, ','); i >= 0 {
			item, list = list[:i], list[i+1:]
		} else {
			list = nil
		}
		item = trimBlanks(item)
		v, ok := parseLanguage(item)
		if bytes.EqualFold(item, []byte("null")) {
			v, ok = fragment.NoLanguage, true
		}
		if ok {
			dst = insert(dst, v.Bare())
		}
	}
	return len(dst)
}

// insert adds v to an ascending list without repetitions, unless it is full.
func insert(dst []fragment.Variant, v fragment.Variant) []fragment.Variant {
	i := len(dst)
	for i > 0 && dst[i-1] >= v {
		i--
	}
	if (i < len(dst) && dst[i] == v) || len(dst) == cap(dst) {
		return dst
	}
	dst = append(dst, 0)
	copy(dst[i+1:], dst[i:])
	dst[i] = v
	return dst
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// A Day counts from 1 January 1970.
type Day int32

const secondsPerDay = 24 * 60 * 60

// Time returns the beginning of the day in UTC.
func (d Day) Time() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// String returns the day as YYYY-MM-DD.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }

// ParseDay reads YYYY-MM-DD, a day that the calendar has, and ignores a time behind
// "T" or a blank.
func ParseDay(b []byte) (Day, bool) {
	if len(b) > 10 && (b[10] == 'T' || b[10] == 't' || b[10] == ' ') {
		b = b[:10]
	}
	if len(b) != 10 || b[4] != '-' || b[7] != '-' {
		return 0, false
	}
	y, okY := parseUint(b[:4])
	m, okM := parseUint(b[5:7])
	d, okD := parseUint(b[8:])
	if !okY || !okM || !okD {
		return 0, false
	}
	t := time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, time.UTC)
	// time.Date turns 30 February into 1 March: such a day has changed.
	if t.Month() != time.Month(m) || t.Day() != int(d) {
		return 0, false
	}
	return Day(t.Unix() / secondsPerDay), true
}

// isTrue reports whether b is "true" in any case.
func isTrue(b []byte) bool { return bytes.EqualFold(b, []byte("true")) }

func isLetter(ch byte) bool { return 'a' <= ch|0x20 && ch|0x20 <= 'z' }

func lower(letter byte) byte { return letter | 0x20 }

func upper(letter byte) byte { return letter &^ 0x20 }
