package release

import (
	"bytes"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// A Scan finds resources of a release for a build, which asks for them nearly in the order of parts and blocks. It
// reads and checks parts ahead in pieces and drops each piece after use, so a release larger than memory costs
// sequential reads and little memory: page faults would read 4 KiB at a time, block a thread, and keep their pages. It
// is for one goroutine. A Scan without a Reader finds nothing.
type Scan struct {
	*Reader
	last     Entry  // last resource found
	from, to uint64 // current piece of its part
	size     uint64 // length of the next piece; 0 after a lookup, whose resource may be the only one wanted
}

// Pieces grow from the first to the second length while resources follow one another. Pages have a divisor of either.
const (
	firstPiece = 64 << 10
	lastPiece  = 1 << 20
)

// Resource returns the resource with that key, like Reader.Resource: the one after the last found, or by a lookup.
// Bytes of earlier results may have left memory, and are read again on use.
func (s *Scan) Resource(key []byte) (Entry, bool) {
	if s.Reader == nil {
		return Entry{}, false
	}
	if e, ok := s.next(); ok && bytes.Equal(e.Key(), key) {
		s.last, s.size = e, max(s.size, firstPiece)
		s.read(e.off + e.size())
		return e, true
	}
	e, ok := s.Reader.Resource(key)
	if ok {
		s.Close()
		s.last, s.size = e, 0
		s.from = e.off &^ (firstPiece - 1)
		s.to = s.from
	}
	return e, ok
}

// next returns the resource after the last one in its part, past any aliases.
func (s *Scan) next() (Entry, bool) {
	for e, ok := s.last, s.last.p != nil; ok; {
		off := e.off + e.size()
		if s.size > 0 {
			s.read(off + blockAlign)
		}
		if e, ok = e.p.block(off); ok && !e.IsAlias() {
			return e, true
		}
	}
	return Entry{}, false
}

// read reads and checks pieces up to an offset of the part, and starts reading the next one.
func (s *Scan) read(end uint64) {
	p := s.last.p
	n := uint64(len(p.blocks))
	if end = min(end, n); end <= s.to {
		return
	}
	s.Close()
	s.from = s.to
	s.to = min(max(end, s.from+s.size), n)
	p.checkAll(s.from, s.to-s.from)
	s.size = min(2*s.size, lastPiece)
	file.Fetch(p.blocks[s.to:min(s.to+s.size, n)])
}

// Close drops the current piece.
func (s *Scan) Close() {
	if s.last.p != nil {
		file.Drop(s.last.p.blocks[s.from:s.to])
	}
}
