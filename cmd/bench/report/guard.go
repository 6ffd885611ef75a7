package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
)

// guardShare is what must be left of a stored ratio.
const guardShare = 0.9

// StoredRatios are the ratios that later runs are compared with, by their names.
type StoredRatios struct {
	Version int                    `json:"version"`
	Ratios  map[string]StoredRatio `json:"ratios"`
}

// A StoredRatio says how the edge did beside a peer; larger is better.
type StoredRatio struct {
	Requests float64 `json:"requests"` // of the edge / of the peer
	CPU      float64 `json:"cpu"`      // of the peer / of the edge
}

// Stored returns the ratios that are worth keeping: those that have goals.
func (r *Report) Stored() StoredRatios {
	s := StoredRatios{Version: Version, Ratios: map[string]StoredRatio{}}
	for i := range r.Ratios {
		if v := &r.Ratios[i]; v.Goal > 0 && v.Against != Before {
			s.Ratios[v.name()] = StoredRatio{Requests: round2(v.Rate), CPU: round2(v.CPU)}
		}
	}
	return s
}

func round2(v float64) float64 { return math.Round(v*100) / 100 }

// ReadStored reads what Write has written.
func ReadStored(file string) (StoredRatios, error) {
	var s StoredRatios
	data, err := os.ReadFile(file)
	if err != nil {
		return s, fmt.Errorf("read stored ratios: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read stored ratios in %s: %w", file, err)
	}
	if s.Version != Version {
		return s, fmt.Errorf("read stored ratios in %s: version %d, want %d", file, s.Version, Version)
	}
	return s, nil
}

// Write writes the ratios to a file.
func (s StoredRatios) Write(file string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode stored ratios: %w", err)
	}
	if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write stored ratios: %w", err)
	}
	return nil
}

// Guard says what got worse by more than a tenth than what is stored. The CPU time must
// have; requests/s too where the edge set the pace. Where it did not, the load generator
// was at its end or the machine did something else, and requests/s tell nothing of the
// edge. What was not measured is no loss.
func (r *Report) Guard(stored StoredRatios) []string {
	var out []string
	for i := range r.Ratios {
		v := &r.Ratios[i]
		was, ok := stored.Ratios[v.name()]
		if !ok || v.CPU >= guardShare*was.CPU {
			continue
		}
		if v.Busy < saturated || v.Rate < guardShare*was.Requests {
			out = append(out, fmt.Sprintf("%s: CPU time %.2f and requests/s %.2f, stored are %.2f and %.2f", v.name(), v.CPU, v.Rate, was.CPU, was.Requests))
		}
	}
	return out
}
