package edge

import (
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/query"
)

// Rows of lists lie anywhere in a release, and each is found by three reads, one after the
// other. From a disk those of a page of twenty take several milliseconds, unless the disk
// reads for all of them at a time. The waits are system calls: see faultWatch in package serve.

// awaitRows waits until the rows of a page are in memory.
func (s *scratch) awaitRows(rel *release.Reader, shape *pageShape, rows []query.Row) {
	s.ahead = s.ahead[:0]
	for i := range rows {
		s.ahead = append(s.ahead, release.Include{Kind: rows[i].Kind, ID: rows[i].ID, Sub: shape.sub})
	}
	rel.AwaitIncludes(s.ahead)
}

// awaitIncludes waits until the fragments that a fragment includes are in memory.
func (s *scratch) awaitIncludes(rel *release.Reader, f *release.Fragment) {
	s.ahead = s.ahead[:0]
	var piece release.Piece
	pieces := f.Pieces()
	for pieces.Next(&piece) {
		if piece.Op == release.OpInclude {
			s.ahead = append(s.ahead, piece.Include)
		}
	}
	if len(s.ahead) > 1 {
		rel.AwaitIncludes(s.ahead)
	}
}
