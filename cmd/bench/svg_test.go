package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLogScale(t *testing.T) {
	for _, c := range []struct {
		values []float64
		ticks  []float64
	}{
		{[]float64{0.9, 1.3, 3}, []float64{0.5, 1, 2, 5}},
		{[]float64{1}, []float64{1, 2}},
		{[]float64{20, 50}, []float64{20, 50}},
		{[]float64{8, 2000}, []float64{5, 10, 20, 50, 100, 200, 500, 1000, 2000}},
	} {
		s := logScale(c.values, 100, 200)
		if d := cmp.Diff(c.ticks, s.ticks, sameFloat); d != "" {
			t.Errorf("logScale(%v) (-want +got):\n%s", c.values, d)
		}
		if from, to := s.at(s.from), s.at(s.to); from != 100 || to != 200 {
			t.Errorf("logScale(%v) goes from %v to %v, want from 100 to 200", c.values, from, to)
		}
	}
}

func TestLinearScale(t *testing.T) {
	for _, c := range []struct {
		values []float64
		ticks  []float64
	}{
		{[]float64{3, 60_000}, []float64{0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000}},
		{[]float64{7}, []float64{0, 2, 4, 6, 8}},
		{[]float64{0.3}, []float64{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3}},
	} {
		s := linearScale(c.values, 200, 100) // upwards
		if d := cmp.Diff(c.ticks, s.ticks, sameFloat); d != "" {
			t.Errorf("linearScale(%v) (-want +got):\n%s", c.values, d)
		}
		if middle := s.at(s.to / 2); middle != 150 {
			t.Errorf("linearScale(%v): its middle is at %v, want 150", c.values, middle)
		}
	}
}

var sameFloat = cmp.Comparer(func(a, b float64) bool { return a == b || (a-b)/(a+b) < 1e-9 && (b-a)/(a+b) < 1e-9 })

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0.05: "0.05", 1: "1", 5000: "5000", 20_000: "20k", 2e6: "2M", 0.30000000000000004: "0.3"} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %s, want %s", v, got, want)
		}
	}
}
