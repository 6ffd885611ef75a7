package limit

import (
	"math"
	"testing"
)

func TestExpandable(t *testing.T) {
	for _, tt := range []struct{ size, ratio, want int64 }{
		{0, 1000, freeBytes},
		{1 << 10, 1000, freeBytes},
		{1 << 20, 1000, 1000 << 20},
		{math.MaxInt64, 2, math.MaxInt64},
		{1 << 20, math.MaxInt64, math.MaxInt64},
		{5, math.MaxInt64, math.MaxInt64},
	} {
		if got := Expandable(tt.size, tt.ratio); got != tt.want {
			t.Errorf("Expandable(%d, %d) = %d, want %d", tt.size, tt.ratio, got, tt.want)
		}
	}
}
