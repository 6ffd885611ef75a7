package neighbours

import (
	"encoding/binary"
	"math"
)

// Append appends t in binary.
func (t *Title) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(t.ID))
	dst = binary.AppendUvarint(dst, uint64(t.Collection))
	dst = binary.AppendUvarint(dst, uint64(t.Votes))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(t.Popularity))
	adult := byte(0)
	if t.Adult {
		adult = 1
	}
	dst = append(dst, adult)
	for _, ids := range [...][]int64{t.Genres, t.Keywords, t.People} {
		dst = binary.AppendUvarint(dst, uint64(len(ids)))
		for _, id := range ids {
			dst = binary.AppendUvarint(dst, uint64(id))
		}
	}
	return dst
}

// Parse sets t, in t's memory, to the title that Append has written as b; false for other
// bytes.
func (t *Title) Parse(b []byte) bool {
	t.reset()
	r := varints{rest: b}
	t.ID, t.Collection, t.Votes = int64(r.next()), int64(r.next()), int64(r.next())
	if len(r.rest) < 9 {
		return false
	}
	t.Popularity = math.Float64frombits(binary.LittleEndian.Uint64(r.rest))
	t.Adult = r.rest[8] == 1
	r.rest = r.rest[9:]
	for _, ids := range [...]*[]int64{&t.Genres, &t.Keywords, &t.People} {
		for n := r.next(); n > 0 && !r.bad; n-- {
			*ids = append(*ids, int64(r.next()))
		}
	}
	return !r.bad && len(r.rest) == 0
}
