package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Tolerance is how many bad rows an ingest tolerates, or how many values that are left out. The zero value tolerates any number.
type Tolerance struct {
	limited bool
	rows    int64   // a number of them
	share   float64 // of the rows read, 0 to 1; instead of a number when it is above 0
}

// AnyNumber tolerates any number.
var AnyNumber = Tolerance{}

// fewRows is how many rows must have been read before a share of them means something.
const fewRows = 1000

// ParseTolerance reads a number, "20", or a share of the rows that were read, "1%" or "0.5%".
func ParseTolerance(s string) (Tolerance, error) {
	bad := fmt.Errorf("want a number or a share of the rows, for instance 20 or 1%%, found %q", s)
	if text, ok := strings.CutSuffix(s, "%"); ok {
		share, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(share >= 0 && share <= 100) {
			return Tolerance{}, bad
		}
		return Tolerance{limited: true, share: share / 100}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return Tolerance{}, bad
	}
	return Tolerance{limited: true, rows: n}, nil
}

// String returns t as ParseTolerance reads it.
func (t Tolerance) String() string {
	switch {
	case !t.limited:
		return "any number"
	case t.share > 0:
		return strconv.FormatFloat(t.share*100, 'f', -1, 64) + "%"
	}
	return strconv.FormatInt(t.rows, 10)
}

// check returns a *TooManyBadError if there are more bad rows, or values, than tolerated for the rows that were read. While
// reading goes on, a share is taken of a thousand rows at least.
func (t Tolerance) check(bad, rows int64, done bool) error {
	of := rows
	if !done {
		of = max(rows, fewRows)
	}
	switch {
	case !t.limited, t.share > 0 && float64(bad) <= t.share*float64(of), t.share == 0 && bad <= t.rows:
		return nil
	}
	return &TooManyBadError{Bad: bad, Rows: rows, Limit: t}
}

// A TooManyBadError stops an ingest because of its bad rows or values. The catalogue is as it was.
type TooManyBadError struct {
	Bad, Rows int64
	Limit     Tolerance
	Values    bool   // Bad counts values that were left out
	File      string // the quarantine file, which has bad rows
}

func (e *TooManyBadError) Error() string {
	if e.Values {
		return fmt.Sprintf("%d values of %d rows did not fit their fields, more than %s: stopped, the catalogue is as it was; the report has the first", e.Bad, e.Rows, e.Limit)
	}
	return fmt.Sprintf("%d of %d rows did not validate, more than %s: stopped, the catalogue is as it was; the rows are in %s", e.Bad, e.Rows, e.Limit, e.File)
}

// isFull reports whether an error means that no more can be written: the disk is full, or a quota
// or a limit of the system is reached.
func isFull(err error) bool {
	return slices.ContainsFunc(errsFull, func(of error) bool { return errors.Is(err, of) })
}
