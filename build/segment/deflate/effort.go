package deflate

// An effort is how hard matches are looked for.
type effort struct {
	chain int // places that are compared for one match
	nice  int // length of a match that needs no better one
	lazy  int // length of a match up to which the next place is tried too
	good  int // length of a match from which the next place is tried with a quarter of the chain
}

// efforts are those of the levels.
var efforts = [...]effort{
	1: {chain: 1, nice: 16, lazy: 0, good: 4},
	2: {chain: 2, nice: 16, lazy: 0, good: 4},
	3: {chain: 4, nice: 32, lazy: 0, good: 4},
	4: {chain: 2, nice: 16, lazy: 6, good: 4},
	5: {chain: 4, nice: 32, lazy: 16, good: 8},
	6: {chain: 8, nice: 128, lazy: 16, good: 8},
	7: {chain: 24, nice: 128, lazy: 16, good: 8},
	8: {chain: 64, nice: 258, lazy: 32, good: 16},
	9: {chain: 1024, nice: 258, lazy: 258, good: 32},
}
