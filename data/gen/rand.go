package gen

import "math/bits"

// A random is a splitmix64 generator. Its numbers depend only on its seed. It uses integer arithmetic, because the last
// bits of floating-point functions differ between processors.
type random struct{ state uint64 }

// golden is the step of splitmix64: 2^64 over the golden ratio.
const golden = 0x9e3779b97f4a7c15

// mix spreads the bits of x over all of a word.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// next returns 64 random bits.
func (r *random) next() uint64 {
	r.state += golden
	return mix(r.state)
}

// below returns a number from 0 to n-1; n is at least 1.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// between returns a number from lo to hi, both included.
func (r *random) between(lo, hi int) int { return lo + r.below(hi-lo+1) }

// chance returns true with a probability of permille/1000.
func (r *random) chance(permille int) bool { return r.below(1000) < permille }

// pick returns a random element of a list that is not empty.
func pick[T any](r *random, list []T) T { return list[r.below(len(list))] }

// rank returns a random rank below n. The top 1 % of ranks get a quarter of all picks, the top 10 % half, the lower 50 %
// a seventh: a rank is the sixth power of a random fraction above head. Without head, the first few would get most.
func (r *random) rank(n uint64) uint64 {
	const head = 0x4a58e857e9e6b400 // the sixth root of 0.0006, as a fraction of 2^64
	x, _ := bits.Mul64(r.next(), ^uint64(head))
	rank, _ := bits.Mul64(sixth(x+head)-sixth(head), n)
	return rank
}

// sixth returns the sixth power of a fraction of 2^64.
func sixth(x uint64) uint64 {
	p := x
	for range 5 {
		p, _ = bits.Mul64(p, x)
	}
	return p
}

// A tail is a distribution: a value is above tail[k] with probability 2^-k. The first element is the least value, the
// last one the greatest.
type tail []int

// at returns the value that is exceeded with probability u/2^64, or 0 for a nil tail.
func (t tail) at(u uint64) int {
	if t == nil {
		return 0
	}
	k := bits.LeadingZeros64(u | 1) // 0 for the lower half of a kind, 1 for the quarter above, and so on
	if k >= len(t)-1 {
		return t[len(t)-1]
	}
	// Within an octave, u runs from 2^(63-k) to twice as much, and the value from t[k+1] down to t[k].
	fraction := int(u << k << 1 >> 44) // in units of 2^-20
	return t[k+1] - (t[k+1]-t[k])*fraction>>20
}
