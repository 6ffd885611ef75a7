package serve

import (
	"hash/maphash"
	"net/http"
	"sync/atomic"
	"unsafe"

	"reelsplice/serve/lane"
)

const (
	// planSlots is how many plans there are at most.
	planSlots = 4096
	// maxPlan is the most bytes that a plan takes, about. Most take less than a kilobyte;
	// what it leaves out are lists of many includes.
	maxPlan = 16 << 10
	// maxPlans is the most bytes that all plans take, about.
	maxPlans = 16 << 20
	// planHeads is what the two headers of a plan take, about.
	planHeads = 700
)

// A plan is an answer as it goes over the wire but for its date, for whoever asks the same
// of the same release: nothing is routed, looked up or joined again. It never changes.
type plan struct {
	target string // path and query as they came
	held   uint64 // the serial of the release, which is another one when damage is found
	etag   []byte
	found  []byte // the header from behind the date on
	same   []byte // the same of the 304
	own    []byte // bytes of the gzip body that are not in the release, in order
	parts  []planPart
	length int // of the gzip body
	size   int // what it takes, about
}

// A planPart stands in the body where own[:at] ends. It points into the release.
type planPart struct {
	at     int
	stored []byte
}

// newPlan makes a plan of an answer that lasts.
func newPlan(target []byte, rs *Response) *plan {
	p := &plan{target: string(target), held: rs.held, etag: append([]byte(nil), rs.ETag...)}
	full := *rs
	full.Status, full.Gzip, full.Body, full.Pieces = http.StatusOK, true, nil, rs.lasts
	p.length = full.Len()
	p.found = appendRest(nil, &full, false /* cors */)
	full.Status = http.StatusNotModified
	p.same = appendRest(nil, &full, false /* cors */)
	rs.lasts.GzipPieces(func(b []byte, lasts bool) {
		if lasts {
			p.parts = append(p.parts, planPart{len(p.own), b})
		} else {
			p.own = append(p.own, b...)
		}
	})
	return p
}

// write gives the answer to w, and returns its status and the length of its body.
func (p *plan) write(w *lane.Writer, date []byte, lr *lane.Request) (status, length int) {
	if matches(lr.IfNoneMatch, p.etag) {
		w.AppendString(statusLine(http.StatusNotModified))
		w.Append(date)
		w.Append(p.same)
		return http.StatusNotModified, 0
	}
	w.AppendString(statusLine(http.StatusOK))
	w.Append(date)
	w.Append(p.found)
	if !lr.Head {
		p.writeBody(w)
	}
	return http.StatusOK, p.length
}

func (p *plan) writeBody(w *lane.Writer) {
	from := 0
	for i := range p.parts {
		part := &p.parts[i]
		w.Append(p.own[from:part.at])
		w.Refer(part.stored)
		from = part.at
	}
	w.Append(p.own[from:])
}

// plans keeps the plans of what is asked again and again. A target has one place, by its
// hash, and gets it when it is missed twice with no other that wants it between: so what is
// asked once takes no memory and drives nothing out. It is safe for concurrent use.
type plans struct {
	seed   maphash.Seed // so that nobody can choose targets of one place
	slots  [planSlots]atomic.Pointer[plan]
	missed [planSlots]atomic.Uint32 // the high half of the hash of the last target missed
	size   atomic.Int64             // of all plans
	newest atomic.Uint64            // the serial of the newest release that has one
}

func newPlans() *plans { return &plans{seed: maphash.MakeSeed()} }

// find returns the plan of a target for the release that is held, nil for none.
func (ps *plans) find(target []byte, held *Held) *plan {
	p := ps.slots[maphash.Bytes(ps.seed, target)%planSlots].Load()
	if p == nil || held == nil || p.held != held.serial.Load() || p.target != string(target) {
		return nil
	}
	return p
}

// learn is told of an answer that lasts and has no plan.
func (ps *plans) learn(target []byte, rs *Response) {
	h := maphash.Bytes(ps.seed, target)
	if high := uint32(h >> 32); ps.missed[h%planSlots].Swap(high) != high {
		return
	}
	segments, others := rs.lasts.Parted()
	size := planHeads + len(target) + segments*int(unsafe.Sizeof(planPart{})) + others
	if size > maxPlan {
		return
	}
	if now := ps.newest.Load(); rs.held > now && ps.newest.CompareAndSwap(now, rs.held) {
		ps.forget(rs.held)
	}
	ps.put(&ps.slots[h%planSlots], size, func() *plan { return newPlan(target, rs) })
}

// put gives a slot the plan of that size that build makes, if there is room for it.
func (ps *plans) put(slot *atomic.Pointer[plan], size int, build func() *plan) {
	old := slot.Load()
	grown := int64(size - old.bytes())
	if ps.size.Add(grown) > maxPlans && grown > 0 {
		ps.size.Add(-grown)
		return
	}
	p := build()
	if p.size = size; !slot.CompareAndSwap(old, p) {
		ps.size.Add(-grown)
	}
}

// forget drops the plans of all releases but the one with that serial.
func (ps *plans) forget(held uint64) {
	for i := range ps.slots {
		if p := ps.slots[i].Load(); p != nil && p.held != held && ps.slots[i].CompareAndSwap(p, nil) {
			ps.size.Add(-int64(p.size))
		}
	}
}

// bytes returns what a plan takes, 0 for none.
func (p *plan) bytes() int {
	if p == nil {
		return 0
	}
	return p.size
}
