package report

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"reelsplice/schemas/record"
)

// maxConflictSamples is how many conflicts of one member are listed.
const maxConflictSamples = 3

// A Collector gathers a Report. Its methods may be called from several goroutines.
type Collector struct {
	start time.Time

	mu        sync.Mutex
	sources   []*Tally // the most notable, in order
	rest      *Tally   // the sum of the others
	restFiles int64
	files     int64
	failed    int64
	skipped   Top[Skipped]
	records   map[string]Records
	conflicts map[string]*Conflict
	disagreed int64 // conflicts in all
	otherwise int64 // of these: of members that are too many
}

// NewCollector returns an empty Collector of an ingest that started then: ages are
// counted up to that day.
func NewCollector(start time.Time) *Collector {
	return &Collector{start: start.UTC(), records: map[string]Records{}, conflicts: map[string]*Conflict{}}
}

// Source returns an empty tally of a file. It counts once it is given to Add.
func (c *Collector) Source(f File) *Tally {
	return &Tally{File: f, today: c.start.Format(time.DateOnly)}
}

// Add takes the tally of a file that was read. Of thousands of files, only the most
// notable are kept by themselves.
func (c *Collector) Add(t *Tally) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	if t.Failure != "" {
		c.failed++
	}
	c.add(t)
}

func (c *Collector) add(t *Tally) {
	at, _ := slices.BinarySearchFunc(c.sources, t, compareTallies)
	c.sources = slices.Insert(c.sources, at, t)
	if len(c.sources) > MaxListed {
		c.fold(c.sources[MaxListed], 1)
		c.sources = c.sources[:MaxListed]
	}
}

// fold adds a tally to the sum of those that are not listed.
func (c *Collector) fold(t *Tally, files int64) {
	if c.rest == nil {
		c.rest = c.Source(File{})
	}
	c.rest.Merge(t)
	c.rest.Bytes += t.Bytes
	c.restFiles += files
}

// compareTallies puts files that failed first, then those with the most rows in
// quarantine, then the largest.
func compareTallies(a, b *Tally) int {
	return cmp.Or(
		compareBool(b.Failure != "", a.Failure != ""),
		cmp.Compare(b.quarantined, a.quarantined),
		cmp.Compare(b.Bytes, a.Bytes),
		cmp.Compare(a.Name, b.Name),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Skip tells of a file that was left out.
func (c *Collector) Skip(name, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skip(Skipped{shorten(name), shorten(reason)})
}

func (c *Collector) skip(s Skipped) {
	if len(c.skipped.Top) < MaxListed {
		c.skipped.Top = append(c.skipped.Top, s)
		return
	}
	c.skipped.More++
	c.skipped.MoreCount++
}

// Conflict tells that sources disagreed on a member of a kind's records. Sample is
// called only if its text is listed.
func (c *Collector) Conflict(kind, member string, sample func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.disagreed++
	m, ok := c.conflicts[kind+"."+member]
	if !ok && len(c.conflicts) >= record.MaxPaths {
		c.otherwise++
		return
	}
	if !ok {
		name := kind + "." + member
		m = &Conflict{Member: shorten(name), Samples: []string{}}
		c.conflicts[name] = m
	}
	m.Count++
	if len(m.Samples) < maxConflictSamples {
		m.Samples = append(m.Samples, shorten(sample()))
	}
}

// Records tells how many records of a kind the catalogue has. Of a kind that was told
// of before, it adds to the changes.
func (c *Collector) Records(r Records) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(r)
}

func (c *Collector) count(r Records) {
	if old, ok := c.records[r.Kind]; ok {
		r.Before = old.Before
		r.Added += old.Added
		r.Changed += old.Changed
		r.Removed += old.Removed
	}
	c.records[r.Kind] = r
}

// Merge adds what another collector gathered, which must not be used afterwards.
func (c *Collector) Merge(o *Collector) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files += o.files
	c.failed += o.failed
	for _, t := range o.sources {
		c.add(t)
	}
	if o.rest != nil {
		c.fold(o.rest, o.restFiles)
	}
	for _, s := range o.skipped.Top {
		c.skip(s)
	}
	c.skipped.More += o.skipped.More
	c.skipped.MoreCount += o.skipped.MoreCount
	for _, kind := range slices.Sorted(maps.Keys(o.records)) {
		c.count(o.records[kind])
	}
	c.mergeConflicts(o)
}

func (c *Collector) mergeConflicts(o *Collector) {
	c.disagreed += o.disagreed
	c.otherwise += o.otherwise
	for _, name := range slices.Sorted(maps.Keys(o.conflicts)) {
		theirs := o.conflicts[name]
		ours, ok := c.conflicts[name]
		switch {
		case ok:
			ours.Count += theirs.Count
			ours.Samples = append(ours.Samples, theirs.Samples[:min(len(theirs.Samples), maxConflictSamples-len(ours.Samples))]...)
		case len(c.conflicts) >= record.MaxPaths:
			c.otherwise += theirs.Count
		default:
			c.conflicts[name] = theirs
		}
	}
}

// An End says how an ingest ended, and what only its end can tell.
type End struct {
	Catalog    string            // folder or URL
	Parameters map[string]string // flags, by name
	Elapsed    time.Duration     // of the whole ingest
	Err        error             // nil when it is complete
	References []Reference
}

// Report returns what was gathered.
func (c *Collector) Report(e End) Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Report{
		Version: Version, State: stateOf(e.Err), Started: c.start.Truncate(time.Second), Seconds: seconds(e.Elapsed),
		Catalog: e.Catalog, Parameters: e.Parameters, Files: c.files, FailedFiles: c.failed,
		Sources: []Source{}, Skipped: c.skipped, Records: []Records{}, References: e.References,
	}
	if e.Err != nil {
		r.Error = oneLine(e.Err.Error())
	}
	if r.Parameters == nil {
		r.Parameters = map[string]string{}
	}
	if r.References == nil {
		r.References = []Reference{}
	}
	if r.Skipped.Top == nil {
		r.Skipped.Top = []Skipped{}
	}
	c.reportSources(&r, e.Elapsed)
	for _, kind := range slices.Sorted(maps.Keys(c.records)) {
		r.Records = append(r.Records, c.records[kind])
	}
	r.Conflicts = Conflicts{Count: c.disagreed, Members: c.conflictList()}
	return r
}

// reportSources fills in the sources and their sum, whose time is that of the whole.
func (c *Collector) reportSources(r *Report, elapsed time.Duration) {
	sum := c.Source(File{})
	for _, t := range c.sources {
		r.Sources = append(r.Sources, t.source(c.start))
		sum.Merge(t)
		sum.Bytes += t.Bytes
	}
	if c.rest != nil {
		s := c.rest.source(c.start)
		r.OtherFiles, r.OtherSources = c.restFiles, &s
		sum.Merge(c.rest)
		sum.Bytes += c.rest.Bytes
	}
	sum.Failure = "" // each file has its own
	r.Totals = sum.source(c.start)
	r.Totals.setSpeed(elapsed)
}

func (c *Collector) conflictList() Top[Conflict] {
	list := make([]Conflict, 0, len(c.conflicts))
	for _, m := range c.conflicts {
		list = append(list, *m)
	}
	top := topOf(list, func(m Conflict) int64 { return m.Count }, func(a, b Conflict) int { return cmp.Compare(a.Member, b.Member) })
	if c.otherwise > 0 { // of how many members is not known
		top.More++
		top.MoreCount += c.otherwise
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
