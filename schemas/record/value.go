// Package record is the codec of records: it turns typed structs into JSON as the API writes it, and back. It is
// the one home of the JSON library (bytedance/sonic), which judges JSON inside of cells.
//
// A record is a Go struct whose fields are the leaf types String, Int, Float, Bool
// and Raw, pointers to structs, and slices. Three facts that encoding/json would
// lose survive: whether a field was absent, null or a value; fields that the
// struct lacks (Object.Extra); and the fraction of a float (8.0, not 8).
// A Schema, made once from the struct's tags, drives parsing, appending and, in
// package catalog, the mapping to Parquet columns.
package record

import (
	"errors"
	"regexp"
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

// Float is a leaf with a number that is written with a fraction.
type Float = Leaf[float64]

// Bool is a leaf with a truth value.
type Bool = Leaf[bool]

// Raw is a leaf with the compact text of any JSON value.
type Raw Leaf[string]

// Text returns a set String.
func Text(s string) String { return String{V: s, Set: true} }

// Number returns a set Int.
func Number(n int64) Int { return Int{V: n, Set: true} }

// Object is embedded by every record struct. It holds what typed columns cannot.
type Object struct {
	// Unusual lists, separated by commas, the unset fields whose state is not
	// the usual one: absent, for a field that the API keeps as null (tag option
	// "null"); null, for a field that it leaves out.
	Unusual string
	// Extra holds the fields that the struct lacks, as JSON text without
	// the outer braces: `"a":1,"b":[]`.
	Extra string
}

// Values takes the values of a row that fit no field: each is left out, and the row stays. All that reads a row
// hands them to the same Values. A nil *Values takes none, and the row is refused. It is not safe for concurrent use.
type Values struct {
	left []LeftOut
	at   map[string]int // in left, by path
}

// A LeftOut is the values that a row lost in one field.
type LeftOut struct {
	Path  string // without indices: "credits.cast[].popularity"
	Count int64
	First []FieldError // of the first, LeftOutSamples at most
}

// LeftOutSamples is how many of the values that are left out of a field are shown.
const LeftOutSamples = 3

// Leave takes the value that err is about, a *FieldError, and returns nil. It returns any other error, and of a nil
// Values every one.
func (v *Values) Leave(err error) error {
	var fe *FieldError
	if v == nil || !errors.As(err, &fe) {
		return err
	}
	v.add(LeftOut{Path: WithoutIndices(fe.Field), Count: 1, First: []FieldError{*fe}})
	return nil
}

func (v *Values) add(l LeftOut) {
	i, ok := v.at[l.Path]
	if !ok && len(v.left) >= MaxPaths {
		l.Path = OtherPaths
		i, ok = v.at[l.Path]
	}
	if !ok {
		if v.at == nil {
			v.at = map[string]int{}
		}
		v.at[l.Path] = len(v.left)
		v.left = append(v.left, l)
		return
	}
	have := &v.left[i]
	have.Count += l.Count
	have.First = append(have.First, l.First[:min(len(l.First), LeftOutSamples-len(have.First))]...)
}

// Take returns what was taken since the last call, in the order of the row.
func (v *Values) Take() []LeftOut {
	if v == nil || v.left == nil {
		return nil
	}
	left := v.left
	v.left = nil
	clear(v.at)
	return left
}

// AddRenamed adds what another Values took, under other names of its fields.
func (v *Values) AddRenamed(o *Values, name func(path string) string) {
	for _, l := range o.Take() {
		l.Path = name(l.Path)
		for i := range l.First {
			l.First[i].Field = name(l.First[i].Field)
		}
		v.add(l)
	}
}

// WithoutIndices returns a path as counts have it: rows[].id for rows[3].id.
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

// IsDay reports whether s is a day of the calendar: 1999-10-15.
func IsDay(s string) bool {
	// Fast path: days that every month has. Lists of titles have many.
	if len(s) == len(time.DateOnly) && s[4] == '-' && s[7] == '-' && digits(s[:4]) && digits(s[5:7]) && digits(s[8:]) {
		month, day := s[5:7], s[8:]
		if month >= "01" && month <= "12" && day >= "01" && day <= "28" {
			return true
		}
	}
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return true
}

// timeOfDay matches what follows a day in ISO 8601 and in SQL.
var timeOfDay = regexp.MustCompile(`[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|[+-]\d\d(:?\d\d)?))?$`)

// dayOf returns the day of a time.
func dayOf(s string) (day string, ok bool) {
	day = WithoutTime(s)
	return day, len(day) < len(s) && IsDay(day)
}

// WithoutTime returns a text without the time behind a day.
func WithoutTime(s string) string { return timeOfDay.ReplaceAllString(s, "") }
