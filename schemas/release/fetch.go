package release

import (
	"github.com/zeebo/xxh3"

	"reelsplice/schemas/fragment"
)

// What lies in memory is read by touching it. What does not is read a page at a time then,
// and whoever touches it waits each time: so it is told beforehand what will be touched.
// Where all is in memory that is a waste of a microsecond a call.

// Fetch has the system read stored, such as a segment, where it is part of a Reader's
// mapping, and does not wait for it.
func Fetch(stored []byte) { fetch(stored) }

// Fetch has the system read all that is said of the resource, and does not wait for it.
func (e Entry) Fetch() {
	if e.r != nil {
		fetch(e.r.directory.data[e.ref:][:e.size()])
	}
}

// Fetch has the system read what Include looks at for all of is. It waits for the first
// of what leads to others, three times in all rather than several times for each.
func (r *Reader) Fetch(is []Include) {
	for i := range is {
		slot := home(hashOf(&is[i]), r.homes)
		fetch(r.index.data[headerLen+slotLen*slot:][:slotLen])
	}
	for i := range is {
		r.candidates(hashOf(&is[i]), func(ref Ref) {
			if n := uint64(len(r.directory.data)); uint64(ref) < n {
				fetch(r.directory.data[ref:min(uint64(ref)+blockKey+fragment.MaxKeyLen, n)])
			}
		})
	}
	for i := range is {
		if e, ok := r.Include(is[i]); ok {
			e.Fetch()
		}
	}
}

func hashOf(i *Include) uint64 {
	var key [fragment.MaxKeyLen]byte
	return xxh3.Hash(i.AppendKey(key[:0]))
}

// candidates calls fn for each block that may have a key with that hash.
func (r *Reader) candidates(hash uint64, fn func(ref Ref)) {
	slot := home(hash, r.homes)
	for end := min(slot+r.reach+1, r.slots); slot < end; slot++ {
		s := le.Uint64(r.index.data[headerLen+slotLen*slot:]) // unchecked: it only tells what to fetch
		if s == 0 {
			return
		}
		if s>>slotOffBits == hash&(1<<slotTagBits-1) {
			fn(slotRef(s))
		}
	}
}
