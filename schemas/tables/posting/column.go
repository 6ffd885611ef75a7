package posting

import (
	"io"
	"math"
	"time"
)

// Columns, by the type of their numbers. They are views of sections, or of any bytes.
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

// Len returns how many numbers there are.
func (c Int32s) Len() int { return len(c) / 4 }

// At returns number i; it panics where there is none.
func (c Int32s) At(i int) int32 { return int32(le.Uint32(c[4*i:])) }

// Len returns how many numbers there are.
func (c Uint32s) Len() int { return len(c) / 4 }

// At returns number i; it panics where there is none.
func (c Uint32s) At(i int) uint32 { return le.Uint32(c[4*i:]) }

// Len returns how many numbers there are.
func (c Uint64s) Len() int { return len(c) / 8 }

// At returns number i; it panics where there is none.
func (c Uint64s) At(i int) uint64 { return le.Uint64(c[8*i:]) }

// Len returns how many numbers there are.
func (c Float64s) Len() int { return len(c) / 8 }

// At returns number i; it panics where there is none.
func (c Float64s) At(i int) float64 { return math.Float64frombits(le.Uint64(c[8*i:])) }

// OpenInt32s returns a column of a table with that many rows.
func OpenInt32s(s Source, name string, rows int) (Int32s, error) {
	b, err := sized(s, name, rows, 4)
	return Int32s(b), err
}

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

// chunk is how many numbers are encoded at once.
const chunk = 4096

// write encodes numbers in chunks and writes them.
func write[T any](w io.Writer, list []T, appendOne func([]byte, T) []byte) error {
	buf := make([]byte, 0, 8*chunk)
	for len(list) > 0 {
		n := min(len(list), chunk)
		buf = buf[:0]
		for _, v := range list[:n] {
			buf = appendOne(buf, v)
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

func appendInt32(dst []byte, v int32) []byte     { return le.AppendUint32(dst, uint32(v)) }
func appendFloat64(dst []byte, v float64) []byte { return le.AppendUint64(dst, math.Float64bits(v)) }

// WriteInt32s writes a column.
func WriteInt32s(s Sink, name string, column []int32) error {
	return write(s.Section(name), column, appendInt32)
}

// WriteUint32s writes a column.
func WriteUint32s(s Sink, name string, column []uint32) error {
	return write(s.Section(name), column, le.AppendUint32)
}

// WriteUint64s writes a column.
func WriteUint64s(s Sink, name string, column []uint64) error {
	return write(s.Section(name), column, le.AppendUint64)
}

// WriteFloat64s writes a column.
func WriteFloat64s(s Sink, name string, column []float64) error {
	return write(s.Section(name), column, appendFloat64)
}

// NoDay stands for no date. It is below all days.
const NoDay = math.MinInt32

const secondsPerDay = 24 * 60 * 60

// DayOf returns the days from 1970-01-01 to a date YYYY-MM-DD, which a time may follow
// behind a T; NoDay and false for anything else.
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

// DayAt returns the days from 1970-01-01 to the day that it is at t, where t is.
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
