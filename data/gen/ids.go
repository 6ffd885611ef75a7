package gen

import "math/bits"

// A kind separates the random numbers and ids of records.
type kind uint64

const (
	kindMovie kind = iota + 1
	kindTV
	kindPerson
	kindCollection
	kindCompany
	kindNetwork
	kindKeyword
)

// A stream separates the random numbers of one record's parts, so that a part can be
// made without those before it.
type stream uint64

const (
	streamCore stream = iota + 1 // what other records repeat
	streamText
	streamDetails
	streamCast
	streamCrew
	streamImages
	streamVideos
	streamTranslations
	streamLists
	streamSeason // and following: one for each season
)

// A population is the records of one kind: how many there are, which ids they have and
// how they rank. The records are numbered from 0 in the order of their ids.
type population struct {
	kind  kind
	n     uint64
	seed  uint64
	width uint // bits of n-1
	mask  uint64
	add   uint64
	odd   [2]uint64
	back  [2]uint64 // inverses of odd modulo 2^64
}

func newPopulation(seed uint64, k kind, n int64) *population {
	p := &population{kind: k, n: uint64(n), seed: mix(seed ^ uint64(k)*golden)}
	p.width = max(2, uint(bits.Len64(uint64(max(n, 1)-1))))
	p.mask = 1<<p.width - 1
	r := random{p.seed}
	p.add = r.next()
	for i := range p.odd {
		p.odd[i] = r.next() | 1
		p.back[i] = inverse(p.odd[i])
	}
	return p
}

// inverse returns the number whose product with odd x is 1 modulo 2^64.
func inverse(x uint64) uint64 {
	y := x // right in the lowest three bits; each step doubles them
	for range 5 {
		y *= 2 - x*y
	}
	return y
}

// random returns the random numbers of one part of a record.
func (p *population) random(i uint64, s stream) random {
	return random{mix(p.seed+i*golden) ^ mix(uint64(s))}
}

// rank returns the rank of record i among its kind, 0 for the one that is the most popular.
func (p *population) rank(i uint64) uint64 {
	for {
		i = p.unscramble(i)
		if i < p.n {
			return i
		}
	}
}

// ranked returns the record of a rank below n.
func (p *population) ranked(rank uint64) uint64 {
	for {
		rank = p.scramble(rank)
		if rank < p.n {
			return rank
		}
	}
}

// scramble permutes the numbers of width bits.
func (p *population) scramble(x uint64) uint64 {
	half := (p.width + 1) / 2
	x = (x + p.add) & p.mask
	x = x * p.odd[0] & p.mask
	x ^= x >> half
	x = x * p.odd[1] & p.mask
	return x ^ x>>half
}

// unscramble is the inverse of scramble: shifts by half of the width or more undo themselves.
func (p *population) unscramble(x uint64) uint64 {
	half := (p.width + 1) / 2
	x ^= x >> half
	x = x * p.back[1] & p.mask
	x ^= x >> half
	x = x * p.back[0] & p.mask
	return (x - p.add) & p.mask
}

// share returns how much of the kind ranks better than rank, as a fraction of 2^64.
func (p *population) share(rank uint64) uint64 {
	q, _ := bits.Div64(rank, 1<<63, p.n) // rank < n
	return q
}

// Ids have gaps: of idSpan numbers in a row, idsUsed are taken. The first id is firstID.
const (
	idSpan  = 11
	idsUsed = 8
	firstID = 2
)

// idPlaces lists the ways to take idsUsed of idSpan places.
var idPlaces = makeIDPlaces()

func makeIDPlaces() [][idsUsed]uint8 {
	var out [][idsUsed]uint8
	for set := range uint(1) << idSpan {
		if bits.OnesCount(set) != idsUsed {
			continue
		}
		var places [idsUsed]uint8
		n := 0
		for i := range uint8(idSpan) {
			if set>>i&1 == 1 {
				places[n] = i
				n++
			}
		}
		out = append(out, places)
	}
	return out
}

// id returns the id of record i. Ids ascend with i.
func (p *population) id(i uint64) int64 {
	group := i / idsUsed
	h, _ := bits.Mul64(mix(p.seed^group*golden), uint64(len(idPlaces)))
	return int64(group*idSpan+uint64(idPlaces[h][i%idsUsed])) + firstID
}
