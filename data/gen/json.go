package gen

import (
	"strconv"
	"strings"
)

// The functions here append JSON text. Strings from word lists need no escapes; texts
// that do hold them escaped already.

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789Kw"

// appendLetters appends n random letters and digits, at most ten for each random number.
func appendLetters(b []byte, r *random, n int) []byte {
	for n > 0 {
		x := r.next()
		for range min(n, 10) {
			b = append(b, base64Letters[x&63])
			x >>= 6
		}
		n -= 10
	}
	return b
}

// pathLetters is how long the names of image files are.
const pathLetters = 27

// appendPath appends the quoted path of an image file.
func appendPath(b []byte, r *random, ext string) []byte {
	b = append(b, `"/`...)
	b = appendLetters(b, r, pathLetters)
	b = append(b, ext...)
	return append(b, '"')
}

// appendPathOf appends the path of the image that a seed stands for, or null.
func appendPathOf(b []byte, seed uint64, ext string) []byte {
	if seed == 0 {
		return append(b, "null"...)
	}
	r := random{seed}
	return appendPath(b, &r, ext)
}

const hexDigits = "0123456789abcdef"

func appendHex(b []byte, x uint64, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		b = append(b, hexDigits[x>>(4*i)&15])
	}
	return b
}

// appendObjectID appends 24 quoted hex digits that begin with a time from 2010 to 2026.
func appendObjectID(b []byte, r *random) []byte {
	const first, seconds = 0x4bc88000, 0x1e000000
	x := r.next()
	b = append(b, '"')
	b = appendHex(b, first+x>>32%seconds, 8)
	b = appendHex(b, x, 6)
	b = appendHex(b, r.next(), 10)
	return append(b, '"')
}

// appendFixed appends n/10^digits with a fraction, which has no more zeros at its end
// than it must: 8.0, 0.667.
func appendFixed(b []byte, n int64, digits int) []byte {
	scale := int64(1)
	for range digits {
		scale *= 10
	}
	b = strconv.AppendInt(b, n/scale, 10)
	b = append(b, '.')
	rest := n % scale
	for {
		scale /= 10
		b = append(b, byte('0'+rest/scale))
		rest %= scale
		if rest == 0 {
			return b
		}
	}
}

func appendBool(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// escaped returns a text that stands in JSON as it is.
func escaped(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }

// appendTwo appends a number of two digits.
func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// A day counts days since 1 January 1870.
type day int

const firstYear = 1870

// makeDay returns a day of a year: 0 for 1 January.
func makeDay(year, ofYear int) day {
	y := year - firstYear
	return day(y*365 + (year-1)/4 - (firstYear-1)/4 - (year-1)/100 + (firstYear-1)/100 + (year-1)/400 - (firstYear-1)/400 + ofYear)
}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// date returns the day's year, month and day of the month.
func (d day) date() (year, month, of int) {
	year = firstYear + int(d)*400/146097
	for makeDay(year+1, 0) <= d {
		year++
	}
	for makeDay(year, 0) > d {
		year--
	}
	of = int(d - makeDay(year, 0))
	for month = 1; ; month++ {
		n := monthDays[month-1]
		if month == 2 && isLeap(year) {
			n++
		}
		if of < n {
			return year, month, of + 1
		}
		of -= n
	}
}

var monthDays = [12]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// appendDate appends 1999-10-15.
func appendDate(b []byte, d day) []byte {
	year, month, of := d.date()
	b = strconv.AppendInt(b, int64(year), 10)
	b = appendTwo(append(b, '-'), month)
	return appendTwo(append(b, '-'), of)
}

// appendMoment appends 2024-01-02T15:04:05.000Z with a random time of day.
func appendMoment(b []byte, d day, r *random) []byte {
	x := r.next()
	b = appendDate(b, d)
	b = appendTwo(append(b, 'T'), int(x>>8%24))
	b = appendTwo(append(b, ':'), int(x>>16%60))
	b = appendTwo(append(b, ':'), int(x>>24%60))
	return append(b, ".000Z"...)
}
