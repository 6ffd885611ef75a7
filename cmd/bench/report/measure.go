package report

import "slices"

// median returns the middle of values, the mean of the two in the middle of an even
// number of them, and 0 for none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// medianOf returns the median of f over a list.
func medianOf[T any](list []T, f func(T) float64) float64 {
	var values []float64
	for _, e := range list {
		values = append(values, f(e))
	}
	return median(values)
}

// quotient returns a / b, and 0 where one of them was not measured.
func quotient(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return a / b
}

// pairedRatio returns the median over the rounds of f(a) / f(b), both of the same round.
func pairedRatio(a, b []Round, f func(Round) float64) float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if q := quotient(f(a[i]), f(b[i])); q > 0 {
			ratios = append(ratios, q)
		}
	}
	return median(ratios)
}

// A Round is one load on one server.
type Round struct {
	Rate  float64 `json:"requests_per_second"`
	CPU   float64 `json:"cpu_micros"` // CPU time of the server for a request
	Busy  float64 `json:"busy"`       // share of its core that the server took
	P50   float64 `json:"p50_micros"`
	P99   float64 `json:"p99_micros"`
	Bytes float64 `json:"bytes"`     // of a response with its header
	Read  float64 `json:"disk_read"` // bytes that the server read from disks
}

// A Measure is all rounds of one server under one load, and their medians.
type Measure struct {
	Case   string  `json:"case"`
	Server string  `json:"server"`
	Median Round   `json:"median"`
	Rounds []Round `json:"rounds"`
}

// Summarize fills in the medians.
func (m *Measure) Summarize() {
	of := func(f func(Round) float64) float64 { return medianOf(m.Rounds, f) }
	m.Median = Round{
		Rate:  of(func(r Round) float64 { return r.Rate }),
		CPU:   of(func(r Round) float64 { return r.CPU }),
		Busy:  of(func(r Round) float64 { return r.Busy }),
		P50:   of(func(r Round) float64 { return r.P50 }),
		P99:   of(func(r Round) float64 { return r.P99 }),
		Bytes: of(func(r Round) float64 { return r.Bytes }),
		Read:  of(func(r Round) float64 { return r.Read }),
	}
}
