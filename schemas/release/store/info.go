package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Info describes one release of a store.
type Info struct {
	ID         string    `json:"release"`          // name of the folder
	Current    bool      `json:"current"`          // it is served
	Previous   bool      `json:"previous"`         // target of Rollback
	Canary     bool      `json:"canary"`           // some edges serve it first
	Forced     bool      `json:"forced"`           // published despite the gate, by its report
	RolledBack bool      `json:"rolled_back"`      // RolledBack lists it
	Built      time.Time `json:"built"`            // by its report, or else the modification time of the folder
	Fragments  int64     `json:"fragments"`        // number
	Bytes      int64     `json:"bytes"`            // total length of the files in its manifest
	Fetched    day.Days  `json:"fetched,omitzero"` // when its records were fetched, as far as known
	Empty      bool      `json:"-"`                // it has no records: every response is 404
	Fallback   string    `json:"-"`                // languages whose texts replace missing ones of others
	Err        error     `json:"-"`                // error of Open for an invalid folder; the numbers are 0 then
}

// Describe returns the numbers of a release.
func Describe(m *release.Manifest, built time.Time) Info {
	i := Info{
		ID: m.ID, Built: built, Fragments: m.Counts.Fragments, Fetched: day.All(day.FromSources(m.Sources)),
		Empty: true, Fallback: m.Params[release.ParamFallback],
	}
	for _, f := range m.Files() {
		i.Bytes += f.Size
	}
	for kind, n := range m.Counts.Resources {
		if n > 0 && kind != fragment.KindDefault.String() && kind != fragment.KindRemoved.String() {
			i.Empty = false
		}
	}
	return i
}

// reported contains the fields of a build's report for Info.
type reported struct {
	BuiltAt time.Time       `json:"built_at"` // zero if unknown
	Forced  json.RawMessage `json:"forced"`   // recorded by RecordForced
}

// readReport returns a zero value for an unreadable report.
func readReport(report []byte) (r reported) {
	if json.Unmarshal(report, &r) != nil {
		return reported{}
	}
	return r
}

// withForced adds the reason for publishing despite the gate to a report, which may be nil.
func withForced(report []byte, reason any) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(report, &fields); err != nil && report != nil {
		return nil, fmt.Errorf("%s: %w", release.ReportName, err)
	}
	forced, err := json.Marshal(reason)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", release.ReportName, err)
	}
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	fields["forced"] = forced
	return json.Marshal(fields)
}

// arrange sorts the releases of a store, newest first, and marks the targets of its pointers. History may be empty,
// and canary "".
func arrange(infos []Info, history []string, canary string, rolledBack []string) {
	for n := range infos {
		i := &infos[n]
		i.Current = len(history) > 0 && i.ID == history[0]
		i.Previous = len(history) > 1 && i.ID == history[1] && !i.Current
		i.Canary = i.ID == canary
		i.RolledBack = slices.Contains(rolledBack, i.ID)
	}
	slices.SortStableFunc(infos, func(a, b Info) int {
		return cmp.Or(b.Built.Compare(a.Built), cmp.Compare(a.ID, b.ID))
	})
}

// surplus returns the IDs of the releases beyond keep, from the result of arrange. It keeps marked ones, then the
// newest. It neither counts nor returns releases with an Err.
func surplus(infos []Info, keep int) []string {
	marked := func(i *Info) bool { return i.Current || i.Previous || i.Canary || i.RolledBack }
	for n := range infos {
		if i := &infos[n]; i.Err == nil && marked(i) {
			keep--
		}
	}
	var ids []string
	for n := range infos {
		i := &infos[n]
		if i.Err != nil || marked(i) {
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		ids = append(ids, i.ID)
	}
	return ids
}
