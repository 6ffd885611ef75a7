package posting

import (
	"cmp"
	"encoding/binary"
	"math"
	"sort"
	"time"
)

// Columns, by the type of their numbers: views of sections, or of any bytes.
type (
	// Int32s are numbers of 4 bytes.
	Int32s []byte
	// Uint32s are numbers of 4 bytes.
	Uint32s []byte
	// Uint64s are numbers of 8 bytes.
	Uint64s []byte
	// Float64s are IEEE 754 numbers of 8 bytes.
	Float64s []byte
)

// At returns number i; it panics if i is out of range.
func (c Int32s) At(i int) int32 { return int32(le.Uint32(c[4*i:])) }

// Len returns the number of elements.
func (c Uint32s) Len() int { return len(c) / 4 }

// At returns number i; it panics if i is out of range.
func (c Uint32s) At(i int) uint32 { return le.Uint32(c[4*i:]) }

// Len returns the number of elements.
func (c Uint64s) Len() int { return len(c) / 8 }

// At returns number i; it panics if i is out of range.
func (c Uint64s) At(i int) uint64 { return le.Uint64(c[8*i:]) }

// Find returns the index of v in ascending numbers; false if it is absent.
func (c Uint64s) Find(v uint64) (int, bool) {
	return sort.Find(c.Len(), func(i int) int { return cmp.Compare(v, c.At(i)) })
}

// At returns number i; it panics if i is out of range.
func (c Float64s) At(i int) float64 { return math.Float64frombits(le.Uint64(c[8*i:])) }

// OpenUint64s returns a column of a table with that many rows.
func OpenUint64s(s Source, name string, rows int) (Uint64s, error) {
	b, err := sized(s, name, rows, 8)
	return Uint64s(b), err
}

// OpenFloat64s returns a column of a table with that many rows.
func OpenFloat64s(s Source, name string, rows int) (Float64s, error) {
	b, err := sized(s, name, rows, 8)
	return Float64s(b), err
}

// Write writes a column.
func Write[T int32 | uint32 | uint64 | float64](s Sink, name string, column []T) error {
	return binary.Write(s.Section(name), le, column)
}

// NoDay is the value for an unknown date. It is below all days.
const NoDay = math.MinInt32

const secondsPerDay = 24 * 60 * 60

// DayOf returns the days from 1970-01-01 to a date YYYY-MM-DD, optionally followed by T and a time; NoDay and false
// for other texts.
func DayOf(date string) (int32, bool) {
	if len(date) > len(time.DateOnly) && date[len(time.DateOnly)] == 'T' {
		date = date[:len(time.DateOnly)]
	}
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return NoDay, false
	}
	return int32(t.Unix() / secondsPerDay), true
}

// DayAt returns the days from 1970-01-01 to the day of t in t's time zone.
func DayAt(t time.Time) int32 {
	y, m, d := t.Date()
	return int32(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay)
}

// AppendDay appends a day as YYYY-MM-DD.
func AppendDay(dst []byte, day int32) []byte {
	return time.Unix(int64(day)*secondsPerDay, 0).UTC().AppendFormat(dst, time.DateOnly)
}

// YearOf returns the year of a day.
func YearOf(day int32) int { return time.Unix(int64(day)*secondsPerDay, 0).UTC().Year() }
