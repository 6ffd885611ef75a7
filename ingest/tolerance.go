package ingest

import (
	"fmt"
	"strconv"
	"strings"
)

// A Tolerance is how many bad rows are borne. The zero value bears any number.
type Tolerance struct {
	limited bool
	rows    int64   // a number of rows
	share   float64 // of the rows read, 0 to 1; instead of a number when it is above 0
}

// AnyNumber bears any number of bad rows.
var AnyNumber = Tolerance{}

// fewRows is how many rows must have been read before a share of them means something.
const fewRows = 1000

// ParseTolerance reads a number of rows, "20", or a share of them, "1%" or "0.5%".
func ParseTolerance(s string) (Tolerance, error) {
	bad := fmt.Errorf("want a number of rows or a share of them, for instance 20 or 1%%, found %q", s)
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

// Bears reports whether so many bad rows of those read are borne. While reading goes on,
// a share is taken of a thousand rows at least.
func (t Tolerance) Bears(bad, rows int64, done bool) bool {
	switch {
	case !t.limited:
		return true
	case t.share > 0:
		if !done {
			rows = max(rows, fewRows)
		}
		return float64(bad) <= t.share*float64(rows)
	}
	return bad <= t.rows
}
