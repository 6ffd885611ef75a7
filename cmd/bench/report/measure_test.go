package report

import "testing"

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 2, 100}, 3},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

// TestPairedRatio has a machine that gets slower while it measures: the ratio does not.
func TestPairedRatio(t *testing.T) {
	rates := func(list ...float64) (rounds []Round) {
		for _, v := range list {
			rounds = append(rounds, Round{Rate: v})
		}
		return rounds
	}
	for _, c := range []struct {
		a, b []Round
		want float64
	}{
		{rates(100, 10, 50), rates(50, 5, 25), 2},
		{rates(10, 20, 90), rates(10, 10, 10), 2},
		{rates(10, 10, 10), rates(0, 5, 5), 2}, // a round without a figure does not count
		{rates(10), nil, 0},
		{rates(0), rates(0), 0},
	} {
		if got := pairedRatio(c.a, c.b, func(r Round) float64 { return r.Rate }); got != c.want {
			t.Errorf("pairedRatio(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
