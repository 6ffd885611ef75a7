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
	// preparedHeads is about the memory of a prepared response without its body, in bytes.
	preparedHeads = 900
)

// A prepared response has the bytes of a response except its date, for all equal requests to the
// same release. It needs no routing, lookup or composition. It never changes.
type prepared struct {
	target        string // path and query as they came, without api_key
	class         edge.RouteClass
	serial        uint64 // serial of the release, which changes when damage is found
	extraRequests int    // additional requests that it counts as
	etag          []byte
	head200       []byte  // header after the date
	head304       []byte  // header of a 304 after the date
	body          message // in gzip; long segments lie in the release
	size          int     // bytes in memory, about
}

// newPrepared prepares a lasting response.
func newPrepared(target []byte, rs *edge.Response) *prepared {
	p := &prepared{target: string(target), serial: rs.Serial, extraRequests: rs.ExtraRequests, etag: append([]byte(nil), rs.ETag...)}
	complete := rs.Complete()
	p.class = complete.RouteClass()
	p.head200 = appendFields(nil, &complete, sameOrigin, false /* last */)
	complete.Pieces(p.body.add)
	complete.Status = http.StatusNotModified
	p.head304 = appendFields(nil, &complete, sameOrigin, false /* last */)
	p.size = int(unsafe.Sizeof(*p)) + len(target) + len(p.etag) + cap(p.head200) + cap(p.head304) + cap(p.body.buf) + cap(p.body.refs)*int(unsafe.Sizeof(ref{}))
	return p
}

// write adds the response to w, and returns its status and the length of the body.
func (p *prepared) write(w *reply, rq *request, now time.Time) (code, length int) {
	code, fields := http.StatusOK, p.head200
	if edge.Matches(rq.fields[fieldIfNoneMatch], p.etag) {
		code, fields = http.StatusNotModified, p.head304
	} else if !rq.isHead {
		length = p.body.len()
	}
	w.buf = append(appendStart(w.buf, code, now), fields...)
	if w.last {
		w.buf = append(w.buf[:len(w.buf)-len("\r\n")], "Connection: close\r\n\r\n"...)
	}
	if length > 0 {
		w.addMessage(&p.body)
	}
	return code, length
}

// A preparedSet keeps the responses to frequent requests. The hash of a target determines its slot. A target gets its
// slot if it misses twice without another miss of the slot in between: a target requested once takes no memory and
// evicts nothing. It is safe for concurrent use.
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
	refs, copied := rs.SegmentsOver(copyBelow)
	if preparedHeads+len(target)+copied+refs*int(unsafe.Sizeof(ref{})) > maxPrepared {
		return
	}
	if now := ps.newest.Load(); rs.Serial > now && ps.newest.CompareAndSwap(now, rs.Serial) {
		ps.keepOnly(rs.Serial)
	}
	ps.put(&ps.slots[h%preparedSlots], newPrepared(target, rs))
}

// put stores p in a slot, unless that exceeds maxAllPrepared.
func (ps *preparedSet) put(slot *atomic.Pointer[prepared], p *prepared) {
	old, growth := slot.Load(), int64(p.size)
	if old != nil {
		growth -= int64(old.size)
	}
	if ps.size.Add(growth) > maxAllPrepared && growth > 0 || !slot.CompareAndSwap(old, p) {
		ps.size.Add(-growth)
	}
}

// keepOnly drops the prepared responses of all releases but the one with serial.
func (ps *preparedSet) keepOnly(serial uint64) {
	for i := range ps.slots {
		if p := ps.slots[i].Load(); p != nil && p.serial != serial && ps.slots[i].CompareAndSwap(p, nil) {
			ps.size.Add(-int64(p.size))
		}
	}
}
