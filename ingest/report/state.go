package report

import (
	"maps"
	"slices"
	"time"
)

// A State is what a Collector has gathered, in a form that a journal can keep.
type State struct {
	Sources   []TallyState         `json:"sources,omitempty"`
	Rest      *TallyState          `json:"rest,omitempty"`
	RestFiles int64                `json:"rest_files,omitempty"`
	Files     int64                `json:"files,omitempty"`
	Failed    int64                `json:"failed,omitempty"`
	Skipped   Top[Skipped]         `json:"skipped"`
	Records   map[string]Records   `json:"records,omitempty"`
	Conflicts map[string]*Conflict `json:"conflicts,omitempty"`
	Disagreed int64                `json:"disagreed,omitempty"`
	Otherwise int64                `json:"otherwise,omitempty"`
}

// State returns what was gathered so far. It is good until the Collector is used again.
func (c *Collector) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{
		RestFiles: c.restFiles, Files: c.files, Failed: c.failed, Skipped: c.skipped,
		Records: c.records, Conflicts: c.conflicts, Disagreed: c.disagreed, Otherwise: c.otherwise,
	}
	for _, t := range c.sources {
		s.Sources = append(s.Sources, t.State())
	}
	if c.rest != nil {
		rest := c.rest.State()
		s.Rest = &rest
	}
	return s
}

// Restore sets an empty Collector to a State.
func (c *Collector) Restore(s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range s.Sources {
		t := c.Source(File{})
		t.Restore(of)
		c.sources = append(c.sources, t)
	}
	if s.Rest != nil {
		c.rest = c.Source(File{})
		c.rest.Restore(*s.Rest)
	}
	c.restFiles, c.files, c.failed, c.skipped = s.RestFiles, s.Files, s.Failed, s.Skipped
	c.disagreed, c.otherwise = s.Disagreed, s.Otherwise
	maps.Copy(c.records, s.Records)
	maps.Copy(c.conflicts, s.Conflicts)
}

// A TallyState is a Tally in a form that a journal can keep.
type TallyState struct {
	File        File             `json:"file"`
	Failure     string           `json:"failure,omitempty"`
	Elapsed     int64            `json:"elapsed"` // nanoseconds
	Kept        int64            `json:"kept,omitempty"`
	Blank       int64            `json:"blank,omitempty"`
	Duplicates  int64            `json:"duplicates,omitempty"`
	Quarantined int64            `json:"quarantined,omitempty"`
	Matched     int64            `json:"matched,omitempty"`
	Minted      int64            `json:"minted,omitempty"`
	NoID        int64            `json:"no_id,omitempty"`
	Reasons     []reasonState    `json:"reasons,omitempty"`
	Other       int64            `json:"other,omitempty"`
	Records     map[string]int64 `json:"records,omitempty"`
	Unknown     map[string]int64 `json:"unknown,omitempty"`
	Coerced     map[string]int64 `json:"coerced,omitempty"`
	Dropped     map[string]int64 `json:"dropped,omitempty"`
	Whole       map[string]int64 `json:"whole,omitempty"`
	Newest      string           `json:"newest,omitempty"`
}

// A reasonState is a group of rows in quarantine and the row of its example.
type reasonState struct {
	Reason
	Row int64 `json:"row"`
}

// State returns what was counted so far. It is good until the Tally is used again.
func (t *Tally) State() TallyState {
	s := TallyState{
		File: t.File, Failure: t.Failure, Elapsed: int64(t.Elapsed),
		Kept: t.kept, Blank: t.blank, Duplicates: t.duplicates, Quarantined: t.quarantined, Other: t.other,
		Matched: t.matched, Minted: t.minted, NoID: t.noID,
		Records: t.records, Unknown: t.unknown, Coerced: t.coerced, Dropped: t.dropped, Whole: t.whole, Newest: t.newest,
	}
	for _, k := range slices.SortedFunc(maps.Keys(t.reasons), compareReasons) {
		s.Reasons = append(s.Reasons, reasonState{*t.reasons[k], t.order[k]})
	}
	return s
}

// Restore sets an empty Tally to a State.
func (t *Tally) Restore(s TallyState) {
	t.File, t.Failure, t.Elapsed = s.File, s.Failure, time.Duration(s.Elapsed)
	t.kept, t.blank, t.duplicates, t.quarantined, t.other = s.Kept, s.Blank, s.Duplicates, s.Quarantined, s.Other
	t.records, t.unknown, t.coerced, t.dropped, t.whole = s.Records, s.Unknown, s.Coerced, s.Dropped, s.Whole
	t.newest = s.Newest
	t.matched, t.minted, t.noID = s.Matched, s.Minted, s.NoID
	t.reasons, t.order = map[reasonKey]*Reason{}, map[reasonKey]int64{}
	for _, r := range s.Reasons {
		k := reasonKey{r.Field, r.Reason.Reason}
		t.reasons[k], t.order[k] = &r.Reason, r.Row
	}
}
