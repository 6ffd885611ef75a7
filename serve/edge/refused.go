package edge

import (
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/reelsplice/reelsplice/serve/observe"
)

// A RefusedKey is an unknown credential that was refused.
type RefusedKey struct {
	SHA256    string    `json:"sha256"`     // digest of the credential, in hex
	UserAgent string    `json:"user_agent"` // client of the last request with it, without credentials
	Last      time.Time `json:"last"`       // to the second
}

// refusedKeys keeps the last unknown credentials by their hashes, in memory of a fixed size.
type refusedKeys struct {
	mu    sync.Mutex
	slots [8]refusedKey
}

type refusedKey struct {
	hash  [32]byte
	last  int64 // in unix seconds; 0 for a free slot
	agent [128]byte
	size  int // bytes used in agent
}

// add notes a refusal at the time now, in unix seconds, in place of the oldest one. It drops the refusal
// if another goroutine adds one: a refused client tries again.
func (r *refusedKeys) add(hash [32]byte, agent []byte, now int64) {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	slot := &r.slots[0]
	for i := range r.slots {
		s := &r.slots[i]
		if s.hash == hash {
			slot = s
			break
		}
		if s.last < slot.last {
			slot = s
		}
	}
	slot.hash, slot.last, slot.size = hash, now, copy(slot.agent[:], agent)
}

// Refused returns the unknown credentials that were refused last, at most 8, the latest first.
func (e *Edge) Refused() []RefusedKey {
	e.refused.mu.Lock()
	slots := e.refused.slots
	e.refused.mu.Unlock()
	list := []RefusedKey{}
	for i := range slots {
		if s := &slots[i]; s.last != 0 {
			list = append(list, RefusedKey{hex.EncodeToString(s.hash[:]), observe.MaskText(s.agent[:s.size]), time.Unix(s.last, 0).UTC()})
		}
	}
	slices.SortFunc(list, func(a, b RefusedKey) int { return b.Last.Compare(a.Last) })
	return list
}
