// Package postingtest reads lists of package posting for comparison in tests.
package postingtest

import "github.com/reelsplice/reelsplice/schemas/tables/posting"

// Ranks returns the ranks of a list of a table with that many rows, ascending.
func Ranks(l posting.List, rows int) (ranks []uint32, err error) {
	set := posting.NewSet(rows)
	if err := l.AddTo(set); err != nil {
		return nil, err
	}
	for r := set.Next(0); r >= 0; r = set.Next(r + 1) {
		ranks = append(ranks, uint32(r))
	}
	return ranks, nil
}
