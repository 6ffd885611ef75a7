package bench

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

// quotient returns a / b, and 0 when that says nothing.
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
