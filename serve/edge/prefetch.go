package edge

import (
	"reelsplice/schemas/release"
	"reelsplice/serve/query"
)

// Rows of lists lie anywhere in a release, and each is found by three reads, one after the
// other. From a disk those of a page of twenty take several milliseconds, unless the disk
// reads for all of them at a time. The waits are system calls: see package pagefault.

// fetchRows waits until the rows of a page are in memory.
func (c *composer) fetchRows(rel *release.Reader, s *pageShape, rows []query.Row) {
	c.scratch.ahead = c.scratch.ahead[:0]
	for i := range rows {
		c.scratch.ahead = append(c.scratch.ahead, release.Include{Kind: rows[i].Kind, ID: rows[i].ID, Sub: s.sub})
	}
	rel.AwaitIncludes(c.scratch.ahead)
}

// fetchIncludes waits until the fragments that a fragment includes are in memory.
func (c *composer) fetchIncludes(rel *release.Reader, f *release.Fragment) {
	c.scratch.ahead = c.scratch.ahead[:0]
	var piece release.Piece
	pieces := f.Pieces()
	for pieces.Next(&piece) {
		if piece.Op == release.OpInclude {
			c.scratch.ahead = append(c.scratch.ahead, piece.Include)
		}
	}
	if len(c.scratch.ahead) > 1 {
		rel.AwaitIncludes(c.scratch.ahead)
	}
}
