package gen

import (
	"math/big"
	"math/bits"
)

// A kind is one of records, and of files. Records of a block are made together: as many
// as make a few megabytes.
type kind struct {
	name  string
	block uint64
	write func(j *writer, i uint64) // the fields of record i
}

// kinds are all, in the order of files.
var kinds = [...]kind{
	{"movies", 256, writeMovie},
	{"tv", 64, writeTVShow},
	{"people", 4096, writePersonRecord},
	{"collections", 256, writeCollectionRecord},
	{"companies", 8192, writeCompanyRecord},
	{"networks", 8192, writeNetworkRecord},
	{"keywords", 16384, writeKeywordRecord},
}

// A population is the records of one kind: how many there are, which ids they have and
// how they rank. The records are numbered from 0 in the order of their ids.
type population struct {
	kind
	n, seed         uint64
	step, back, add uint64 // record i ranks i*step+add modulo n; back is the inverse of step
}

// newPopulation returns n records of kinds[k].
func newPopulation(seed uint64, k int, n int64) *population {
	p := &population{kind: kinds[k], n: uint64(n), seed: mix(seed ^ uint64(k+1)*golden)}
	if n == 0 {
		return p
	}
	p.add = mix(p.seed) % p.n
	p.step, _ = bits.Mul64(p.n, golden) // neighbours rank far from each other
	for ; ; p.step++ {
		back := new(big.Int).ModInverse(new(big.Int).SetUint64(p.step), big.NewInt(n))
		if back != nil {
			p.back = back.Uint64()
			return p
		}
	}
}

// rank returns the rank of record i among its kind, 0 for the one that is the most popular.
func (p *population) rank(i uint64) uint64 { return (i*p.step + p.add) % p.n }

// ranked returns the record of a rank below n.
func (p *population) ranked(rank uint64) uint64 { return (rank + p.n - p.add) % p.n * p.back % p.n }

// pick returns a record by a law of ranks.
func (p *population) pick(r *random, by law) uint64 { return p.ranked(by.rank(r, p.n)) }

// share returns how much of the kind ranks better than record i, as a fraction of 2^64.
func (p *population) share(i uint64) uint64 { return p.shareOf(p.rank(i)) }

func (p *population) shareOf(rank uint64) uint64 {
	q, _ := bits.Div64(rank, 1<<63, p.n) // rank < n
	return q
}

// A stream separates the random numbers of one record's parts.
type stream uint64

const (
	streamCore stream = iota // what other records repeat
	streamDetails
	streamSeason // and following: one for each season
)

// random returns the random numbers of one part of a record.
func (p *population) random(i uint64, s stream) random {
	return random{mix(p.seed+i*golden) ^ mix(uint64(s))}
}

// Ids have gaps: of idSpan numbers in a row, one is missing. The first span begins at firstID.
const (
	idSpan  = 4
	idsUsed = idSpan - 1
	firstID = 2
)

// id returns the id of record i. Ids ascend with i.
func (p *population) id(i uint64) int {
	span, place := i/idsUsed, i%idsUsed
	if place >= mix(p.seed^span*golden)%idSpan {
		place++
	}
	return int(span*idSpan+place) + firstID
}
