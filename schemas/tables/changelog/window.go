package changelog

import "time"

// A Window is a span of time in seconds since 1970, both ends included.
type Window struct{ From, To int64 }

// Days are the days of a request, since 1970 in UTC.
type Days struct {
	Start, End       int32
	HasStart, HasEnd bool
}

// maxDays is the maximum number of days between the two days of a request.
const maxDays = 14

const day = 24 * 60 * 60

// Window returns the window of a request, including both days. With only the first day it ends maxDays later, or now;
// with only the last it starts a day earlier. Without days it covers the last 24 hours, or starts at the last ingest
// if that is up to 24 hours older: a release is served some time after the ingest, and a client that polls daily must
// not miss one. Days in the wrong order have no changes. The caller rejects days too far apart.
func (l *Log) Window(d Days, now time.Time) Window {
	start, end := int64(d.Start)*day, (int64(d.End)+1)*day-1
	switch {
	case d.HasStart && d.HasEnd:
		return Window{start, end}
	case d.HasStart:
		return Window{start, min(start+(maxDays+1)*day-1, now.Unix())}
	case d.HasEnd:
		return Window{end + 1 - 2*day, end}
	}
	w := Window{now.Unix() - day, now.Unix()}
	if n := l.Builds(); n > 0 {
		if last := l.Time(n - 1); last < w.From && last >= w.From-day {
			w.From = last
		}
	}
	return w
}
