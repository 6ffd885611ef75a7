package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"reelsplice/schemas/record"
)

// A Tally counts what becomes of one file's rows. One goroutine uses it; several that
// read parts of a file have one each, and Merge them.
type Tally struct {
	File
	Failure string        // why the file was not read to its end, "" if it was
	Elapsed time.Duration // of reading it

	kept, blank, duplicates, quarantined int64
	matched, minted, noID                int64
	reasons                              map[reasonKey]*Reason
	order                                map[reasonKey]int64 // row of the example
	other                                int64               // rows whose reasons are too many
	records                              map[string]int64
	unknown, coerced, dropped, whole     map[string]int64

	today  string // YYYY-MM-DD; days after it are not counted
	newest string
	dates  dates
}

type reasonKey struct{ field, reason string }

// maxReasons bounds how many reasons are told apart in one file.
const maxReasons = 1000

// Kept counts a row that gave records.
func (t *Tally) Kept() { t.kept++ }

// KeptRows counts rows that gave records.
func (t *Tally) KeptRows(n int64) { t.kept += n }

// Unkeep takes a row back that counted as kept: what it turned out to be is counted too.
func (t *Tally) Unkeep() { t.kept-- }

// Blank counts rows without any value.
func (t *Tally) Blank(n int64) { t.blank += n }

// Duplicate counts a row that says what an earlier one said.
func (t *Tally) Duplicate() { t.duplicates++ }

// Matched counts a record whose row has no id: another has the same external id.
func (t *Tally) Matched() { t.matched++ }

// Minted counts a record whose id was made of fields of its row.
func (t *Tally) Minted() { t.minted++ }

// NoID counts a row that has no id and got none; Quarantined counts it too.
func (t *Tally) NoID() { t.noID++ }

// Quarantined counts a row that could not be used. Row is its number and place how
// messages name it; field is "" when it is the whole row that is at fault.
func (t *Tally) Quarantined(row int64, place, field, reason string) {
	t.quarantined++
	k := reasonKey{shorten(field), mask(reason)}
	if known, ok := t.reasons[k]; ok {
		known.Count++
		if row >= t.order[k] {
			return
		}
	} else if len(t.reasons) >= maxReasons {
		t.other++
		return
	}
	if t.reasons == nil {
		t.reasons, t.order = map[reasonKey]*Reason{}, map[reasonKey]int64{}
	}
	example := place + ": " + reason
	if field != "" {
		example = place + ": " + field + ": " + reason
	}
	r := &Reason{Field: k.field, Reason: k.reason, Count: 1, Example: shorten(example)}
	if known, ok := t.reasons[k]; ok {
		r.Count = known.Count
	}
	t.reasons[k], t.order[k] = r, row
}

// Unknown counts members that the API does not have and that were kept.
func (t *Tally) Unknown(path string, n int64) { count(&t.unknown, path, n) }

// Coerced counts numbers that were given as text.
func (t *Tally) Coerced(path string, n int64) { count(&t.coerced, path, n) }

// Dropped counts values of fields that are mapped to nothing.
func (t *Tally) Dropped(path string, n int64) { count(&t.dropped, path, n) }

// Whole counts joined lists that could not be split safely and were kept whole.
func (t *Tally) Whole(path string, n int64) { count(&t.whole, path, n) }

func count(m *map[string]int64, path string, n int64) {
	if *m == nil {
		*m = map[string]int64{}
	}
	record.Count(*m, shorten(path), n)
}

// Record counts a record that a row gave, and looks at its dates.
func (t *Tally) Record(kind string, r record.Record) {
	if t.records == nil {
		t.records = map[string]int64{}
	}
	t.records[kind]++
	t.dates.each(r, t.Day)
}

// Unrecord takes a record back that a row gave.
func (t *Tally) Unrecord(kind string) { count(&t.records, kind, -1) }

// Day tells of a release or air date. Text that is no day is ignored, and so is a day
// in the future.
func (t *Tally) Day(day string) {
	const length = len(time.DateOnly)
	if len(day) < length || day[:length] <= t.newest || day[:length] > t.today {
		return
	}
	if _, err := time.Parse(time.DateOnly, day[:length]); err == nil {
		t.newest = day[:length]
	}
}

// Merge adds what another tally counted: of another part of the same file, or of
// another file when sums are made. The name and the like stay those of t.
func (t *Tally) Merge(o *Tally) {
	t.kept += o.kept
	t.blank += o.blank
	t.duplicates += o.duplicates
	t.quarantined += o.quarantined
	t.matched += o.matched
	t.minted += o.minted
	t.noID += o.noID
	t.Failure = cmp.Or(t.Failure, o.Failure)
	t.Elapsed += o.Elapsed
	t.newest = max(t.newest, o.newest)
	if o.Modified.After(t.Modified) {
		t.Modified = o.Modified
	}
	t.mergeReasons(o)
	for _, m := range []struct{ to, from *map[string]int64 }{
		{&t.records, &o.records}, {&t.unknown, &o.unknown}, {&t.coerced, &o.coerced}, {&t.dropped, &o.dropped}, {&t.whole, &o.whole},
	} {
		for path, n := range *m.from {
			count(m.to, path, n)
		}
	}
}

func (t *Tally) mergeReasons(o *Tally) {
	t.other += o.other
	if t.reasons == nil && len(o.reasons) > 0 {
		t.reasons, t.order = map[reasonKey]*Reason{}, map[reasonKey]int64{}
	}
	for _, k := range slices.SortedFunc(maps.Keys(o.reasons), compareReasons) {
		theirs := o.reasons[k]
		ours, ok := t.reasons[k]
		switch {
		case ok:
			ours.Count += theirs.Count
			if c := cmp.Or(cmp.Compare(o.order[k], t.order[k]), cmp.Compare(theirs.Example, ours.Example)); c < 0 {
				ours.Example, t.order[k] = theirs.Example, o.order[k]
			}
		case len(t.reasons) >= maxReasons:
			t.other += theirs.Count
		default:
			r := *theirs
			t.reasons[k], t.order[k] = &r, o.order[k]
		}
	}
}

func compareReasons(a, b reasonKey) int {
	return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.reason, b.reason))
}

// source returns the counts as they are reported. Ages are as of start.
func (t *Tally) source(start time.Time) Source {
	s := Source{
		File: t.File, Failure: t.Failure,
		Rows: t.kept + t.blank + t.duplicates + t.quarantined,
		Kept: t.kept, Blank: t.blank, Duplicates: t.duplicates, Quarantined: t.quarantined,
		Matched: t.matched, Minted: t.minted, NoID: t.noID,
		Reasons: t.reasonList(), Records: t.records,
		Unknown: members(t.unknown), Coerced: members(t.coerced), Dropped: members(t.dropped), Whole: members(t.whole),
		NewestDay: t.newest,
	}
	if s.Records == nil {
		s.Records = map[string]int64{}
	}
	if day, err := time.Parse(time.DateOnly, t.newest); err == nil {
		s.NewestAge = days(start.Sub(day))
	}
	if !t.Modified.IsZero() {
		s.Modified = t.Modified.UTC().Truncate(time.Second)
		s.ModifiedAge = days(start.Sub(t.Modified))
	}
	s.setSpeed(t.Elapsed)
	return s
}

// setSpeed fills in the time and the rates.
func (s *Source) setSpeed(d time.Duration) {
	s.Seconds, s.BytesPerSecond, s.RowsPerSecond = seconds(d), 0, 0
	if sec := d.Seconds(); sec > 0 {
		s.BytesPerSecond = int64(math.Round(float64(s.Bytes) / sec))
		s.RowsPerSecond = int64(math.Round(float64(s.Rows) / sec))
	}
}

// days returns whole days, none for what is yet to come.
func days(d time.Duration) *int {
	n := max(0, int(d/(24*time.Hour)))
	return &n
}

// seconds returns d to the millisecond.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }

func (t *Tally) reasonList() Top[Reason] {
	list := make([]Reason, 0, len(t.reasons))
	for _, r := range t.reasons {
		list = append(list, *r)
	}
	top := topOf(list, func(r Reason) int64 { return r.Count }, func(a, b Reason) int {
		return compareReasons(reasonKey{a.Field, a.Reason}, reasonKey{b.Field, b.Reason})
	})
	if t.other > 0 { // how many reasons these had is not known
		top.More++
		top.MoreCount += t.other
	}
	return top
}

func members(counts map[string]int64) Top[Member] {
	list := make([]Member, 0, len(counts))
	for path, n := range counts {
		list = append(list, Member{path, n})
	}
	return topOf(list, func(m Member) int64 { return m.Count }, func(a, b Member) int { return cmp.Compare(a.Path, b.Path) })
}

// topOf sorts a list by falling count, then by compare, and cuts it.
func topOf[T any](list []T, count func(T) int64, compare func(a, b T) int) Top[T] {
	slices.SortFunc(list, func(a, b T) int { return cmp.Or(cmp.Compare(count(b), count(a)), compare(a, b)) })
	n := min(len(list), MaxListed)
	top := Top[T]{Top: list[:n:n], More: int64(len(list) - n)}
	for _, e := range list[n:] {
		top.MoreCount += count(e)
	}
	return top
}
