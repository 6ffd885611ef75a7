package gen

import "math/bits"

// A random is a splitmix64 generator. Its numbers are a function of its seed alone, on
// every platform: everything here is integer arithmetic, because the last bits of
// floating-point functions differ between processors.
type random struct{ state uint64 }

// golden is what splitmix64 steps by: 2^64 over the golden ratio.
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

// chance reports true in permille of a thousand cases.
func (r *random) chance(permille int) bool { return r.below(1000) < permille }

// pick returns a random element of a list that is not empty.
func pick[T any](r *random, list []T) T { return list[r.below(len(list))] }

// front returns a number from 0 to n-1, the smaller the more often: half of them lie in
// the first n/8.
func (r *random) front(n int) int {
	hi, _ := bits.Mul64(cube(r.next()), uint64(n))
	return int(hi)
}

// cube returns the third power of x, both taken as fractions of 2^64.
func cube(x uint64) uint64 {
	square, _ := bits.Mul64(x, x)
	hi, _ := bits.Mul64(square, x)
	return hi
}

// A tail is a distribution by its upper tail: a value is above tail[k] with probability
// 2^-k. The first element is the least value, the last one the greatest.
type tail []int64

// at returns the value that is exceeded with probability u/2^64: the smaller u, the
// greater the value.
func (t tail) at(u uint64) int64 {
	k := bits.LeadingZeros64(u | 1)
	if k >= len(t)-1 {
		return t[len(t)-1]
	}
	// Within an octave, u runs from 2^(63-k) to twice that and the value from t[k+1]
	// down to t[k].
	fraction := int64(u << k << 1 >> 44) // of 2^20
	return t[k+1] - (t[k+1]-t[k])*fraction>>20
}

// sameOctave returns a number in u's octave: from the power of two at or below u to the
// next one. If u is evenly distributed, so is the result.
func (r *random) sameOctave(u uint64) uint64 {
	k := bits.LeadingZeros64(u | 1)
	top := uint64(1) << (63 - k)
	return top | r.next()&(top-1)
}

// normals is the standard normal distribution's tail above its median, in 1/1024.
var normals = tail{0, 0, 691, 1178, 1571, 1908, 2206, 2476, 2724, 2955, 3171, 3376, 3570, 3755, 3932, 4103, 4267, 4425, 4579, 4728}

// normal returns a number of the standard normal distribution in 1/1024.
func (r *random) normal() int64 {
	u := r.next()
	n := normals.at(u << 1 >> 1) // below 2^63: the upper half
	if u>>63 == 1 {
		return -n
	}
	return n
}

// logNormal returns a number of the log-normal distribution with the given median and
// the standard deviation sigma, in hundredths, of its natural logarithm.
func (r *random) logNormal(median, sigma int64) int64 {
	// 2^x = e^(sigma*normal); x in 1/1024.
	x := r.normal() * sigma * 1477 / (1024 * 100)
	whole, fraction := x>>10, x&1023
	m := median * int64(powers[fraction>>4]) >> 16
	if whole < 0 {
		return m >> min(-whole, 62)
	}
	return m << min(whole, 20)
}

// powers are 2^(i/64) in 1/65536.
var powers = makePowers()

func makePowers() [64]uint32 {
	const root = 4341736423 // 2^(1/64) in 2^-32
	var out [64]uint32
	p := uint64(1) << 32
	for i := range out {
		out[i] = uint32((p + 1<<15) >> 16)
		hi, lo := bits.Mul64(p, root)
		p = hi<<32 | lo>>32
	}
	return out
}

// A curve is a function of a count that changes with its order of magnitude: curve[k] is
// the value at 2^k-1, and in between it is interpolated.
type curve []int64

// at returns the value at n, which is 0 or more; behind the last point that of it.
func (c curve) at(n int64) int64 {
	n++
	k := bits.Len64(uint64(n)) - 1
	if k >= len(c)-1 {
		return c[len(c)-1]
	}
	return c[k] + (c[k+1]-c[k])*(n-1<<k)>>k
}

// count returns a whole number whose mean is hundredths/100.
func (r *random) count(hundredths int64) int {
	n := int(hundredths / 100)
	if r.below(100) < int(hundredths%100) {
		n++
	}
	return n
}

// A chooser picks a number from 0 to n-1 by weights.
type chooser struct{ upTo []uint32 }

func newChooser(weights ...uint32) chooser {
	c := chooser{make([]uint32, len(weights))}
	sum := uint32(0)
	for i, w := range weights {
		sum += w
		c.upTo[i] = sum
	}
	return c
}

// pick returns a number by the weights.
func (c chooser) pick(r *random) int { return c.at(uint32(r.below(int(c.upTo[len(c.upTo)-1])))) }

// at returns the number at x of the sum of all weights.
func (c chooser) at(x uint32) int {
	for i, up := range c.upTo { // weights that matter come first
		if x < up {
			return i
		}
	}
	return len(c.upTo) - 1
}
