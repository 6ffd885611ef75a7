package gen

import (
	"strconv"
	"time"
)

// A day counts days since 1 January 1870.
type day int

var firstDay = time.Date(1870, 1, 1, 0, 0, 0, 0, time.UTC)

// makeDay returns a day of a year: 0 for 1 January.
func makeDay(year, ofYear int) day {
	return day(time.Date(year, 1, 1+ofYear, 0, 0, 0, 0, time.UTC).Sub(firstDay) / (24 * time.Hour))
}

// append appends 1999-10-15.
func (d day) append(b []byte) []byte {
	year, month, of := firstDay.AddDate(0, 0, int(d)).Date()
	b = strconv.AppendInt(b, int64(year), 10)
	b = appendTwo(append(b, '-'), int(month))
	return appendTwo(append(b, '-'), of)
}
