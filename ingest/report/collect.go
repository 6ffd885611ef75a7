package report

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/text"
)

const (
	maxConflictSamples = 3    // for each field
	maxReasons         = 1000 // counted separately; the others share record.OtherPaths
)

// A Collector gathers a Report. It is not safe for concurrent use.
type Collector struct {
	start time.Time
	files map[int]*Source // by source number
	sum   Tally           // sum of all files

	records       []Records
	conflicts     map[string]*Conflict
	disagreements int64 // all conflicts
}

// NewCollector returns an empty Collector for an ingest that started at start.
func NewCollector(start time.Time) *Collector {
	return &Collector{start: start.UTC(), files: map[int]*Source{}, conflicts: map[string]*Conflict{}}
}

// BeginFile starts the counts of a file.
func (c *Collector) BeginFile(number int, f File) { c.files[number] = &Source{File: f} }

// Fail records why a file was not read completely.
func (c *Collector) Fail(number int, reason string) { c.files[number].Failure = reason }

// Add adds the outcomes of rows of a file. For records of the catalogue, number matches no file.
func (c *Collector) Add(number int, t *Tally) {
	if f := c.files[number]; f != nil {
		f.Add(&t.Rows)
	}
	sum := &c.sum
	sum.Rows.Add(&t.Rows)
	for _, r := range t.reasonList() {
		sum.group(&r)
	}
	sum.Records.merge(t.Records)
	for _, path := range slices.Sorted(maps.Keys(t.leftOut)) {
		l := *t.leftOut[path]
		sum.leaveOut(&l)
	}
	sum.Fields.Merge(t.Fields)
}

// Conflict counts a field of a kind on which sources disagree. It calls sample only if the report lists the text.
func (c *Collector) Conflict(kind, field string, sample func() string) {
	c.disagreements++
	name := kind + "." + field
	if c.conflicts[name] == nil && len(c.conflicts) >= record.MaxPaths {
		name = record.OtherPaths
	}
	m := c.conflicts[name]
	if m == nil {
		m = &Conflict{Field: shorten(name), Samples: []string{}}
		c.conflicts[name] = m
	}
	m.Count++
	if len(m.Samples) < maxConflictSamples {
		m.Samples = append(m.Samples, shorten(sample()))
	}
}

// Count adds the record counts of a kind.
func (c *Collector) Count(r Records) { c.records = append(c.records, r) }

// An End is the result of an ingest.
type End struct {
	Catalog    string            // folder of the catalogue
	Parameters map[string]string // flags, by name
	Elapsed    time.Duration     // duration of the ingest
	Err        error             // nil on success
	Skipped    []Skipped         // files that were left out
	Fits       []FileFit
	References []Relation
}

// Report returns the collected report.
func (c *Collector) Report(e End) Report {
	t := &c.sum
	records := Counts{}
	maps.Copy(records, t.Records)
	leftOut := make([]LeftOut, 0, len(t.leftOut))
	for _, l := range t.leftOut {
		leftOut = append(leftOut, *l)
	}
	r := Report{
		Version: version, State: stateComplete, Started: c.start.Truncate(time.Second), Seconds: math.Round(e.Elapsed.Seconds()*1e3) / 1e3,
		Catalog: e.Catalog, Parameters: map[string]string{}, Files: int64(len(c.files)), Sources: []Source{},
		Skipped: Top[Skipped]{Top: []Skipped{}}, Records: append([]Records{}, c.records...),
		References: append([]Relation{}, e.References...), Fits: append([]FileFit{}, e.Fits...),
		Totals: Totals{
			Rows: t.Rows.Sum(), Outcome: t.Rows, Records: records,
			Reasons: topOf(t.reasonList(), func(r Reason) int64 { return r.Count }, compareReasons),
			Unknown: t.Fields.Unknown.top(), Coerced: t.Fields.Coerced.top(), Dropped: t.Fields.Dropped.top(), Whole: t.Fields.Whole.top(),
			LeftOut: topOf(leftOut, func(l LeftOut) int64 { return l.Count }, func(a, b LeftOut) int { return cmp.Compare(a.Path, b.Path) }),
		},
	}
	if e.Err != nil {
		r.State, r.Error = stateFailed, shorten(strings.Join(strings.Fields(e.Err.Error()), " "))
	}
	maps.Copy(r.Parameters, e.Parameters)
	for _, s := range e.Skipped[:min(len(e.Skipped), MaxListed)] {
		r.Skipped.Top = append(r.Skipped.Top, Skipped{shorten(s.Name), shorten(s.Reason)})
	}
	r.Skipped.More = int64(len(e.Skipped) - len(r.Skipped.Top))
	r.Skipped.MoreCount = r.Skipped.More
	slices.SortFunc(r.Records, func(a, b Records) int { return cmp.Compare(a.Kind, b.Kind) })
	for _, number := range slices.Sorted(maps.Keys(c.files)) {
		f := *c.files[number]
		if f.Failure != "" {
			r.FailedFiles++
		}
		f.Rows, r.Totals.Bytes = f.Sum(), r.Totals.Bytes+f.Bytes
		r.Sources = append(r.Sources, f)
	}
	slices.SortStableFunc(r.Sources, func(a, b Source) int { // failed files first
		failed := cmp.Compare(min(1, len(b.Failure)), min(1, len(a.Failure)))
		return cmp.Or(failed, cmp.Compare(b.Quarantined, a.Quarantined), cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	r.Sources = r.Sources[:min(len(r.Sources), MaxListed)]
	r.OtherFiles = r.Files - int64(len(r.Sources))

	list := make([]Conflict, 0, len(c.conflicts))
	for _, m := range c.conflicts {
		list = append(list, *m)
	}
	r.Conflicts = Conflicts{c.disagreements, topOf(list, func(m Conflict) int64 { return m.Count }, func(a, b Conflict) int { return cmp.Compare(a.Field, b.Field) })}
	return r
}

// A Tally counts the outcomes of rows. It is not safe for concurrent use; each batch of rows has its own. The zero value is
// empty.
type Tally struct {
	Rows    Outcome
	Records Counts // by kind
	Fields  Fields

	leftOut map[string]*LeftOut // values left out, by path
	reasons map[Reason]*Reason  // reasons for quarantine, by field and masked reason
}

// Fields are counts by path: see Totals.
type Fields struct{ Unknown, Coerced, Dropped, Whole Counts }

// Merge adds other counts.
func (f *Fields) Merge(o Fields) {
	f.Unknown.merge(o.Unknown)
	f.Coerced.merge(o.Coerced)
	f.Dropped.merge(o.Dropped)
	f.Whole.merge(o.Whole)
}

// Counts maps paths to counts. Paths beyond record.MaxPaths share one count.
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

// Quarantined counts a row that could not be used. place is for messages; field is "" if the whole row is bad.
func (t *Tally) Quarantined(place, field, reason string) {
	t.Rows.Quarantined++
	r := Reason{Field: shorten(field), Reason: mask(reason), Count: 1}
	if field != "" {
		reason = field + ": " + reason
	}
	r.Example = shorten(place + ": " + reason)
	t.group(&r)
}

// LeaveOut counts the values of one field that were left out of a row.
func (t *Tally) LeaveOut(place source.Place, l record.LeftOut) {
	leftOut := &LeftOut{Path: shorten(l.Path), Count: l.Count}
	for _, e := range l.First {
		leftOut.Samples = append(leftOut.Samples, Sample{place.File, place.Row, place.Line, shorten(e.Field), e.Value, shorten(e.What)})
	}
	t.leaveOut(leftOut)
}

func (t *Tally) leaveOut(l *LeftOut) {
	if _, ok := t.leftOut[l.Path]; !ok && len(t.leftOut) >= record.MaxPaths {
		l.Path = record.OtherPaths
	}
	ours := t.leftOut[l.Path]
	if ours == nil {
		if t.leftOut == nil {
			t.leftOut = map[string]*LeftOut{}
		}
		ours = &LeftOut{Path: l.Path}
		t.leftOut[l.Path] = ours
	}
	ours.Count += l.Count
	ours.Samples = append(ours.Samples, l.Samples[:min(len(l.Samples), record.LeftOutSamples-len(ours.Samples))]...)
}

// ValuesLeftOut returns how many values were left out.
func (t *Tally) ValuesLeftOut() (n int64) {
	for _, l := range t.leftOut {
		n += l.Count
	}
	return n
}

// Examples returns the first value that was left out, by path.
func (t *Tally) Examples() map[string]Sample {
	first := make(map[string]Sample, len(t.leftOut))
	for path, l := range t.leftOut {
		first[path] = l.Samples[0]
	}
	return first
}

// group adds the rows of a reason.
func (t *Tally) group(r *Reason) {
	key := Reason{Field: r.Field, Reason: r.Reason}
	if t.reasons[key] == nil && len(t.reasons) >= maxReasons {
		key = Reason{Reason: record.OtherPaths}
	}
	if ours := t.reasons[key]; ours != nil {
		ours.Count += r.Count
		return
	}
	if t.reasons == nil {
		t.reasons = map[Reason]*Reason{}
	}
	r.Field, r.Reason = key.Field, key.Reason
	t.reasons[key] = r
}

// reasonList returns the reasons in a deterministic order.
func (t *Tally) reasonList() []Reason {
	list := make([]Reason, 0, len(t.reasons))
	for _, r := range t.reasons {
		list = append(list, *r)
	}
	slices.SortFunc(list, compareReasons)
	return list
}

func compareReasons(a, b Reason) int {
	return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Reason, b.Reason))
}

func (c Counts) top() Top[FieldCount] {
	list := make([]FieldCount, 0, len(c))
	for path, n := range c {
		list = append(list, FieldCount{path, n})
	}
	return topOf(list, func(f FieldCount) int64 { return f.Count }, func(a, b FieldCount) int { return cmp.Compare(a.Path, b.Path) })
}

// topOf sorts a list by descending count, then by compare, and truncates it to MaxListed.
func topOf[T any](list []T, count func(T) int64, compare func(a, b T) int) Top[T] {
	slices.SortFunc(list, func(a, b T) int { return cmp.Or(cmp.Compare(count(b), count(a)), compare(a, b)) })
	n := min(len(list), MaxListed)
	top := Top[T]{Top: list[:n:n], More: int64(len(list) - n)}
	for _, e := range list[n:] {
		top.MoreCount += count(e)
	}
	return top
}

// maxText is the longest reason, path or example, in bytes.
const maxText = 300

// shorten cuts text that is too long for a report.
func shorten(s string) string {
	if len(s) > maxText {
		return text.Cut(s, maxText) + "…"
	}
	return s
}

// tokens matches the tokens of a reason: the wanted value, quoted values, numbers including dates and times, and words. Words
// are matched so that no other token starts inside one, as at the apostrophe of "row's".
var tokens = regexp.MustCompile(`(?s)want .*?, found|want .*` +
	"|\"(?:\\\\.|[^\"\\\\])*\"|`[^`]*`|'[^']*'" +
	`|[+-]?[0-9](?:[\w[:^ascii:]]|[.,:/+-][0-9])*` +
	`|[\w[:^ascii:]][\w[:^ascii:]'-]*`)

// mask removes the parts of a reason that vary between rows. Numbers, and words with more than two digits, become #; quoted
// values become "…". It keeps the wanted value ("want 1 or more, found #") and field names.
func mask(reason string) string {
	return shorten(tokens.ReplaceAllStringFunc(reason, func(token string) string {
		digits := 0
		for _, c := range []byte(token) {
			if '0' <= c && c <= '9' {
				digits++
			}
		}
		switch c := token[0]; {
		case strings.HasPrefix(token, "want "):
			return token
		case c == '"', c == '`', c == '\'':
			return token[:1] + "…" + token[:1]
		case strings.IndexByte("+-0123456789", c) >= 0, digits > 2 && !strings.Contains(token, "_"):
			return "#"
		}
		return token
	}))
}
