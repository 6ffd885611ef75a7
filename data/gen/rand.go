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

// seed returns a random number other than 0 in permille of a thousand cases, and else 0.
func (r *random) seed(permille int) uint64 {
	x := r.next() | 1
	if !r.chance(permille) {
		return 0
	}
	return x
}

// pick returns a random element of a list that is not empty.
func pick[T any](r *random, list []T) T { return list[r.below(len(list))] }

// front returns a number from 0 to n-1, the smaller the more often: half of them lie in
// the first n/8.
func (r *random) front(n int) int {
	hi, _ := bits.Mul64(power(r.next(), 3), uint64(n))
	return int(hi)
}

// power returns x to the n, both powers taken as fractions of 2^64.
func power(x uint64, n int) uint64 {
	p := x
	for range n - 1 {
		p, _ = bits.Mul64(p, x)
	}
	return p
}

// A law picks ranks by a power of a random fraction from head, of 2^64, on. Without the
// head, the first few ranks would be picked most of the time.
type law struct {
	power int
	head  uint64
}

var (
	// credits is the law that people get credits by: the first hundredth gets a quarter of
	// them, the first tenth half, the worse half a seventh. It begins at the sixth root of 0.0006.
	credits = law{6, 0x4a58e857e9e6b400}
	// crowd has a longer tail still: companies and keywords. It begins at the eighth root of 0.00002.
	crowd = law{8, 0x42339e582d3f2000}
)

// rank returns a rank below n.
func (l law) rank(r *random, n uint64) uint64 {
	x, _ := bits.Mul64(r.next(), ^l.head)
	rank, _ := bits.Mul64(power(x+l.head, l.power)-power(l.head, l.power), n)
	return rank
}

// A tail is a distribution by its upper tail: a value is above tail[k] with probability
// 2^-k. The first element is the least value, the last one the greatest.
type tail []int

// at returns the value that is exceeded with probability u/2^64: the smaller u, the
// greater the value.
func (t tail) at(u uint64) int {
	k := octave(u)
	if k >= len(t)-1 {
		return t[len(t)-1]
	}
	// Within an octave, u runs from 2^(63-k) to twice that and the value from t[k+1]
	// down to t[k].
	fraction := int(u << k << 1 >> 44) // of 2^20
	return t[k+1] - (t[k+1]-t[k])*fraction>>20
}

// octave returns how often the share that ranks better has been halved: 0 in the worse
// half, 1 in the quarter above, and so on.
func octave(share uint64) int { return bits.LeadingZeros64(share | 1) }

// near returns a number among the octaves that u is in, when they are taken width at a
// time. If u is evenly distributed, so is the result.
func (r *random) near(u uint64, width int) uint64 {
	top := ^uint64(0) >> (octave(u) / width * width)
	for {
		if v := r.next() & top; v > top>>width {
			return v
		}
	}
}

// related returns a number that is evenly distributed if u is, but mostly close to u.
func (r *random) related(u uint64) uint64 {
	switch x := r.below(100); {
	case x < 60:
		return r.near(u, 1)
	case x < 96:
		return r.near(u, 3)
	}
	return r.next()
}

// normals is the standard normal distribution's tail above its median, in 1/1024.
var normals = tail{
	0, 0, 691, 1178, 1571, 1908, 2206, 2476, 2724, 2955, 3171, 3376, 3570, 3755, 3932, 4103, 4267, 4425, 4579, 4728,
}

// normal returns a number of the standard normal distribution in 1/1024.
func (r *random) normal() int {
	u := r.next()
	n := normals.at(u << 1 >> 1) // below 2^63: the upper half
	if u>>63 == 1 {
		return -n
	}
	return n
}

// logNormal returns a number of the log-normal distribution with the given median and
// the standard deviation sigma, in hundredths, of its natural logarithm.
func (r *random) logNormal(median, sigma int) int {
	// 2^x = e^(sigma*normal); x in 1/1024. Of the fraction f of x, 2^f is about 1 + 0.656f + 0.344f².
	x := r.normal() * sigma * 1477 / (1024 * 100)
	whole, f := x>>10, x&1023
	m := median * (1<<20 + f*(672<<10+352*f)>>10) >> 20
	if whole < 0 {
		return m >> min(-whole, 62)
	}
	return m << min(whole, 20)
}

// A curve is a function of a count that changes with its order of magnitude: curve[k] is
// the value at 2^k-1, and in between it is interpolated.
type curve []int

// at returns the value at n, which is 0 or more; behind the last point that of it.
func (c curve) at(n int) int {
	n++
	k := bits.Len(uint(n)) - 1
	if k >= len(c)-1 {
		return c[len(c)-1]
	}
	return c[k] + (c[k+1]-c[k])*(n-1<<k)>>k
}
