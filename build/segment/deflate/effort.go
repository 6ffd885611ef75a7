package deflate

import "math"

// An effort is how hard a Quick looks for matches.
type effort struct {
	chain int // places that are compared for one match
	nice  int // length of a match that needs no better one
	lazy  int // length of a match from which on the next places are not tried
	good  int // length of a match from which on they are tried with a quarter of the chain
	most  int // bytes of a text beyond which others are quicker
}

// efforts are those of the levels, so that no class of lengths takes more bytes than by
// klauspost/compress at the same level, which is what most is measured against too.
var efforts = [...]effort{
	1: {chain: 1, nice: 16, lazy: 0, good: 4, most: 10_000},
	2: {chain: 2, nice: 16, lazy: 0, good: 4, most: 10_000},
	3: {chain: 4, nice: 32, lazy: 0, good: 4, most: 10_000},
	4: {chain: 3, nice: 16, lazy: 6, good: 4, most: 30_000},
	5: {chain: 6, nice: 64, lazy: 16, good: 8, most: 30_000},
	6: {chain: 8, nice: 128, lazy: 24, good: 8, most: 30_000},
	7: {chain: 24, nice: 128, lazy: 16, good: 8, most: math.MaxInt},
	8: {chain: 96, nice: 258, lazy: 32, good: 16, most: math.MaxInt},
	9: {chain: 1024, nice: 258, lazy: 258, good: 32, most: math.MaxInt},
}

// Most returns the length in bytes of the longest text that q writes more quickly than
// klauspost/compress at the same level, or as quickly; of a high level, any.
func (q *Quick) Most() int { return q.effort.most }
