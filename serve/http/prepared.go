package http

import (
	"hash/maphash"
	"net/http"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/releases"
)

const (
	// preparedSlots bounds the number of prepared responses.
	preparedSlots = 4096
	// maxPrepared bounds the size of a prepared response, about. Most take one or two
	// kilobytes; lists of many includes take more, and are composed each time.
	maxPrepared = 32 << 10
	// maxAllPrepared bounds the bytes of all prepared responses, about.
	maxAllPrepared = 16 << 20
	// preparedHeads is about the memory of a prepared response beside its body, in bytes.
	preparedHeads = 900
)

// A prepared response has the bytes of a response except its date, for all equal requests to the
// same release. It needs no routing, lookup or composition. It never changes.
type prepared struct {
	target string // path and query as they came, without api_key
	class  edge.RouteClass
	serial uint64 // serial of the release, which changes when damage is found
	more   int    // additional requests that it counts as
	etag   []byte
	found  []byte  // header after the date
	same   []byte  // header of a 304 after the date
	body   message // in gzip; long segments lie in the release
	size   int     // bytes in memory, about
}

// newPrepared prepares a lasting response.
func newPrepared(target []byte, rs *edge.Response) *prepared {
	p := &prepared{target: string(target), serial: rs.Serial, more: rs.More, etag: append([]byte(nil), rs.ETag...)}
	full := rs.Complete()
	p.class = full.RouteClass()
	p.found = appendFields(nil, &full, sameOrigin, false /* last */)
	full.Pieces(p.body.add)
	full.Status = http.StatusNotModified
	p.same = appendFields(nil, &full, sameOrigin, false /* last */)
	p.size = int(unsafe.Sizeof(*p)) + len(target) + len(p.etag) + cap(p.found) + cap(p.same) + cap(p.body.own) + cap(p.body.refs)*int(unsafe.Sizeof(ref{}))
	return p
}

// write adds the response to w, and returns its status and the length of the body.
func (p *prepared) write(w *reply, rq *request, now time.Time) (code, length int) {
	code, fields := http.StatusOK, p.found
	if edge.Matches(rq.fields[fieldIfNoneMatch], p.etag) {
		code, fields = http.StatusNotModified, p.same
	} else if !rq.isHead {
		length = p.body.len()
	}
	w.own = append(appendStart(w.own, code, now), fields...)
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
	seed   maphash.Seed // random, so that no client can choose targets of one slot
	slots  [preparedSlots]atomic.Pointer[prepared]
	missed [preparedSlots]atomic.Uint32 // high half of the hash of the last missed target
	size   atomic.Int64                 // bytes in all prepared responses
	newest atomic.Uint64                // serial of the newest release with a prepared response
}

func newPreparedSet() *preparedSet { return &preparedSet{seed: maphash.MakeSeed()} }

// find returns the prepared response of a target for the held release, or nil.
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

// put stores p in a slot, unless that exceeds maxAllPrepared.
func (ps *preparedSet) put(slot *atomic.Pointer[prepared], p *prepared) {
	old := slot.Load()
	grown := int64(p.size - old.bytes())
	if ps.size.Add(grown) > maxAllPrepared && grown > 0 || !slot.CompareAndSwap(old, p) {
		ps.size.Add(-grown)
	}
}

// forget drops the prepared responses of all other releases than serial's.
func (ps *preparedSet) forget(serial uint64) {
	for i := range ps.slots {
		if p := ps.slots[i].Load(); p != nil && p.serial != serial && ps.slots[i].CompareAndSwap(p, nil) {
			ps.size.Add(-int64(p.size))
		}
	}
}

// bytes returns the size of p, or 0 for nil.
func (p *prepared) bytes() int {
	if p == nil {
		return 0
	}
	return p.size
}
