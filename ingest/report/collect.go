package report

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/ingest/refs"
	"github.com/reelsplice/reelsplice/schemas/record"
)

const (
	maxConflictSamples = 3  // listed of one field
	maxFirstConflicts  = 20 // listed of all
)

// maxTallies is how many files that are read have a tally of their own: more than are listed,
// because a merge may still put rows of any of them into quarantine.
const maxTallies = 4 * MaxListed

// A Collector gathers a Report. Of thousands of files that are read, the most notable keep their own
// tally and the others share one, so that memory does not grow with the number of files. It is for one
// goroutine.
type Collector struct {
	Sources map[int]*Tally // by number of the source
	Ended   []int          // numbers in Sources of the files that are read
	// Rest is the sum of the other files. Rows of theirs can still turn out to repeat others, so
	// that Of returns it for changes.
	Rest       *Tally
	RestFiles  int64
	RestFailed int64

	Skipped   Top[Skipped]
	Records   map[string]Records
	Conflicts map[string]*Conflict
	Disagreed int64    // conflicts in all
	Otherwise int64    // conflicts on fields beyond record.MaxPaths
	First     []string // the first conflicts

	start time.Time
}

// NewCollector returns an empty Collector of an ingest that started at a time: ages are counted up
// to that day.
func NewCollector(start time.Time) *Collector {
	return &Collector{
		start: start.UTC(), Sources: map[int]*Tally{}, Records: map[string]Records{}, Conflicts: map[string]*Conflict{},
	}
}

// NewTally returns an empty tally of a part of a file.
func (c *Collector) NewTally() *Tally { return NewTally(File{}, c.start) }

// BeginFile begins the tally of a file.
func (c *Collector) BeginFile(number int, f File) { c.Sources[number] = NewTally(f, c.start) }

// Of returns the tally that counts the rows of a file.
func (c *Collector) Of(number int) *Tally {
	if t := c.Sources[number]; t != nil {
		return t
	}
	if c.Rest == nil {
		c.Rest = NewTally(File{}, c.start)
	}
	return c.Rest
}

// EndFile notes that a file is read. Files are folded by the hundred, so that each costs little.
func (c *Collector) EndFile(number int) {
	if c.Ended = append(c.Ended, number); len(c.Ended) < 2*maxTallies {
		return
	}
	c.sort(c.Ended)
	for _, n := range c.Ended[maxTallies:] {
		t := c.Sources[n]
		delete(c.Sources, n)
		c.RestFiles++
		c.RestFailed += int64(failed(t))
		c.Of(n).Absorb(t)
	}
	c.Ended = c.Ended[:maxTallies]
}

// sort brings files into the order in which they are listed.
func (c *Collector) sort(numbers []int) {
	slices.SortFunc(numbers, func(a, b int) int {
		return cmp.Or(compareTallies(c.Sources[a], c.Sources[b]), cmp.Compare(a, b))
	})
}

// compareTallies puts files that failed first, then those with the most rows in quarantine,
// then the largest.
func compareTallies(a, b *Tally) int {
	return cmp.Or(
		cmp.Compare(failed(b), failed(a)),
		cmp.Compare(b.Rows.Quarantined, a.Rows.Quarantined),
		cmp.Compare(b.Bytes, a.Bytes),
		cmp.Compare(a.Name, b.Name),
	)
}

func failed(t *Tally) int {
	if t.Failure != "" {
		return 1
	}
	return 0
}

// Skip counts a file that was left out.
func (c *Collector) Skip(name, reason string) {
	if len(c.Skipped.Top) < MaxListed {
		c.Skipped.Top = append(c.Skipped.Top, Skipped{shorten(name), shorten(reason)})
		return
	}
	c.Skipped.More++
	c.Skipped.MoreCount++
}

// Conflict counts a field of a kind's records on which sources disagree. sample is called only
// if its text is listed.
func (c *Collector) Conflict(kind, field string, sample func() string) {
	if c.Disagreed++; len(c.First) < maxFirstConflicts {
		c.First = append(c.First, sample())
	}
	name := kind + "." + field
	m, ok := c.Conflicts[name]
	if !ok && len(c.Conflicts) >= record.MaxPaths {
		c.Otherwise++
		return
	}
	if !ok {
		m = &Conflict{Field: shorten(name), Samples: []string{}}
		c.Conflicts[name] = m
	}
	m.Count++
	if len(m.Samples) < maxConflictSamples {
		m.Samples = append(m.Samples, shorten(sample()))
	}
}

// Count sets how many records of a kind the catalogue has.
func (c *Collector) Count(r Records) {
	c.Records[r.Kind] = r
}

// An End is how an ingest ended, and what is not known before.
type End struct {
	Catalog    string            // folder or URL
	Parameters map[string]string // flags, by name
	Elapsed    time.Duration     // of the whole ingest
	Err        error             // nil when it is complete
	References []refs.Relation
}

// Report returns what was gathered.
func (c *Collector) Report(e End) Report {
	r := Report{
		Version: Version, State: stateOf(e.Err), Started: c.start.Truncate(time.Second), Seconds: seconds(e.Elapsed),
		Catalog: e.Catalog, Parameters: e.Parameters, Files: c.RestFiles, FailedFiles: c.RestFailed,
		Sources: []Source{}, Skipped: c.Skipped, Records: []Records{}, References: append([]refs.Relation{}, e.References...),
	}
	if e.Err != nil {
		r.Error = oneLine(e.Err.Error())
	}
	if r.Parameters == nil {
		r.Parameters = map[string]string{}
	}
	r.Skipped.Top = append([]Skipped{}, c.Skipped.Top...)
	c.reportSources(&r, e.Elapsed)
	for _, kind := range slices.Sorted(maps.Keys(c.Records)) {
		r.Records = append(r.Records, c.Records[kind])
	}
	r.Conflicts = Conflicts{Count: c.Disagreed, Fields: c.conflictList()}
	return r
}

// reportSources fills in the sources and their sum, whose time is that of the whole.
func (c *Collector) reportSources(r *Report, elapsed time.Duration) {
	sum, rest := NewTally(File{}, c.start), NewTally(File{}, c.start)
	if r.OtherFiles = c.RestFiles; c.Rest != nil {
		rest.Absorb(c.Rest)
	}
	numbers := slices.Collect(maps.Keys(c.Sources))
	c.sort(numbers)
	for n, number := range numbers {
		t := c.Sources[number]
		r.Files++
		r.FailedFiles += int64(failed(t))
		if n < MaxListed {
			r.Sources = append(r.Sources, t.source(c.start))
			sum.Absorb(t)
		} else {
			r.OtherFiles++
			rest.Absorb(t)
		}
	}
	if r.OtherFiles > 0 {
		s := rest.source(c.start)
		r.OtherSources = &s
	}
	sum.Absorb(rest)
	sum.Failure = "" // each file has its own
	r.Totals = sum.source(c.start)
	r.Totals.setSpeed(elapsed)
}

func (c *Collector) conflictList() Top[Conflict] {
	list := make([]Conflict, 0, len(c.Conflicts))
	for _, m := range c.Conflicts {
		list = append(list, *m)
	}
	top := topOf(list, func(m Conflict) int64 { return m.Count }, func(a, b Conflict) int { return cmp.Compare(a.Field, b.Field) })
	if c.Otherwise > 0 { // the number of their fields is unknown
		top.More++
		top.MoreCount += c.Otherwise
	}
	return top
}

func stateOf(err error) string {
	switch {
	case err == nil:
		return Complete
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Failed
}

// oneLine returns text of several lines as one.
func oneLine(s string) string { return shorten(strings.Join(strings.Fields(s), " ")) }
