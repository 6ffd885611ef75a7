package report

import "slices"

// median returns the middle of values, the mean of the two in the middle of an even
// number of them, and 0 for none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	mid := len(v) / 2
	if len(v)%2 == 1 {
		return v[mid]
	}
	return (v[mid-1] + v[mid]) / 2
}

// medianOf returns the median of what f says of each element.
func medianOf[T any](list []T, f func(T) float64) float64 {
	values := make([]float64, 0, len(list))
	for _, e := range list {
		values = append(values, f(e))
	}
	return median(values)
}

// Quotient returns a / b, and 0 when that says nothing.
func Quotient(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return a / b
}

// pairedRatio returns the median over the rounds of f(a) / f(b), both of the same round.
func pairedRatio(a, b []Round, f func(Round) float64) float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if q := Quotient(f(a[i]), f(b[i])); q > 0 {
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
	Load  float64 `json:"load_busy"`  // likewise the load generator
	P50   float64 `json:"p50_micros"`
	P99   float64 `json:"p99_micros"`
	Max   float64 `json:"max_micros"`
	Bytes float64 `json:"bytes"`     // of an answer with its header
	Read  float64 `json:"disk_read"` // bytes that the server read from disks
	// Others is what processes took that are neither the server nor the load generator, as
	// a share of one core; those that came or went meanwhile do not count.
	Others float64 `json:"others"`
}

// A Measure is all rounds of one server under one load, and their medians.
type Measure struct {
	Case        string  `json:"case"`
	Server      string  `json:"server"`
	Connections int     `json:"connections"`
	Parts       int     `json:"parts,omitempty"` // appended; of the curve
	Median      Round   `json:"median"`
	Rounds      []Round `json:"rounds"`
}

// Summarize fills in the medians.
func (m *Measure) Summarize() {
	of := func(f func(Round) float64) float64 { return medianOf(m.Rounds, f) }
	m.Median = Round{
		Rate: of(Round.rate), CPU: of(Round.cpu), P99: of(Round.p99),
		Busy:  of(func(r Round) float64 { return r.Busy }),
		Load:  of(func(r Round) float64 { return r.Load }),
		P50:   of(func(r Round) float64 { return r.P50 }),
		Max:   of(func(r Round) float64 { return r.Max }),
		Bytes: of(func(r Round) float64 { return r.Bytes }),
		Read:  of(func(r Round) float64 { return r.Read }),

		Others: of(func(r Round) float64 { return r.Others }),
	}
}

func (r Round) rate() float64 { return r.Rate }
func (r Round) cpu() float64  { return r.CPU }
func (r Round) p99() float64  { return r.P99 }
