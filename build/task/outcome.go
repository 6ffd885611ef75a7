package task

import "strings"

// An Outcome is what the tasks of a build have counted, for its report.
type Outcome struct {
	Release       string         `json:"release"`           // id of the release, or of the previous one if nothing has changed
	Unchanged     bool           `json:"unchanged"`         // no release was made
	Derived       int64          `json:"derived"`           // resources that no dump has a record of
	SharedIMDbIDs int64          `json:"shared_imdb_ids"`   // movies whose IMDb id a movie with a lower id has too, which alone is found by it
	Kept          int64          `json:"kept"`              // resources of the previous release that were taken over
	Changed       map[string]int `json:"changed,omitempty"` // by kind, resources that changed since the previous release; nil without one
	Created       map[string]int `json:"created,omitzero"`  // of Changed, those that are new; nil likewise
	Deleted       map[string]int `json:"deleted,omitzero"`  // of Changed, those that are gone; nil likewise
	Warning       string         `json:"-"`
}

// Outcome returns the outcome of a build, all of whose tasks are done.
func (b *Build) Outcome() (o Outcome, err error) {
	for _, s := range Stages() {
		done, err := b.Read(s.Name)
		if err != nil {
			return o, err
		}
		for i := range done {
			o.add(&done[i])
		}
	}
	if b.Plan.Previous != "" && !o.Unchanged {
		for _, m := range []*map[string]int{&o.Changed, &o.Created, &o.Deleted} {
			if *m == nil {
				*m = map[string]int{}
			}
		}
	}
	return o, nil
}

func (o *Outcome) add(d *Done) {
	o.Derived += d.Counts[derivedCount]
	o.Kept += d.Counts[reusedCount]
	o.SharedIMDbIDs += d.Counts[sharedIMDbIDs]
	for name, n := range d.Counts {
		addTo(&o.Changed, changedCount, name, n)
		addTo(&o.Created, newCount, name, n)
		addTo(&o.Deleted, goneCount, name, n)
	}
	if d.Release != "" {
		o.Release, o.Unchanged = d.Release, d.Unchanged
	}
	if d.Warning != "" {
		o.Warning = d.Warning
	}
}

// addTo adds a count to those by kind if its name has their prefix.
func addTo(counts *map[string]int, prefix, name string, n int64) {
	kind, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return
	}
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[kind] += int(n)
}
