// Package record is the codec of records: it converts typed structs to JSON as the API writes it, and back. It holds
// the strict parser of rows; it uses bytedance/sonic only to decode strings with escapes.
//
// A record is a Go struct whose fields are the leaf types String, Int, Float, Bool and Raw, pointers to structs, and
// slices. It preserves three things that encoding/json loses: whether a field was absent, null or a value; fields
// that the struct lacks (Object.Extra); and the fraction of a float (8.0, not 8). A Schema, made once from the
// struct's tags, drives parsing, appending and, in package catalog, the mapping to Parquet columns.
package record

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Leaf is a field with a single value, which may be unset.
type Leaf[T any] struct {
	V   T
	Set bool
}

// String is a leaf with a text.
type String = Leaf[string]

// Int is a leaf with a whole number.
type Int = Leaf[int64]

// Float is a leaf with a number that is always written with a fraction.
type Float = Leaf[float64]

// Bool is a leaf with a truth value.
type Bool = Leaf[bool]

// Raw is a leaf with any JSON value as compact text.
type Raw Leaf[string]

// Text returns a set String.
func Text(s string) String { return String{V: s, Set: true} }

// Number returns a set Int.
func Number(n int64) Int { return Int{V: n, Set: true} }

// Object is embedded by every record struct. It holds the data without a typed column.
type Object struct {
	// Unusual lists, separated by commas, the unset fields in the less common state: absent for fields that the API
	// keeps as null (tag option "null"), null for fields that it leaves out.
	Unusual string
	// Extra holds the fields that the struct lacks, as JSON text without the outer braces: `"a":1,"b":[]`.
	Extra string
}

// Values collects rejected values of a row, so the row survives without them. All readers of a row share one Values.
// A nil *Values collects nothing: any bad value rejects the row. It is not safe for concurrent use.
type Values struct {
	leftOut []LeftOut
	index   map[string]int // in leftOut, by path
}

// A LeftOut records the values of a row rejected in one field.
type LeftOut struct {
	Path  string // without indices: "credits.cast[].popularity"
	Count int64
	First []FieldError // the first ones, LeftOutSamples at most
}

// LeftOutSamples is the number of rejected values shown per field.
const LeftOutSamples = 3

// Reject records the rejected value of a *FieldError and returns nil. It returns other errors unchanged; a nil
// receiver returns all.
func (v *Values) Reject(err error) error {
	var fe *FieldError
	if v == nil || !errors.As(err, &fe) {
		return err
	}
	v.add(LeftOut{Path: WithoutIndices(fe.Field), Count: 1, First: []FieldError{*fe}})
	return nil
}

func (v *Values) add(l LeftOut) {
	i, ok := v.index[l.Path]
	if !ok && len(v.leftOut) >= MaxPaths {
		l.Path = OtherPaths
		i, ok = v.index[l.Path]
	}
	if !ok {
		if v.index == nil {
			v.index = map[string]int{}
		}
		v.index[l.Path] = len(v.leftOut)
		v.leftOut = append(v.leftOut, l)
		return
	}
	entry := &v.leftOut[i]
	entry.Count += l.Count
	entry.First = append(entry.First, l.First[:min(len(l.First), LeftOutSamples-len(entry.First))]...)
}

// Take returns the values recorded since the last call, in the order of the row.
func (v *Values) Take() []LeftOut {
	if v == nil || v.leftOut == nil {
		return nil
	}
	leftOut := v.leftOut
	v.leftOut = nil
	clear(v.index)
	return leftOut
}

// AddRenamed adds the values of another Values under other field names.
func (v *Values) AddRenamed(o *Values, name func(path string) string) {
	for _, l := range o.Take() {
		l.Path = name(l.Path)
		for i := range l.First {
			l.First[i].Field = name(l.First[i].Field)
		}
		v.add(l)
	}
}

// WithoutIndices returns a path without indices, as used in counts: rows[].id for rows[3].id.
func WithoutIndices(path string) string {
	if !strings.Contains(path, "[") {
		return path
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(path, "[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString("[]")
		_, path, _ = strings.Cut(rest, "]")
	}
}

// IsGrouped reports whether the text of a number, such as 150.000, is a whole number or a fraction, depending on what its
// point stands for.
func IsGrouped(s string) bool {
	i := strings.IndexByte(s, '.')
	return i > 0 && i <= len("999") && len(s) == i+len(".000") && s[0] != '0' && strings.Trim(s, ".0123456789") == ""
}

// IsDay reports whether s is a calendar day: 1999-10-15.
func IsDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// timeOfDay matches the time after a day in ISO 8601 and in SQL.
var timeOfDay = regexp.MustCompile(`[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|[+-]\d\d(:?\d\d)?))?$`)

// dayOf returns the day of a timestamp: a text, or seconds or milliseconds since 1970.
func dayOf(s string) (day string, ok bool) {
	if day = WithoutTime(s); len(day) < len(s) {
		return day, IsDay(day)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || s[0] == '+' {
		return "", false
	}
	t, perDay := time.Unix(n, 0), int64(24*time.Hour/time.Second)
	if n >= minMilliseconds || n <= -minMilliseconds {
		t, perDay = time.UnixMilli(n), int64(24*time.Hour/time.Millisecond)
	}
	switch len(strings.TrimPrefix(s, "-")) {
	case 9, 10, 11, 13:
	default: // 1999, 36448, 19991015 and 199910150000 are days in other forms
		if n == 0 || n%perDay != 0 {
			return "", false
		}
	}
	t = t.UTC()
	return t.Format(time.DateOnly), t.Year() >= firstYear && t.Year() <= lastYear
}

const (
	minMilliseconds     = 100_000_000_000 // smaller numbers are seconds
	firstYear, lastYear = 1800, 2200      // range of days as numbers
)

// imageAddress matches the address of an image at the image host, in any size.
var imageAddress = regexp.MustCompile(`^(?:https?:)?//[^/]+/t/p/[^/]+(/[^/?#]+)$`)

// WithoutTime returns a text without the time after a day.
func WithoutTime(s string) string { return timeOfDay.ReplaceAllString(s, "") }
