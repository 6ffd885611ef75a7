package edge

import "testing"

// TestPlaces: every page has its rows, and no number of a page leads outside.
func TestPlaces(t *testing.T) {
	f := func(n, number, from, to, all int) {
		t.Helper()
		if a, b := placesOf(n, number); a != from || b != to || pagesOf(n, pageRows) != all {
			t.Errorf("page %d of %d rows: %d to %d of %d pages, want %d to %d of %d", number, n, a, b, pagesOf(n, pageRows), from, to, all)
		}
	}
	f(0, 1, 0, 0, 1)
	f(20, 1, 0, 20, 1)
	f(21, 1, 0, 20, 2)
	f(21, 2, 20, 21, 2)
	f(21, 3, 21, 21, 2)
	f(21, 500, 21, 21, 2)
	f(21, 0, 0, 20, 2)
	f(100_000, 5000, 99_980, 100_000, 5000)
}

// TestRating: ratings have a fraction, as the API writes them.
func TestRating(t *testing.T) {
	for v, want := range map[float64]string{8: "8.0", 8.5: "8.5", 0.5: "0.5", 10: "10.0"} {
		w := &writer{}
		if w.float("", v); string(w.buf) != want {
			t.Errorf("%v is written as %s, want %s", v, w.buf, want)
		}
	}
}
