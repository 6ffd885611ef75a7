package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Tally counts what becomes of one file's rows. One goroutine uses it; several
// that read parts of a file have one each, and Merge them.
type Tally struct {
	File
	Failure string        // why the file was not read to its end
	Elapsed time.Duration // of reading it, in nanoseconds
	Rows    Outcome
	Reasons map[string]*group // of quarantine, by field and masked reason
	Other   int64             // rows whose reasons are too many
	Records map[string]int64  // by kind
	Fields  Fields
	Newest  string // release or air date, YYYY-MM-DD
	Today   string // days after it are not counted
}

// An Outcome counts what became of rows: each is kept, blank, a duplicate or quarantined. The
// counts of ids overlap with those.
type Outcome struct {
	Kept        int64 `json:"kept"`
	Blank       int64 `json:"blank"`                 // without any value
	Duplicates  int64 `json:"duplicates"`            // equal to an earlier row
	Quarantined int64 `json:"quarantined"`           // could not be used
	Matched     int64 `json:"ids_matched,omitempty"` // records whose ids are those of other records
	Minted      int64 `json:"ids_minted,omitempty"`  // records whose ids were made of fields of their rows
	NoID        int64 `json:"ids_missing,omitempty"` // rows in quarantine without an id
}

func (r *Outcome) add(o Outcome) {
	r.Kept += o.Kept
	r.Blank += o.Blank
	r.Duplicates += o.Duplicates
	r.Quarantined += o.Quarantined
	r.Matched += o.Matched
	r.Minted += o.Minted
	r.NoID += o.NoID
}

// Fields are counts of fields, by path.
type Fields struct {
	Unknown Counts // kept, though the API lacks them
	Coerced Counts // numbers given as text
	Dropped Counts // values without a place in the API
	Whole   Counts // joined lists that could not be split safely
}

// Merge adds other counts.
func (f *Fields) Merge(o Fields) {
	f.Unknown.merge(o.Unknown)
	f.Coerced.merge(o.Coerced)
	f.Dropped.merge(o.Dropped)
	f.Whole.merge(o.Whole)
}

// Counts are numbers by path. Paths beyond record.MaxPaths share one count.
type Counts map[string]int64

// Add adds n to the count of a path.
func (c *Counts) Add(path string, n int64) {
	if *c == nil {
		*c = Counts{}
	}
	record.Count(*c, shorten(path), n)
}

func (c *Counts) merge(o Counts) {
	for path, n := range o {
		c.Add(path, n)
	}
}

// A group is the rows in quarantine for one reason.
type group struct {
	Reason
	Row int64 // of the example
}

// maxReasons is how many reasons are counted each, of one file.
const maxReasons = 1000

// NewTally returns an empty tally of a file that is read on a day.
func NewTally(f File, day time.Time) *Tally {
	return &Tally{File: f, Today: day.UTC().Format(time.DateOnly)}
}

// Quarantined counts a row that could not be used. row is its number, place its name in
// messages; field is "" if the whole row is at fault.
func (t *Tally) Quarantined(row int64, place, field, reason string) {
	t.Rows.Quarantined++
	g := &group{Reason{Field: shorten(field), Reason: mask(reason), Count: 1}, row}
	key := g.Field + "\x00" + g.Reason.Reason
	known := t.Reasons[key]
	if known != nil {
		if known.Count++; row >= known.Row {
			return
		}
		g.Count = known.Count
	} else if len(t.Reasons) >= maxReasons {
		t.Other++
		return
	}
	g.Example = place + ": " + reason
	if field != "" {
		g.Example = place + ": " + field + ": " + reason
	}
	g.Example = shorten(g.Example)
	if t.Reasons == nil {
		t.Reasons = map[string]*group{}
	}
	t.Reasons[key] = g
}

// Record counts a record that a row gave, and looks at its dates.
func (t *Tally) Record(kind string, r record.Record) {
	if t.Records == nil {
		t.Records = map[string]int64{}
	}
	t.Records[kind]++
	eachDay(r, t.Day)
}

// eachDay calls day with the release and air dates of a record that are set: that of a movie, the
// first and the last of a series, those of a season and its episodes, that of an episode.
func eachDay(r record.Record, day func(string)) {
	for _, name := range []string{"release_date", "first_air_date", "last_air_date", "air_date"} {
		if f, ok := r.Schema.Field(name); ok && f.Shape == record.ShapeString && r.String(f).Set {
			day(r.String(f).V)
		}
	}
	if f, ok := r.Schema.Field("episodes"); ok && f.Shape == record.ShapeObjects {
		n, _ := r.Len(f)
		for i := range n {
			eachDay(r.At(f, i), day)
		}
	}
}

// Unrecord takes back a record that a row gave.
func (t *Tally) Unrecord(kind string) { (*Counts)(&t.Records).Add(kind, -1) }

// Day counts a release or air date. Text that is no day is ignored, and so is a day in the
// future.
func (t *Tally) Day(day string) {
	const length = len(time.DateOnly)
	if len(day) < length || day[:length] <= t.Newest || day[:length] > t.Today {
		return
	}
	if _, err := time.Parse(time.DateOnly, day[:length]); err == nil {
		t.Newest = day[:length]
	}
}

// Absorb adds the tally of another file, for the sum of several.
func (t *Tally) Absorb(o *Tally) {
	t.Merge(o)
	t.Bytes += o.Bytes
}

// Merge adds the counts of another part of the same file. The name and the size stay those of t.
func (t *Tally) Merge(o *Tally) {
	t.Rows.add(o.Rows)
	t.Failure = cmp.Or(t.Failure, o.Failure)
	t.Elapsed += o.Elapsed
	t.Newest = max(t.Newest, o.Newest)
	if o.Modified.After(t.Modified) {
		t.Modified = o.Modified
	}
	t.mergeReasons(o)
	(*Counts)(&t.Records).merge(o.Records)
	t.Fields.Merge(o.Fields)
}

func (t *Tally) mergeReasons(o *Tally) {
	t.Other += o.Other
	if t.Reasons == nil && len(o.Reasons) > 0 {
		t.Reasons = map[string]*group{}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Reasons)) {
		theirs, ours := o.Reasons[key], t.Reasons[key]
		switch {
		case ours != nil:
			ours.Count += theirs.Count
			if cmp.Or(cmp.Compare(theirs.Row, ours.Row), cmp.Compare(theirs.Example, ours.Example)) < 0 {
				ours.Example, ours.Row = theirs.Example, theirs.Row
			}
		case len(t.Reasons) >= maxReasons:
			t.Other += theirs.Count
		default:
			g := *theirs
			t.Reasons[key] = &g
		}
	}
}

// source returns the counts as they are reported. Ages are as of start.
func (t *Tally) source(start time.Time) Source {
	s := Source{
		File: t.File, Failure: t.Failure,
		Rows: t.Rows.Kept + t.Rows.Blank + t.Rows.Duplicates + t.Rows.Quarantined, Outcome: t.Rows,
		Reasons: t.reasonList(), Records: t.Records,
		FieldLists: FieldLists{
			Unknown: t.Fields.Unknown.top(), Coerced: t.Fields.Coerced.top(), Dropped: t.Fields.Dropped.top(), Whole: t.Fields.Whole.top(),
		},
		NewestDay: t.Newest,
	}
	if s.Records == nil {
		s.Records = map[string]int64{}
	}
	if day, err := time.Parse(time.DateOnly, t.Newest); err == nil {
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
	list := make([]Reason, 0, len(t.Reasons))
	for _, g := range t.Reasons {
		list = append(list, g.Reason)
	}
	top := topOf(list, func(r Reason) int64 { return r.Count }, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Reason, b.Reason))
	})
	if t.Other > 0 { // the number of their reasons is unknown
		top.More++
		top.MoreCount += t.Other
	}
	return top
}

func (c Counts) top() Top[FieldCount] {
	list := make([]FieldCount, 0, len(c))
	for path, n := range c {
		list = append(list, FieldCount{path, n})
	}
	return topOf(list, func(f FieldCount) int64 { return f.Count }, func(a, b FieldCount) int { return cmp.Compare(a.Path, b.Path) })
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
