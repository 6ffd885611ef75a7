package serve

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// oneDay is the unit of ages, and how often a warning is repeated.
const oneDay = 24 * time.Hour

// An ageWatch logs the age of the served data, by the days on which the records of the release were
// fetched. It is safe for concurrent use.
type ageWatch struct {
	max time.Duration
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	release string // id
	days    day.Days
	warned  time.Time // the last time
}

// watchAge returns an ageWatch that warns of data older than limit; 0 is no limit.
func watchAge(limit time.Duration, log *slog.Logger) *ageWatch {
	return &ageWatch{max: limit, log: log, now: time.Now}
}

// check notes the served release, nil for none. It logs the age of a new release's data, and warns of data that is
// too old: once for each release, and then once a day.
func (w *ageWatch) check(m *release.Manifest) {
	if m == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.ID != w.release {
		w.release, w.days, w.warned = m.ID, day.All(day.FromSources(m.Sources)), time.Time{}
		if w.days.Records == 0 {
			w.log.Debug("age of the data is unknown", "release", m.ID)
		} else {
			w.log.Info("age of the data", "release", m.ID, "oldest", w.days.Oldest, "newest", w.days.Newest, "records", w.days.Records)
		}
	}
	if w.max == 0 || w.now().Sub(w.warned) < oneDay {
		return
	}
	if err := w.tooOld(); err != nil {
		w.warned = w.now()
		w.log.Warn("data is too old", "release", w.release, "because", err)
	}
}

// err returns why the data is too old, or nil if it is not or its age is unknown.
func (w *ageWatch) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tooOld()
}

func (w *ageWatch) tooOld() error {
	if w.max == 0 || w.days.Records == 0 || w.now().Sub(day.Start(w.days.Oldest)) <= w.max {
		return nil
	}
	return fmt.Errorf("data of %s is older than %s", w.days.Oldest, durationText(w.max))
}

// durationText returns a duration as text, in days if it has only whole ones.
func durationText(d time.Duration) string {
	switch {
	case d == oneDay:
		return "1 day"
	case d%oneDay == 0:
		return fmt.Sprintf("%d days", d/oneDay)
	}
	return d.String()
}

// writeMetrics adds the known days of the served release to m.
func (w *ageWatch) writeMetrics(m *observe.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m.Time(observe.DataOldest, day.Start(w.days.Oldest))
	m.Time(observe.DataNewest, day.Start(w.days.Newest))
}
