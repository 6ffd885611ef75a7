package bench

import "time"

// Version is the version of the form of the JSON.
const Version = 1

// A Report says what a run measured.
type Report struct {
	Version     int               `json:"version"`
	Started     time.Time         `json:"started"`
	Seconds     float64           `json:"seconds"`
	Machine     Machine           `json:"machine"`
	Versions    map[string]string `json:"versions"`
	Missing     []string          `json:"missing"` // peers that are not installed
	RoundCount  int               `json:"rounds"`
	RoundLength int               `json:"round_seconds"`
	Release     Release           `json:"release"`
	Subjects    []Subject         `json:"subjects"`
	Cases       []Measure         `json:"cases"`
	Mix         []Measure         `json:"mix"`
	Connections []Measure         `json:"connections"` // the curve by connections
	Parts       []Measure         `json:"parts"`       // the curve by appended parts
	Edge        *EdgeFigures      `json:"edge,omitempty"`
	Ratios      []Ratio           `json:"ratios"`
}

// A Release is what was served.
type Release struct {
	ID     string `json:"id"`
	Movies int    `json:"movies"`
	Bytes  int64  `json:"bytes"`
}

// EdgeFigures are the edge's memory and start.
type EdgeFigures struct {
	Anon        int64     `json:"anon_bytes"` // beside the mapped release, the most that was seen
	File        int64     `json:"file_bytes"` // of mapped files, at the same time
	StartMillis float64   `json:"start_millis"`
	Starts      []float64 `json:"starts_millis"` // from exec to the first answer
}

func newReport(cfg *Config, now time.Time) *Report {
	return &Report{
		Version: Version, Started: now.UTC().Truncate(time.Second), Machine: thisMachine(),
		RoundCount: cfg.Rounds, RoundLength: cfg.Seconds,
		Missing: []string{}, Cases: []Measure{}, Mix: []Measure{}, Connections: []Measure{}, Parts: []Measure{}, Ratios: []Ratio{},
	}
}

// finish computes what follows from the measures.
func (r *Report) finish(now time.Time) {
	r.Seconds = now.Sub(r.Started).Seconds()
	r.Ratios = append(ratios(r.Cases), ratios(r.Mix)...)
}
