// Package report holds the figures of a benchmark, compares them with their goals and
// writes them as tables and as JSON.
package report

import (
	"fmt"
	"time"

	"reelsplice/cmd/bench/host"
)

// Version is the version of the form of the JSON.
const Version = 1

// A Report says what a run measured.
type Report struct {
	Version     int               `json:"version"`
	Started     time.Time         `json:"started"`
	Seconds     float64           `json:"seconds"`
	Machine     host.Machine      `json:"machine"`
	Versions    map[string]string `json:"versions"`
	Missing     []string          `json:"missing"` // peers that are not installed
	Notes       []string          `json:"notes"`   // what else was left out
	RoundCount  int               `json:"rounds"`
	RoundLength int               `json:"round_seconds"`
	Release     Release           `json:"release"`
	Subjects    []Subject         `json:"subjects"`
	Ratios      []Ratio           `json:"ratios"`
	Figures     []Figure          `json:"figures"`
	Cases       []Measure         `json:"cases"`
	Mix         []Measure         `json:"mix"`
	Connections []Measure         `json:"connections"` // the curve by connections
	Parts       []Measure         `json:"parts"`       // the curve by appended parts
	Edge        EdgeFigures       `json:"edge"`
	Sizes       *Sizes            `json:"sizes,omitempty"`
}

// A Release is what was served.
type Release struct {
	ID     string `json:"id"`
	Movies int    `json:"movies"`
}

// A Figure is one number that has a goal.
type Figure struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit,omitempty"`
	Goal    float64 `json:"goal,omitempty"` // at most; 0 for none
	Verdict string  `json:"verdict,omitempty"`
}

// figure returns a number whose goal is to be at most most; 0 is no goal.
func figure(name string, value float64, unit string, most float64) Figure {
	f := Figure{Name: name, Value: value, Unit: unit, Goal: most}
	if most > 0 {
		f.Verdict = Short
		if value <= most {
			f.Verdict = Pass
		}
	}
	return f
}

// New returns a report of rounds of so many seconds that begins now.
func New(rounds, seconds int, now time.Time) *Report {
	return &Report{
		Version: Version, Started: now.UTC().Truncate(time.Second), Machine: host.ThisMachine(),
		RoundCount: rounds, RoundLength: seconds, Missing: []string{}, Notes: []string{}, Ratios: []Ratio{},
		Figures: []Figure{}, Cases: []Measure{}, Mix: []Measure{}, Connections: []Measure{}, Parts: []Measure{},
		Edge: EdgeFigures{Starts: []float64{}, StartsCold: []float64{}},
	}
}

// Note adds a remark for readers of the report.
func (r *Report) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// What the goals say of single numbers.
const (
	mostAnon  = 64 << 20 // bytes beside the mapping
	mostSize  = 1.06     // of one-pass gzip -6
	mostStart = 200      // milliseconds
)

// Finish computes what follows from the measures.
func (r *Report) Finish(now time.Time) {
	r.Seconds = now.Sub(r.Started).Seconds()
	r.Ratios = append(ratios(r.Cases), ratios(r.Mix)...)
	if r.Edge.Anon > 0 {
		const mebi = 1 << 20
		r.Figures = append(r.Figures,
			figure("memory beside the mapping", float64(r.Edge.Anon)/mebi, "MiB", mostAnon/mebi),
			figure("memory of mapped files", float64(r.Edge.File)/mebi, "MiB", 0))
	}
	if len(r.Edge.Starts) > 0 {
		r.Figures = append(r.Figures,
			figure("start to first answer", median(r.Edge.Starts), "ms", mostStart),
			figure("the same, nothing of the release in memory", median(r.Edge.StartsCold), "ms", mostStart))
	}
	if r.Sizes != nil && r.Sizes.Answers > 0 {
		r.Figures = append(r.Figures, figure(fmt.Sprintf("bytes of %d responses by one-pass gzip -6", r.Sizes.Answers), r.Sizes.Ratio, "", mostSize))
	}
}

// EdgeFigures are the edge's memory and start.
type EdgeFigures struct {
	Anon       int64     `json:"anon_bytes"` // beside the mapped release, the most that was seen after a load
	File       int64     `json:"file_bytes"` // of mapped files, at the same time
	Starts     []float64 `json:"starts_millis"`
	StartsCold []float64 `json:"starts_cold_millis"` // likewise, with nothing of the release in memory
}

// Note takes down how much memory the edge has.
func (e *EdgeFigures) Note(anon, file int64) {
	if anon > e.Anon {
		e.Anon, e.File = anon, file
	}
}

// Sizes compare the bytes of responses with those of their JSON compressed whole.
type Sizes struct {
	Answers int     `json:"answers"`
	Raw     int     `json:"raw_bytes"`
	Gzip    int     `json:"gzip_bytes"`
	OnePass int     `json:"one_pass_bytes"` // of gzip -6 over each whole response
	Ratio   float64 `json:"ratio"`          // Gzip / OnePass
}

// A Subject is a response that is measured.
type Subject struct {
	Case string `json:"case"`
	Path string `json:"path"`
	Gzip int    `json:"gzip_bytes"`
	Raw  int    `json:"raw_bytes"`
}
