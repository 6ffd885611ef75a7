package http

import (
	"hash/maphash"
	"net/http"
	"sync/atomic"
	"unsafe"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/releases"
)

const (
	// preparedSlots is how many prepared responses there are at most.
	preparedSlots = 4096
	// maxPrepared is about the most bytes that a prepared response takes. Most take one or two
	// kilobytes; lists of many includes take more, and are composed each time.
	maxPrepared = 32 << 10
	// maxAllPrepared is about the most bytes that all prepared responses take.
	maxAllPrepared = 16 << 20
	// preparedHeads is about the memory of a prepared response beside its body, in bytes.
	preparedHeads = 900
)

// A prepared response is a response as it goes over the wire but for its date, for every client that
// asks the same of the same release: nothing is routed, looked up or joined again. It never changes.
type prepared struct {
	target string // path and query as they came, without api_key
	class  edge.RouteClass
	serial uint64 // the release's, which changes when damage is found
	more   int    // requests that it counts as, beside one
	etag   []byte
	found  []byte  // the header from after the date on
	same   []byte  // the same of the 304
	body   message // in gzip; long segments lie in the release
	size   int     // bytes that it takes, about
}

// newPrepared makes a prepared response of one that lasts.
func newPrepared(target []byte, rs *edge.Response) *prepared {
	p := &prepared{target: string(target), serial: rs.Serial, more: rs.More, etag: append([]byte(nil), rs.ETag...)}
	full := rs.Full()
	p.class = full.RouteClass()
	var h header
	h.set(&full, sameOrigin, false /* last */)
	p.found = h.appendTo(nil)
	full.Pieces(p.body.add)
	full.Status = http.StatusNotModified
	h.set(&full, sameOrigin, false /* last */)
	p.same = h.appendTo(nil)
	p.size = int(unsafe.Sizeof(*p)) + len(target) + len(p.etag) + cap(p.found) + cap(p.same) + cap(p.body.own) + cap(p.body.refs)*int(unsafe.Sizeof(ref{}))
	return p
}

// write adds the response to w, and returns its status and the length of the body that is sent.
func (p *prepared) write(w *reply, date []byte, rq *request) (code, length int) {
	code, fields := http.StatusOK, p.found
	if edge.Matches(rq.fields[fieldIfNoneMatch], p.etag) {
		code, fields = http.StatusNotModified, p.same
	} else {
		if !rq.isHead {
			length = p.body.len()
		}
	}
	w.own = append(w.own, statusLine(code)...)
	w.own = append(w.own, date...)
	w.own = append(w.own, fields...)
	if w.last {
		w.own = append(w.own[:len(w.own)-len("\r\n")], "Connection: close\r\n\r\n"...)
	}
	if length > 0 {
		w.addMessage(&p.body)
	}
	return code, length
}

// A preparedSet keeps the responses to frequent requests. The hash of a target determines its slot. It
// gets the slot if two misses come with no other miss of that slot between: a target requested once
// takes no memory and evicts nothing. It is safe for concurrent use.
type preparedSet struct {
	seed   maphash.Seed // so that nobody can choose targets of one slot
	slots  [preparedSlots]atomic.Pointer[prepared]
	missed [preparedSlots]atomic.Uint32 // the high half of the hash of the last target missed
	size   atomic.Int64                 // bytes in all prepared responses
	newest atomic.Uint64                // the serial of the newest release that has one
}

func newPreparedSet() *preparedSet { return &preparedSet{seed: maphash.MakeSeed()} }

// find returns the prepared response of a target for the release that is held, nil for none.
func (ps *preparedSet) find(target []byte, held *releases.Held) *prepared {
	p := ps.slots[maphash.Bytes(ps.seed, target)%preparedSlots].Load()
	if p == nil || held == nil || p.serial != held.Serial() || p.target != string(target) {
		return nil
	}
	return p
}

// learn notes a lasting response that find did not return, and prepares it the second time.
func (ps *preparedSet) learn(target []byte, rs *edge.Response) {
	h := maphash.Bytes(ps.seed, target)
	if high := uint32(h >> 32); ps.missed[h%preparedSlots].Swap(high) != high {
		return
	}
	refs, own := rs.SegmentsOver(copyBelow)
	if preparedHeads+len(target)+own+refs*int(unsafe.Sizeof(ref{})) > maxPrepared {
		return
	}
	if now := ps.newest.Load(); rs.Serial > now && ps.newest.CompareAndSwap(now, rs.Serial) {
		ps.forget(rs.Serial)
	}
	ps.put(&ps.slots[h%preparedSlots], newPrepared(target, rs))
}

// put gives a slot the prepared response p, if there is room for it.
func (ps *preparedSet) put(slot *atomic.Pointer[prepared], p *prepared) {
	old := slot.Load()
	grown := int64(p.size - old.bytes())
	if ps.size.Add(grown) > maxAllPrepared && grown > 0 || !slot.CompareAndSwap(old, p) {
		ps.size.Add(-grown)
	}
}

// forget drops the prepared responses of all releases but the one with that serial.
func (ps *preparedSet) forget(serial uint64) {
	for i := range ps.slots {
		if p := ps.slots[i].Load(); p != nil && p.serial != serial && ps.slots[i].CompareAndSwap(p, nil) {
			ps.size.Add(-int64(p.size))
		}
	}
}

// bytes returns the size of p, 0 for none.
func (p *prepared) bytes() int {
	if p == nil {
		return 0
	}
	return p.size
}
