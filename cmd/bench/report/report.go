// Package report holds the figures of a benchmark and compares them with their goals.
package report

import (
	"fmt"
	"time"

	"github.com/reelsplice/reelsplice/cmd/bench/host"
)

// A Report is the outcome of a run.
type Report struct {
	Started     time.Time `json:"started"`
	Seconds     float64   `json:"seconds"`
	Machine     string    `json:"machine"`
	Notes       []string  `json:"notes"`
	RoundCount  int       `json:"rounds"`
	RoundLength int       `json:"round_seconds"`
	Connections int       `json:"connections"`
	Movies      int       `json:"movies"`
	Ratios      []Ratio   `json:"ratios"`
	Figures     []Figure  `json:"figures"`
	Measures    []Measure `json:"measures"`
	Sizes       Sizes     `json:"sizes"`
	Builds      Builds    `json:"builds"`
}

// Sizes compare the bytes of responses with those of their JSON compressed whole.
type Sizes struct {
	Responses int `json:"responses"`
	Gzip      int `json:"gzip_bytes"`
	OnePass   int `json:"one_pass_bytes"` // of gzip -6 over each whole response
}

// Builds are the rounds of ingests and full builds, and one incremental build after them.
type Builds struct {
	Memory      int64        `json:"memory_bytes"` // that builds may use
	Rounds      []BuildRound `json:"rounds"`
	Incremental host.Cost    `json:"incremental"`
}

// A BuildRound is an ingest and a full build by each program.
type BuildRound struct {
	Own    Made `json:"own"`
	Before Made `json:"before,omitzero"` // by the program of another commit
}

// Made is the cost of an ingest and a full build by one program, and the bytes of the release.
type Made struct {
	Release string    `json:"release"`
	Bytes   int64     `json:"release_bytes"`
	Ingest  host.Cost `json:"ingest"`
	Build   host.Cost `json:"build"`
}

// New returns a report of rounds that begins now.
func New(rounds, seconds, connections int, now time.Time) *Report {
	return &Report{
		Started: now.UTC().Truncate(time.Second), Machine: host.Machine(),
		RoundCount: rounds, RoundLength: seconds, Connections: connections,
	}
}

// Note adds a remark for readers of the report.
func (r *Report) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Finish computes what follows from the measures.
func (r *Report) Finish(now time.Time) {
	r.Seconds = now.Sub(r.Started).Seconds()
	for i := range r.Measures {
		r.Measures[i].Summarize()
	}
	r.Ratios = ratios(r.Measures)
	r.Figures = append(r.Sizes.figures(), r.Builds.figures()...)
}

// ShortOfBefore names the goals beside another commit that are missed.
func (r *Report) ShortOfBefore() (names []string) {
	for i := range r.Ratios {
		if v := &r.Ratios[i]; v.Against == Before && v.short() {
			names = append(names, v.Case)
		}
	}
	for _, f := range r.Figures {
		if f.OfBefore && f.Verdict == Short {
			names = append(names, f.Name)
		}
	}
	return names
}
