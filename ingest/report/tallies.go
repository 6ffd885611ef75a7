package report

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// maxTallies is how many files that are read have a tally of their own: more than are listed,
// because a merge may still put rows of any of them into quarantine.
const maxTallies = 4 * MaxListed

// Tallies are those of an ingest's files, by number of the source. Of thousands of files that are
// read, the most notable keep their own and the others share one, so that neither memory nor the
// journal grows with the number of files. Its exported fields are the journal's.
type Tallies struct {
	Files map[int]*Tally `json:"files,omitempty"`
	Ended []int          `json:"ended,omitempty"` // numbers in Files of those that are read
	// Rest is the sum of the other files. Rows of theirs can still turn out to repeat others, so
	// that Of returns it for changes.
	Rest       *Tally `json:"rest,omitempty"`
	RestFiles  int64  `json:"rest_files,omitempty"`
	RestFailed int64  `json:"rest_failed,omitempty"`

	start time.Time
}

// Begin sets the time when the ingest started. It comes first, also when a journal is resumed.
func (t *Tallies) Begin(start time.Time) {
	t.start = start
	if t.Files == nil {
		t.Files = map[int]*Tally{}
	}
}

// BeginFile begins the tally of a file, unless an earlier process has.
func (t *Tallies) BeginFile(number int, f File) {
	if t.Files[number] == nil {
		t.Files[number] = NewTally(f, t.start)
	}
}

// Of returns the tally that counts the rows of a file.
func (t *Tallies) Of(number int) *Tally {
	if tally := t.Files[number]; tally != nil {
		return tally
	}
	if t.Rest == nil {
		t.Rest = NewTally(File{}, t.start)
	}
	return t.Rest
}

// EndFile notes that a file is read. Files are folded by the hundred, so that each costs little.
func (t *Tallies) EndFile(number int) {
	t.Ended = append(t.Ended, number)
	if len(t.Ended) < 2*maxTallies {
		return
	}
	slices.SortFunc(t.Ended, func(a, b int) int {
		return cmp.Or(compareTallies(t.Files[a], t.Files[b]), cmp.Compare(a, b))
	})
	for _, n := range t.Ended[maxTallies:] {
		tally := t.Files[n]
		delete(t.Files, n)
		t.RestFiles++
		t.RestFailed += int64(failed(tally))
		t.Of(n).Absorb(tally)
	}
	t.Ended = t.Ended[:maxTallies]
}

// AddTo gives all tallies to a Collector. It is the last call.
func (t *Tallies) AddTo(c *Collector) {
	for _, number := range slices.Sorted(maps.Keys(t.Files)) {
		c.Add(t.Files[number])
	}
	if t.Rest != nil {
		c.Files += t.RestFiles
		c.Failed += t.RestFailed
		c.fold(t.Rest, t.RestFiles)
	}
}
