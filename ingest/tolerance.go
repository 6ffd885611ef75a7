package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Tolerance bounds the bad rows of an ingest, or the values left out. The zero value allows any number.
type Tolerance struct {
	limited bool
	rows    int64   // absolute bound
	share   float64 // bound as a share of the rows read, 0 to 1; used if above 0
}

// fewRows is the number of rows below which a share means little.
const fewRows = 1000

// ParseTolerance parses a number such as 20, or a share of the rows such as 1% or 0.5%.
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

// String returns t in the form that ParseTolerance accepts.
func (t Tolerance) String() string {
	switch {
	case !t.limited:
		return "any number"
	case t.share > 0:
		return strconv.FormatFloat(t.share*100, 'f', -1, 64) + "%"
	}
	return strconv.FormatInt(t.rows, 10)
}

// allows reports whether bad is within the bound for the rows read so far. While reading continues, a share applies to at least
// fewRows rows.
func (t Tolerance) allows(bad, rows int64, done bool) bool {
	switch {
	case !t.limited:
		return true
	case t.share == 0:
		return bad <= t.rows
	case !done:
		rows = max(rows, fewRows)
	}
	return float64(bad) <= t.share*float64(rows)
}

// A tooManyBadError stops an ingest because of bad rows or values. The catalogue is unchanged.
type tooManyBadError struct {
	Bad, Rows int64
	Limit     Tolerance
	Values    bool   // Bad counts values left out
	File      string // quarantine file
}

func (e *tooManyBadError) Error() string {
	if e.Values {
		return fmt.Sprintf("%d values of %d rows did not fit their fields, more than %s: stopped, the catalogue is as it was; the report has the first", e.Bad, e.Rows, e.Limit)
	}
	return fmt.Sprintf("%d of %d rows did not validate, more than %s: stopped, the catalogue is as it was; the rows are in %s", e.Bad, e.Rows, e.Limit, e.File)
}

// isFull reports whether nothing more can be written: the disk is full, or a quota or a limit is reached.
func isFull(err error) bool {
	return slices.ContainsFunc(errsFull, func(target error) bool { return errors.Is(err, target) })
}
